/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of one process: its segments in order, then what is left in its ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/path.h"
#include "trace/reader.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"
#include "trace/ring_snapshot.h"
#include "trace/run_files.h"
#include "trace/segment.h"

struct ct_decoding {
	struct ct_decoder *decoder;
	struct ct_block block;
};

struct ct_decoding *ct_decoding_new(void)
{
	struct ct_decoding *decoding = calloc(1, sizeof(*decoding));

	if (!decoding)
		return NULL;
	decoding->decoder = ct_decoder_new();
	if (decoding->decoder)
		return decoding;
	free(decoding);
	return NULL;
}

void ct_decoding_free(struct ct_decoding *decoding)
{
	if (!decoding)
		return;
	ct_decoder_free(decoding->decoder);
	ct_block_fini(&decoding->block);
	free(decoding);
}

struct ct_process_reader {
	char **paths; /* of segments */
	size_t n_paths, cap_paths;
	size_t at; /* next one to open */
	struct ct_segment_reader *segment;
	struct ct_ring_snapshot *left; /* NULL: no ring */
	struct ct_decoding *decoding;
	struct ct_decoding *own; /* the same, unless the caller lent it */
	struct ct_gaps gaps;
	uint64_t read_bytes;		/* of segments before the one that is open */
	int seen;			/* a block has been seen ... */
	uint64_t first;			/* ... and this was its number */
	uint64_t expected;		/* number of the next one */
	struct ct_process_files *files; /* the run's */
	uint32_t next_number;		/* of the segment after the last path */
	int follows;			/* ct_process_follow() */
	int grows;			/* more may be appended to the open segment */
	struct ct_extent
		*latest; /* of the latest block, if it follows: they may be in the ring as well */
	uint32_t n_latest, cap_latest;
	uint32_t skim_before; /* as ct_process_skim() has it, 0: nothing is skimmed */
	size_t from;	      /* ct_process_read_tail(); earlier paths are not opened */
	int is_tail;
	int done;
};

/* ---- open
 * -------------------------------------------------------------------------------------------- */

static void note_damage(struct ct_process_reader *r, uint64_t at, const char *path, const char *why)
{
	if (r->gaps.damage.first_why[0])
		return;
	r->gaps.damage.first_at = at;
	snprintf(r->gaps.damage.first_why, sizeof(r->gaps.damage.first_why), "%.60s: %.56s",
		 ct_path_name(path), why);
}

/* A message without the path in front of it. */
static const char *reason(const char *text, const char *path)
{
	size_t n = strlen(path);

	return strncmp(text, path, n) == 0 && text[n] == ':' ? text + n + 2 : text;
}

/* The ring comes first: see ring_snapshot.h. Between the opening of the run and now it may have
 * been moved into the run directory, or removed because everything in it is in segments. */
static int take_ring(struct ct_process_reader *r, const struct ct_process_files *p)
{
	char name[CT_SEGMENT_NAME_MAX];
	struct ct_err err = { 0 };
	char *archived;
	int st = CT_NOTFOUND;

	if (p->ring_path)
		st = ct_ring_snapshot_take(p->ring_path, &p->id, &r->left, &err);
	if (st == CT_NOTFOUND && p->dir) {
		ct_segment_stem(name, &p->id);
		if (asprintf(&archived, "%s/%s.ring.zst", p->dir, name) < 0)
			return CT_NOMEM;
		st = ct_ring_snapshot_take(archived, &p->id, &r->left, &err);
		free(archived);
	}
	if (st == CT_NOMEM)
		return st;
	if (st != CT_OK && st != CT_NOTFOUND && p->ring_path) {
		note_damage(r, 0, p->ring_path, reason(err.text, p->ring_path));
		r->gaps.ring_unread = 1;
	}
	for (uint32_t i = 0; r->left && i < CT_LOSS_MAX; i++) {
		ct_word *lost = (ct_word *)(uintptr_t)&ct_ring_snapshot_header(r->left)->losses[i];

		r->gaps.losses[i] = atomic_load_explicit(lost, memory_order_relaxed);
	}
	return CT_OK;
}

static int add_path(struct ct_process_reader *r, char *path)
{
	if (!path ||
	    ct_run_grow(&r->paths, r->n_paths, &r->cap_paths, sizeof(*r->paths)) != CT_OK) {
		free(path);
		return CT_NOMEM;
	}
	r->paths[r->n_paths++] = path;
	return CT_OK;
}

