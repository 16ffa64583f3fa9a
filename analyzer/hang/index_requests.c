/* SPDX-License-Identifier: Apache-2.0 */
/* MPI requests complete inside the library, and only the call that waits for them reports it. Until
 * MPI_Waitall returns, a completed request looks like a pending one. */
#include "analyzer/hang/index.h"
#include "trace/status.h"

int ct_hang_is_request(const struct ct_hang_index *ix, uint32_t op)
{
	const struct ct_hang_op *o = &ix->c->ops[op];

	return o->by_host && o->launch && o->comm < ix->c->n_comms &&
	       ix->c->comms[o->comm].backend == CT_BACKEND_MPI &&
	       (o->state == CT_STATE_RETURNED || o->state == CT_STATE_STARTED);
}

uint32_t ct_hang_unlisted(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	uint32_t n = 0;

	if (i->p2p)
		return !i->any && !i->taken_by_any && i->n < 2 && i->sent && i->taken;
	for (uint32_t m = ix->member_first[i->comm]; m < ix->member_first[i->comm + 1]; m++)
		n += ix->members[m].has_last && ix->members[m].last >= i->seq;
	return n > i->n ? n - i->n : 0;
}

uint32_t ct_hang_finished(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	uint32_t n = ct_hang_unlisted(ix, i);

	for (uint32_t k = i->first; k < i->first + i->n; k++)
		n += ix->c->ops[ix->parts[k]].state == CT_STATE_FINISHED;
	return n;
}

/* Another rank has finished its part: this request may be complete as well. */
static int may_be_complete(const struct ct_hang_index *ix, const struct ct_hang_kernel *k)
{
	for (uint32_t i = k->first; i < k->first + k->n; i++) {
		uint32_t op = ix->kernel_ops[i];

		if (ix->c->ops[op].state == CT_STATE_FINISHED)
			continue;
		if (!ct_hang_is_request(ix, op) || ix->instance_of[op] == CT_HANG_NONE ||
		    !ct_hang_finished(ix, &ix->instances[ix->instance_of[op]]))
			return 0;
	}
	return k->progress == CT_HANG_RUNS;
}

/* A rank in a call whose requests may all be complete waits for one of them, and which one is
 * unknown. In every other case such a request delays no rank. */
void ct_hang_index_requests(struct ct_hang_index *ix)
{
	for (uint32_t r = 0; r < ix->c->n_ranks; r++) {
		int inside = ix->rank_calls[r] != ix->rank_calls[r + 1], others = 0;

		for (uint32_t k = ix->rank_kernels[r]; k < ix->rank_kernels[r + 1]; k++)
			others |= ix->kernels[k].progress != CT_HANG_OVER &&
				  ix->kernels[k].progress != CT_HANG_GAVE_UP &&
				  !may_be_complete(ix, &ix->kernels[k]);
		for (uint32_t k = ix->rank_kernels[r]; k < ix->rank_kernels[r + 1]; k++)
			if ((others || !inside) && may_be_complete(ix, &ix->kernels[k]))
				ix->kernels[k].progress = CT_HANG_OVER;
	}
}
