/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/record.h"

#include "interpose/gpu/freeze.h"

static _Atomic uint64_t untimed;

void ct_gpu_record_init(void)
{
	/* relaxed: a count, before there are threads */
	atomic_store_explicit(&untimed, 0, memory_order_relaxed);
	ct_freeze_init();
}

void ct_gpu_untimed_add(void)
{
	/* relaxed: a count that nothing else hangs on */
	atomic_fetch_add_explicit(&untimed, 1, memory_order_relaxed);
}

uint64_t ct_gpu_untimed(void)
{
	return atomic_load_explicit(&untimed, memory_order_relaxed);
}

void ct_gpu_record(const struct ct_gpu_span *span, int result, const struct ct_gpu_times *times)
{
	uint64_t comm_op = ct_load_relaxed(&span->open->comm_op);
	struct ct_launch launch = {
		.id = (uint32_t)ct_load_relaxed(&span->open->tag),
		.comm = (uint32_t)(comm_op >> 32),
		.n_ops = (uint32_t)comm_op >> 8,
		.result = (int16_t)result,
	};

	if (span->stream) {
		launch.stream = span->stream->id;
		launch.device = (uint32_t)span->stream->context->device;
	}
	if (times) {
		launch.start_ns = times->start_ns;
		launch.end_ns = times->end_ns;
		launch.start_err_ns = times->start_err_ns;
		launch.end_err_ns = times->end_err_ns;
		launch.start_source = (uint8_t)times->start_source;
		launch.end_source = (uint8_t)times->end_source;
	}
	ct_freeze_apply(&launch, ct_load_relaxed(&span->open->opened_ns));
	ct_recorder_launch(&launch);
}
