/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/drain.h"

#include <stdlib.h>
#include <string.h>

#define RARE_BYTES ((uint32_t)(CT_SLOT_BYTES - sizeof(uint64_t))) /* of a slot behind its tag */

static int by_lap(const void *a, const void *b)
{
	uint64_t la = ((const struct ct_drain_chunk *)a)->lap;
	uint64_t lb = ((const struct ct_drain_chunk *)b)->lap;

	return la < lb ? -1 : la > lb;
}

int ct_drain_begin(struct ct_drain *drain, const struct ct_ring *ring)
{
	uint32_t n = ring->header->n_chunks;
	/* Chunks claimed from now on are for the next pass: a thread may claim one that was passed
	 * already as free and then one that is still to come, whose records would be seen without
	 * those between. */
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

/* Space for so many records, of whichever kind. 0 or CT_NOMEM. */
static int make_room(struct ct_block *b, uint32_t n)
{
	if (ct_block_room(&b->ops, b->n_ops, n, &b->cap_ops, sizeof(*b->ops)) != CT_OK ||
	    ct_block_room(&b->launches, b->n_launches, n, &b->cap_launches, sizeof(*b->launches)) !=
		    CT_OK ||
	    ct_block_room(&b->rares, b->n_rares, n, &b->cap_rares, sizeof(*b->rares)) != CT_OK)
		return CT_NOMEM;
	return ct_block_room(&b->bytes, b->n_bytes, n * RARE_BYTES, &b->cap_bytes, 1);
}

/* The words of a slot as a record of the block, which has space for it. */
static inline void add_slot(struct ct_block *b, uint32_t tid, const uint64_t w[8])
{
	const unsigned kind = CT_TAG_KIND(w[0]);

	if (kind == CT_KIND_OP) {
		struct ct_op *op = &b->ops[b->n_ops++];

		ct_op_unpack(w, op);
		op->tid = tid;
		if (!op->return_ns)
			op->flags |= CT_OP_UNRETURNED;
	} else if (kind == CT_KIND_LAUNCH) {
		ct_launch_unpack(w, &b->launches[b->n_launches++]);
	} else {
		b->rares[b->n_rares++] = (struct ct_rare){ (uint16_t)kind, RARE_BYTES, b->n_bytes };
		/* word by word: so all of them stay in registers, also those of other kinds */
#pragma GCC unroll 8
		for (unsigned i = 0; i < RARE_BYTES / sizeof(w[0]); i++)
			memcpy(b->bytes + b->n_bytes + i * sizeof(w[0]), &w[1 + i], sizeof(w[0]));
		b->n_bytes += RARE_BYTES;
	}
}

/* Take what one chunk has, up to `room` records. Returns the records taken or CT_NOMEM. */
static int take_chunk(struct ct_drain *drain, struct ct_drain_chunk *c, struct ct_block *block,
		      uint32_t room, enum ct_drain_mode mode)
{
	const struct ct_slot *slots = ct_chunk_slots(c->chunk) + c->to;
	const uint32_t left = CT_CHUNK_SLOTS - c->to;
	const uint32_t most = left < room ? left : room;
	struct ct_extent extent = {
		.lap = c->lap,
		.first = c->to,
		.n_ops = block->n_ops,
		.n_launches = block->n_launches,
	};
	int is_pinned = 0;
	uint32_t n;
	uint64_t w[8];

	if (make_room(block, most) != CT_OK)
		return CT_NOMEM;
	for (n = 0; n < most; n++) {
		if (!ct_slot_copy(&slots[n], (uint32_t)c->lap, w))
			break;
		if (CT_TAG_KIND(w[0]) == CT_KIND_OP && !w[CT_OP_W_END] &&
		    mode == CT_DRAIN_RETURNED) {
			drain->n_pending++;
			is_pinned = 1;
			break;
		}
		/* known now: the owner's name is stored before its first record */
		if (!n)
			extent.tid = (uint32_t)atomic_load_explicit(&c->chunk->owner,
								    memory_order_relaxed);
		add_slot(block, extent.tid, w);
	}
	c->to += n;
	c->whole = !is_pinned && c->closed && (c->to == CT_CHUNK_SLOTS || n < room);
	if (!n)
		return 0;
	extent.n_slots = n;
	extent.n_ops = block->n_ops - extent.n_ops;
	extent.n_launches = block->n_launches - extent.n_launches;
	return ct_block_add_extent(block, &extent) == CT_OK ? (int)n : CT_NOMEM;
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

/* Records of a closed chunk that are in no segment, or -1 if a thread is still inside one of its
 * ops and will store into it. */
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
