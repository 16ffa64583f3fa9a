/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/waits_for.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

enum ct_wait_kind ct_wait_kind(const struct ct_waiting *w, uint32_t node)
{
	int kind = 0;

	while (node >= w->base[kind + 1])
		kind++;
	return (enum ct_wait_kind)kind;
}

uint32_t ct_wait_of(const struct ct_waiting *w, uint32_t node)
{
	return node - w->base[ct_wait_kind(w, node)];
}

uint32_t ct_wait_rank(const struct ct_waiting *w, uint32_t node)
{
	enum ct_wait_kind kind = ct_wait_kind(w, node);
	uint32_t of = node - w->base[kind];

	switch (kind) {
	case CT_NODE_KERNEL:
		return w->ix->kernels[of].rank;
	case CT_NODE_HOST:
	case CT_NODE_LEFT:
	case CT_NODE_LOST:
		return of;
	default:
		return CT_HANG_NONE;
	}
}

int ct_wait_edge(struct ct_waiting *w, uint32_t node, uint32_t to, uint32_t flags)
{
	if (ct_grow(&w->edges, &w->cap_edges, w->n_edges + 1, sizeof(*w->edges)))
		return CT_NOMEM;
	w->edges[w->n_edges++] = (struct ct_wait_edge){ to, flags };
	w->nodes[node].n++;
	return CT_OK;
}

int ct_wait_is_open(const struct ct_waiting *w, uint32_t at)
{
	const struct ct_hang_kernel *k = &w->ix->kernels[at];

	if (k->progress == CT_HANG_OVER)
		return 0;
	/* A failed op that later ops followed blocks no rank. */
	return k->progress != CT_HANG_GAVE_UP || k->stalled ||
	       at + 1 == w->ix->rank_kernels[k->rank + 1];
}

int ct_wait_died_of_it(const struct ct_waiting *w, uint32_t rank)
{
	const struct ct_hang_rank *r = &w->ix->c->ranks[rank];

	for (uint32_t k = w->ix->rank_kernels[rank]; k < w->ix->rank_kernels[rank + 1]; k++) {
		const struct ct_hang_kernel *kernel = &w->ix->kernels[k];
		const struct ct_hang_op *op = &w->ix->c->ops[w->ix->kernel_ops[kernel->first]];

		if (kernel->stalled != 1 || !ct_wait_is_open(w, k))
			continue;
		if (r->process == CT_PROCESS_DEAD || r->process == CT_PROCESS_EXITED)
			return 1;
		if (r->error && r->error_ns != CT_UNKNOWN && op->enter_ns != CT_UNKNOWN &&
		    r->error_ns > op->enter_ns && r->error_ns - op->enter_ns > CT_TIMEOUT_NS)
			return 1;
	}
	return 0;
}

int ct_wait_mismatch_of(struct ct_waiting *w, uint32_t op, uint32_t *node)
{
	uint32_t at = w->ix->instance_of[op];
	const struct ct_hang_instance *i = at == CT_HANG_NONE ? NULL : &w->ix->instances[at];
	int rc;

	*node = CT_HANG_NONE;
	if (!i)
		return CT_OK;
	if (i->p2p) {
		if (i->any)
			return CT_OK;
		rc = ct_hang_match_message(w->ix, at, &w->mismatched[at]);
		if (w->mismatched[at])
			*node = ct_wait_id(w, CT_NODE_MISMATCHED, at);
		return rc;
	}
	if (!w->matched[i->comm]) {
		w->matched[i->comm] = 1;
		rc = ct_hang_match(w->ix, i->comm, &w->mismatches[i->comm]);
		if (rc != CT_OK)
			return rc;
	}
	if (w->mismatches[i->comm] &&
	    i->seq >= w->ix->instances[w->mismatches[i->comm]->instance].seq)
		*node = ct_wait_id(w, CT_NODE_MISMATCH, i->comm);
	return CT_OK;
}

static int is_open_op(const struct ct_hang_op *op)
{
	return op->state != CT_STATE_FINISHED;
}

