/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/drain.h"

#include <stdlib.h>
#include <string.h>

static int by_lap(const void *a, const void *b)
{
	uint64_t la = ((const struct ct_drain_chunk *)a)->lap;
	uint64_t lb = ((const struct ct_drain_chunk *)b)->lap;

	return la < lb ? -1 : la > lb;
}

int ct_drain_begin(struct ct_drain *drain, const struct ct_ring *ring)
{
	uint32_t n = ring->header->n_chunks;
	/* Chunks claimed from now on are for the next pass: a thread may claim one that was passed already as free
	 * and then one that is still to come, whose records would be seen without those between. */
	uint64_t claims = atomic_load_explicit(&ring->header->claims, memory_order_acquire);

	if (drain->cap_chunks < n) {
		struct ct_drain_chunk *grown = realloc(drain->chunks, n * sizeof(*grown));

		if (!grown)
			return CT_NOMEM;
		drain->chunks = grown;
		drain->cap_chunks = n;
	}
	drain->n_chunks = 0;
	drain->at = 0;
	drain->done = 0;
	drain->n_pending = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct ct_chunk *chunk = ct_ring_chunk(ring, i);
		/* acquire: a chunk seen CLOSED shows all its slots; pairs with ct_lane_close() */
		uint64_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
		uint64_t drained = atomic_load_explicit(&chunk->drained, memory_order_relaxed);

		if ((state & 0xff) != CT_CHUNK_OWNED && (state & 0xff) != CT_CHUNK_CLOSED)
			continue;
		if (state >> 8 > claims || drained > CT_CHUNK_SLOTS)
			continue; /* too new; or a damaged ring */
		drain->chunks[drain->n_chunks++] = (struct ct_drain_chunk){
			.chunk = chunk,
			.lap = state >> 8,
			.from = (uint32_t)drained,
			.to = (uint32_t)drained,
			.closed = (state & 0xff) == CT_CHUNK_CLOSED,
		};
	}
	if (drain->n_chunks)
		qsort(drain->chunks, drain->n_chunks, sizeof(*drain->chunks), by_lap);
	return CT_OK;
}

/* The words of a slot as a record of the block. */
static inline int add_slot(struct ct_block *block, struct ct_extent *extent, const uint64_t w[8])
{
	switch (CT_TAG_KIND(w[0])) {
	case CT_KIND_OP: {
		struct ct_op *op = ct_block_new_op(block);

		if (!op)
			return CT_NOMEM;
		ct_op_unpack(w, op);
		op->tid = extent->tid;
		if (!op->return_ns)
			op->flags |= CT_OP_UNRETURNED;
		extent->n_ops++;
		return CT_OK;
	}
	case CT_KIND_LAUNCH: {
		struct ct_launch *launch = ct_block_new_launch(block);

		if (!launch)
			return CT_NOMEM;
		ct_launch_unpack(w, launch);
		extent->n_launches++;
		return CT_OK;
	}
	default: {
		const size_t len = 7 * sizeof(w[0]);
		uint8_t *bytes = ct_block_new_rare(block, CT_TAG_KIND(w[0]), (uint16_t)len);

		if (!bytes)
			return CT_NOMEM;
		memcpy(bytes, &w[1], len);
		return CT_OK;
	}
	}
}

