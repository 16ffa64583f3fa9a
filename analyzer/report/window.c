/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/window.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"

/* size: the part of what is on record that is only matched, behind operations that were left out. */
#define CT_WINDOW_MARGIN 4u

/* A block and the latest time in it, on its host's clock. */
struct block_end {
	uint64_t ns;
	uint32_t block;
};

/* Of one process, in the order of its file. */
struct block_ends {
	struct block_end *all;
	uint32_t n, cap;
	uint64_t last_ns;
	uint64_t left_out_ns; /* the latest time whose operations were left out; 0: none were */
	uint32_t whole_from;  /* the block after those */
};

static int add(struct block_ends *ends, const struct ct_block *block)
{
	uint64_t ns = block->end_ns > ends->last_ns ? block->end_ns : ends->last_ns;

	/* the rest of an earlier block, and not what comes last */
	if (block->is_again)
		return CT_OK;
	if (ct_grow(&ends->all, &ends->cap, ends->n + 1, sizeof(*ends->all)) != CT_OK)
		return CT_NOMEM;
	ends->all[ends->n++] = (struct block_end){ .ns = ns, .block = block->number };
	ends->last_ns = ns;
	if (block->is_left_out) {
		ends->left_out_ns = ns;
		ends->whole_from = block->number + 1;
	}
	return CT_OK;
}

static int read_ends(const struct ct_run *run, size_t process, struct ct_decoding *decoding,
		     struct block_ends *ends, struct ct_err *err)
{
	struct ct_process_reader *reader;
	const struct ct_block *block;
	int st = ct_process_open_in(run, process, decoding, &reader, err), more = 1;

	if (st != CT_OK)
		return st;
	ct_process_skim(reader, CT_SKIM_ALL);
	while (st == CT_OK && more == 1) {
		more = ct_process_next(reader, &block, err);
		st = more == 1 ? add(ends, block) : more;
	}
	ct_process_close(reader);
	return st;
}

/* The first block that has something of the time from `cut_ns` on. */
static uint32_t block_at(const struct block_ends *ends, uint64_t cut_ns)
{
	for (uint32_t i = 0; i < ends->n; i++) {
		if (ends->all[i].ns >= cut_ns)
			return ends->all[i].block;
	}
	return ends->n ? ends->all[ends->n - 1].block : 0;
}

struct window_search {
	const struct ct_run *run;
	const struct ct_starts *starts;
	int restart;
	struct block_ends *ends; /* by process */
};

static int is_in(const struct window_search *s, size_t process)
{
	return s->starts->processes[process].restart == s->restart;
}

/* Of a process's clock, to time of day. */
static uint64_t unix_of(const struct window_search *s, size_t process, uint64_t ns)
{
	return ns + s->starts->hosts[s->starts->processes[process].host].unix_minus_mono;
}

/* Where the window begins of those that begin later than this. */
static void begin_at(struct ct_window *window, uint64_t from_ns)
{
	window->from_ns = from_ns > window->from_ns ? from_ns : window->from_ns;
}

static void cut(const struct window_search *s, uint64_t last_ns, struct ct_window *window)
{
	uint64_t begin = UINT64_MAX, end = 0, left_out = 0, cut_unix;

	for (size_t p = 0; p < s->run->n_processes; p++) {
		const struct block_ends *ends = &s->ends[p];
		uint64_t began, ended;

		if (!is_in(s, p))
			continue;
		began = unix_of(s, p, s->run->processes[p].id.start_ns);
		ended = ends->last_ns ? unix_of(s, p, ends->last_ns) : 0;
		begin = began < begin ? began : begin;
		end = ended > end ? ended : end;
		window->from[p] = ends->whole_from;
		if (ends->left_out_ns && unix_of(s, p, ends->left_out_ns) > left_out)
			left_out = unix_of(s, p, ends->left_out_ns);
	}
	if (end <= begin)
		return;
	/* What begins behind the last operation that was left out is on record on all ranks. What
	 * was under way there may be half on record, and the clocks of hosts may differ. */
	if (left_out > begin && end > left_out)
		begin_at(window, left_out - begin + (end - left_out) / CT_WINDOW_MARGIN);
	if (!last_ns || end - begin <= last_ns)
		return;
	begin_at(window, end - begin - last_ns);
	/* As much again is matched, so that operations under way at the cut are known on all ranks.
	 */
	cut_unix = end - begin - last_ns > last_ns ? end - 2 * last_ns : begin;
	for (size_t p = 0; p < s->run->n_processes; p++) {
		uint32_t from = is_in(s, p) ? block_at(&s->ends[p], cut_unix - (unix_of(s, p, 0)))
					    : 0;

		window->from[p] = from > window->from[p] ? from : window->from[p];
	}
}

int ct_window_find(const struct ct_run *run, const struct ct_starts *starts, int restart,
		   uint64_t last_ns, struct ct_window *window, struct ct_err *err)
{
	struct window_search s = { .run = run, .starts = starts, .restart = restart };
	struct ct_decoding *decoding = ct_decoding_new();
	int st = CT_NOMEM;

	*window = (struct ct_window){ .from = calloc(run->n_processes + 1, sizeof(uint32_t)) };
	s.ends = calloc(run->n_processes + 1, sizeof(*s.ends));
	if (window->from && s.ends && decoding)
		st = CT_OK;
	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++)
		if (is_in(&s, p))
			st = read_ends(run, p, decoding, &s.ends[p], err);
	if (st == CT_OK)
		cut(&s, last_ns, window);
	for (size_t p = 0; s.ends && p < run->n_processes; p++)
		free(s.ends[p].all);
	free(s.ends);
	ct_decoding_free(decoding);
	return st;
}

void ct_window_fini(struct ct_window *window)
{
	free(window->from);
	*window = (struct ct_window){ 0 };
}
