/* SPDX-License-Identifier: Apache-2.0 */
/* moe.c — a mixture of experts that live on different ranks of a group. In every layer tokens are
 * sent to their experts and back, forward and backward: all-to-all with uneven counts, which
 * PyTorch makes out of grouped sends and receives. How many go where differs in every step; nothing
 * at all happens too, and is then not sent. */
#include <stdlib.h>

#include "tools/workload/step.h"

enum {
	LAYERS = 3,
	EXPERTS = 4, /* of one rank */
	PAIR_ELEMENTS = 1024 * 1024,
	DISPATCH = 0, /* what is sent back has the counts turned round */
	COMBINE = 1,
};

/* Elements that `from` sends to `to` when tokens are dispatched; both sides know it. */
static uint64_t tokens(const struct ct_step *step, int layer, int from, int to)
{
	const uint64_t seed = step->w->config.seed;
	const uint64_t when = ct_workload_mix(step->number, (uint64_t)layer);
	const uint64_t group = (uint64_t)step->comm[CT_ROLE_EP];
	uint64_t draw;

	if (ct_workload_mix(seed ^ 1, when) % 12 == 0)
		return 0;
	draw = ct_workload_mix(ct_workload_mix(seed, when),
			       group << 40 ^ (uint64_t)from << 20 ^ (uint64_t)to);
	if (draw % 16 == 0)
		return 0;
	return ct_step_scaled(step, PAIR_ELEMENTS / 2 + (draw >> 8) % PAIR_ELEMENTS);
}

static void all_to_all(struct ct_step *step, int layer, int way, uint32_t tag)
{
	const int n = step->n[CT_ROLE_EP], own = step->member[CT_ROLE_EP];
	struct ct_workload_op *ops = malloc(2 * (size_t)n * sizeof(*ops));
	unsigned used = 0;

	if (!ops) {
		step->failed = 1;
		return;
	}
	for (int peer = 0; peer < n; peer++) {
		const uint64_t out = tokens(step, layer, own, peer);
		const uint64_t in = tokens(step, layer, peer, own);
		/* Every pair has its slots, used or not. */
		const struct ct_workload_op send = ct_step_p2p(step, CT_ROLE_EP, CT_OP_Send,
							       CT_DTYPE_bfloat16,
							       way == DISPATCH ? out : in, peer,
							       tag);
		const struct ct_workload_op receive = ct_step_p2p(step, CT_ROLE_EP, CT_OP_Recv,
								  CT_DTYPE_bfloat16,
								  way == DISPATCH ? in : out, peer,
								  tag);

		if (send.count)
			ops[used++] = send;
		if (receive.count)
			ops[used++] = receive;
	}
	if (used) {
		ct_step_start(step, CT_STREAM_COMPUTE, ops, used, 1);
		ct_step_wait(step, CT_STREAM_COMPUTE, &ops[0]);
		ct_step_consume(step, CT_STREAM_COMPUTE, ops, used);
	} else {
		const int stream = ct_workload_comm_stream(step->comm[CT_ROLE_EP]);

		ct_step_add(step, CT_ACTION_GROUP_BEGIN, stream);
		ct_step_add(step, CT_ACTION_GROUP_END, stream);
	}
	free(ops);
}

static void layer_forward(struct ct_step *step, int layer)
{
	struct ct_workload_op counts;

	ct_step_compute(step, 0.1);
	if (step->comm[CT_ROLE_EP] < 0)
		return;
	counts = ct_step_op(step, CT_ROLE_EP, CT_OP_AllToAll, CT_DTYPE_int64, EXPERTS);
	ct_step_sync(step, &counts);
	all_to_all(step, layer, DISPATCH, (uint32_t)(4 * layer));
	ct_step_compute(step, 0.04);
	all_to_all(step, layer, COMBINE, (uint32_t)(4 * layer + 1));
}

static void layer_backward(struct ct_step *step, int layer)
{
	ct_step_compute(step, 0.04);
	if (step->comm[CT_ROLE_EP] >= 0)
		all_to_all(step, layer, DISPATCH, (uint32_t)(4 * layer + 2));
	ct_step_compute(step, 0.08);
	if (step->comm[CT_ROLE_EP] >= 0)
		all_to_all(step, layer, COMBINE, (uint32_t)(4 * layer + 3));
}

void ct_emit_moe(struct ct_step *step)
{
	struct ct_workload_op gradients[2 * LAYERS];
	unsigned n = 0;

	for (int layer = 0; layer < LAYERS; layer++)
		layer_forward(step, layer);
	for (int layer = LAYERS - 1; layer >= 0; layer--) {
		layer_backward(step, layer);
		gradients[n] = ct_step_op(step, CT_ROLE_WORLD, CT_OP_AllReduce, CT_DTYPE_float32,
					  ct_step_scaled(step, 5 * 1000 * 1000));
		ct_step_start(step, CT_STREAM_COMPUTE, &gradients[n++], 1, 0);
		if (step->comm[CT_ROLE_DP] < 0)
			continue;
		gradients[n] = ct_step_op(step, CT_ROLE_DP, CT_OP_AllReduce, CT_DTYPE_float32,
					  ct_step_scaled(step, 20 * 1000 * 1000));
		ct_step_start(step, CT_STREAM_COMPUTE, &gradients[n++], 1, 0);
	}
	for (unsigned i = 0; i < n; i++)
		ct_step_wait(step, CT_STREAM_COMPUTE, &gradients[i]);
	ct_step_consume(step, CT_STREAM_COMPUTE, gradients, n);
	ct_step_compute(step, 0.05);
}
