/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/event_prealloc.h"

#include <errno.h>
#include <stddef.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/streams.h"

/* The calling thread's context, if there shall be events for it. */
static struct ct_gpu_context *hint(const struct ct_cuda *cuda)
{
	CUcontext current = NULL;
	struct ct_gpu_context *context = NULL;

	if (ct_gpu_has_events() && cuda && !ct_poll_gave_up() && !ct_poll_is_held() &&
	    cuda->ctx_get_current(&current) == CUDA_SUCCESS && current)
		context = ct_gpu_context(cuda, current);
	if (context) {
		ct_poll_start();
		ct_poll_wake();
	}
	return context;
}

void ct_gpu_prealloc_ask(void)
{
	const struct ct_cuda *cuda = ct_gpu_timing() != CT_GPU_UNTIMED ? ct_cuda_find() : NULL;
	int saved = errno;

	hint(cuda);
	errno = saved;
}

/* One thread fills the pool, the first one that comes; others find what it has made so far. */
static void make_first(const struct ct_cuda *cuda, struct ct_gpu_context *context)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUresult result = CUDA_SUCCESS;

	if (ct_gpu_events_ready(&context->events) >= CT_GPU_FIRST_EVENTS || ct_poll_gave_up() ||
	    /* the pool has one producer: the exchange gives it to this thread, and no thread takes
	     * it back. relaxed: what takers see of the events is ordered by the pool itself */
	    atomic_exchange_explicit(&context->has_first, 1, memory_order_relaxed) ||
	    cuda->exchange_capture_mode(&mode) != CUDA_SUCCESS)
		return;
	while (context->first.made < CT_GPU_FIRST_EVENTS && result == CUDA_SUCCESS)
		result = ct_gpu_event_make(&context->first, cuda, context->event_flags);
	cuda->exchange_capture_mode(&mode);
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
}

void ct_gpu_prealloc_events(void)
{
	const struct ct_cuda *cuda = ct_gpu_timing() != CT_GPU_UNTIMED ? ct_cuda_find() : NULL;
	struct ct_gpu_context *context;
	int saved = errno;

	context = hint(cuda);
	if (context)
		make_first(cuda, context);
	errno = saved;
}
