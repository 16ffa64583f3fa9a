/* SPDX-License-Identifier: Apache-2.0 */
/* Which of its members an op waits for. */
#include "analyzer/hang/waits_for.h"

#include "trace/status.h"

/* Each rank lists its finalize under the communicator that it leaves, or under none: then it leaves
 * all. */
static int leaves(const struct ct_waiting *w, uint32_t rank, uint32_t comm)
{
	const struct ct_hang_index *ix = w->ix;

	for (uint32_t i = ix->rank_calls[rank]; i < ix->rank_calls[rank + 1]; i++) {
		const struct ct_hang_call *call = &ix->c->calls[ix->calls[i]];

		if (call->kind == CT_HOST_FINALIZE &&
		    (call->comm == comm || call->comm >= ix->c->n_comms))
			return 1;
	}
	return 0;
}

/* An edge to a rank without a record of the instance. */
static int to_absent(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i,
		     uint32_t rank, uint32_t flags)
{
	const struct ct_hang_rank *r = &w->ix->c->ranks[rank];
	enum ct_wait_kind kind = CT_NODE_HOST;

	if (r->process == CT_PROCESS_ALIVE && leaves(w, rank, i->comm))
		kind = CT_NODE_LEFT;
	else if (r->process == CT_PROCESS_ALIVE && r->cut)
		kind = CT_NODE_LOST;
	else if (r->process == CT_PROCESS_ALIVE && r->records_until_ns != CT_UNKNOWN &&
		 i->begin_ns != CT_UNKNOWN && r->records_until_ns < i->begin_ns)
		kind = CT_NODE_LOST;
	return ct_wait_edge(w, node, ct_wait_id(w, kind, rank), flags | CT_EDGE_ABSENT);
}

static int errs_in(const struct ct_waiting *w, uint32_t rank, uint32_t comm)
{
	const struct ct_hang_rank *r = &w->ix->c->ranks[rank];

	/* A rank that exited after an error left all of its communicators. */
	return r->error &&
	       (r->error_comm == comm || r->error_comm >= w->ix->c->n_comms ||
		r->process != CT_PROCESS_ALIVE) &&
	       !ct_wait_died_of_it(w, rank);
}

/* Requests move on only while their rank is inside the library. */
static int leaves_request_alone(const struct ct_waiting *w, const struct ct_hang_op *op)
{
	const struct ct_hang_index *ix = w->ix;

	if (!ct_hang_is_request(ix, (uint32_t)(op - ix->c->ops)) ||
	    ix->rank_calls[op->rank] != ix->rank_calls[op->rank + 1])
		return 0;
	for (uint32_t k = ix->rank_kernels[op->rank]; k < ix->rank_kernels[op->rank + 1]; k++) {
		const struct ct_hang_kernel *kernel = &ix->kernels[k];

		if (kernel->by_host &&
		    ix->c->ops[ix->kernel_ops[kernel->first]].state == CT_STATE_ENTERED)
			return 0;
	}
	return 1;
}

/* An edge to a rank that has issued it, if that rank delays its peers. */
static int to_part(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i,
		   uint32_t at)
{
	const struct ct_hang_op *op = &w->ix->c->ops[at];
	uint32_t kernel = w->ix->kernel_of[at];
	const struct ct_hang_kernel *k = &w->ix->kernels[kernel];
	const struct ct_hang_rank *r = &w->ix->c->ranks[op->rank];
	uint32_t host = ct_wait_id(w, CT_NODE_HOST, op->rank);

	if (r->process == CT_PROCESS_DEAD && !ct_wait_died_of_it(w, op->rank))
		return ct_wait_edge(w, node, host, 0);
	/* An op that ended with an error of its communicator did not end well. */
	if (errs_in(w, op->rank, i->comm))
		return ct_wait_edge(w, node, host, 0);
	if (op->state == CT_STATE_FINISHED)
		return CT_OK;
	if (r->process == CT_PROCESS_EXITED && !ct_wait_died_of_it(w, op->rank))
		return ct_wait_edge(w, node, host, 0);
	if (k->progress == CT_HANG_GAVE_UP || r->stopped_pid)
		return ct_wait_edge(w, node, host, 0);
	if (k->progress == CT_HANG_QUEUED || k->progress == CT_HANG_INSIDE ||
	    (k->progress == CT_HANG_MAY_RUN && k->before != CT_HANG_NONE))
		return ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, kernel), 0);
	if (leaves_request_alone(w, op))
		return ct_wait_edge(w, node, host, CT_EDGE_SOFT);
	return CT_OK;
}

