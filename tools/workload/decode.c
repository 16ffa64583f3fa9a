/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c — a step makes one token of every sequence of a batch: tensor parallel inference as in
 * vLLM, whose ops go onto the computing stream itself, so that all of them are exposed. Replicas
 * agree on whether there is work left. */
#include "tools/workload/step.h"

enum { LAYERS = 16, BATCH = 8, HIDDEN = 8192, VOCABULARY = 128 * 1024 };

static void on_compute_stream(struct ct_step *step, const struct ct_workload_op *op)
{
	static const enum ct_action_kind kinds[] = { CT_ACTION_PRODUCE, CT_ACTION_OP,
						     CT_ACTION_CONSUME };
	struct ct_action *action;

	for (int i = 0; i < 3; i++) {
		if (step->w->config.has_no_data && kinds[i] != CT_ACTION_OP)
			continue;
		action = ct_step_add(step, kinds[i], CT_STREAM_COMPUTE);
		action->op = *op;
		action->comm = op->comm;
	}
}

void ct_emit_decode(struct ct_step *step)
{
	const enum ct_workload_role role = step->comm[CT_ROLE_TP] < 0 ? CT_ROLE_WORLD : CT_ROLE_TP;
	const uint64_t n = (uint64_t)step->n[role];
	struct ct_workload_op op;

	if (step->comm[CT_ROLE_DP] >= 0) {
		op = ct_step_op(step, CT_ROLE_DP, CT_OP_AllReduce, CT_DTYPE_int32, 1);
		op.redop = CT_REDOP_max;
		on_compute_stream(step, &op);
	}
	for (int layer = 0; layer < LAYERS; layer++) {
		for (int half = 0; half < 2; half++) {
			ct_step_compute(step, 0.9 / LAYERS / 2);
			op = ct_step_op(step, role, CT_OP_AllReduce, CT_DTYPE_bfloat16,
					ct_step_scaled(step, BATCH * HIDDEN));
			on_compute_stream(step, &op);
		}
	}
	ct_step_compute(step, 0.1);
	op = ct_step_op(step, role, CT_OP_AllGather, CT_DTYPE_float32,
			ct_step_scaled(step, BATCH * VOCABULARY) / n + 1);
	on_compute_stream(step, &op);
}