/* Edges to the instances of its ops: to the blocked ones, or to all if none is blocked. */
static int to_instances(struct ct_waiting *w, uint32_t node, const struct ct_hang_kernel *k,
			uint32_t flags)
{
	const struct ct_hang_index *ix = w->ix;
	int kept = 0, rc = CT_OK;
	uint32_t to;

	/* First all of their edges, then this node's, which have to lie side by side. */
	for (uint32_t i = 0; i < k->n && rc == CT_OK; i++) {
		uint32_t op = ix->kernel_ops[k->first + i];

		if (!is_open_op(&ix->c->ops[op]) || ix->instance_of[op] == CT_HANG_NONE)
			continue;
		rc = ct_wait_mismatch_of(w, op, &to);
		if (rc == CT_OK && to == CT_HANG_NONE) {
			to = ct_wait_id(w, CT_NODE_INSTANCE, ix->instance_of[op]);
			rc = ct_waiting_visit(w, to);
			kept |= w->nodes[to].n > 0 && !w->nodes[to].fused;
		} else {
			kept = 1;
		}
	}
	w->nodes[node].first = w->n_edges;
	for (uint32_t i = 0; i < k->n && rc == CT_OK; i++) {
		uint32_t op = ix->kernel_ops[k->first + i];

		if (!is_open_op(&ix->c->ops[op]) || ix->instance_of[op] == CT_HANG_NONE)
			continue;
		rc = ct_wait_mismatch_of(w, op, &to);
		if (rc != CT_OK)
			return rc;
		if (to == CT_HANG_NONE) {
			to = ct_wait_id(w, CT_NODE_INSTANCE, ix->instance_of[op]);
			if (kept && (!w->nodes[to].n || w->nodes[to].fused))
				continue;
		}
		rc = ct_wait_edge(w, node, to, flags);
	}
	return rc;
}

/* Kernels of the same rank that may hold the GPU, or the queue that leads there. */
static int to_running(struct ct_waiting *w, uint32_t node, uint32_t at, int earlier_only)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t rank = ix->kernels[at].rank;
	int rc = CT_OK;

	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1] && rc == CT_OK;
	     k++) {
		const struct ct_hang_kernel *other = &ix->kernels[k];
		int runs = other->progress == CT_HANG_RUNS || other->progress == CT_HANG_MAY_RUN;

		if (k == at || other->by_host || !runs || (earlier_only && k > at))
			continue;
		rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, k), CT_EDGE_SOFT);
	}
	return rc;
}

/* The host is inside the library: a full queue, ranks that have not connected, or the library
 * itself block it. */
static int of_inside(struct ct_waiting *w, uint32_t node, const struct ct_hang_kernel *k)
{
	struct ct_wait_node *n = &w->nodes[node];
	uint32_t op = w->ix->kernel_ops[k->first];
	int rc = to_instances(w, node, k, CT_EDGE_SOFT);
	int keeps = 0;

	if (rc != CT_OK)
		return rc;
	/* An instance that only waits for ranks inside the same call adds no information. */
	for (uint32_t e = n->first; e < n->first + n->n; e++) {
		const struct ct_wait_node *to = &w->nodes[w->edges[e].to];
		enum ct_wait_kind kind = ct_wait_kind(w, w->edges[e].to);

		keeps |= kind == CT_NODE_MISMATCH || kind == CT_NODE_MISMATCHED;
		for (uint32_t x = to->first; x < to->first + to->n; x++) {
			uint32_t other = w->edges[x].to;

			keeps |= ct_wait_kind(w, other) != CT_NODE_KERNEL ||
				 (ct_wait_of(w, other) != ct_wait_of(w, node) &&
				  w->ix->kernels[ct_wait_of(w, other)].progress == CT_HANG_INSIDE);
		}
	}
	if (!keeps) {
		w->n_edges = n->first;
		n->n = 0;
	}
	rc = to_running(w, node, ct_wait_of(w, node), 1);
	if (rc != CT_OK || n->n)
		return rc;
	n->code = k->grouped || !w->ix->c->ops[op].op ? CT_HANG_IS_HOST_BLOCKED_CALL
						      : CT_HANG_IS_INSIDE_LIBRARY;
	return CT_OK;
}

