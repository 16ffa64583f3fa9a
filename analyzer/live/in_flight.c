/* SPDX-License-Identifier: Apache-2.0 */
/* What rings show of now: operations in flight, progress on each communicator, heartbeats and
 * dropped records. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/live/live_private.h"
#include "analyzer/model/comm_spec.h"
#include "trace/ops.h"

/* size: communicators of a process that are listed, the latest of them */
#define COMMS 64u

struct in_flight_view {
	struct ct_live *live;
	const struct ct_model *model;
	const struct ct_ring_view *ring;
	uint32_t process;
	uint64_t now_ns;
	struct in_flight_comm {
		uint32_t id, slot;
		const struct ct_comm *known; /* NULL: not in the files yet */
		struct ct_live_comm shown;
		uint64_t created_ns, last_ns;
	} * comms; /* by entry of the ring's table; id 0: none */
};

static uint64_t age(const struct in_flight_view *l, uint64_t since_ns)
{
	return l->now_ns > since_ns ? l->now_ns - since_ns : 0;
}

const char *ct_live_comm_name(struct ct_arena *memory, const char *name, uint64_t hash)
{
	return name ? ct_arena_text(memory, name, strlen(name))
		    : ct_arena_printf(memory, "%s", ct_comm_digits(hash).s);
}

static struct ct_live_rank *rank_of(const struct in_flight_view *l, uint32_t slot)
{
	return slot < l->live->view.n_ranks ? &l->live->view.ranks[slot] : NULL;
}

/* ---- communicators ---- */

static void take_comm(struct in_flight_view *l, const struct ct_ring_comm *entry,
		      struct in_flight_comm *c)
{
	struct ct_arena *memory = l->live->memory;
	const uint64_t id = ct_load_acquire(&entry->id), ranks = ct_load_acquire(&entry->ranks),
		       key = ct_load_acquire(&entry->key);
	const uint32_t nranks = (uint32_t)(ranks >> 32), rank = (uint32_t)ranks;
	const uint64_t last = ct_load_acquire(&entry->last_enter);

	if (!id || id > UINT32_MAX || ct_load_acquire(&entry->ended_ns))
		return;
	c->id = (uint32_t)id;
	c->known = ct_comms_get(&l->model->comms, key, nranks);
	c->slot = l->model->starts->processes[l->process].slot;
	if (c->known && rank < c->known->nranks && c->known->slots[rank])
		c->slot = c->known->slots[rank] - 1;
	c->last_ns = last;
	c->shown = (struct ct_live_comm){
		.name = ct_live_comm_name(memory, c->known ? c->known->name : NULL, key),
		.role = c->known ? ct_live_role(l->model, c->known) : "other",
		.op = last ? ct_op_names_get(&l->model->names,
					     (unsigned)ct_load_acquire(&entry->last_op))
			   : NULL,
		.hash = key,
		.nranks = nranks,
		.rank = rank,
		.next_seq = ct_load_acquire(&entry->next_seq),
		.age_ns = last ? age(l, last) : CT_UNKNOWN,
	};
}

static void take_comms(struct in_flight_view *l)
{
	for (uint32_t i = 0; i < l->ring->n_comms; i++) {
		struct ct_live_rank *rank;

		take_comm(l, &l->ring->ring.comms[i], &l->comms[i]);
		rank = l->comms[i].id ? rank_of(l, l->comms[i].slot) : NULL;
		if (rank && l->comms[i].last_ns)
			rank->idle_ns = ct_min(rank->idle_ns, l->comms[i].shown.age_ns);
	}
}

static const struct in_flight_comm *comm_of(const struct in_flight_view *l, uint32_t id)
{
	for (uint32_t i = 0; i < l->ring->n_comms; i++) {
		if (id && l->comms[i].id == id)
			return &l->comms[i];
	}
	return NULL;
}

CT_SORT_BY(by_age, struct ct_live_comm, CT_UP(age_ns))