/* One more that a live process has opened. 1, 0: there is none, or CT_NOMEM. */
static int list_next(struct ct_process_reader *r)
{
	const struct ct_process_files *p = r->files;
	char name[CT_SEGMENT_NAME_MAX];
	struct stat sb;
	char *path;

	if (!p->dir)
		return 0;
	ct_segment_name(name, &p->id, r->next_number);
	if (asprintf(&path, "%s/%s", p->dir, name) < 0)
		return CT_NOMEM;
	/* without a whole header it is just being made */
	if (stat(path, &sb) != 0 || !S_ISREG(sb.st_mode) ||
	    (uint64_t)sb.st_size < sizeof(struct ct_segment_header)) {
		free(path);
		return 0;
	}
	r->next_number++;
	return add_path(r, path) == CT_OK ? 1 : CT_NOMEM;
}

/* The segments that were found, and those that a live process has opened since. */
static int list_segments(struct ct_process_reader *r)
{
	const struct ct_process_files *p = r->files;
	int st = CT_OK;

	for (size_t i = 0; i < p->n_segments && st == CT_OK; i++)
		st = add_path(r, strdup(p->segments[i].path));
	r->next_number = p->n_segments ? p->segments[p->n_segments - 1].number + 1 : 0;
	if (st == CT_OK)
		while ((st = list_next(r)) == 1)
			;
	return st;
}

int ct_process_open(const struct ct_run *run, size_t index, struct ct_process_reader **out,
		    struct ct_err *err)
{
	return ct_process_open_in(run, index, NULL, out, err);
}

int ct_process_open_in(const struct ct_run *run, size_t index, struct ct_decoding *decoding,
		       struct ct_process_reader **out, struct ct_err *err)
{
	struct ct_process_files *p;
	struct ct_process_reader *r;
	int st;

	*out = NULL;
	if (index >= run->n_processes)
		return ct_fail(err, CT_RANGE, "process %zu of %zu", index, run->n_processes);
	p = &run->files->processes[index];
	r = calloc(1, sizeof(*r));
	if (r && !decoding)
		decoding = r->own = ct_decoding_new();
	st = r && decoding ? CT_OK : CT_NOMEM;
	if (st == CT_OK) {
		r->decoding = decoding;
		r->files = p;
		st = take_ring(r, p);
	}
	if (st == CT_OK)
		st = list_segments(r);
	if (st != CT_OK) {
		ct_process_close(r);
		return ct_fail(err, st, "out of memory");
	}
	*out = r;
	return CT_OK;
}

static void count_bytes(struct ct_process_reader *r)
{
	/* relaxed: a sum, looked at when the readers are through */
	if (r->segment)
		atomic_fetch_add_explicit(&r->files->read_bytes, ct_segment_read_bytes(r->segment),
					  memory_order_relaxed);
}

uint64_t ct_process_read_bytes(const struct ct_run *run, size_t index)
{
	return atomic_load_explicit(&run->files->processes[index].read_bytes, memory_order_relaxed);
}

void ct_process_close(struct ct_process_reader *r)
{
	if (!r)
		return;
	count_bytes(r);
	for (size_t i = 0; i < r->n_paths; i++)
		free(r->paths[i]);
	free(r->paths);
	ct_segment_close_read(r->segment);
	ct_ring_snapshot_free(r->left);
	ct_decoding_free(r->own);
	free(r->latest);
	free(r);
}

const char *const *ct_process_segments(const struct ct_process_reader *r, size_t *n)
{
	*n = r->n_paths;
	return (const char *const *)r->paths;
}

void ct_process_decode_in(struct ct_process_reader *r, struct ct_decoding *decoding)
{
	ct_decoding_free(r->own);
	r->own = NULL;
	r->decoding = decoding;
	if (r->segment)
		ct_segment_decode_by(r->segment, decoding->decoder);
}

void ct_process_skim(struct ct_process_reader *r, uint32_t before)
{
	r->skim_before = before;
}

size_t ct_process_tail(const struct ct_process_reader *r, uint64_t bytes)
{
	size_t k = r->files->n_segments;

	for (uint64_t sum = 0; k && sum < bytes; k--)
		sum += r->files->segments[k - 1].bytes;
	return k;
}

void ct_process_read_tail(struct ct_process_reader *r, size_t segment)
{
	r->at = segment;
	r->from = segment;
	r->is_tail = 1;
}

