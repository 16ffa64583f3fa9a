/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a case, including those without a trace, and the members of its communicators. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/hang/gather.h"
#include "analyzer/model/command.h"
#include "analyzer/steps/roles.h"

/* size: a damaged file must not make a rank of every number. */
#define MOST_RANKS (1u << 20)

static uint32_t expected(const struct ct_gather *g)
{
	uint32_t n = 0;

	for (size_t p = 0; p < g->run->n_processes; p++) {
		int world = g->run->processes[p].id.world_size;

		if (g->model->starts->processes[p].restart == g->model->restart && world > 0 &&
		    (uint32_t)world > n && (uint32_t)world <= MOST_RANKS)
			n = (uint32_t)world;
	}
	for (uint32_t c = 0; c < g->n_comms; c++) {
		const struct ct_comm *comm = g->comms[c];

		/* a few that claim to be a million are not a reason to believe in a million */
		if (comm->nranks > n && comm->nranks <= 4096 + 64 * comm->n_known)
			n = comm->nranks;
	}
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];

		if (call->kind == CT_HOST_INIT && call->rec.nranks > n &&
		    call->rec.nranks <= 4096 + 64 * g->model->n_slots)
			n = call->rec.nranks;
	}
	return n;
}

CT_SORT_BY(by_rank, struct ct_hang_rank, CT_UP(rank))

/* Facts about the process of a rank. */
static void describe(struct ct_gather *g, const struct ct_rank_state *slot,
		     struct ct_hang_rank *out)
{
	const struct ct_hang_process *p = &g->processes[slot->process];
	const char *host = g->run->processes[slot->process].id.host;

	out->host = ct_gather_text(g, ct_arena_text(g->scratch, host, 64));
	out->gpu = ct_command_gpu(g->memory, slot->device,
				  ct_facts_value(&g->model->processes[slot->process].environment,
						 "env.CUDA_VISIBLE_DEVICES"));
	out->last_heartbeat_ns = ct_gather_at(g, slot->process, p->last_heartbeat_ns);
	out->records_until_ns = p->until_ns == UINT64_MAX
					? CT_UNKNOWN
					: ct_gather_at(g, slot->process, p->until_ns);
	out->err_ns = ct_gather_err(g, slot->process);
	if (out->err_ns >= CT_GATHER_ERR_UNSET)
		out->err_ns = CT_UNKNOWN;
	out->starts_known = p->has_starts;
	out->cut = p->lost;
	if (p->error) {
		out->error = p->error;
		out->error_ns = ct_gather_at(g, slot->process, p->error_ns);
		out->error_comm = p->error_comm ? ct_gather_number(g, p->error_comm) : UINT32_MAX;
	}
	for (uint32_t i = 0; p->stacks && i < p->stacks->n; i++) {
		const struct ct_stack *stack = &p->stacks->stacks[i];

		if (stack->rec.flags & CT_STACK_MAIN && stack->before_ns)
			out->cpu_ns = stack->cpu_since_ns;
	}
}

static struct ct_hang_rank unknown_rank(int rank)
{
	return (struct ct_hang_rank){ .rank = rank,
				      .process = CT_PROCESS_NO_TRACE,
				      .last_heartbeat_ns = CT_UNKNOWN,
				      .heartbeat_age_ns = CT_UNKNOWN,
				      .ended_ns = CT_UNKNOWN,
				      .error_comm = UINT32_MAX,
				      .error_ns = CT_UNKNOWN,
				      .records_until_ns = CT_UNKNOWN,
				      .cpu_ns = CT_UNKNOWN };
}

static void add_rank(struct ct_gather *g, const struct ct_rank_state *slot, struct ct_hang_case *c)
{
	struct ct_hang_rank *rank = &c->ranks[c->n_ranks++];

	*rank = unknown_rank(slot->rank);
	rank->process = CT_PROCESS_ALIVE;
	describe(g, slot, rank);
}

/* Does the case include this slot? A process without a rank and without communicators is not part
 * of the job. */
static int counts(const struct ct_gather *g, uint32_t s)
{
	const struct ct_rank_state *slot = &g->model->slots[s];

	if (!ct_gather_has(g, slot->process))
		return 0;
	if (slot->rank >= 0)
		return 1;
	for (const struct ct_rank_history *k = g->histories; k; k = k->next) {
		if (k->slot == s)
			return 1;
	}
	return 0;
}

