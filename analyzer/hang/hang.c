/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/clock/collect.h"
#include "analyzer/hang/diagnose.h"
#include "analyzer/hang/enough.h"
#include "analyzer/hang/gather.h"
#include "analyzer/hang/verdict_text.h"
#include "analyzer/model/command.h"
#include "analyzer/model/names.h"

const struct ct_hang_rank *ct_hang_rank_of(const struct ct_hang_case *c, int rank)
{
	uint32_t lo = CT_BISECT(i, 0, c->n_ranks, c->ranks[i].rank < rank);

	return lo < c->n_ranks && c->ranks[lo].rank == rank ? &c->ranks[lo] : NULL;
}

const struct ct_hang_op *ct_hang_last_op(const struct ct_hang_case *c, int rank)
{
	const struct ct_hang_rank *r = ct_hang_rank_of(c, rank);
	uint32_t index = r ? (uint32_t)(r - c->ranks) : UINT32_MAX;
	uint32_t lo = CT_BISECT(i, 0, c->n_ops, c->ops[i].rank < index);
	const struct ct_hang_op *last = NULL;

	for (; lo < c->n_ops && c->ops[lo].rank == index; lo++) {
		enum ct_op_state state = c->ops[lo].state;

		last = &c->ops[lo];
		if (state == CT_STATE_ENTERED || state == CT_STATE_RETURNED ||
		    state == CT_STATE_STARTED)
			break;
	}
	return last;
}

/* ---- ranks that died, and no rank waits for them ---- */

static int is_named(const struct ct_hang_result *result, int rank)
{
	for (uint32_t v = 0; v < result->n_verdicts; v++) {
		const struct ct_hang_verdict *verdict = &result->verdicts[v];

		if (ct_hang_is_among(rank, verdict->ranks, verdict->n_ranks) ||
		    ct_hang_is_among(rank, verdict->victims, verdict->n_victims))
			return 1;
	}
	return 0;
}

static int death_text(struct ct_hang_verdict *v, const struct ct_hang_rank *first,
		      struct ct_arena *memory)
{
	const struct ct_hang_text_row row = ct_hang_text_row(v->code, CT_HANG_CAUSE_ALONE);
	const char *host = v->n_ranks == 1 ? first->host : NULL;
	const char *ranks = ct_hang_ranks_text(memory, v->ranks, v->n_ranks);
	const struct ct_command_at at = { .host = host };
	const struct ct_word words[] = {
		{ "{who}",
		  host ? ct_arena_printf(memory, "%s (%s)", ranks, ct_host_word(memory, host))
		       : ranks },
		{ "{how}",
		  first->how_ended ? ct_arena_printf(memory, ": %s", first->how_ended) : "" },
		{ "{time}", ct_arena_printf(memory, "%s", ct_prose_ns(first->ended_ns).s) },
	};

	v->headline = ct_template_fill(memory, row.headline, words, 3);
	v->cause = ct_template_fill(memory, row.cause, words, 3);
	v->advice = row.host_advice;
	v->command = ct_command_text(memory, row.host_command, &at);
	return v->headline && v->cause ? CT_OK : CT_NOMEM;
}

static int add_death(const struct ct_hang_case *c, struct ct_hang_result *result,
		     struct ct_arena *memory, const int *ranks, uint32_t n)
{
	struct ct_hang_verdict *all = ct_arena_calloc(memory, result->n_verdicts + 1u,
						      sizeof(*all));
	const struct ct_hang_rank *first = ct_hang_rank_of(c, ranks[0]);

	if (!all)
		return CT_NOMEM;
	for (uint32_t i = 0; i < result->n_verdicts; i++)
		all[i] = result->verdicts[i];
	all[result->n_verdicts] = (struct ct_hang_verdict){ .code = CT_HANG_IS_DEAD_RANK,
							    .confidence = CT_CONFIDENCE_MEDIUM,
							    .ranks = ranks,
							    .n_ranks = n,
							    .comm = UINT32_MAX,
							    .op = UINT32_MAX,
							    .seq = CT_UNKNOWN,
							    .since_ns = first->ended_ns,
							    .since_err_ns = first->err_ns,
							    .age_ns = CT_UNKNOWN,
							    .anchor = "dead_rank" };
	result->verdicts = all;
	return death_text(&all[result->n_verdicts++], first, memory);
}

static int add_deaths(const struct ct_hang_case *c, struct ct_hang_result *result,
		      struct ct_arena *memory)
{
	int *ranks = ct_arena_calloc(memory, c->n_ranks, sizeof(*ranks));
	uint32_t n = 0, dead = 0, with_trace = 0;

	if (!ranks)
		return CT_NOMEM;
	for (uint32_t i = 0; i < c->n_ranks; i++) {
		with_trace += c->ranks[i].process != CT_PROCESS_NO_TRACE;
		if (c->ranks[i].process != CT_PROCESS_DEAD)
			continue;
		dead++;
		if (!is_named(result, c->ranks[i].rank))
			ranks[n++] = c->ranks[i].rank;
	}
	/* where all ranks failed by themselves, the program failed, not one rank */
	if (!n || dead == with_trace)
		return CT_OK;
	return add_death(c, result, memory, ranks, n);
}