void ct_process_follow(struct ct_process_reader *r)
{
	ct_ring_snapshot_free(r->left);
	r->left = NULL;
	memset(r->gaps.losses, 0, sizeof(r->gaps.losses));
	r->follows = 1;
}

const struct ct_gaps *ct_process_gaps(const struct ct_process_reader *r)
{
	return &r->gaps;
}

/* ---- next
 * -------------------------------------------------------------------------------------------- */

static void close_segment(struct ct_process_reader *r)
{
	const struct ct_damage *d = ct_segment_damage(r->segment);
	struct ct_damage *sum = &r->gaps.damage;

	sum->skipped_bytes += d->skipped_bytes;
	sum->torn_bytes += d->torn_bytes;
	sum->damaged_blocks += d->damaged_blocks;
	if (d->first_why[0])
		note_damage(r, d->first_at, r->paths[r->at - 1], d->first_why);
	r->read_bytes += ct_segment_position(r->segment);
	count_bytes(r);
	ct_segment_close_read(r->segment);
	r->segment = NULL;
}

static void take_losses(struct ct_process_reader *r, const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_rares; i++) {
		struct ct_loss_rec loss;

		if (block->rares[i].kind != CT_KIND_LOSS)
			continue;
		ct_rare_get(block, &block->rares[i], &loss, sizeof(loss));
		if (loss.reason < CT_LOSS_MAX && loss.records > r->gaps.losses[loss.reason])
			r->gaps.losses[loss.reason] = loss.records;
	}
}

static int note_extents(struct ct_process_reader *r, const struct ct_block *block)
{
	if (block->n_extents > r->cap_latest) {
		struct ct_extent *grown = realloc(r->latest, block->n_extents * sizeof(*r->latest));

		if (!grown)
			return CT_NOMEM;
		r->latest = grown;
		r->cap_latest = block->n_extents;
	}
	r->n_latest = block->n_extents;
	if (block->n_extents)
		memcpy(r->latest, block->extents, block->n_extents * sizeof(*r->latest));
	return CT_OK;
}

/* Account for a block of a segment. 1, 0 if it has been there before, or CT_NOMEM. */
static int take_block(struct ct_process_reader *r, const struct ct_block *block)
{
	if (block->is_again)
		return 1;
	if (!r->seen)
		r->first = r->from ? 0 : block->number;
	else if (block->number < r->expected)
		return 0;
	else
		r->gaps.missing_blocks += block->number - r->expected;
	r->seen = 1;
	r->expected = (uint64_t)block->number + 1;
	take_losses(r, block);
	for (uint32_t i = 0; r->left && i < block->n_extents; i++)
		ct_ring_snapshot_strike(r->left, &block->extents[i]);
	return r->follows && note_extents(r, block) != CT_OK ? CT_NOMEM : 1;
}

/* Opens the next segment that can be opened. 1, 0 if none is left, or CT_NOMEM. */
static int open_next(struct ct_process_reader *r, struct ct_err *err)
{
	while (r->at < r->n_paths) {
		const char *path = r->paths[r->at++];
		struct ct_err why = { 0 };
		int st = ct_segment_open_read(path, &r->segment, &why);

		if (st == CT_OK) {
			ct_segment_decode_by(r->segment, r->decoding->decoder);
			if (r->is_tail)
				ct_segment_hop(r->segment);
			if (r->skim_before)
				ct_segment_skim(r->segment, r->skim_before);
			ct_segment_follow(r->segment, r->follows);
			r->grows = r->follows;
			return 1;
		}
		if (st == CT_NOMEM)
			return ct_fail(err, st, "%s", why.text);
		if (st != CT_NOTFOUND) /* else trimmed to MAX_BYTES since it was found */
			note_damage(r, 0, path, reason(why.text, path));
	}
	return 0;
}

static int is_alive(const struct ct_process_files *p)
{
	struct ct_ring_header ring;
	struct ct_err err;
	int lives;

	if (!p->ring_path)
		return p->id.pidns == ct_pidns_self() && ct_process_lives(&p->id);
	return ct_ring_header_read(p->ring_path, &ring, &lives, &err) == CT_OK && lives &&
	       ring.process.pid == p->id.pid && ring.process.start_ns == p->id.start_ns;
}

/* It follows and has read all there is. 1: the open segment will not grow any more,
 * CT_PROCESS_WAITS, or CT_NOMEM. */
