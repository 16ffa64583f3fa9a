/* SPDX-License-Identifier: Apache-2.0 */
/* fsdp.c — sharded data parallel: each unit's parameters are gathered ahead of its computing and
 * again in the backward pass, where its gradients are reduced and scattered. The gathering is
 * ordered by a stream of its own, on which nothing is computed: the computing stream depends on the
 * communicator's only through that one. */
#include "tools/workload/step.h"

enum { UNITS = 6, UNIT_PARAMETERS = 20 * 1000 * 1000 };

static uint64_t shard(const struct ct_step *step)
{
	const uint64_t n = (uint64_t)step->n[CT_ROLE_WORLD];

	return (ct_step_scaled(step, UNIT_PARAMETERS) + n - 1) / n;
}

static struct ct_workload_op gather(struct ct_step *step)
{
	struct ct_workload_op op = ct_step_op(step, CT_ROLE_WORLD, CT_OP_AllGather,
					      CT_DTYPE_bfloat16, shard(step));

	ct_step_start(step, CT_STREAM_COPY, &op, 1, 0);
	ct_step_wait(step, CT_STREAM_COPY, &op);
	return op;
}

static void use(struct ct_step *step, const struct ct_workload_op *gathered, int unit, double part)
{
	ct_step_join(step, CT_STREAM_COMPUTE, CT_STREAM_COPY, CT_EVENT_HOP + unit % 2);
	ct_step_consume(step, CT_STREAM_COMPUTE, gathered, 1);
	ct_step_compute(step, part);
}

void ct_emit_fsdp(struct ct_step *step)
{
	struct ct_workload_op gathered[UNITS + 1], scattered[UNITS], norm;

	/* What the optimizer has written is there to be gathered. */
	ct_step_join(step, CT_STREAM_COPY, CT_STREAM_COMPUTE, CT_EVENT_HOP + 2);
	gathered[0] = gather(step);
	for (int unit = 0; unit < UNITS; unit++) {
		use(step, &gathered[unit], unit, 0.3 / UNITS);
		if (unit + 1 < UNITS)
			gathered[unit + 1] = gather(step);
	}

	ct_step_join(step, CT_STREAM_COPY, CT_STREAM_COMPUTE, CT_EVENT_HOP + 3);
	gathered[UNITS - 1] = gather(step);
	for (int unit = UNITS - 1; unit >= 0; unit--) {
		use(step, &gathered[unit], unit, 0.6 / UNITS);
		if (unit > 0)
			gathered[unit - 1] = gather(step);
		scattered[unit] = ct_step_op(step, CT_ROLE_WORLD, CT_OP_ReduceScatter,
					     CT_DTYPE_float32, shard(step));
		ct_step_start(step, CT_STREAM_COMPUTE, &scattered[unit], 1, 0);
	}
	for (int unit = 0; unit < UNITS; unit++)
		ct_step_wait(step, CT_STREAM_COMPUTE, &scattered[unit]);
	ct_step_consume(step, CT_STREAM_COMPUTE, scattered, UNITS);
	norm = ct_step_op(step, CT_ROLE_WORLD, CT_OP_AllReduce, CT_DTYPE_float32, 1);
	ct_step_sync(step, &norm);
	ct_step_compute(step, 0.1);
}
