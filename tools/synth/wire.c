/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c — which ranks bytes go between; of collectives written instance by instance, as the job's
 * model has it, so that sums that are made in another way can be held against it. */
#include "tools/synth/play_private.h"
#include "trace/ops.h"

static void send(struct play *p, const struct ct_workload_comm *comm, int from, int to,
		 uint64_t bytes)
{
	const int src = comm->first + from * comm->stride, dst = comm->first + to * comm->stride;

	if (from != to)
		p->sums->wire_bytes[src * p->config->ranks + dst] += bytes;
}

/* Each to the next, from `first` on, to the one before it. */
static void send_on(struct play *p, const struct ct_workload_comm *comm, int first, uint64_t bytes)
{
	for (int k = 0; k < comm->n - 1; k++)
		send(p, comm, (first + k) % comm->n, (first + k + 1) % comm->n, bytes);
}

void ct_play_carry(struct play *p, struct comm *comm, const struct launch_op *op)
{
	const struct ct_workload_comm *about = comm->about;
	const uint64_t bytes = op->op.count * ct_workload_dtype_bytes(op->op.dtype);
	const double wire = ct_play_wire_bytes(op->op.op, op->op.count, op->op.dtype, about->n);
	const int root = op->op.peer;

	comm->wire_bytes += wire;
	if (!p->sums->wire_bytes)
		return;
	switch (op->op.op) {
	case CT_OP_Broadcast:
		send_on(p, about, root, bytes);
		break;
	case CT_OP_Reduce:
		send_on(p, about, (root + 1) % about->n, bytes);
		break;
	case CT_OP_AllToAll:
		for (int k = 0; k < about->n * about->n; k++)
			send(p, about, k / about->n, k % about->n, bytes);
		break;
	case CT_OP_Gather:
		for (int k = 0; k < about->n; k++)
			send(p, about, k, root, bytes);
		break;
	case CT_OP_Scatter:
		for (int k = 0; k < about->n; k++)
			send(p, about, root, k, bytes);
		break;
	default:
		comm->ring_bytes += wire;
	}
}

void ct_play_carry_rest(struct play *p)
{
	for (int i = 0; i < ct_workload_n_comms(p->w); i++) {
		const struct comm *comm = &p->comms[i];

		for (int k = 0; k < comm->about->n; k++)
			send(p, comm->about, k, (k + 1) % comm->about->n,
			     (uint64_t)comm->ring_bytes);
	}
	for (size_t i = 0; i < p->channels.cap; i++) {
		const struct channel *channel = p->channels.at[i].value;

		if (channel)
			send(p, p->comms[channel->comm].about, channel->src, channel->dst,
			     (uint64_t)channel->bytes);
	}
}
