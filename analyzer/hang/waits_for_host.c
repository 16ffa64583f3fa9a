/* SPDX-License-Identifier: Apache-2.0 */
/* What prevents the program of a rank from issuing operations, and which ranks a call of all
 * members waits for. */
#include <string.h>

#include "analyzer/hang/waits_for.h"
#include "trace/status.h"

/* Edges to its own unfinished ops. `stream` 0: all. `requests` 0: without requests for which the
 * program would have to wait by a call. */
static int to_own(struct ct_waiting *w, uint32_t node, uint32_t rank, uint32_t stream, int requests,
		  uint32_t flags)
{
	const struct ct_hang_index *ix = w->ix;
	int rc = CT_OK;

	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1] && rc == CT_OK;
	     k++) {
		const struct ct_hang_op *op = &ix->c->ops[ix->kernel_ops[ix->kernels[k].first]];

		if (!ct_wait_is_open(w, k) || (stream && op->stream != stream) ||
		    (!requests && op->by_host && op->state == CT_STATE_RETURNED))
			continue;
		rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, k), flags);
	}
	return rc;
}

/* Calls of libraries that do their work inside them. */
static int to_blocking_ops(struct ct_waiting *w, uint32_t node, uint32_t rank)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t flags = ix->one_thread[rank] ? 0 : CT_EDGE_SOFT;
	int rc = CT_OK;

	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1] && rc == CT_OK;
	     k++) {
		const struct ct_hang_kernel *kernel = &ix->kernels[k];
		const struct ct_hang_op *op = &ix->c->ops[ix->kernel_ops[kernel->first]];
		int inside = kernel->progress == CT_HANG_INSIDE && !kernel->grouped;

		if (inside || kernel->progress == CT_HANG_GAVE_UP
			    ? ct_wait_is_open(w, k)
			    : kernel->by_host && op->state == CT_STATE_ENTERED)
			rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, k), flags);
	}
	return rc;
}

/* Edges to all ranks that may have to act first; a rank that ended cannot. */
static int to_peers(struct ct_waiting *w, uint32_t node, const struct ct_hang_call *call)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t first = call->comm < ix->c->n_comms ? ix->member_first[call->comm] : 0;
	uint32_t end = call->comm < ix->c->n_comms ? ix->member_first[call->comm + 1] : 0;
	int rc = CT_OK;

	for (uint32_t m = first; m < end && rc == CT_OK; m++) {
		uint32_t rank = ix->members[m].rank;

		if (rank != CT_HANG_NONE && rank != call->rank &&
		    ix->c->ranks[rank].process != CT_PROCESS_EXITED)
			rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_HOST, rank),
					  CT_EDGE_SOFT | CT_EDGE_ANY);
	}
	return rc;
}

static int in_call(struct ct_waiting *w, uint32_t node, uint32_t at)
{
	const struct ct_hang_index *ix = w->ix;
	const struct ct_hang_call *call = &ix->c->calls[at];
	uint32_t n = w->nodes[node].n, flags = ix->one_thread[call->rank] ? 0 : CT_EDGE_SOFT;
	int rc = CT_OK;

	switch (call->kind) {
	case CT_HOST_INIT:
	case CT_HOST_SPLIT:
	case CT_HOST_FINALIZE:
		if (w->joint_call_of[at] != CT_HANG_NONE)
			return ct_wait_edge(w, node,
					    ct_wait_id(w, CT_NODE_JOINT_CALL, w->joint_call_of[at]),
					    flags);
		w->nodes[node].code = CT_HANG_IS_UNKNOWN;
		return CT_OK;
	case CT_HOST_SYNC:
		if (call->stream)
			rc = to_own(w, node, call->rank, call->stream, 1, flags);
		if (rc == CT_OK && w->nodes[node].n == n)
			rc = to_own(w, node, call->rank, 0, 1, flags);
		if (rc == CT_OK && w->nodes[node].n == n)
			w->nodes[node].code = CT_HANG_IS_NEVER_ENTERED;
		return rc;
	case CT_HOST_PEERS:
		rc = to_peers(w, node, call);
		if (rc == CT_OK && w->nodes[node].n == n)
			w->nodes[node].code = CT_HANG_IS_UNKNOWN;
		return rc;
	default: /* the library may wait for unfinished work before it does this */
		rc = to_own(w, node, call->rank, 0, 1, CT_EDGE_SOFT);
		if (rc == CT_OK && w->nodes[node].n == n)
			w->nodes[node].code = CT_HANG_IS_HOST_BLOCKED_CALL;
		return rc;
	}
}

