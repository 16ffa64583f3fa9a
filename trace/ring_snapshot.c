/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "trace/drain.h"
#include "trace/ring_read.h"

struct ct_ring_snapshot {
	struct ct_ring
		ring; /* our own: a header page and the chunks that hold undrained slots, by lap */
	struct ct_block state;
	struct ct_drain drain;
	int phase; /* 0 state, 1 drain to begin, 2 draining */
};

static uint64_t lap_of(const struct ct_chunk *chunk)
{
	return ct_load_acquire(&chunk->state) >> 8;
}

/* Copy a chunk that may be written meanwhile. 1 if it holds undrained slots. */
static int copy_chunk(const struct ct_chunk *from, struct ct_chunk *to)
{
	uint64_t state = ct_load_acquire(&from->state);
	uint64_t drained = ct_load_acquire(&from->drained);
	const struct ct_slot *slots = ct_chunk_slots(from);
	struct ct_slot *copies = ct_chunk_slots(to);
	int found = 0;

	memset(to, 0, CT_CHUNK_BYTES);
	if ((state & 0xff) == CT_CHUNK_FREE || drained >= CT_CHUNK_SLOTS)
		return 0;
	for (uint64_t i = drained; i < CT_CHUNK_SLOTS; i++) {
		uint64_t w[8];

		if (!ct_slot_copy(&slots[i], (uint32_t)(state >> 8), w))
			continue;
		memcpy(&copies[i], w, sizeof(w));
		found = 1;
	}
	to->state = state;
	to->owner = ct_load_acquire(&from->owner);
	to->drained = drained;
	/* Freed meanwhile: its slots are in a segment that is read after this. */
	return found && lap_of(from) == state >> 8 &&
	       (ct_load_acquire(&from->state) & 0xff) != CT_CHUNK_FREE;
}

/* Strings after one whose writer died cannot be found by walking the table, but ops name them. */
struct strings {
	const struct ct_ring_view *view;
	uint32_t end;	/* ids below come with the state */
	uint8_t *taken; /* one bit each of the ids above */
};

static int add_string(struct strings *s, uint32_t id, struct ct_block *state)
{
	/* In a damaged table strings may overlap: no more bytes than the table has. */
	if (id < s->end || id > s->view->strings_bytes / 4 ||
	    state->n_bytes > s->view->strings_bytes || (s->taken[id / 8] & 1 << id % 8))
		return CT_OK;
	s->taken[id / 8] |= (uint8_t)(1 << id % 8);
	return ct_ring_view_add_string(s->view, id, state);
}

static int add_strings(struct strings *s, const struct ct_chunk *chunk, struct ct_block *state)
{
	const struct ct_slot *slots = ct_chunk_slots(chunk);
	int st = CT_OK;

	for (uint32_t i = 0; i < CT_CHUNK_SLOTS && st == CT_OK; i++) {
		uint64_t tag = ct_load_acquire(&slots[i].w[0]);

		if (CT_TAG_KIND(tag) != CT_KIND_OP)
			continue;
		st = add_string(s, CT_TAG_CALL(tag), state);
		if (st == CT_OK)
			st = add_string(
				s, (uint32_t)(ct_load_acquire(&slots[i].w[CT_OP_W_LINK]) >> 32),
				state);
	}
	return st;
}

static int by_lap(const void *a, const void *b)
{
	uint64_t la = lap_of(a);
	uint64_t lb = lap_of(b);

	return la < lb ? -1 : la > lb;
}

/* Makes space for one more chunk after the header page. */
static int grow(struct ct_ring_snapshot *l, uint32_t *cap)
{
	void *grown;

	if (l->ring.header->n_chunks < *cap)
		return CT_OK;
	*cap = *cap ? *cap * 2 : 4;
	if (posix_memalign(&grown, CT_SLOT_BYTES,
			   sizeof(struct ct_ring_header) + (size_t)*cap * CT_CHUNK_BYTES) != 0)
		return CT_NOMEM;
	memcpy(grown, l->ring.header,
	       sizeof(struct ct_ring_header) + (size_t)l->ring.header->n_chunks * CT_CHUNK_BYTES);
	free(l->ring.header);
	l->ring.header = grown;
	l->ring.chunks = (struct ct_chunk *)((char *)grown + sizeof(struct ct_ring_header));
	return CT_OK;
}