/* Take what one chunk has, up to `room` records. Returns the records taken or CT_NOMEM. */
static int take_chunk(struct ct_drain *drain, struct ct_drain_chunk *c, struct ct_block *block,
		      uint32_t room, enum ct_drain_mode mode)
{
	struct ct_slot *slots = ct_chunk_slots(c->chunk);
	struct ct_extent extent = { .lap = c->lap, .first = c->to };
	uint64_t w[8];
	int st;

	for (; c->to < CT_CHUNK_SLOTS && extent.n_slots < room; c->to++, extent.n_slots++) {
		if (!ct_slot_copy(&slots[c->to], (uint32_t)c->lap, w))
			break;
		if (mode == CT_DRAIN_RETURNED && CT_TAG_KIND(w[0]) == CT_KIND_OP &&
		    !w[CT_OP_W_END]) {
			drain->n_pending++;
			goto out_pinned;
		}
		/* known now: the owner's name is stored before its first record */
		if (!extent.n_slots)
			extent.tid = (uint32_t)atomic_load_explicit(&c->chunk->owner,
								    memory_order_relaxed);
		st = add_slot(block, &extent, w);
		if (st != CT_OK)
			return st;
	}
	c->whole = c->closed && (c->to == CT_CHUNK_SLOTS || extent.n_slots < room);
out_pinned:
	if (extent.n_slots) {
		st = ct_block_add_extent(block, &extent);
		if (st != CT_OK)
			return st;
	}
	return (int)extent.n_slots;
}

int ct_drain_next(struct ct_drain *drain, const struct ct_ring *ring, struct ct_block *block,
		  uint32_t max, enum ct_drain_mode mode)
{
	(void)ring;
	for (; drain->at < drain->n_chunks; drain->at++) {
		struct ct_drain_chunk *c = &drain->chunks[drain->at];
		uint32_t have = ct_block_records(block);
		int taken;

		if (have >= max)
			return 1;
		taken = take_chunk(drain, c, block, max - have, mode);
		if (taken < 0)
			return taken;
		if ((uint32_t)taken == max - have && !c->whole)
			return 1; /* full in the middle of the chunk: the next block continues here */
	}
	return 0;
}

void ct_drain_done(struct ct_drain *drain, struct ct_ring *ring)
{
	uint32_t end = drain->at < drain->n_chunks ? drain->at + 1 : drain->n_chunks;

	for (uint32_t i = drain->done; i < end; i++) {
		struct ct_drain_chunk *c = &drain->chunks[i];

		if (c->whole) {
			ct_ring_free_chunk(ring, c->chunk);
			c->whole = 0;
		} else if (c->to != c->from) {
			atomic_store_explicit(&c->chunk->drained, c->to, memory_order_release);
		}
		c->from = c->to;
	}
	drain->done = drain->at;
}

void ct_drain_undo(struct ct_drain *drain)
{
	drain->n_chunks = 0;
	drain->at = 0;
	drain->done = 0;
}

void ct_drain_fini(struct ct_drain *drain)
{
	free(drain->chunks);
	memset(drain, 0, sizeof(*drain));
}

/* Records of a closed chunk that are in no segment, or -1 if a thread is still inside one of its ops and will
 * store into it. */
static int undrained(const struct ct_drain_chunk *c)
{
	struct ct_slot *slots = ct_chunk_slots(c->chunk);
	uint64_t w[8];
	int n = 0;

	for (uint32_t i = c->from; i < CT_CHUNK_SLOTS; i++) {
		if (!ct_slot_copy(&slots[i], (uint32_t)c->lap, w))
			break;
		if (CT_TAG_KIND(w[0]) == CT_KIND_OP && !w[CT_OP_W_END])
			return -1;
		n++;
	}
	return n;
}

uint64_t ct_drain_give_up(struct ct_drain *drain, struct ct_ring *ring, uint32_t want,
			  enum ct_loss reason)
{
	uint64_t lost = 0;

	if (ct_drain_begin(drain, ring) != CT_OK)
		return 0;
	for (uint32_t i = 0; i < drain->n_chunks; i++) {
		int n;

		if (atomic_load_explicit(&ring->header->n_free, memory_order_relaxed) >= want)
			break;
		if (!drain->chunks[i].closed)
			continue;
		n = undrained(&drain->chunks[i]);
		if (n < 0)
			continue;
		/* counted before it is gone: a reader may see it twice, never not at all */
		ct_ring_lose(ring, reason, (uint64_t)n);
		ct_ring_free_chunk(ring, drain->chunks[i].chunk);
		lost += (uint64_t)n;
	}
	ct_drain_undo(drain);
	return lost;
}