/* Those of this process go to its ranks, the latest first. */
static int show_comms(struct in_flight_view *l)
{
	for (uint32_t i = 0; i < l->ring->n_comms; i++) {
		struct ct_live_rank *rank = l->comms[i].id ? rank_of(l, l->comms[i].slot) : NULL;

		if (!rank)
			continue;
		if (!rank->comms)
			rank->comms = ct_arena_calloc(l->live->memory, l->ring->n_comms,
						      sizeof(*rank->comms));
		if (!rank->comms)
			return CT_NOMEM;
		if (rank->n_comms < l->ring->n_comms)
			rank->comms[rank->n_comms++] = l->comms[i].shown;
	}
	for (uint32_t s = 0; s < l->live->view.n_ranks; s++) {
		struct ct_live_rank *rank = &l->live->view.ranks[s];

		if (l->model->slots[s].process != l->process || !rank->n_comms)
			continue;
		qsort(rank->comms, rank->n_comms, sizeof(*rank->comms), by_age);
		rank->n_comms = (uint32_t)ct_min(rank->n_comms, COMMS);
	}
	return CT_OK;
}

/* ---- in flight ---- */

static int show(struct in_flight_view *l, const struct ct_live_flight *flight,
		const struct in_flight_comm *comm)
{
	struct ct_live_rank *rank = rank_of(l, comm ? comm->slot
						    : l->model->starts->processes[l->process].slot);
	struct ct_live_flight *kept;

	if (!rank)
		return CT_OK;
	rank->n_flights++;
	if (rank->flight && rank->flight->age_ns >= flight->age_ns)
		return CT_OK;
	kept = ct_arena_calloc(l->live->memory, 1, sizeof(*kept));
	if (!kept)
		return CT_NOMEM;
	*kept = *flight;
	kept->hash = comm ? comm->shown.hash : 0;
	kept->comm = comm ? comm->shown.name : "?";
	kept->role = comm ? comm->shown.role : "other";
	rank->flight = kept;
	return CT_OK;
}

/* Launches, also of calls that have returned. */
static int take_opens(struct in_flight_view *l)
{
	int st = CT_OK;

	for (uint32_t i = 0; i < l->ring->n_opens && st == CT_OK; i++) {
		const struct ct_ring_open *open = &l->ring->ring.opens[i];
		const uint64_t tag = ct_load_acquire(&open->tag),
			       what = ct_load_acquire(&open->comm_op);
		const struct ct_live_flight flight = {
			.op = ct_op_names_get(&l->model->names, what & 0xff),
			.seq = ct_load_acquire(&open->seq),
			.age_ns = age(l, ct_load_acquire(&open->opened_ns)),
			.bytes = ct_load_acquire(&open->bytes),
			.on_gpu = ct_load_acquire(&open->stream) != 0,
		};

		/* the same launch still: else its words may be of two */
		if (tag & CT_OPEN_LAUNCH && ct_load_acquire(&open->tag) == tag)
			st = show(l, &flight, comm_of(l, (uint32_t)(what >> 32)));
	}
	return st;
}

static int take_slot(struct in_flight_view *l, const uint64_t words[8])
{
	struct ct_live_flight flight;
	const struct in_flight_comm *comm;
	struct ct_op op;

	if (CT_TAG_KIND(words[0]) != CT_KIND_OP || words[CT_OP_W_END])
		return CT_OK;
	ct_op_unpack(words, &op);
	comm = comm_of(l, op.comm);
	flight = (struct ct_live_flight){
		.op = ct_op_names_get(&l->model->names, op.op),
		.seq = op.seq,
		.age_ns = age(l, op.enter_ns),
		.bytes = ct_op_total_bytes(op.op, ct_op_count(&op), op.dtype,
					   comm ? comm->shown.nranks : 1),
	};
	return op.launch ? CT_OK : show(l, &flight, comm); /* a launch is in the open table */
}

