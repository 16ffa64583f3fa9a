/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/tails.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/hang/rank_history.h"
#include "trace/ops.h"

/* size: of each process the latest half of these are kept, and of those before them, each time that
 * there are too many, every second. What hangs mostly lies behind the latest but one; those far
 * back are for jobs that went on for long beside a rank that hung. */
#define MOST_MARKS 16u

/* A communicator at a mark, and at the end. */
struct comm_at_mark {
	uint32_t id;
	uint64_t n, end, hash;
};

struct mark {
	uint32_t block; /* number of the block that shows */
	uint64_t ns;	/* what is entered from then on comes behind it */
	uint64_t ops;	/* of the process before it */
	struct comm_at_mark *points;
	uint32_t n_points;
};

/* A communicator of a process. */
struct tail_comm {
	uint64_t key, next_seq;
	uint32_t id, nranks;
	uint32_t open; /* collectives that had not ended */
};

/* A communicator of all processes that are members of it. */
struct shared {
	uint64_t least,
		most; /* what members had finished, and called, in the end: below this number */
	uint64_t cut;
};

/* A process. */
struct past {
	struct mark marks[MOST_MARKS];
	uint32_t n_marks;
	size_t segment;	     /* the first one that was looked at */
	uint32_t whole_from; /* block after those whose operations were left out of the file; 0:
				none were */
	uint64_t ops;
	uint64_t oldest_ns; /* the first of what was under way on a GPU, or in a request, had been
			       entered then */
	struct tail_comm *seen;
	uint32_t n_seen, cap_seen;
	struct comm_at_mark *points; /* of the block that is being looked at */
	uint32_t n_points, cap_points;
};

/* ---- what a process shows ---- */

static struct tail_comm *seen_of(struct past *past, uint32_t id)
{
	for (uint32_t i = past->n_seen; i-- > 0;)
		if (past->seen[i].id == id)
			return &past->seen[i];
	if (ct_grow(&past->seen, &past->cap_seen, past->n_seen + 1, sizeof(*past->seen)) != CT_OK)
		return NULL;
	past->seen[past->n_seen] = (struct tail_comm){ .id = id };
	return &past->seen[past->n_seen++];
}

static int take_comm(struct past *past, const struct ct_comm_rec *rec)
{
	struct tail_comm *seen = seen_of(past, rec->id);

	if (!seen)
		return CT_NOMEM;
	seen->key = rec->key;
	seen->nranks = rec->nranks;
	return CT_OK;
}

static int take_status(struct past *past, const struct ct_comm_status_rec *rec)
{
	struct tail_comm *seen = seen_of(past, rec->comm);

	if (!seen || ct_grow(&past->points, &past->cap_points, past->n_points + 1,
			     sizeof(*past->points)) != CT_OK)
		return CT_NOMEM;
	if (rec->next_seq > seen->next_seq)
		seen->next_seq = rec->next_seq;
	if (rec->called)
		past->points[past->n_points++] = (struct comm_at_mark){ .id = rec->comm,
									.n = rec->called - 1,
									.end = rec->order_end,
									.hash = rec->order_hash };
	return CT_OK;
}

/* A block that states what is unfinished replaces the earlier statement. */
static void begin_state(struct past *past)
{
	past->oldest_ns = UINT64_MAX;
	for (uint32_t i = 0; i < past->n_seen; i++)
		past->seen[i].open = 0;
}

static int take_open(struct past *past, const struct ct_open_launch_rec *rec)
{
	const uint64_t opened_ns = rec->words[offsetof(struct ct_ring_open, opened_ns) / 8];
	const uint64_t comm_op = rec->words[offsetof(struct ct_ring_open, comm_op) / 8];
	struct tail_comm *seen = seen_of(past, (uint32_t)(comm_op >> 32));

	if (!seen)
		return CT_NOMEM;
	if (ct_op_class(comm_op & 0xff) != CT_CLASS_P2P)
		seen->open += (uint32_t)(comm_op >> 8) & 0xffffff;
	if (opened_ns < past->oldest_ns)
		past->oldest_ns = opened_ns;
	return CT_OK;
}