struct parts {
	uint32_t finished, unseen, graphs, requests;
};

static void count_parts(const struct ct_waiting *w, const struct ct_hang_instance *i,
			struct parts *p)
{
	*p = (struct parts){ .finished = ct_hang_finished(w->ix, i) };
	for (uint32_t k = i->first; k < i->first + i->n; k++) {
		const struct ct_hang_op *op = &w->ix->c->ops[w->ix->parts[k]];
		const struct ct_hang_kernel
			*kernel = &w->ix->kernels[w->ix->kernel_of[w->ix->parts[k]]];

		p->unseen += op->state != CT_STATE_FINISHED && kernel->progress == CT_HANG_MAY_RUN;
		p->graphs += op->graph;
		p->requests += ct_hang_is_request(w->ix, w->ix->parts[k]);
	}
}

/* Lost records of a rank may have the end of an op, or that it began. */
static int is_cut(const struct ct_waiting *w, const struct ct_hang_instance *i)
{
	const struct ct_hang_index *ix = w->ix;

	for (uint32_t m = ix->member_first[i->comm]; m < ix->member_first[i->comm + 1]; m++) {
		uint32_t rank = ix->members[m].rank;

		if (rank != CT_HANG_NONE && ix->c->ranks[rank].cut)
			return 1;
	}
	return 0;
}

/* All ranks take part and no rank is missing: the op itself makes no progress. */
static enum ct_hang_code leaf_code(const struct ct_waiting *w, const struct ct_hang_instance *i)
{
	const struct ct_hang_op *op = &w->ix->c->ops[w->ix->parts[i->first]];
	struct parts p;

	count_parts(w, i, &p);
	if (p.graphs)
		return CT_HANG_IS_GRAPH_REPLAY;
	if (i->any || is_cut(w, i))
		return CT_HANG_IS_UNKNOWN;
	/* The other end is not listed: whether the two fit is not known, and NCCL does not check
	 * it. */
	if (i->p2p && !op->by_host && ct_hang_unlisted(w->ix, i))
		return CT_HANG_IS_UNKNOWN;
	if (p.finished && ct_waiting_messages_differ(w, i))
		return CT_HANG_IS_UNKNOWN;
	if (p.unseen || (p.finished && p.requests))
		return CT_HANG_IS_UNKNOWN;
	return p.finished ? CT_HANG_IS_PARTIAL_COMPLETE : CT_HANG_IS_TRANSPORT_STALL;
}

/* ---- messages ---- */

static int of_message(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i)
{
	uint32_t src = ct_hang_rank_at(w->ix, i->comm, i->src),
		 dst = ct_hang_rank_at(w->ix, i->comm, i->dst);
	int rc = CT_OK;

	for (uint32_t k = i->first; k < i->first + i->n && rc == CT_OK; k++)
		rc = to_part(w, node, i, w->ix->parts[k]);
	if (rc == CT_OK && !i->sent && src != CT_HANG_NONE)
		rc = to_absent(w, node, i, src, 0);
	if (rc == CT_OK && !i->taken && dst != CT_HANG_NONE)
		rc = to_absent(w, node, i, dst, 0);
	if (rc == CT_OK && !w->nodes[node].n &&
	    ((!i->sent && src == CT_HANG_NONE) || (!i->taken && dst == CT_HANG_NONE)))
		w->nodes[node].code = CT_HANG_IS_UNKNOWN;
	return rc;
}