/* One rank for each slot, and one for each expected rank without a slot. Two slots of one rank are
 * merged; slots of unknown rank stay separate and come first. */
static int list_ranks(struct ct_gather *g, struct ct_hang_run *out, uint32_t n_expected)
{
	struct ct_hang_case *c = &out->hang_case;
	struct ct_table seen = { 0 };
	int st = CT_OK;

	c->ranks = ct_arena_calloc(g->memory, (size_t)g->model->n_slots + n_expected,
				   sizeof(*c->ranks));
	if (!c->ranks)
		return CT_NOMEM;
	for (uint32_t s = 0; s < g->model->n_slots; s++) {
		const struct ct_rank_state *slot = &g->model->slots[s];

		g->ranks[s] = UINT32_MAX;
		if (slot->rank >= 0 || !counts(g, s))
			continue;
		g->ranks[s] = c->n_ranks;
		add_rank(g, slot, c);
	}
	for (uint32_t s = 0; s < g->model->n_slots && st == CT_OK; s++) {
		const struct ct_rank_state *slot = &g->model->slots[s];
		uint64_t key = (uint64_t)slot->rank + 1;

		if (slot->rank < 0 || !counts(g, s) || ct_table_get(&seen, key))
			continue;
		add_rank(g, slot, c);
		st = ct_table_put(&seen, key, g->ranks);
	}
	out->ranks_seen = c->n_ranks;
	for (uint32_t r = 0; r < n_expected && c->n_ranks < n_expected && st == CT_OK; r++) {
		if (!ct_table_get(&seen, (uint64_t)r + 1))
			c->ranks[c->n_ranks++] = unknown_rank((int)r);
	}
	ct_table_fini(&seen);
	return st;
}

int ct_hang_fill_ranks(struct ct_gather *g, struct ct_hang_run *out)
{
	struct ct_hang_case *c = &out->hang_case;
	struct ct_table index = { 0 };
	uint32_t unnamed = 0;
	int st;

	g->ranks = calloc(g->model->n_slots + 1u, sizeof(*g->ranks));
	if (!g->ranks)
		return CT_NOMEM;
	out->ranks_expected = expected(g);
	st = list_ranks(g, out, out->ranks_expected);
	if (st != CT_OK)
		return st;
	/* programs that each are a world of their own */
	if (out->ranks_expected && out->ranks_expected < out->ranks_seen)
		out->ranks_expected = out->ranks_seen;
	out->stacks = ct_arena_calloc(g->memory, c->n_ranks, sizeof(*out->stacks));
	if (!out->stacks)
		return CT_NOMEM;
	while (unnamed < c->n_ranks && c->ranks[unnamed].rank < 0)
		unnamed++;
	qsort(&c->ranks[unnamed], c->n_ranks - unnamed, sizeof(*c->ranks), by_rank);
	for (uint32_t i = unnamed; i < c->n_ranks && st == CT_OK; i++)
		st = ct_table_put(&index, (uint64_t)c->ranks[i].rank + 1,
				  (void *)(uintptr_t)(i + 1));
	for (uint32_t i = 0; i < c->n_ranks; i++) {
		const struct ct_hang_rank *r = &c->ranks[i];

		if (r->last_heartbeat_ns != CT_UNKNOWN &&
		    r->last_heartbeat_ns > out->last_heartbeat_ns)
			out->last_heartbeat_ns = r->last_heartbeat_ns;
	}
	for (uint32_t i = 0; i < c->n_ranks; i++) {
		struct ct_hang_rank *r = &c->ranks[i];

		if (r->last_heartbeat_ns != CT_UNKNOWN)
			r->heartbeat_age_ns = out->last_heartbeat_ns - r->last_heartbeat_ns;
	}
	for (uint32_t s = 0; s < g->model->n_slots; s++) {
		const struct ct_rank_state *slot = &g->model->slots[s];

		if (!counts(g, s))
			continue;
		if (slot->rank >= 0)
			g->ranks[s] = (uint32_t)(uintptr_t)ct_table_get(&index,
									(uint64_t)slot->rank + 1) -
				      1;
		if (g->processes[slot->process].stacks)
			out->stacks[g->ranks[s]] = g->processes[slot->process].stacks;
	}
	ct_table_fini(&index);
	return st;
}

/* ---- communicators ---- */

