/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "interpose/gpu/graph/graph.h"
#include "interpose/recorder.h"
#include "interpose/stacks/stacks.h"
#include "trace/clock.h"
#include "trace/ring_tables.h"
#include "trace/ring_traffic.h"

/* NULL-safe chain: the first failure is what counts. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		int st_ = (call);                                                                  \
		if (st_ != CT_OK)                                                                  \
			return st_;                                                                \
	} while (0)

void ct_state_init(struct ct_state *s, struct ct_ring *ring, const struct ct_notes *notes)
{
	memset(s, 0, sizeof(*s));
	s->ring = ring;
	s->notes = *notes;
	s->pass = 1;
}

void ct_state_fini(struct ct_state *s)
{
	free(s->comms);
	free(s->traffic_seen);
	ct_order_totals_fini(&s->order);
	memset(s, 0, sizeof(*s));
}

/* One for each of `n` entries that there are now; those that are new are empty. */
static int know_entries(void *array, uint32_t *known, uint32_t n, size_t size)
{
	char **p = array;
	char *grown = n > *known ? realloc(*p, n * size) : *p;

	if (n <= *known)
		return CT_OK;
	if (!grown)
		return CT_NOMEM;
	memset(grown + *known * size, 0, (n - *known) * size);
	*p = grown;
	*known = n;
	return CT_OK;
}

/* Only transfers inside Gloo's collectives are counted there. */
static uint32_t traffic_entries(const struct ct_state *s)
{
	return ct_ring_traffic_is_empty(s->ring) ? 0 : ct_ring_traffic_entries(s->ring->header);
}

/* Totals that have grown, or all; of one communicator, or of all with `comm` 0. */
static int add_traffic(struct ct_state *s, struct ct_block *block, uint32_t comm, int all)
{
	uint32_t n = traffic_entries(s);
	struct ct_traffic_rec rec;

	TRY(know_entries(&s->traffic_seen, &s->n_traffic, n, sizeof(*s->traffic_seen)));
	for (uint32_t i = 0; i < n; i++) {
		if (!ct_ring_traffic_read(s->ring, i, &rec) || (comm && rec.comm != comm) ||
		    (!all && rec.messages == s->traffic_seen[i]))
			continue;
		TRY(ct_block_add_rare(block, CT_KIND_TRAFFIC, &rec, sizeof(rec)));
		s->traffic_seen[i] = rec.messages;
	}
	return CT_OK;
}

static int add_comms(struct ct_state *s, struct ct_block *block, int all)
{
	TRY(know_entries(&s->comms, &s->n_comms, s->ring->header->n_comms, sizeof(*s->comms)));
	for (uint32_t i = 0; i < s->n_comms; i++) {
		struct ct_state_comm *known = &s->comms[i];
		struct ct_comm_rec rec;
		uint64_t stamp;

		if (!ct_ring_comm_read(&s->ring->comms[i], &rec))
			continue;
		stamp = (uint64_t)rec.id << 33 | (uint64_t)rec.name << 1 | (rec.ended_ns != 0);
		if (!all && stamp == known->seen)
			continue;
		TRY(ct_block_add_rare(block, CT_KIND_COMM, &rec, sizeof(rec)));
		/* with its end, since its entries are freed after that */
		if (rec.ended_ns)
			TRY(add_traffic(s, block, rec.id, 1));
		known->seen = stamp;
		if (!rec.ended_ns)
			known->pass = 0;
		else if (!known->pass)
			known->pass = s->pass;
	}
	return CT_OK;
}

static int add_strings(struct ct_state *s, struct ct_block *block, int all)
{
	const char *table = s->ring->strings;
	uint64_t end = ct_load_acquire(&s->ring->header->strings_used);
	uint64_t at = all ? 0 : s->strings_at;

	if (end > s->ring->header->strings_bytes)
		end = s->ring->header->strings_bytes;
	while (at + 4 < end) {
		/* acquire: pairs with the release in ct_ring_string(); 0: still being written */
		uint32_t len = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)(table + at),
						    memory_order_acquire);
		uint32_t id = (uint32_t)(at / 4 + 1);

		if (len == 0)
			break;
		TRY(ct_block_add_text(block, CT_KIND_STRING, &id, sizeof(id), table + at + 4));
		at += ct_ring_string_bytes(len);
	}
	s->strings_at = at;
	return CT_OK;
}

int ct_state_new(struct ct_state *s, struct ct_block *block)
{
	TRY(add_comms(s, block, 0));
	TRY(ct_environ_add(&s->environ, block, 0));
	TRY(ct_stacks_add(&s->stacks, block, 0));
	TRY(ct_counters_add(&s->counters, block, 0));
	return add_strings(s, block, 0);
}

