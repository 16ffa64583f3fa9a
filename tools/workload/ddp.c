/* SPDX-License-Identifier: Apache-2.0 */
/* ddp.c — ResNet-50 under PyTorch's DistributedDataParallel: the buffers are broadcast before the
 * forward pass, the gradients go out in buckets while the backward pass goes on. Sizes and their
 * order as seen in real traces. */
#include "tools/workload/step.h"

static const uint64_t buckets[] = { 2049000, 7875584, 6563840, 6637568, 2431040 };

enum { BUCKETS = sizeof(buckets) / sizeof(buckets[0]) };

void ct_emit_ddp(struct ct_step *step)
{
	struct ct_workload_op buffers, counters, gradients[BUCKETS];

	buffers = ct_step_op(step, CT_ROLE_WORLD, CT_OP_Broadcast, CT_DTYPE_float32,
			     ct_step_scaled(step, 53120));
	counters = ct_step_op(step, CT_ROLE_WORLD, CT_OP_Broadcast, CT_DTYPE_int64, 53);
	ct_step_sync(step, &buffers);
	ct_step_sync(step, &counters);
	for (int i = 0; i < 3; i++)
		ct_step_compute(step, 0.11);
	for (int i = 0; i < BUCKETS; i++) {
		ct_step_compute(step, i == 0 ? 0.06 : 0.14);
		gradients[i] = ct_step_op(step, CT_ROLE_WORLD, CT_OP_AllReduce, CT_DTYPE_float32,
					  ct_step_scaled(step, buckets[i]));
		ct_step_start(step, CT_STREAM_COMPUTE, &gradients[i], 1, 0);
	}
	for (int i = 0; i < BUCKETS; i++)
		ct_step_wait(step, CT_STREAM_COMPUTE, &gradients[i]);
	ct_step_consume(step, CT_STREAM_COMPUTE, gradients, BUCKETS);
	ct_step_compute(step, 0.05);
}