static int has_trace(const struct ct_hang_case *c, int rank)
{
	struct ct_hang_rank key = { .rank = rank };
	const struct ct_hang_rank *r = bsearch(&key, c->ranks, c->n_ranks, sizeof(*c->ranks),
					       by_rank);

	return !r || r->process != CT_PROCESS_NO_TRACE;
}

/* Members without a trace are unknown, but the ranks of a communicator usually have a constant
 * stride, as launchers and frameworks lay them out. So a missing member is inferred where the known
 * ones have such a stride and the inferred rank left no trace. */
static void infer_members(const struct ct_hang_case *c, const struct ct_comm *comm, int *ranks)
{
	uint32_t first = 0, second;
	int64_t step;

	while (first < comm->nranks && ranks[first] < 0)
		first++;
	second = first + 1;
	while (second < comm->nranks && ranks[second] < 0)
		second++;
	if (second >= comm->nranks)
		return;
	step = ((int64_t)ranks[second] - ranks[first]) / (int64_t)(second - first);
	for (uint32_t i = 0; i < comm->nranks; i++) {
		if (ranks[i] >= 0 &&
		    ranks[i] != ranks[first] + step * ((int64_t)i - (int64_t)first))
			return;
	}
	for (uint32_t i = 0; i < comm->nranks; i++) {
		int64_t rank = ranks[first] + step * ((int64_t)i - (int64_t)first);

		if (ranks[i] < 0 && rank >= 0 && rank < INT32_MAX && !has_trace(c, (int)rank))
			ranks[i] = (int)rank;
	}
}

/* The only rank without a trace is the only member that is not known. */
static void infer_last(const struct ct_hang_case *c, const struct ct_comm *comm, int *ranks)
{
	uint32_t unknown = 0, at = 0, missing = 0;
	int rank = -1;

	for (uint32_t i = 0; i < comm->nranks; i++) {
		if (ranks[i] < 0) {
			unknown++;
			at = i;
		}
	}
	for (uint32_t i = 0; unknown == 1 && i < c->n_ranks; i++) {
		if (c->ranks[i].process == CT_PROCESS_NO_TRACE) {
			missing++;
			rank = c->ranks[i].rank;
		}
	}
	if (unknown == 1 && missing == 1)
		ranks[at] = rank;
}

/* The global rank of a member; -1: unknown. A rank that is still creating the communicator is known
 * from its call only. */
static int rank_of(const struct ct_gather *g, const struct ct_comm *comm,
		   const struct ct_comm *called, uint32_t member)
{
	uint32_t slot = comm->clash ? 0 : comm->slots[member];

	if (!slot && !comm->clash && called && !called->clash)
		slot = called->slots[member];
	return slot ? g->model->slots[slot - 1].rank : -1;
}

static int fill_comm(struct ct_gather *g, const struct ct_hang_case *c, const struct ct_comm *comm,
		     struct ct_hang_comm *out)
{
	const struct ct_comm *called = ct_comms_get(&g->called, comm->hash, comm->nranks);
	enum ct_role_id role = ct_role_of_name(comm->name);
	int *ranks = ct_arena_calloc(g->memory, comm->nranks, sizeof(*ranks));

	*out = (struct ct_hang_comm){ .hash = comm->hash,
				      .name = ct_gather_text(g, comm->name),
				      .backend = comm->backend,
				      .n = comm->nranks,
				      .ranks = ranks };
	if (!ranks)
		return CT_NOMEM;
	if (role != CT_ROLE_UNKNOWN)
		out->role = ct_role_name(role);
	for (uint32_t i = 0; i < comm->nranks; i++)
		ranks[i] = rank_of(g, comm, called, i);
	infer_members(c, comm, ranks);
	infer_last(c, comm, ranks);
	return CT_OK;
}

/* Ranks that are creating a communicator of the whole job, whose hash is not known yet, create the
 * same one. */
static int join_making(struct ct_gather *g, struct ct_hang_case *c, struct ct_hang_seen_call *call)
{
	struct ct_hang_comm *making;
	uint32_t i = g->n_comms;
	int *ranks;

	while (i < c->n_comms && c->comms[i].n != call->rec.nranks)
		i++;
	call->comm = i;
	if (i < c->n_comms)
		return CT_OK;
	ranks = ct_arena_calloc(g->memory, call->rec.nranks, sizeof(*ranks));
	if (!ranks)
		return CT_NOMEM;
	making = &c->comms[c->n_comms++];
	*making = (struct ct_hang_comm){ .n = call->rec.nranks, .ranks = ranks };
	for (i = 0; i < making->n && i < c->n_ranks; i++)
		ranks[i] = c->ranks[i].rank;
	return CT_OK;
}