static int copy_header(struct ct_ring_snapshot *l, const struct ct_ring_view *view)
{
	const ct_word *from = (const ct_word *)(const void *)view->ring.header;
	uint64_t *to;
	void *page;

	if (posix_memalign(&page, CT_SLOT_BYTES, sizeof(struct ct_ring_header)) != 0)
		return CT_NOMEM;
	to = page;
	for (size_t i = 0; i < sizeof(struct ct_ring_header) / 8; i++)
		to[i] = ct_load_acquire(&from[i]);
	l->ring.header = page;
	ct_process_terminate(&l->ring.header->process);
	l->ring.header->n_chunks = 0;
	return CT_OK;
}

/* Chunk `i` of the view into the copy `k`, or behind the others. 0 or CT_NOMEM. */
static int take_chunk(struct ct_ring_snapshot *l, const struct ct_ring_view *view, uint32_t i,
		      uint32_t *copy_of, uint32_t *cap)
{
	struct ct_chunk *copy;

	if (grow(l, cap) != CT_OK)
		return CT_NOMEM;
	copy = ct_ring_chunk(&l->ring, l->ring.header->n_chunks);
	if (!copy_chunk(ct_ring_chunk(&view->ring, i), copy))
		return CT_OK;
	if (copy_of[i])
		memcpy(ct_ring_chunk(&l->ring, copy_of[i] - 1), copy, CT_CHUNK_BYTES);
	else
		copy_of[i] = ++l->ring.header->n_chunks;
	return CT_OK;
}

/* The undrained chunks, as they were at one moment for each thread: without a hole in its records.
 * While chunks are copied, a thread may fill one that has been copied, and go on in one that has
 * not. So those that were being filled, or were free, are copied again, unless they were claimed
 * after the first round. */
static int take_chunks(struct ct_ring_snapshot *l, const struct ct_ring_view *view)
{
	uint32_t *copy_of = calloc(view->n_chunks + 1u, sizeof(*copy_of)); /* its number + 1 */
	uint64_t latest = 0; /* lap of the first round */
	uint32_t cap = 0;
	int st = copy_of ? CT_OK : CT_NOMEM;

	for (uint32_t i = 0; i < view->n_chunks && st == CT_OK; i++)
		st = take_chunk(l, view, i, copy_of, &cap);
	for (uint32_t k = 0; k < l->ring.header->n_chunks; k++) {
		const uint64_t lap = lap_of(ct_ring_chunk(&l->ring, k));

		latest = lap > latest ? lap : latest;
	}
	for (uint32_t i = 0; i < view->n_chunks && st == CT_OK; i++) {
		const struct ct_chunk *copy = copy_of[i] ? ct_ring_chunk(&l->ring, copy_of[i] - 1)
							 : NULL;
		const int was_full = copy &&
				     (ct_load_acquire(&copy->state) & 0xff) != CT_CHUNK_OWNED;

		if (!was_full && lap_of(ct_ring_chunk(&view->ring, i)) <= latest)
			st = take_chunk(l, view, i, copy_of, &cap);
	}
	free(copy_of);
	if (st == CT_OK && l->ring.header->n_chunks)
		qsort(l->ring.chunks, l->ring.header->n_chunks, CT_CHUNK_BYTES, by_lap);
	return st;
}

/* The strings of its records that the state will not bring. */
static int take_strings(struct ct_ring_snapshot *l, const struct ct_ring_view *view)
{
	struct strings strings = { .view = view, .end = ct_ring_view_strings_end(view) };
	int st = CT_OK;

	strings.taken = calloc(view->strings_bytes / 32 + 1, 1);
	if (!strings.taken)
		return CT_NOMEM;
	for (uint32_t k = 0; k < l->ring.header->n_chunks && st == CT_OK; k++)
		st = add_strings(&strings, ct_ring_chunk(&l->ring, k), &l->state);
	free(strings.taken);
	return st;
}