/* A library may end a process whose op does not match its peers': that was the cause. */
static int to_mismatch(struct ct_waiting *w, uint32_t node, uint32_t rank)
{
	const struct ct_hang_index *ix = w->ix;

	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1]; k++) {
		const struct ct_hang_kernel *kernel = &ix->kernels[k];

		for (uint32_t o = kernel->first; o < kernel->first + kernel->n; o++) {
			uint32_t to;
			int rc;

			if (ix->c->ops[ix->kernel_ops[o]].state == CT_STATE_FINISHED ||
			    !ct_wait_is_open(w, k))
				continue;
			rc = ct_wait_mismatch_of(w, ix->kernel_ops[o], &to);
			if (rc != CT_OK)
				return rc;
			if (to != CT_HANG_NONE)
				return ct_wait_edge(w, node, to, 0);
		}
	}
	return CT_OK;
}

/* 1: it ended, or nothing is known of it; this is its code. */
static int is_over(struct ct_waiting *w, uint32_t node, uint32_t rank)
{
	const struct ct_hang_rank *r = &w->ix->c->ranks[rank];

	switch (r->process) {
	case CT_PROCESS_NO_TRACE:
		w->nodes[node].code = CT_HANG_IS_NO_TRACE;
		return 1;
	case CT_PROCESS_DEAD:
		w->nodes[node].code = CT_HANG_IS_DEAD_RANK;
		break;
	case CT_PROCESS_EXITED:
		w->nodes[node].code = CT_HANG_IS_EXITED_RANK;
		break;
	case CT_PROCESS_ALIVE:
		return 0;
	}
	return !ct_wait_died_of_it(w, rank);
}

static int to_error(struct ct_waiting *w, uint32_t node, const struct ct_hang_rank *r)
{
	if (r->error_comm < w->ix->c->n_comms)
		return ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_ERROR, r->error_comm), 0);
	w->nodes[node].code = CT_HANG_IS_ASYNC_ERROR;
	return CT_OK;
}

int ct_waiting_of_host(struct ct_waiting *w, uint32_t node)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t rank = ct_wait_of(w, node);
	const struct ct_hang_rank *r = &ix->c->ranks[rank];
	struct ct_wait_node *n = &w->nodes[node];
	int rc;

	if (is_over(w, node, rank)) {
		rc = r->process == CT_PROCESS_NO_TRACE ? CT_OK : to_mismatch(w, node, rank);
		/* The process ended because of the error that the library had reported. */
		if (rc == CT_OK && !n->n && r->error && r->process != CT_PROCESS_NO_TRACE)
			rc = to_error(w, node, r);
		if (n->n)
			n->code = CT_HANG_CODES;
		return rc;
	}
	/* Whatever it is inside: it continues when another rank acts. */
	if (r->stopped_pid) {
		n->code = CT_HANG_IS_NEVER_ENTERED;
		return CT_OK;
	}
	if (r->error && !ct_wait_died_of_it(w, rank))
		return to_error(w, node, r);
	for (uint32_t i = ix->rank_calls[rank]; i < ix->rank_calls[rank + 1]; i++) {
		n->about = ix->calls[i];
		rc = in_call(w, node, ix->calls[i]);
		if (rc != CT_OK)
			return rc;
	}
	rc = to_blocking_ops(w, node, rank);
	if (rc != CT_OK)
		return rc;
	if (!n->n && n->about == CT_HANG_NONE)
		rc = to_own(w, node, rank, 0, 0, CT_EDGE_SOFT);
	if (rc != CT_OK)
		return rc;
	if (n->n)
		n->code = CT_HANG_CODES;
	else if (n->code == CT_HANG_CODES)
		n->code = CT_HANG_IS_NEVER_ENTERED;
	return CT_OK;
}

/* ---- calls that all have to make ---- */

/* Has this rank made the joint call, returned or not? */
static int was_there(const struct ct_waiting *w, uint32_t rank, const struct ct_joint_call *joint,
		     const struct ct_hang_member *member)
{
	if (w->there[rank] == (uint32_t)(joint - w->joint_calls) + 1)
		return 1;
	if (joint->kind == CT_HOST_FINALIZE)
		return w->ix->c->ranks[rank].process == CT_PROCESS_EXITED;
	/* A rank that used a communicator has created it. */
	return joint->kind == CT_HOST_INIT && member && member->has_last;
}

/* The call also needs ranks that are not members of its communicator. */
static int needs_others(const struct ct_hang_call *call)
{
	return ct_call_is(call->call, CT_CALL_NEEDS_OTHERS);
}