void ct_state_again(struct ct_state *s)
{
	s->strings_at = 0;
	memset(&s->environ, 0, sizeof(s->environ));
	s->stacks = 0;
	memset(&s->counters, 0, sizeof(s->counters));
	s->n_comms = s->n_traffic = 0;
}

/* The next one in a slot begins from nothing. */
static void free_traffic(struct ct_state *s, uint32_t comm)
{
	uint32_t n = traffic_entries(s);
	struct ct_traffic_rec rec;

	for (uint32_t i = 0; i < n; i++) {
		if (!ct_ring_traffic_read(s->ring, i, &rec) || rec.comm != comm)
			continue;
		ct_ring_traffic_free(s->ring, i);
		if (i < s->n_traffic)
			s->traffic_seen[i] = 0;
	}
}

void ct_state_drained(struct ct_state *s)
{
	for (uint32_t i = 0; i < s->n_comms; i++) {
		if (!s->comms[i].pass || s->comms[i].pass >= s->pass)
			continue;
		s->comms[i] = (struct ct_state_comm){ 0 };
		s->comms_freed++;
		ct_order_totals_drop(&s->order, (uint32_t)ct_load_acquire(&s->ring->comms[i].id));
		free_traffic(s, (uint32_t)ct_load_acquire(&s->ring->comms[i].id));
		ct_ring_comm_free(s->ring, i);
	}
	s->pass++;
}

static int add_op_names(struct ct_block *block)
{
	for (unsigned op = 1; op < 256; op++) {
		const char *name = ct_op_name(op);
		const uint8_t head[4] = { 0, 0, (uint8_t)op, 0 };

		if (name)
			TRY(ct_block_add_text(block, CT_KIND_NAME, head, sizeof(head), name));
	}
	return CT_OK;
}

static int add_losses(struct ct_state *s, struct ct_block *block, uint64_t now)
{
	for (uint32_t reason = 1; reason < CT_LOSS_MAX; reason++) {
		struct ct_loss_rec rec = {
			.reason = reason,
			.records = ct_load_acquire(&s->ring->header->losses[reason]),
		};

		if (!rec.records)
			continue;
		if (rec.records != s->losses[reason]) {
			/* noticed, not measured: when it began is known to one status period */
			if (!s->losses[reason])
				s->loss_begin_ns[reason] = now;
			s->loss_end_ns[reason] = now;
			s->losses[reason] = rec.records;
		}
		rec.begin_ns = s->loss_begin_ns[reason];
		rec.end_ns = s->loss_end_ns[reason];
		TRY(ct_block_add_rare(block, CT_KIND_LOSS, &rec, sizeof(rec)));
	}
	return CT_OK;
}

static int add_clock(struct ct_block *block)
{
	struct timex state;
	struct ct_clock_rec rec;
	uint64_t before, after;

	memset(&state, 0, sizeof(state)); /* modes 0: only look */
	rec.status = adjtimex(&state) >= 0 ? (uint64_t)(uint32_t)state.status : UINT64_MAX;
	rec.maxerror_ns = rec.status != UINT64_MAX ? (uint64_t)state.maxerror * 1000 : UINT64_MAX;
	before = ct_clock_ns(CLOCK_MONOTONIC);
	rec.realtime_ns = ct_clock_ns(CLOCK_REALTIME);
	rec.raw_ns = ct_clock_ns(CLOCK_MONOTONIC_RAW);
	after = ct_clock_ns(CLOCK_MONOTONIC);
	rec.monotonic_ns = before + (after - before) / 2;
	return ct_block_add_rare(block, CT_KIND_CLOCK, &rec, sizeof(rec));
}

static int add_comm_status(struct ct_state *s, struct ct_block *block)
{
	for (uint32_t i = 0; i < s->ring->header->n_comms; i++) {
		struct ct_ring_comm *c = &s->ring->comms[i];
		struct ct_comm_status_rec rec;

		if (!ct_ring_comm_status_read(c, &rec) || ct_load_acquire(&c->ended_ns))
			continue;
		ct_order_totals_report(&s->order, &rec);
		TRY(ct_block_add_rare(block, CT_KIND_COMM_STATUS, &rec, sizeof(rec)));
	}
	return CT_OK;
}

/* size: limit of unreturned operations in one block. A thread is inside one, or as many as
 * MPI_Startall starts; the rest are in the ring only, until they return. */
#define MOST_OPEN_OPS (CT_BLOCK_MAX_RECORDS / 4)