/* Drops every second mark of the older half. */
static void thin_out(struct past *past)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < past->n_marks; i++) {
		if (i < MOST_MARKS / 2 && i % 2)
			free(past->marks[i].points);
		else
			past->marks[kept++] = past->marks[i];
	}
	past->n_marks = kept;
}

static int add_mark(struct past *past, uint32_t block, uint64_t ns)
{
	struct mark *last = past->n_marks ? &past->marks[past->n_marks - 1] : NULL;
	struct mark *mark;

	/* no call since: the earlier mark allows more unfinished work; no call before: that is the
	 * beginning */
	if (last ? last->ops == past->ops : !past->ops && !past->segment)
		return CT_OK;
	if (past->n_marks == MOST_MARKS)
		thin_out(past);
	mark = &past->marks[past->n_marks];
	*mark = (struct mark){
		.block = block, .ns = ns, .ops = past->ops, .n_points = past->n_points
	};
	mark->points = calloc(past->n_points, sizeof(*mark->points));
	if (!mark->points)
		return CT_NOMEM;
	memcpy(mark->points, past->points, past->n_points * sizeof(*mark->points));
	past->n_marks++;
	return CT_OK;
}

static int has_state(unsigned kind)
{
	return kind == CT_KIND_STATUS || kind == CT_KIND_COMM_STATUS || kind == CT_KIND_OPEN_LAUNCH;
}

/* Other facts of a block. */
struct facts {
	uint64_t beat_ns;
	uint32_t statuses; /* of communicators */
	int is_state;
};

static int take_rare(struct past *past, struct facts *facts, const struct ct_block *block,
		     const struct ct_rare *rare)
{
	union {
		struct ct_comm_rec comm;
		struct ct_comm_status_rec comm_status;
		struct ct_status_rec status;
		struct ct_open_launch_rec open;
	} u;

	if (!facts->is_state && has_state(rare->kind)) {
		begin_state(past);
		facts->is_state = 1;
	}
	switch (rare->kind) {
	case CT_KIND_COMM:
		ct_rare_get(block, rare, &u.comm, sizeof(u.comm));
		return take_comm(past, &u.comm);
	case CT_KIND_COMM_STATUS:
		ct_rare_get(block, rare, &u.comm_status, sizeof(u.comm_status));
		facts->statuses++;
		return take_status(past, &u.comm_status);
	case CT_KIND_STATUS:
		ct_rare_get(block, rare, &u.status, sizeof(u.status));
		facts->beat_ns = u.status.beat_ns;
		return CT_OK;
	case CT_KIND_OPEN_LAUNCH:
		ct_rare_get(block, rare, &u.open, sizeof(u.open));
		return take_open(past, &u.open);
	default:
		return CT_OK;
	}
}

static int take_block(struct past *past, const struct ct_block *block)
{
	struct facts facts = { 0 };
	int st = CT_OK;

	past->n_points = 0;
	/* what comes again comes late */
	if (block->is_left_out && !block->is_again)
		past->whole_from = block->number + 1;
	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++)
		st = take_rare(past, &facts, block, &block->rares[i]);
	/* for a file without sums, and for a ring, the earlier part is unknown */
	if (st == CT_OK && facts.beat_ns && facts.statuses && past->n_points == facts.statuses)
		st = add_mark(past, block->number, facts.beat_ns);
	past->ops += block->skimmed_ops;
	return st;
}

/* `bytes` of its last segments, at least; UINT64_MAX: all. */
static int look_at(const struct ct_run *run, size_t process, struct ct_decoding *decoding,
		   uint64_t bytes, struct past *past, struct ct_err *err)
{
	struct ct_process_reader *reader;
	const struct ct_block *block;
	int st = ct_process_open_in(run, process, decoding, &reader, err), more = 1;

	if (st != CT_OK)
		return st;
	past->oldest_ns = UINT64_MAX;
	past->segment = ct_process_tail(reader, bytes);
	ct_process_skim(reader, CT_SKIM_ALL);
	ct_process_read_tail(reader, past->segment);
	while (st == CT_OK && more == 1) {
		more = ct_process_next(reader, &block, err);
		st = more == 1 ? take_block(past, block) : more;
	}
	ct_process_close(reader);
	return st;
}