static int copy_ring(struct ct_ring_view *view, struct ct_ring_snapshot **out, struct ct_err *err)
{
	struct ct_ring_snapshot *l = calloc(1, sizeof(*l));
	int st = l ? copy_header(l, view) : CT_NOMEM;

	if (st == CT_OK) {
		ct_block_reset(&l->state, CT_BLOCK_DATA);
		l->state.quantum_ns = 1;
		/* Slots first: a record may name a communicator made after the table had been read.
		 */
		st = take_chunks(l, view);
		ct_ring_view_tables(view);
	}
	if (st == CT_OK)
		st = take_strings(l, view);
	if (st == CT_OK)
		st = ct_ring_view_state(view, &l->state);
	if (st != CT_OK) {
		ct_ring_snapshot_free(l);
		return ct_fail(err, st, "out of memory");
	}
	*out = l;
	return CT_OK;
}

int ct_ring_snapshot_take(const char *path, const struct ct_process *id,
			  struct ct_ring_snapshot **left, struct ct_err *err)
{
	struct ct_ring_view view;
	const struct ct_process *its;
	int st = ct_ring_view_open(path, &view, err);

	*left = NULL;
	if (st != CT_OK)
		return st;
	its = &view.ring.header->process;
	if (its->hostkey != id->hostkey || its->pid != id->pid || its->start_ns != id->start_ns)
		st = ct_fail(err, CT_NOTFOUND, "%s: another process's ring by now", path);
	else
		st = copy_ring(&view, left, err);
	ct_ring_view_close(&view);
	return st;
}

int ct_ring_snapshot_memory(const void *data, size_t bytes, struct ct_ring_snapshot **left,
			    struct ct_err *err)
{
	struct ct_ring_view view;
	int st = ct_ring_view_memory(data, bytes, &view, err);

	*left = NULL;
	if (st != CT_OK)
		return st;
	st = copy_ring(&view, left, err);
	ct_ring_view_close(&view);
	return st;
}

void ct_ring_snapshot_free(struct ct_ring_snapshot *l)
{
	if (!l)
		return;
	ct_drain_fini(&l->drain);
	ct_block_fini(&l->state);
	free(l->ring.header);
	free(l);
}

const struct ct_ring_header *ct_ring_snapshot_header(const struct ct_ring_snapshot *l)
{
	return l->ring.header;
}

void ct_ring_snapshot_strike(struct ct_ring_snapshot *l, const struct ct_extent *extent)
{
	uint32_t low = 0;
	uint32_t high = l->ring.header->n_chunks;
	uint64_t end = (uint64_t)extent->first + extent->n_slots;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		struct ct_chunk *chunk = ct_ring_chunk(&l->ring, mid);
		uint64_t lap = lap_of(chunk);

		if (lap == extent->lap) {
			if (end > CT_CHUNK_SLOTS)
				end = CT_CHUNK_SLOTS;
			if (end > ct_load_acquire(&chunk->drained))
				chunk->drained = end;
			return;
		}
		if (lap < extent->lap)
			low = mid + 1;
		else
			high = mid;
	}
}

int ct_ring_snapshot_next(struct ct_ring_snapshot *l, struct ct_block *block)
{
	int st;

	ct_block_reset(block, CT_BLOCK_DATA);
	block->quantum_ns = 1;
	if (l->phase == 0) {
		struct ct_block empty = *block;

		/* hand it over: whole blocks are cheaper to swap than to copy */
		*block = l->state;
		l->state = empty;
		l->phase = 1;
		return 1;
	}
	if (!l->ring.header->n_chunks)
		return 0;
	if (l->phase == 1) {
		if (ct_drain_begin(&l->drain, &l->ring) != CT_OK)
			return CT_NOMEM;
		l->phase = 2;
	}
	st = ct_drain_next(&l->drain, &l->ring, block, CT_DRAIN_RECORDS, CT_DRAIN_ALL);
	if (st < 0)
		return st;
	return ct_block_records(block) != 0;
}