/* A chunk's own come after those already in a segment. */
static int add_open_ops(struct ct_state *s, struct ct_block *block, uint64_t old_ns)
{
	uint32_t most = block->n_rares + MOST_OPEN_OPS;

	for (uint32_t i = 0; i < s->ring->header->n_chunks; i++) {
		struct ct_chunk *chunk = ct_ring_chunk(s->ring, i);
		uint64_t state = ct_load_acquire(&chunk->state);
		struct ct_open_op_rec rec = { .lap = state >> 8 };

		if ((state & 0xff) != CT_CHUNK_OWNED && (state & 0xff) != CT_CHUNK_CLOSED)
			continue;
		rec.tid = (uint32_t)ct_load_acquire(&chunk->owner);
		for (rec.slot = (uint32_t)ct_load_acquire(&chunk->drained);
		     rec.slot < CT_CHUNK_SLOTS; rec.slot++) {
			if (!ct_slot_copy(&ct_chunk_slots(chunk)[rec.slot], (uint32_t)rec.lap,
					  rec.words))
				break;
			if (CT_TAG_KIND(rec.words[0]) == CT_KIND_OP && !rec.words[CT_OP_W_END] &&
			    rec.words[CT_OP_W_ENTER] < old_ns && block->n_rares < most)
				TRY(ct_block_add_rare(block, CT_KIND_OPEN_OP, &rec, sizeof(rec)));
		}
	}
	return CT_OK;
}

static int add_open_launches(struct ct_state *s, struct ct_block *block)
{
	for (uint32_t i = 0; i < s->ring->header->n_opens; i++) {
		struct ct_open_launch_rec rec;

		if (ct_ring_open_read(&s->ring->opens[i], &rec))
			TRY(ct_block_add_rare(block, CT_KIND_OPEN_LAUNCH, &rec, sizeof(rec)));
	}
	return CT_OK;
}

int ct_state_status(struct ct_state *s, struct ct_block *block, uint64_t old_ns)
{
	struct ct_status_rec rec = {
		.beat_ns = ct_clock_ns(CLOCK_MONOTONIC), /* the writer lives */
		.flushed_ns = ct_load_acquire(&s->ring->header->flushed_ns),
	};

	TRY(ct_block_add_rare(block, CT_KIND_STATUS, &rec, sizeof(rec)));
	TRY(add_comm_status(s, block));
	TRY(add_open_ops(s, block, old_ns));
	TRY(add_open_launches(s, block));
	TRY(add_traffic(s, block, 0, block->type == CT_BLOCK_CHECKPOINT));
	TRY(add_losses(s, block, rec.beat_ns));
	TRY(add_clock(block));
	/* nothing was measured yet when the first segment is opened */
	if (!s->cost.write_cpu_ns)
		return CT_OK;
	return ct_block_add_rare(block, CT_KIND_COST, &s->cost, sizeof(s->cost));
}

/* The text of a string in a record: it was stored before the record. */
static const char *text_of(void *ring, uint32_t id)
{
	const struct ct_ring *r = ring;

	return id && id < r->header->strings_bytes / 4 ? r->strings + (uint64_t)(id - 1) * 4 + 4
						       : NULL;
}

/* The latest of each stream; of too many streams, the first ones. */
static void note_stream(struct ct_state *s, const struct ct_stream_rec *rec)
{
	uint32_t i = 0;

	while (i < s->n_streams && s->streams[i].stream != rec->stream)
		i++;
	if (i == CT_STATE_STREAMS)
		return;
	s->n_streams += i == s->n_streams;
	s->streams[i] = *rec;
}

static void note_streams(struct ct_state *s, const struct ct_block *block)
{
	struct ct_stream_rec rec;

	for (uint32_t i = 0; i < block->n_rares; i++) {
		if (block->rares[i].kind != CT_KIND_STREAM)
			continue;
		memcpy(&rec, block->bytes + block->rares[i].at, sizeof(rec));
		note_stream(s, &rec);
	}
}

void ct_state_written(struct ct_state *s, const struct ct_block *block)
{
	ct_order_totals_add(&s->order, block, text_of, s->ring);
	note_streams(s, block);
}

static int add_streams(const struct ct_state *s, struct ct_block *block)
{
	for (uint32_t i = 0; i < s->n_streams; i++)
		TRY(ct_block_add_rare(block, CT_KIND_STREAM, &s->streams[i],
				      sizeof(s->streams[i])));
	return CT_OK;
}

int ct_state_checkpoint(struct ct_state *s, struct ct_block *block)
{
	uint64_t now = ct_clock_ns(CLOCK_MONOTONIC);

	TRY(add_strings(s, block, 1));
	TRY(add_comms(s, block, 1));
	TRY(add_op_names(block));
	TRY(ct_environ_add(&s->environ, block, 1));
	TRY(ct_stacks_add(&s->stacks, block, 1));
	TRY(ct_counters_add(&s->counters, block, 1));
	TRY(ct_graph_again(block));
	TRY(add_streams(s, block));
	TRY(ct_state_status(s, block, UINT64_MAX));
	for (unsigned i = 0; i < s->notes.n; i++)
		TRY(ct_block_add_text(block, CT_KIND_NOTE, &now, sizeof(now), s->notes.text[i]));
	return CT_OK;
}