/* ---- all of them ---- */

static uint64_t shared_key(uint64_t key, uint32_t nranks)
{
	return ct_mix(ct_mix(key) + nranks);
}

static struct shared *shared_of(const struct ct_hang_tails *tails, uint64_t key, uint32_t nranks)
{
	return ct_table_get(&tails->shared, shared_key(key, nranks));
}

/* The final progress, to compare with peers. */
static int add_end(struct ct_hang_tails *tails, const struct past *past)
{
	for (uint32_t i = 0; i < past->n_seen; i++) {
		const struct tail_comm *seen = &past->seen[i];
		struct shared *shared = shared_of(tails, seen->key, seen->nranks);
		uint64_t finished;

		if (!shared) {
			shared = ct_arena_calloc(tails->memory, 1, sizeof(*shared));
			if (!shared || ct_table_put(&tails->shared,
						    shared_key(seen->key, seen->nranks), shared))
				return CT_NOMEM;
			shared->least = UINT64_MAX;
		}
		finished = seen->next_seq > seen->open ? seen->next_seq - seen->open : 0;
		if (finished < shared->least)
			shared->least = finished;
		if (seen->next_seq > shared->most)
			shared->most = seen->next_seq;
	}
	return CT_OK;
}

static const struct tail_comm *find_seen(const struct past *past, uint32_t id)
{
	for (uint32_t i = 0; i < past->n_seen; i++)
		if (past->seen[i].id == id)
			return &past->seen[i];
	return NULL;
}

/* Choose a mark before the last collective that all members finished, for each communicator in use.
 * A communicator that all members have stopped using needs none. */
static int is_behind(const struct ct_hang_tails *tails, const struct past *past,
		     const struct mark *mark)
{
	for (uint32_t i = 0; i < mark->n_points; i++) {
		const struct comm_at_mark *point = &mark->points[i];
		const struct tail_comm *seen = find_seen(past, point->id);
		const struct shared *shared = seen ? shared_of(tails, seen->key, seen->nranks)
						   : NULL;

		if (!shared)
			return 0;
		if (point->end && (shared->least != shared->most || shared->most != point->end) &&
		    point->end + CT_HANG_KEEP > shared->least)
			return 0;
	}
	return 1;
}

/* The latest mark that will do; NULL: none. */
static const struct mark *choose(const struct ct_hang_tails *tails, const struct past *past,
				 uint64_t least)
{
	for (uint32_t i = past->n_marks; i-- > 0;) {
		const struct mark *mark = &past->marks[i];

		if (mark->block < past->whole_from)
			return NULL;
		if (past->ops - mark->ops >= least && mark->ns <= past->oldest_ns &&
		    is_behind(tails, past, mark))
			return mark;
	}
	return NULL;
}

static int begin_at(struct ct_hang_tails *tails, uint32_t process, const struct past *past,
		    const struct mark *mark)
{
	uint64_t collectives = 0;

	tails->from[process] = mark->block;
	tails->segments[process] = (uint32_t)past->segment;
	tails->any_skipped |= past->segment != 0;
	tails->any = 1;
	for (uint32_t i = 0; i < mark->n_points; i++) {
		const struct comm_at_mark *point = &mark->points[i];
		const struct tail_comm *seen = find_seen(past, point->id);
		struct shared *shared = shared_of(tails, seen->key, seen->nranks);
		struct ct_hang_before *before = ct_arena_calloc(tails->memory, 1, sizeof(*before));

		if (!before ||
		    ct_table_put(&tails->before, (uint64_t)process << 32 | point->id, before))
			return CT_NOMEM;
		*before = (struct ct_hang_before){ .n = point->n,
						   .hash = point->hash,
						   .from = point->end };
		collectives += point->n;
		if (point->end > shared->cut)
			shared->cut = point->end;
	}
	/* how many there were in all is not known without the earlier segments */
	tails->no_messages[process] = collectives == mark->ops && !past->segment;
	return CT_OK;
}

