/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/workload/step.h"

#include <stdlib.h>

uint64_t ct_workload_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

struct ct_action *ct_step_add(struct ct_step *step, enum ct_action_kind kind, int stream)
{
	static struct ct_action nowhere;
	struct ct_action *action;

	if (step->count == step->capacity) {
		size_t capacity = step->capacity ? 2 * step->capacity : 256;
		struct ct_action *more = realloc(step->at, capacity * sizeof(*more));

		if (!more) {
			step->failed = 1;
			return &nowhere;
		}
		step->at = more;
		step->capacity = capacity;
	}
	action = &step->at[step->count++];
	*action = (struct ct_action){
		.kind = kind, .stream = stream, .comm = -1, .step = step->number
	};
	return action;
}

uint64_t ct_step_scaled(const struct ct_step *step, uint64_t elements)
{
	const uint64_t small = 1024;
	uint64_t scaled = elements / step->w->config.scale;

	if (elements <= small)
		return elements;
	return scaled < small ? small : scaled;
}

void ct_step_compute(struct ct_step *step, double part)
{
	const uint64_t draw = ct_workload_mix(
		step->w->config.seed,
		ct_workload_mix(((uint64_t)step->rank << 40) ^ step->number, step->draws++));
	const double noise = 0.99 + 0.02 * (double)(draw >> 11) / (double)(1ULL << 53);
	const double ns = (double)step->w->config.step_ns * part * noise;

	ct_step_add(step, CT_ACTION_HOST, CT_STREAM_COMPUTE)->ns = (uint64_t)(ns / 8);
	ct_step_add(step, CT_ACTION_COMPUTE, CT_STREAM_COMPUTE)->ns = (uint64_t)ns;
}

struct ct_workload_op ct_step_op(struct ct_step *step, enum ct_workload_role role, unsigned op,
				 unsigned dtype, uint64_t count)
{
	const int comm = step->comm[role];
	const uint64_t key = ct_workload_mix(ct_workload_mix(step->number, (uint64_t)comm),
					     step->tags[role]++);

	return (struct ct_workload_op){
		.op = (uint8_t)op,
		.dtype = (uint8_t)dtype,
		.redop = op == CT_OP_AllReduce || op == CT_OP_Reduce ? CT_REDOP_sum
			 : op == CT_OP_ReduceScatter		     ? CT_REDOP_avg
								     : 0,
		.in_place = op == CT_OP_AllReduce || op == CT_OP_Broadcast,
		.comm = comm,
		.peer = op == CT_OP_Broadcast || op == CT_OP_Reduce ? 0 : -1,
		.count = count,
		.key = key,
		.slot = step->slots++,
	};
}

struct ct_workload_op ct_step_p2p(struct ct_step *step, enum ct_workload_role role, unsigned op,
				  unsigned dtype, uint64_t count, int peer, uint32_t tag)
{
	const uint64_t own = (uint64_t)step->member[role], other = (uint64_t)peer;
	const uint64_t edge = op == CT_OP_Send ? own << 32 | other : other << 32 | own;
	const uint64_t step_key = ct_workload_mix(step->number, (uint64_t)step->comm[role]);

	return (struct ct_workload_op){
		.op = (uint8_t)op,
		.dtype = (uint8_t)dtype,
		.comm = step->comm[role],
		.peer = peer,
		.count = count,
		.key = ct_workload_mix(ct_workload_mix(step_key, 1ULL << 32 | tag), edge),
		.slot = step->slots++,
	};
}

static struct ct_action *add_event(struct ct_step *step, enum ct_action_kind kind, int stream,
				   int event)
{
	struct ct_action *action = ct_step_add(step, kind, stream);

	action->event = event;
	return action;
}

static void add_op(struct ct_step *step, enum ct_action_kind kind, int stream,
		   const struct ct_workload_op *op)
{
	struct ct_action *action = ct_step_add(step, kind, stream);

	action->op = *op;
	action->comm = op->comm;
}

static int end_event(const struct ct_workload_op *op)
{
	return CT_EVENT_SLOT + (int)op->slot;
}

void ct_step_join(struct ct_step *step, int stream, int other, int event)
{
	add_event(step, CT_ACTION_RECORD, other, event);
	add_event(step, CT_ACTION_WAIT, stream, event);
}

void ct_step_start(struct ct_step *step, int from, const struct ct_workload_op *ops, unsigned n,
		   int grouped)
{
	const int stream = ct_workload_comm_stream(ops[0].comm);
	int role = 0;

	while (role < CT_ROLES - 1 && step->comm[role] != ops[0].comm)
		role++;
	for (unsigned i = 0; i < n && !step->w->config.has_no_data; i++)
		add_op(step, CT_ACTION_PRODUCE, from, &ops[i]);
	ct_step_join(step, stream, from, CT_EVENT_READY + role);
	if (grouped)
		ct_step_add(step, CT_ACTION_GROUP_BEGIN, stream);
	for (unsigned i = 0; i < n; i++)
		add_op(step, CT_ACTION_OP, stream, &ops[i]);
	if (grouped)
		ct_step_add(step, CT_ACTION_GROUP_END, stream);
	add_event(step, CT_ACTION_RECORD, stream, end_event(&ops[0]));
}

void ct_step_wait(struct ct_step *step, int stream, const struct ct_workload_op *op)
{
	add_event(step, CT_ACTION_WAIT, stream, end_event(op));
}

void ct_step_consume(struct ct_step *step, int stream, const struct ct_workload_op *ops, unsigned n)
{
	for (unsigned i = 0; i < n && !step->w->config.has_no_data; i++)
		add_op(step, CT_ACTION_CONSUME, stream, &ops[i]);
}

void ct_step_sync(struct ct_step *step, const struct ct_workload_op *op)
{
	ct_step_start(step, CT_STREAM_COMPUTE, op, 1, 0);
	ct_step_wait(step, CT_STREAM_COMPUTE, op);
	ct_step_consume(step, CT_STREAM_COMPUTE, op, 1);
}