/* Calls that have not returned. Slots that are in files have. */
static int take_calls(struct in_flight_view *l)
{
	int st = CT_OK;

	for (uint32_t i = 0; i < l->ring->n_chunks && st == CT_OK; i++) {
		const struct ct_chunk *chunk = ct_ring_chunk(&l->ring->ring, i);
		const struct ct_slot *slots = ct_chunk_slots(chunk);
		const uint64_t state = ct_load_acquire(&chunk->state),
			       drained = ct_load_acquire(&chunk->drained);

		if ((state & 0xff) == CT_CHUNK_FREE)
			continue;
		for (uint64_t k = drained; k < CT_CHUNK_SLOTS && st == CT_OK; k++) {
			uint64_t words[8];

			if (!ct_slot_copy(&slots[k], (uint32_t)(state >> 8), words))
				break;
			st = take_slot(l, words);
		}
	}
	return st;
}

static void take_header(const struct in_flight_view *l)
{
	const struct ct_ring_header *header = l->ring->ring.header;
	const uint64_t beat = ct_load_acquire(&header->beat_ns);

	for (uint32_t s = 0; s < l->live->view.n_ranks; s++) {
		struct ct_live_rank *rank = &l->live->view.ranks[s];

		if (l->model->slots[s].process != l->process)
			continue;
		rank->beat_ns = beat ? age(l, beat) : CT_UNKNOWN;
		for (unsigned i = 0; i < CT_LOSS_MAX; i++)
			rank->losses[i] = ct_max(rank->losses[i],
						 ct_load_acquire(&header->losses[i]));
	}
}

/* ---- all rings ---- */

static int has_ring(struct ct_live *live, uint32_t p, struct ct_ring_view **out)
{
	const struct ct_process_info *info = &live->run->processes[p];
	struct ct_ring_view *ring = &live->rings[p];
	const struct ct_process *its;
	struct ct_err err;

	*out = ring;
	if (ring->bytes) {
		ct_ring_view_tables(ring);
		return 1;
	}
	if (info->ring != CT_RING_PRESENT ||
	    ct_ring_view_open(info->ring_path, ring, &err) != CT_OK)
		return 0;
	its = &ring->ring.header->process;
	if (ring->mapped && its->pid == info->id.pid && its->start_ns == info->id.start_ns)
		return 1;
	ct_ring_view_close(ring);
	*ring = (struct ct_ring_view){ 0 };
	return 0;
}

static int look_at(struct in_flight_view *l)
{
	int st;

	l->comms = ct_arena_calloc(l->live->memory, l->ring->n_comms + 1, sizeof(*l->comms));
	if (!l->comms)
		return CT_NOMEM;
	take_comms(l);
	take_header(l);
	st = take_opens(l);
	st = st ?: take_calls(l);
	return st ?: show_comms(l);
}

int ct_live_look_at_rings(struct ct_live *live)
{
	const struct ct_model *model = &ct_follow_stream(live->follow)->model;
	struct timespec t;
	int st = CT_OK;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (uint32_t p = 0; p < live->run->n_processes && st == CT_OK; p++) {
		struct in_flight_view look = { .live = live,
					       .model = model,
					       .process = p,
					       .now_ns = (uint64_t)t.tv_sec * 1000000000ull +
							 (uint64_t)t.tv_nsec };
		struct ct_ring_view *ring;

		if (!ct_follow_load(live->follow, p) || !has_ring(live, p, &ring))
			continue;
		look.ring = ring;
		st = look_at(&look);
	}
	return st;
}

void ct_live_close_rings(struct ct_live *live)
{
	for (size_t p = 0; live->rings && p < live->run->n_processes; p++) {
		if (live->rings[p].bytes)
			ct_ring_view_close(&live->rings[p]);
	}
	free(live->rings);
	live->rings = NULL;
}