/* Has `rank` an unfinished message that this receive may take? */
static int sends_to(const struct ct_waiting *w, const struct ct_hang_instance *i, uint32_t rank)
{
	const struct ct_hang_index *ix = w->ix;

	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1]; k++) {
		const struct ct_hang_kernel *kernel = &ix->kernels[k];

		for (uint32_t o = kernel->first; o < kernel->first + kernel->n; o++) {
			const struct ct_hang_op *op = &ix->c->ops[ix->kernel_ops[o]];

			if (op->op == CT_OP_Send && op->comm == i->comm && op->peer == i->dst &&
			    op->state != CT_STATE_FINISHED &&
			    (i->tag == CT_TAG_ANY || op->tag == i->tag))
				return 1;
		}
	}
	return 0;
}

/* A receive that any rank, or any message, would satisfy. */
static int of_any(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i)
{
	uint32_t from = w->ix->member_first[i->comm], to = w->ix->member_first[i->comm + 1];
	int rc = CT_OK;

	for (uint32_t m = from; m < to; m++) {
		const struct ct_hang_member *member = &w->ix->members[m];

		if (member->rank != CT_HANG_NONE && (int32_t)member->comm_rank != i->dst &&
		    (i->src < 0 || (int32_t)member->comm_rank == i->src) &&
		    sends_to(w, i, member->rank))
			return CT_OK;
	}
	for (uint32_t m = from; m < to && rc == CT_OK; m++) {
		const struct ct_hang_member *member = &w->ix->members[m];

		if (member->rank == CT_HANG_NONE || (int32_t)member->comm_rank == i->dst ||
		    (i->src >= 0 && (int32_t)member->comm_rank != i->src))
			continue;
		/* A rank that exited cannot send any more; the others can. */
		if (i->src < 0 && w->ix->c->ranks[member->rank].process == CT_PROCESS_EXITED)
			continue;
		rc = to_absent(w, node, i, member->rank,
			       i->src < 0 ? CT_EDGE_SOFT | CT_EDGE_ANY : CT_EDGE_SOFT);
	}
	return rc;
}

/* ---- collectives ---- */

struct awaited_members {
	uint32_t root;	/* rank; NONE */
	uint32_t flags; /* of edges to the others */
	int32_t below;	/* only members with a lower comm_rank are waited for; -1: all */
	int only_root;	/* the others are not missed */
};

static void rooted(const struct ct_waiting *w, const struct ct_hang_instance *i,
		   const struct ct_hang_op *op, struct awaited_members *want)
{
	uint32_t part;
	int gathers = op->op == CT_OP_Reduce || op->op == CT_OP_Gather;

	if (op->op == CT_OP_Scan || op->op == CT_OP_Exscan) {
		for (uint32_t k = i->first; k < i->first + i->n; k++) {
			const struct ct_hang_op *o = &w->ix->c->ops[w->ix->parts[k]];
			int32_t comm_rank = (int32_t)w->ix
						    ->members[w->ix->member_of[w->ix->parts[k]]]
						    .comm_rank;

			if (o->state != CT_STATE_FINISHED && comm_rank > want->below)
				want->below = comm_rank;
		}
		return;
	}
	want->root = op->peer >= 0 ? ct_hang_rank_at(w->ix, i->comm, op->peer) : CT_HANG_NONE;
	if (want->root == CT_HANG_NONE)
		return;
	part = ct_hang_part(w->ix, i, want->root, 0);
	/* Without the root no other rank is missed: they need not enter before it. */
	want->only_root = part == CT_HANG_NONE;
	if (part != CT_HANG_NONE && !(gathers && w->ix->c->ops[part].state != CT_STATE_FINISHED))
		want->flags = CT_EDGE_SOFT;
}