static int is_making_world(const struct ct_hang_seen_call *call, const struct ct_hang_case *c)
{
	return !call->rec.return_ns && call->kind == CT_HOST_INIT && call->comm == UINT32_MAX &&
	       call->rec.nranks && call->rec.nranks == c->n_ranks;
}

int ct_hang_fill_comms(struct ct_gather *g, struct ct_hang_run *out)
{
	struct ct_hang_case *c = &out->hang_case;
	uint32_t making = 0;
	int st = CT_OK;

	for (uint32_t i = 0; i < g->n_calls; i++)
		making += is_making_world(&g->calls[i], c) != 0;
	c->comms = ct_arena_calloc(g->memory, (size_t)g->n_comms + making, sizeof(*c->comms));
	if (!c->comms)
		return CT_NOMEM;
	c->n_comms = g->n_comms;
	for (uint32_t i = 0; i < c->n_comms && st == CT_OK; i++)
		st = fill_comm(g, c, g->comms[i], &c->comms[i]);
	for (uint32_t i = 0; i < g->n_calls && st == CT_OK; i++) {
		if (is_making_world(&g->calls[i], c))
			st = join_making(g, c, &g->calls[i]);
	}
	return st;
}

/* ---- members known from calls ---- */

/* The communicators of a case: the model's, and those known only from calls, whose creation was not
 * recorded. */

/* Does a call record its communicator? */
static int names_comm(const struct ct_host_rec *rec)
{
	return rec->key && rec->nranks && rec->nranks <= CT_COMM_MAX_RANKS && rec->rank >= 0 &&
	       (uint32_t)rec->rank < rec->nranks;
}

static int add_called(struct ct_gather *g, const struct ct_hang_seen_call *call)
{
	const struct ct_comm_rec made = {
		.id = 1, .nranks = call->rec.nranks, .rank = call->rec.rank, .key = call->rec.key
	};
	const struct ct_comm *known = ct_comms_get(&g->model->comms, made.key, made.nranks);
	struct ct_comm *called;

	if (known && known->slots[made.rank])
		return CT_OK;
	return ct_comms_add(&g->called, &made, NULL,
			    g->model->starts->processes[call->process].slot, &called);
}

static uint32_t index_of(const struct ct_gather *g, const struct ct_host_rec *rec)
{
	const struct ct_comm *comm = ct_comms_get(&g->model->comms, rec->key, rec->nranks);

	if (comm)
		return ct_gather_number(g, comm);
	comm = ct_comms_get(&g->called, rec->key, rec->nranks);
	for (uint32_t i = g->n_orders; comm && i < g->n_comms; i++)
		if (g->comms[i] == comm)
			return i;
	return UINT32_MAX;
}

CT_SORT_BY(by_process, struct ct_hang_seen_call, CT_UP(process) ?: CT_UP(rec.enter_ns) ?: CT_UP(rec.tid))

int ct_gather_list_comms(struct ct_gather *g)
{
	const struct ct_comms *known = &g->model->comms;
	int st = CT_OK;

	if (g->n_calls)
		qsort(g->calls, g->n_calls, sizeof(*g->calls), by_process);
	for (uint32_t i = 0; i < g->n_calls && st == CT_OK; i++)
		if (names_comm(&g->calls[i].rec))
			st = add_called(g, &g->calls[i]);
	if (st != CT_OK ||
	    ct_grow(&g->comms, &g->cap_comms, g->n_orders + g->called.n, sizeof(*g->comms)))
		return CT_NOMEM;
	g->n_comms = g->n_orders;
	for (uint32_t i = 0; i < g->called.n; i++) {
		const struct ct_comm *called = g->called.all[i];

		if (!ct_comms_get(known, called->hash, called->nranks))
			g->comms[g->n_comms++] = called;
	}
	for (uint32_t i = 0; i < g->n_calls; i++)
		if (names_comm(&g->calls[i].rec))
			g->calls[i].comm = index_of(g, &g->calls[i].rec);
	return CT_OK;
}