int ct_waiting_of_kernel(struct ct_waiting *w, uint32_t node)
{
	const struct ct_hang_kernel *k = &w->ix->kernels[ct_wait_of(w, node)];
	const struct ct_hang_rank *rank = &w->ix->c->ranks[k->rank];
	struct ct_wait_node *n = &w->nodes[node];
	int rc;

	if (k->progress != CT_HANG_RUNS && k->before != CT_HANG_NONE)
		return ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, k->before), 0);
	if ((rank->process == CT_PROCESS_DEAD || rank->process == CT_PROCESS_EXITED) &&
	    !ct_wait_died_of_it(w, k->rank))
		return ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_HOST, k->rank), 0);
	if (k->progress == CT_HANG_INSIDE)
		return of_inside(w, node, k);
	if (k->progress == CT_HANG_QUEUED) {
		rc = to_running(w, node, ct_wait_of(w, node), 0);
		if (rc == CT_OK && !n->n)
			n->code = k->graph ? CT_HANG_IS_GRAPH_REPLAY : CT_HANG_IS_STREAM_BLOCKED;
		return rc;
	}
	rc = to_instances(w, node, k, 0);
	if (rc == CT_OK && !n->n)
		n->code = k->graph ? CT_HANG_IS_GRAPH_REPLAY : CT_HANG_IS_UNKNOWN;
	return rc;
}

int ct_waiting_visit(struct ct_waiting *w, uint32_t node)
{
	struct ct_wait_node *n = &w->nodes[node];

	if (n->made)
		return CT_OK;
	n->made = 1;
	n->first = w->n_edges;
	w->found[w->n_found++] = node;
	switch (ct_wait_kind(w, node)) {
	case CT_NODE_KERNEL:
		return ct_waiting_of_kernel(w, node);
	case CT_NODE_INSTANCE:
		return ct_waiting_of_instance(w, node);
	case CT_NODE_HOST:
		return ct_waiting_of_host(w, node);
	case CT_NODE_JOINT_CALL:
		return ct_waiting_of_joint_call(w, node);
	case CT_NODE_ERROR:
		return ct_waiting_of_error(w, node);
	case CT_NODE_LEFT:
		n->code = CT_HANG_IS_NEVER_ENTERED;
		return CT_OK;
	case CT_NODE_LOST:
		n->code = CT_HANG_IS_NO_TRACE;
		return CT_OK;
	case CT_NODE_MISMATCH:
		n->code = w->mismatches[ct_wait_of(w, node)]->code;
		return CT_OK;
	case CT_NODE_MISMATCHED:
		n->code = w->mismatched[ct_wait_of(w, node)]->code;
		return CT_OK;
	case CT_NODE_KINDS:
		break;
	}
	return CT_OK;
}

static int find_joint_calls(struct ct_waiting *w)
{
	const struct ct_hang_case *c = w->ix->c;
	struct ct_table seen = { 0 };
	int rc = CT_OK;

	for (uint32_t i = 0; i < c->n_calls && rc == CT_OK; i++) {
		const struct ct_hang_call *call = &c->calls[i];
		uint32_t comm = call->comm < c->n_comms ? call->comm : CT_HANG_NONE;
		uint64_t key = ct_mix((uint64_t)call->kind << 32 | comm);
		uintptr_t known;

		w->joint_call_of[i] = w->next_joint[i] = CT_HANG_NONE;
		if (call->kind > CT_HOST_FINALIZE || call->rank >= c->n_ranks ||
		    (comm == CT_HANG_NONE && call->kind != CT_HOST_FINALIZE))
			continue;
		known = (uintptr_t)ct_table_get(&seen, key);
		if (!known) {
			w->joint_calls[w->n_joint_calls++] = (struct ct_joint_call){ call->kind,
										     comm, i };
			known = w->n_joint_calls;
			rc = ct_table_put(&seen, key, (void *)known);
		}
		w->joint_call_of[i] = (uint32_t)known - 1;
		if (w->joint_calls[known - 1].call !=
		    i) { /* behind the first, whose successor it takes over */
			w->next_joint[i] = w->next_joint[w->joint_calls[known - 1].call];
			w->next_joint[w->joint_calls[known - 1].call] = i;
		}
	}
	ct_table_fini(&seen);
	return rc;
}

/* Calls that end only when other ranks act: one that does not end is a hang. */
static int is_joint_or_library(enum ct_host_call kind)
{
	return ct_host_call_meets(kind) || kind == CT_HOST_GROUP_END || kind == CT_HOST_ABORT;
}