static void fini(struct past *past)
{
	for (uint32_t i = 0; i < past->n_marks; i++)
		free(past->marks[i].points);
	free(past->seen);
	free(past->points);
}

/* All of those of which the last segments are not enough. */
static int look_again(struct ct_hang_tails *tails, const struct ct_run *run, uint64_t least,
		      struct past *pasts, struct ct_decoding *decoding, struct ct_err *err)
{
	int st = CT_OK;

	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++) {
		if (!pasts[p].segment || choose(tails, &pasts[p], least))
			continue;
		fini(&pasts[p]);
		pasts[p] = (struct past){ 0 };
		st = look_at(run, p, decoding, UINT64_MAX, &pasts[p], err);
		st = st ?: add_end(tails, &pasts[p]);
	}
	return st;
}

static int find(struct ct_hang_tails *tails, const struct ct_run *run,
		const struct ct_starts *starts, int restart, uint64_t least, uint64_t bytes,
		struct past *pasts, struct ct_decoding *decoding, struct ct_err *err)
{
	int st = CT_OK;

	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++) {
		if (starts->processes[p].restart != restart)
			continue;
		st = look_at(run, p, decoding, bytes, &pasts[p], err);
		st = st ?: add_end(tails, &pasts[p]);
	}
	st = st ?: look_again(tails, run, least, pasts, decoding, err);
	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++) {
		const struct mark *mark = choose(tails, &pasts[p], least);

		if (mark)
			st = begin_at(tails, (uint32_t)p, &pasts[p], mark);
		else
			tails->lacks |= pasts[p].whole_from != 0;
	}
	return st;
}

int ct_hang_tails_find(const struct ct_run *run, const struct ct_starts *starts, int restart,
		       uint64_t least, uint64_t bytes, struct ct_hang_tails **out,
		       struct ct_err *err)
{
	struct past *pasts = calloc(run->n_processes + 1, sizeof(*pasts));
	struct ct_decoding *decoding = ct_decoding_new();
	struct ct_hang_tails *tails = calloc(1, sizeof(*tails));
	int st = CT_NOMEM;

	if (tails) {
		tails->memory = ct_arena_new();
		tails->from = calloc(run->n_processes + 1, sizeof(*tails->from));
		tails->segments = calloc(run->n_processes + 1, sizeof(*tails->segments));
		tails->no_messages = calloc(run->n_processes + 1, 1);
	}
	if (pasts && decoding && tails && tails->memory && tails->from && tails->segments &&
	    tails->no_messages)
		st = find(tails, run, starts, restart, least ? least : CT_HANG_TAIL_LEAST,
			  bytes ? bytes : CT_HANG_TAIL_BYTES, pasts, decoding, err);
	for (size_t p = 0; pasts && p < run->n_processes; p++)
		fini(&pasts[p]);
	free(pasts);
	ct_decoding_free(decoding);
	*out = tails;
	return st;
}

struct ct_hang_before ct_hang_tails_before(const struct ct_hang_tails *tails, uint32_t process,
					   uint32_t id, uint64_t key, uint32_t nranks)
{
	const struct ct_hang_before *found = ct_table_get(&tails->before,
							  (uint64_t)process << 32 | id);
	const struct shared *shared = shared_of(tails, key, nranks);
	struct ct_hang_before before = found ? *found : (struct ct_hang_before){ 0 };

	before.cut = shared ? shared->cut : 0;
	return before;
}

void ct_hang_tails_free(struct ct_hang_tails *tails)
{
	if (!tails)
		return;
	ct_table_fini(&tails->before);
	ct_table_fini(&tails->shared);
	ct_arena_free(tails->memory);
	free(tails->from);
	free(tails->segments);
	free(tails->no_messages);
	free(tails);
}
