/* SPDX-License-Identifier: Apache-2.0 */
/* model.c — how long a transfer takes: a fixed time, one for each further member, and its bytes
 * over the slowest link of the ring, or over the link of a message. */
#include "tools/synth/noise.h"
#include "tools/synth/play_private.h"
#include "trace/ops.h"

struct ct_play_world ct_play_world(void)
{
	return (struct ct_play_world){
		.end_skew_us = 3,
		.alpha_ns = 8000,
		.hop_ns = 500,
		.node_Bps = 200e9,
		.net_Bps = 25e9,
		.transfer_noise = 0.02,
		.death_to_kill_s = 1.5,
	};
}

double ct_play_link_factor(const struct ct_workload *w, int src, int dst, uint64_t step)
{
	const struct ct_workload_config *config = ct_workload_config(w);
	double factor = 1;

	for (size_t i = 0; i < config->n_faults; i++) {
		const struct ct_fault *fault = &config->faults[i];

		if (fault->kind == CT_FAULT_SLOW_LINK && fault->src == src && fault->dst == dst &&
		    step >= fault->from && step <= fault->to)
			factor *= fault->factor;
	}
	return factor;
}

static double link_ns_per_byte(const struct play *p, int src, int dst, uint64_t step)
{
	const int near = ct_workload_node(p->w, src) == ct_workload_node(p->w, dst);
	const double rate = near ? p->world->node_Bps : p->world->net_Bps;

	return 1e9 * p->config->scale / (rate * ct_play_link_factor(p->w, src, dst, step));
}

double ct_play_ring_ns_per_byte(const struct play *p, const struct ct_workload_comm *comm,
				uint64_t step)
{
	double slowest = 0;

	for (int i = 0; i < comm->n && comm->n > 1; i++) {
		const int src = comm->first + i * comm->stride;
		const int dst = comm->first + (i + 1) % comm->n * comm->stride;
		const double edge = link_ns_per_byte(p, src, dst, step);

		slowest = edge > slowest ? edge : slowest;
	}
	return slowest;
}

/* What each member sends on to the next in a ring (as nccl-tests counts it). */
double ct_play_wire_bytes(unsigned op, uint64_t count, unsigned dtype, int n)
{
	const double bytes = (double)count * ct_workload_dtype_bytes(dtype);

	if (n < 2)
		return 0;
	switch (op) {
	case CT_OP_AllReduce:
		return bytes * 2 * (n - 1) / n;
	case CT_OP_AllGather:
	case CT_OP_ReduceScatter:
	case CT_OP_AllToAll:
	case CT_OP_Gather:
	case CT_OP_Scatter:
		return bytes * (n - 1);
	default:
		return bytes;
	}
}

static double noise(const struct play *p, uint64_t what, uint64_t which)
{
	return 1 +
	       p->world->transfer_noise *
		       (2 * ct_noise_uniform(p->config->seed, CT_NOISE_TRANSFER, what, which) - 1);
}

double ct_play_collective_ns(const struct play *p, const struct comm *comm,
			     const struct launch_op *op, uint64_t which)
{
	const int n = comm->about->n;
	const double wire = ct_play_wire_bytes(op->op.op, op->op.count, op->op.dtype, n);
	const double ns_per_byte = comm->has_slow_edge
					   ? ct_play_ring_ns_per_byte(p, comm->about, op->step)
					   : comm->ns_per_byte;

	return (p->world->alpha_ns + p->world->hop_ns * (n - 1) + wire * ns_per_byte) *
	       noise(p, (uint64_t)(comm - p->comms), which);
}

double ct_play_message_ns(const struct play *p, const struct channel *channel, uint64_t bytes,
			  uint64_t step)
{
	const int src = ct_workload_member(p->w, channel->comm, channel->src);
	const int dst = ct_workload_member(p->w, channel->comm, channel->dst);
	const uint64_t edge = (uint64_t)src << 32 | (uint32_t)dst;

	return (p->world->alpha_ns + (double)bytes * link_ns_per_byte(p, src, dst, step)) *
	       noise(p, edge, channel->met);
}

uint64_t ct_play_skew_ns(const struct play *p, const struct rank *r, uint64_t what, uint64_t which)
{
	const uint64_t draw = ct_noise_mix(what, which);

	return r->skew_ns + (uint64_t)(1000 * p->world->end_skew_us *
				       ct_noise_uniform(p->config->seed, CT_NOISE_SKEW, draw,
							(uint64_t)r->number));
}