int ct_hang_judge(struct ct_gather *log, struct ct_hang_run **out, struct ct_err *err)
{
	struct ct_hang_result *result = NULL;
	int st = ct_hang_collect(log, out, err);

	if (st != CT_OK)
		return st;
	st = ct_hang_diagnose(&(*out)->hang_case, log->memory, &result);
	st = st ?: add_deaths(&(*out)->hang_case, result, log->memory);
	if (st != CT_OK)
		return ct_fail(err, st, "%s", ct_status_text(st));
	(*out)->result = result;
	if (result->n_verdicts && (*out)->state == CT_JOB_INTERRUPTED)
		(*out)->state = CT_JOB_KILLED;
	return CT_OK;
}

/* ---- a run ---- */

/* With several hosts the same reading synchronizes their clocks; it matches operations for that. */
static int read_run(struct ct_gather *log, const struct ct_run *run, struct ct_starts *starts,
		    int restart, struct ct_clock_log *clocks, struct ct_stream *stream,
		    struct ct_err *err)
{
	struct ct_observer observers[2];
	struct ct_stream_options options = { .observers = observers };

	if (clocks)
		ct_clock_log_observe(clocks, &observers[options.n_observers++]);
	ct_hang_observe(log, &observers[options.n_observers++]);
	options.only_matched = clocks != NULL;
	options.only_ops = clocks == NULL;
	options.from = log->tails ? log->tails->from : NULL;
	options.segments = log->tails ? log->tails->segments : NULL;
	return ct_stream_run(stream, run, starts, restart, &options, err);
}

/* One reading, of tails or (NULL) of everything. *out stays NULL if the tails are not enough. */
static int judge_by(const struct ct_hang_tails *tails, const struct ct_run *run,
		    struct ct_starts *starts, int restart, const struct ct_hang_options *options,
		    struct ct_arena *memory, struct ct_hang_run **out, struct ct_err *err)
{
	struct ct_gather *log = ct_hang_log_new(options, memory);
	struct ct_stream *stream = calloc(1, sizeof(*stream));
	struct ct_clock_log *clocks = NULL;
	int st = log && stream ? ct_clock_log_new(run, starts, restart, &clocks) : CT_NOMEM;

	*out = NULL;
	if (st == CT_OK) {
		log->tails = tails;
		st = read_run(log, run, starts, restart, clocks, stream, err);
	}
	st = st ?: ct_hang_is_enough(log);
	if (st > 0)
		st = ct_hang_judge(log, out, err);
	if (st == CT_EMPTY) { /* what has to be read again was left out of the files */
		*out = NULL;
		st = CT_OK;
	}
	if (st == CT_OK && *out)
		st = ct_hang_is_sure(log, *out, err);
	if (st <= 0)
		*out = NULL;
	ct_hang_log_free(log);
	if (stream)
		ct_stream_fini(stream);
	free(stream);
	starts->clocks = NULL;
	ct_clocks_free(ct_clock_log_free(clocks));
	return st < 0 ? st : CT_OK;
}

int ct_hang_of_tails(const struct ct_run *run, struct ct_starts *starts, int restart,
		     const struct ct_hang_options *options, struct ct_arena *memory,
		     struct ct_hang_run **out, struct ct_err *err)
{
	const uint64_t bytes[] = { options ? options->tail_bytes : 0, UINT64_MAX };
	int st = CT_OK, skipped = 1;

	*out = NULL;
	/* of the last segments, and if these are not enough, of all */
	for (int i = 0; i < 2 && st == CT_OK && !*out && skipped; i++) {
		struct ct_hang_tails *tails;

		st = ct_hang_tails_find(run, starts, restart, options ? options->least_tail : 0,
					bytes[i], &tails, err);
		if (st == CT_OK && tails->any && !tails->lacks)
			st = judge_by(tails, run, starts, restart, options, memory, out, err);
		skipped = st == CT_OK && tails->any_skipped;
		ct_hang_tails_free(tails);
	}
	if (st == CT_OK && *out) {
		(*out)->from_tails = 1;
		(*out)->skips_segments = skipped;
	}
	return st;
}

static void count_bytes(const struct ct_run *run, const struct ct_starts *starts, int restart,
			struct ct_hang_run *hang)
{
	for (size_t p = 0; p < run->n_processes; p++) {
		const uint64_t bytes = ct_process_read_bytes(run, p);

		if (starts->processes[p].restart != restart)
			continue;
		hang->file_bytes += run->processes[p].segment_bytes;
		hang->read_bytes += bytes;
		hang->most_read_bytes = bytes > hang->most_read_bytes ? bytes
								      : hang->most_read_bytes;
	}
}

int ct_hang_of_run(const struct ct_run *run, const struct ct_hang_options *options,
		   struct ct_arena *memory, struct ct_hang_run **out, struct ct_err *err)
{
	int restart = options ? options->restart : -1;
	struct ct_starts starts = { 0 };
	int st = ct_starts_find(run, &starts), is_thinned;

	*out = NULL;
	if (st == CT_OK && restart >= starts.n_starts)
		st = ct_fail(err, CT_NOTFOUND, "restart %d: the run has %d starts", restart,
			     starts.n_starts);
	if (restart < 0)
		restart = starts.n_starts - 1;
	is_thinned = st == CT_OK && ct_starts_thinned(run, &starts, restart);
	if (st == CT_OK && (is_thinned || !(options && options->whole)))
		st = ct_hang_of_tails(run, &starts, restart, options, memory, out, err);
	if (st == CT_OK && !*out && is_thinned)
		st = ct_fail(err, CT_EMPTY,
			     "what a verdict needs was left out of the parts of the run");
	if (st == CT_OK && !*out)
		st = judge_by(NULL, run, &starts, restart, options, memory, out, err);
	if (st == CT_OK)
		count_bytes(run, &starts, restart, *out);
	ct_starts_fini(&starts);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}