static int of_collective(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i)
{
	const struct ct_hang_index *ix = w->ix;
	const struct ct_hang_op *op = &ix->c->ops[ix->parts[i->first]];
	struct awaited_members want = { .root = CT_HANG_NONE, .below = -1 };
	struct parts p;
	uint32_t part = i->first;
	int rc = CT_OK, unknown = 0;

	count_parts(w, i, &p);
	if (ct_op_class(op->op) == CT_CLASS_ROOTED)
		rooted(w, i, op, &want);
	for (uint32_t m = ix->member_first[i->comm];
	     m < ix->member_first[i->comm + 1] && rc == CT_OK; m++) {
		const struct ct_hang_member *member = &ix->members[m];

		if (member->rank == CT_HANG_NONE) {
			unknown = 1;
			continue;
		}
		while (part < i->first + i->n && ix->c->ops[ix->parts[part]].rank < member->rank)
			part++;
		if (part < i->first + i->n && ix->c->ops[ix->parts[part]].rank == member->rank) {
			rc = to_part(w, node, i, ix->parts[part]);
			continue;
		}
		/* Its part is not listed and is complete, or ended with its communicator. */
		if (member->has_last && member->last >= i->seq &&
		    errs_in(w, member->rank, i->comm)) {
			rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_HOST, member->rank), 0);
			continue;
		}
		if ((member->has_last && member->last >= i->seq) ||
		    (want.only_root && member->rank != want.root) ||
		    (want.below >= 0 && (int32_t)member->comm_rank > want.below))
			continue;
		/* If a rank has completed an op, all ranks had begun it, even without a record. */
		if (p.finished && ct_op_class(op->op) == CT_CLASS_SYNC &&
		    ix->c->ranks[member->rank].process == CT_PROCESS_NO_TRACE)
			continue;
		rc = to_absent(w, node, i, member->rank, want.flags);
	}
	if (rc == CT_OK && !w->nodes[node].n && unknown)
		w->nodes[node].code = CT_HANG_IS_UNKNOWN;
	return rc;
}

/* All ranks have issued it, and kernel starts are not recorded: earlier ops may delay it. */
static int to_earlier(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i)
{
	const struct ct_hang_index *ix = w->ix;
	int rc = CT_OK;

	for (uint32_t p = i->first; p < i->first + i->n; p++) {
		uint32_t own = ix->kernel_of[ix->parts[p]], rank = ix->kernels[own].rank;

		if (ix->kernels[own].progress != CT_HANG_MAY_RUN)
			continue;
		for (uint32_t k = ix->rank_kernels[rank]; k < own && rc == CT_OK; k++)
			if (!ix->kernels[k].by_host && (ix->kernels[k].progress == CT_HANG_RUNS ||
							ix->kernels[k].progress == CT_HANG_MAY_RUN))
				rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, k),
						  CT_EDGE_SOFT);
	}
	return rc;
}

/* A message in a launch of several: a rank that is delayed in another message of the launch delays
 * this one. */
static int to_fused(struct ct_waiting *w, uint32_t node, const struct ct_hang_instance *i)
{
	int rc = CT_OK;

	for (uint32_t p = i->first; p < i->first + i->n && rc == CT_OK; p++) {
		uint32_t k = w->ix->kernel_of[w->ix->parts[p]];

		if (w->ix->kernels[k].n > 1 && w->ix->kernels[k].progress != CT_HANG_OVER)
			rc = ct_wait_edge(w, node, ct_wait_id(w, CT_NODE_KERNEL, k),
					  CT_EDGE_SOFT | CT_EDGE_FUSED);
	}
	w->nodes[node].fused = w->nodes[node].n > 0;
	return rc;
}

int ct_waiting_of_instance(struct ct_waiting *w, uint32_t node)
{
	const struct ct_hang_instance *i = &w->ix->instances[ct_wait_of(w, node)];
	int rc;

	if (i->any)
		rc = of_any(w, node, i);
	else
		rc = i->p2p ? of_message(w, node, i) : of_collective(w, node, i);
	if (rc != CT_OK || w->nodes[node].n || w->nodes[node].code != CT_HANG_CODES)
		return rc;
	w->nodes[node].code = leaf_code(w, i);
	if (i->p2p && !i->any) {
		rc = to_fused(w, node, i);
		if (w->nodes[node].n)
			w->nodes[node].code = CT_HANG_CODES;
		if (rc != CT_OK || w->nodes[node].n)
			return rc;
	}
	if (w->nodes[node].code != CT_HANG_IS_UNKNOWN || i->any)
		return CT_OK;
	rc = to_earlier(w, node, i);
	if (w->nodes[node].n)
		w->nodes[node].code = CT_HANG_CODES;
	return rc;
}