int ct_waiting_of_joint_call(struct ct_waiting *w, uint32_t node)
{
	const struct ct_hang_index *ix = w->ix;
	const struct ct_hang_case *c = ix->c;
	const struct ct_joint_call *joint = &w->joint_calls[ct_wait_of(w, node)];
	uint32_t at = ct_wait_of(w, node), unknown = 0;
	int rc = CT_OK;

	w->nodes[node].about = joint->call;
	unknown = needs_others(&c->calls[joint->call]);
	for (uint32_t i = joint->call; i != CT_HANG_NONE; i = w->next_joint[i])
		w->there[c->calls[i].rank] = at + 1;
	if (joint->comm == CT_HANG_NONE) {
		for (uint32_t r = 0; r < c->n_ranks && rc == CT_OK; r++)
			if (!was_there(w, r, joint, NULL))
				rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_HOST, r),
						  CT_EDGE_ABSENT);
	} else {
		for (uint32_t m = ix->member_first[joint->comm];
		     m < ix->member_first[joint->comm + 1] && rc == CT_OK; m++) {
			const struct ct_hang_member *member = &ix->members[m];

			unknown += member->rank == CT_HANG_NONE;
			if (member->rank != CT_HANG_NONE &&
			    !was_there(w, member->rank, joint, member))
				rc = ct_wait_edge(w, node,
						  ct_wait_id(w, CT_NODE_HOST, member->rank),
						  CT_EDGE_ABSENT);
		}
	}
	if (rc == CT_OK && !w->nodes[node].n)
		w->nodes[node].code = unknown ? CT_HANG_IS_UNKNOWN : CT_HANG_IS_HOST_CALL_STALL;
	return rc;
}

/* ---- errors ---- */

/* The first rank of a communicator that got an error, with all that may have been as early; but a
 * rank that is gone explains errors of its peers. */
int ct_waiting_of_error(struct ct_waiting *w, uint32_t node)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t comm = ct_wait_of(w, node);
	uint64_t first = UINT64_MAX;
	int rc = CT_OK;

	for (uint32_t m = ix->member_first[comm]; m < ix->member_first[comm + 1]; m++) {
		const struct ct_hang_rank *r;

		if (ix->members[m].rank == CT_HANG_NONE)
			continue;
		r = &ix->c->ranks[ix->members[m].rank];
		if (r->process != CT_PROCESS_ALIVE && !r->error) {
			rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_HOST, ix->members[m].rank),
					  0);
			if (rc != CT_OK)
				return rc;
		}
		if (r->error && r->error_ns != CT_UNKNOWN && r->error_ns + r->err_ns < first)
			first = r->error_ns + r->err_ns;
	}
	if (w->nodes[node].n)
		return CT_OK;
	for (uint32_t m = ix->member_first[comm]; m < ix->member_first[comm + 1] && rc == CT_OK;
	     m++) {
		const struct ct_hang_rank *r;

		if (ix->members[m].rank == CT_HANG_NONE)
			continue;
		r = &ix->c->ranks[ix->members[m].rank];
		if (r->error && r->error_comm == comm &&
		    (r->error_ns == CT_UNKNOWN ||
		     (r->error_ns > r->err_ns ? r->error_ns - r->err_ns : 0) <= first))
			rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_HOST, ix->members[m].rank),
					  0);
	}
	return rc;
}

/* ---- ranks that were killed ---- */

static int is_before(const struct ct_hang_index *ix, uint32_t rank, uint64_t due_ns,
		     const struct ct_hang_rank *dead)
{
	uint64_t err_ns = ix->c->ranks[rank].err_ns;

	return due_ns && err_ns < dead->ended_ns && dead->err_ns < dead->ended_ns - err_ns &&
	       due_ns < dead->ended_ns - err_ns - dead->err_ns;
}

/* Had a rank been in this for longer than a stall takes when that rank ended? */
static int was_overdue(const struct ct_waiting *w, uint32_t node, const struct ct_hang_rank *dead)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t of = ct_wait_of(w, node);

	if (ct_wait_kind(w, node) == CT_NODE_INSTANCE) {
		const struct ct_hang_instance *i = &ix->instances[of];

		for (uint32_t k = i->first; k < i->first + i->n; k++) {
			const struct ct_hang_op *op = &ix->c->ops[ix->parts[k]];

			if (op->stalled == 1 && is_before(ix, op->rank, op->due_ns, dead))
				return 1;
		}
	}
	for (uint32_t i = ct_wait_kind(w, node) == CT_NODE_JOINT_CALL ? w->joint_calls[of].call
								      : CT_HANG_NONE;
	     i != CT_HANG_NONE; i = w->next_joint[i]) {
		const struct ct_hang_call *call = &ix->c->calls[i];

		if (call->stalled == 1 && is_before(ix, call->rank, call->due_ns, dead))
			return 1;
	}
	return 0;
}

void ct_waiting_killed(struct ct_waiting *w)
{
	for (uint32_t f = 0; f < w->n_found; f++) {
		const struct ct_wait_node *n = &w->nodes[w->found[f]];

		for (uint32_t e = n->first; e < n->first + n->n; e++) {
			uint32_t to = w->edges[e].to;
			const struct ct_hang_rank *rank;

			if (!(w->edges[e].flags & CT_EDGE_ABSENT) ||
			    ct_wait_kind(w, to) != CT_NODE_HOST ||
			    w->nodes[to].code != CT_HANG_IS_DEAD_RANK)
				continue;
			rank = &w->ix->c->ranks[ct_wait_of(w, to)];
			if (rank->killed && rank->ended_ns != CT_UNKNOWN &&
			    was_overdue(w, w->found[f], rank))
				w->nodes[to].code = CT_HANG_IS_NEVER_ENTERED;
		}
	}
}
