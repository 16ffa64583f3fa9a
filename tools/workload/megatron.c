/* SPDX-License-Identifier: Apache-2.0 */
/* megatron.c — a GPT cut three ways. Inside a layer the ranks of a tensor group add up activations,
 * twice forward and twice backward; stages of a pipeline pass activations and their gradients on in
 * batched sends and receives, one forward, one backward (1F1B); copies of a stage reduce gradients
 * in buckets during the last backward pass, and gather what each has optimized. */
#include "tools/workload/step.h"

enum {
	LAYERS = 2, /* of one stage */
	ACTIVATIONS = 2048 * 4096,
	BUCKETS = 2,
	BUCKET_PARAMETERS = 20 * 1000 * 1000,
	FORWARD = 0, /* tags of what stages exchange */
	BACKWARD = 1000,
};

struct pipeline_rank {
	struct ct_step *step;
	int stage, stages;
	int batches;
	double part; /* of the step's computing that a layer's forward pass of one batch takes */
	struct ct_workload_op gradients[BUCKETS];
};

static void layers(struct pipeline_rank *p, double part)
{
	struct ct_workload_op op;

	for (int i = 0; i < 2 * LAYERS; i++) {
		ct_step_compute(p->step, part / 2);
		if (p->step->comm[CT_ROLE_TP] < 0)
			continue;
		op = ct_step_op(p->step, CT_ROLE_TP, CT_OP_AllReduce, CT_DTYPE_bfloat16,
				ct_step_scaled(p->step, ACTIVATIONS));
		ct_step_sync(p->step, &op);
	}
}

/* The last batch's backward pass, during which the gradients go out. */
static void last_backward(struct pipeline_rank *p)
{
	for (int i = 0; i < BUCKETS; i++) {
		const enum ct_workload_role role = CT_ROLE_DP;

		layers(p, 2 * p->part / BUCKETS);
		if (p->step->comm[role] < 0)
			continue;
		p->gradients[i] = ct_step_op(p->step, role, CT_OP_ReduceScatter, CT_DTYPE_float32,
					     ct_step_scaled(p->step, BUCKET_PARAMETERS) /
						     (uint64_t)p->step->n[role]);
		ct_step_start(p->step, CT_STREAM_COMPUTE, &p->gradients[i], 1, 0);
	}
}

/* Exchange with the neighbours in one batch: batch numbers, -1 for nothing. */
static void exchange(struct pipeline_rank *p, int send_forward, int receive_forward,
		     int send_backward, int receive_backward)
{
	const struct {
		int batch, to, tag;
		unsigned op;
	} wanted[] = {
		{ receive_forward, p->stage - 1, FORWARD, CT_OP_Recv },
		{ send_forward, p->stage + 1, FORWARD, CT_OP_Send },
		{ receive_backward, p->stage + 1, BACKWARD, CT_OP_Recv },
		{ send_backward, p->stage - 1, BACKWARD, CT_OP_Send },
	};
	struct ct_workload_op ops[4];
	unsigned n = 0;

	for (int i = 0; i < 4; i++) {
		if (wanted[i].batch < 0 || wanted[i].to < 0 || wanted[i].to >= p->stages)
			continue;
		ops[n++] = ct_step_p2p(p->step, CT_ROLE_PP, wanted[i].op, CT_DTYPE_bfloat16,
				       ct_step_scaled(p->step, ACTIVATIONS), wanted[i].to,
				       (uint32_t)(wanted[i].tag + wanted[i].batch));
	}
	if (n == 0)
		return;
	ct_step_start(p->step, CT_STREAM_COMPUTE, ops, n, 1);
	ct_step_wait(p->step, CT_STREAM_COMPUTE, &ops[0]);
	ct_step_consume(p->step, CT_STREAM_COMPUTE, ops, n);
}

static void backward(struct pipeline_rank *p, int batch)
{
	if (batch == p->batches - 1)
		last_backward(p);
	else
		layers(p, 2 * p->part);
}

static void one_forward_one_backward(struct pipeline_rank *p)
{
	const int ahead = p->stages - p->stage - 1;
	const int warm_up = ahead < p->batches ? ahead : p->batches;
	const int rest = p->batches - warm_up;

	for (int i = 0; i < warm_up; i++) {
		exchange(p, -1, i, -1, -1);
		layers(p, p->part);
		exchange(p, i, -1, -1, -1);
	}
	if (rest > 0)
		exchange(p, -1, warm_up, -1, -1);
	for (int i = 0; i < rest; i++) {
		const int batch = warm_up + i, last = i == rest - 1;

		layers(p, p->part);
		exchange(p, batch, -1, -1, i);
		backward(p, i);
		exchange(p, -1, last ? -1 : batch + 1, i, -1);
	}
	for (int i = rest; i < p->batches; i++) {
		exchange(p, -1, -1, -1, i);
		backward(p, i);
		exchange(p, -1, -1, i, -1);
	}
}

static void optimize(struct pipeline_rank *p)
{
	struct ct_workload_op norm, gathered[BUCKETS];
	struct ct_step *step = p->step;
	const int shared = step->comm[CT_ROLE_DP] >= 0;

	for (int i = 0; shared && i < BUCKETS; i++)
		ct_step_wait(step, CT_STREAM_COMPUTE, &p->gradients[i]);
	if (shared)
		ct_step_consume(step, CT_STREAM_COMPUTE, p->gradients, BUCKETS);
	norm = ct_step_op(step, CT_ROLE_WORLD, CT_OP_AllReduce, CT_DTYPE_float32, 1);
	ct_step_sync(step, &norm);
	ct_step_compute(step, 0.05);
	for (int i = 0; shared && i < BUCKETS; i++) {
		gathered[i] = ct_step_op(step, CT_ROLE_DP, CT_OP_AllGather, CT_DTYPE_bfloat16,
					 ct_step_scaled(step, BUCKET_PARAMETERS) /
						 (uint64_t)step->n[CT_ROLE_DP]);
		ct_step_start(step, CT_STREAM_COMPUTE, &gathered[i], 1, 0);
	}
	for (int i = 0; shared && i < BUCKETS; i++)
		ct_step_wait(step, CT_STREAM_COMPUTE, &gathered[i]);
	if (shared)
		ct_step_consume(step, CT_STREAM_COMPUTE, gathered, BUCKETS);
}

void ct_emit_megatron(struct ct_step *step)
{
	const int stages = step->n[CT_ROLE_PP];
	const int batches = 2 * stages < 4 ? 4 : 2 * stages;
	struct pipeline_rank p = {
		.step = step,
		.stage = step->member[CT_ROLE_PP],
		.stages = stages,
		.batches = batches,
		.part = 0.95 / (3 * LAYERS * batches),
	};

	one_forward_one_backward(&p);
	optimize(&p);
}