static int begin_waiting(struct ct_waiting *w)
{
	const struct ct_hang_case *c = w->ix->c;
	int rc = CT_OK;

	for (uint32_t k = 0; k < w->ix->n_kernels && rc == CT_OK; k++) {
		const struct ct_hang_kernel *kernel = &w->ix->kernels[k];

		/* The op in which a process died may be the reason. */
		int died = c->ranks[kernel->rank].process == CT_PROCESS_DEAD;

		if ((!kernel->stalled && !died) || !ct_wait_is_open(w, k))
			continue;
		w->nodes[ct_wait_id(w, CT_NODE_KERNEL, k)].start = kernel->stalled ? kernel->stalled
										   : 2;
		rc = ct_waiting_visit(w, ct_wait_id(w, CT_NODE_KERNEL, k));
	}
	for (uint32_t i = 0; i < c->n_calls && rc == CT_OK; i++) {
		const struct ct_hang_call *call = &c->calls[i];
		uint32_t node;

		if (!call->stalled || call->returned || call->rank >= c->n_ranks ||
		    !is_joint_or_library(call->kind) ||
		    (c->ranks[call->rank].process != CT_PROCESS_ALIVE &&
		     !ct_wait_died_of_it(w, call->rank)))
			continue;
		node = ct_wait_id(w, CT_NODE_HOST, call->rank);
		if (!w->nodes[node].start || call->stalled < w->nodes[node].start)
			w->nodes[node].start = call->stalled;
		rc = ct_waiting_visit(w, node);
	}
	return rc;
}

int ct_waiting_make(const struct ct_hang_index *ix, struct ct_waiting **waits)
{
	const struct ct_hang_case *c = ix->c;
	struct ct_arena *a = ix->arena;
	struct ct_waiting *w = ct_arena_calloc(a, 1, sizeof(*w));
	const uint32_t n[CT_NODE_KINDS] = { ix->n_kernels, ix->n_instances, c->n_ranks,
					    c->n_ranks,	   c->n_ranks,	    c->n_calls,
					    c->n_comms,	   c->n_comms,	    ix->n_instances };
	int rc = CT_OK;

	*waits = w;
	if (!w)
		return CT_NOMEM;
	w->ix = ix;
	for (int k = 0; k < CT_NODE_KINDS; k++)
		if (__builtin_add_overflow(w->base[k], n[k], &w->base[k + 1]))
			return CT_NOMEM;
	w->nodes = ct_arena_calloc(a, (size_t)w->base[CT_NODE_KINDS] + 1, sizeof(*w->nodes));
	w->found = ct_arena_calloc(a, (size_t)w->base[CT_NODE_KINDS] + 1, sizeof(*w->found));
	w->joint_calls = ct_arena_calloc(a, (size_t)c->n_calls + 1, sizeof(*w->joint_calls));
	w->joint_call_of = ct_arena_calloc(a, (size_t)c->n_calls + 1, sizeof(*w->joint_call_of));
	w->next_joint = ct_arena_calloc(a, (size_t)c->n_calls + 1, sizeof(*w->joint_call_of));
	w->there = ct_arena_calloc(a, (size_t)c->n_ranks + 1, sizeof(*w->there));
	w->mismatches = ct_arena_calloc(a, (size_t)c->n_comms + 1,
					sizeof(struct ct_hang_mismatch *));
	w->matched = ct_arena_calloc(a, (size_t)c->n_comms + 1, 1);
	w->mismatched = ct_arena_calloc(a, (size_t)ix->n_instances + 1,
					sizeof(struct ct_hang_mismatch *));
	if (!w->nodes || !w->found || !w->joint_calls || !w->joint_call_of || !w->next_joint ||
	    !w->there || !w->mismatches || !w->matched || !w->mismatched)
		return CT_NOMEM;
	for (uint32_t i = 0; i < w->base[CT_NODE_KINDS]; i++) {
		w->nodes[i].code = CT_HANG_CODES;
		w->nodes[i].about = CT_HANG_NONE;
	}
	rc = find_joint_calls(w);
	rc = rc ?: begin_waiting(w);
	/* Nodes that are visited add to those that have been found. */
	for (uint32_t i = 0; i < w->n_found && rc == CT_OK; i++) {
		const struct ct_wait_node *node = &w->nodes[w->found[i]];

		for (uint32_t e = 0; e < node->n && rc == CT_OK; e++)
			rc = ct_waiting_visit(w, w->edges[node->first + e].to);
	}
	if (rc == CT_OK)
		ct_waiting_killed(w);
	return rc;
}

void ct_waiting_fini(struct ct_waiting *w)
{
	if (w)
		free(w->edges);
}