static int await(struct ct_process_reader *r, struct ct_err *err)
{
	int st = r->at < r->n_paths ? 1 : list_next(r);

	if (st == 0 && is_alive(r->files))
		return CT_PROCESS_WAITS;
	if (st == 0) {
		/* what was not in the segments when it ended is in its ring, or came into them
		 * since */
		r->follows = 0;
		st = take_ring(r, r->files) == CT_OK ? 1 : CT_NOMEM;
		for (uint32_t i = 0; r->left && i < r->n_latest; i++)
			ct_ring_snapshot_strike(r->left, &r->latest[i]);
	}
	if (st == 1 && r->segment)
		ct_segment_follow(r->segment, 0);
	r->grows = 0;
	return st == 1 ? 1 : ct_fail(err, st, "out of memory");
}

/* The next block of the segments. 1, 0 if they are through, CT_PROCESS_WAITS, or CT_NOMEM. */
static int next_of_segments(struct ct_process_reader *r, struct ct_err *err)
{
	for (;;) {
		struct ct_err why = { 0 };
		int st = r->segment ? 1 : open_next(r, err), is_new = 0;

		if (st < 0 || (st == 0 && !r->follows))
			return st;
		if (st == 1) {
			st = ct_segment_next_block(r->segment, &r->decoding->block, &why);
			is_new = st == 1 ? take_block(r, &r->decoding->block) : 0;
		}
		if (is_new == 1)
			return 1;
		if (st == CT_NOMEM || is_new < 0)
			return ct_fail(err, CT_NOMEM, "%s", why.text);
		if (st == 0 && r->follows && (r->grows || !r->segment)) {
			st = await(r, err);
			if (st != 1)
				return st;
			continue;
		}
		if (st == 1) {
			r->gaps.damage.damaged_blocks++;
			note_damage(r, 0, r->paths[r->at - 1], "a block's number comes again");
			continue;
		}
		if (st < 0)
			note_damage(r, 0, r->paths[r->at - 1],
				    reason(why.text, r->paths[r->at - 1]));
		close_segment(r);
	}
}

/* Everything is read: what comes before the first block and after the last one is now known. */
static void finish(struct ct_process_reader *r)
{
	uint64_t blocks = 0;

	r->done = 1;
	if (r->left)
		blocks = atomic_load_explicit(
			(ct_word *)(uintptr_t)&ct_ring_snapshot_header(r->left)->blocks,
			memory_order_relaxed);
	if (!r->gaps.losses[CT_LOSS_MAX_BYTES])
		r->gaps.missing_blocks += r->first;
	if (blocks > r->expected && blocks - r->expected <= UINT32_MAX)
		r->gaps.missing_blocks += blocks - r->expected;
}

static void widen(struct ct_block *block, uint64_t ns)
{
	if (ns && (!block->begin_ns || ns < block->begin_ns))
		block->begin_ns = ns;
	if (ns > block->end_ns)
		block->end_ns = ns;
}

/* As a skimming reader hands out a block of a segment. */
static void skim(struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_ops; i++) {
		widen(block, block->ops[i].enter_ns);
		widen(block, block->ops[i].return_ns);
	}
	for (uint32_t i = 0; i < block->n_launches; i++) {
		widen(block, block->launches[i].start_ns);
		widen(block, block->launches[i].end_ns);
	}
	block->skimmed_ops = block->n_ops;
	block->n_ops = block->n_launches = 0;
}

int ct_process_next(struct ct_process_reader *r, const struct ct_block **block, struct ct_err *err)
{
	int st;

	*block = &r->decoding->block;
	if (r->done)
		return 0;
	st = next_of_segments(r, err);
	if (st == 0 && r->left) {
		st = ct_ring_snapshot_next(r->left, &r->decoding->block);
		if (st < 0)
			return ct_fail(err, st, "out of memory");
		if (st && r->skim_before == CT_SKIM_ALL)
			skim(&r->decoding->block);
	}
	if (st == 0)
		finish(r);
	return st;
}

uint64_t ct_process_position(const struct ct_process_reader *r)
{
	return r->read_bytes + (r->segment ? ct_segment_position(r->segment) : 0);
}

void ct_rare_get_part(const struct ct_block *block, const struct ct_rare *rare, void *out,
		      size_t len)
{
	size_t have = rare->len < len ? rare->len : len;

	memset(out, 0, len);
	if (have && rare->at <= block->n_bytes && have <= block->n_bytes - rare->at)
		memcpy(out, block->bytes + rare->at, have);
}
