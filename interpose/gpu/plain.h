/* SPDX-License-Identifier: Apache-2.0 */
/* plain.h — time.h for a plain launch, as nearly all are: every launch is timed by events, the
 * stream is the program's own and not captured, and stream, context and events are those of the
 * last launch with the same span.
 *
 * Inlined into the wrapper. Nothing is cached but what a span keeps, and all of it is compared
 * before each launch; what does not fit goes the general way, ct_gpu_begin(). Guard held, on the
 * thread that launches. Changes errno.
 */
#ifndef CT_INTERPOSE_GPU_PLAIN_H
#define CT_INTERPOSE_GPU_PLAIN_H

#include "interpose/gpu/capture_state.h"
#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/queue.h"
#include "interpose/gpu/span.h"
#include "interpose/gpu/time.h"

#define CT_GPU_PLAIN inline __attribute__((always_inline))

/* The span of a plain launch on this stream, not taken yet. NULL: it is not plain. */
static CT_GPU_PLAIN struct ct_gpu_span *ct_gpu_plain_span(CUstream stream)
{
	const struct ct_cuda *cuda = ct_cuda();
	struct ct_gpu_span *span;
	CUcontext current;

	if (__builtin_expect((atomic_load_explicit(&ct_gpu_unusual, memory_order_relaxed) |
			      ct_poll_inside_since()) != 0,
			     0))
		return NULL;
	span = ct_gpu_span_next();
	if (__builtin_expect(!span || !ct_gpu_stream_is(span->stream, stream) ||
				     span->events.context != span->stream->context ||
				     !ct_gpu_queue_is_roomy(span->stream) ||
				     cuda->ctx_get_current(&current) != CUDA_SUCCESS ||
				     current != atomic_load_explicit(&span->events.context->handle,
								     memory_order_relaxed) ||
				     ct_gpu_capture_state_now(cuda, stream) != CT_GPU_FREE,
			     0))
		return NULL;
	return span;
}

/* Takes the span for the launch, of which it reads what the open table has. 0: it may not be timed,
 * ct_gpu_end() knows. */
static CT_GPU_PLAIN int ct_gpu_plain_begin(struct ct_gpu_span *span,
					   const struct ct_gpu_launch *launch)
{
	struct ct_gpu_block *block = ct_gpu_block_nth(ct_self.launches - 1u);
	CUevent first = span->events.start;
	CUresult result = CUDA_SUCCESS;

	ct_gpu_span_pass(span);
	ct_gpu_open_fill(span->open, launch, span->stream->word);
	if (__builtin_expect(first != NULL, 1))
		result = ct_cuda()->event_record(first, launch->stream);
	if (__builtin_expect(result != CUDA_SUCCESS, 0)) {
		ct_gpu_begin_refused(span, result);
		return 0;
	}
	span->timed = CT_GPU_IS_TIMED;
	span->has_end = 0;
	ct_gpu_queue_add(span->stream, first ? 2 : 1, span->events.end);
	ct_gpu_span_show(span, block, 1);
	return 1;
}

/* ct_gpu_end() of this launch, entered at `enter_ns`; *now_ns is what that returns. 0: it is not
 * plain any more, and nothing was done. */
static CT_GPU_PLAIN int ct_gpu_plain_end(struct ct_gpu_span *span, uint32_t launch,
					 uint64_t enter_ns, uint64_t *now_ns)
{
	const struct ct_gpu_context *context = span->events.context;
	const struct ct_cuda *cuda = ct_cuda();
	CUcontext current;
	CUresult result;

	if (__builtin_expect(((uint32_t)ct_poll_gave_up() | ct_poll_inside_since()) != 0 ||
				     ct_gpu_context_is_dead(context) ||
				     !atomic_load_explicit(&span->stream->launches.known,
							   memory_order_relaxed) ||
				     cuda->ctx_get_current(&current) != CUDA_SUCCESS ||
				     current != atomic_load_explicit(&context->handle,
								     memory_order_relaxed),
			     0))
		return 0;
	result = cuda->event_record(span->events.end, span->handle);
	span->has_end = result == CUDA_SUCCESS;
	if (__builtin_expect(result != CUDA_SUCCESS, 0))
		ct_gpu_end_refused(result);
	ct_waits_count(&span->stream->launches, launch);
	/* not a moment earlier than the event: this thread may be delayed between the two */
	*now_ns = ct_now_ns();
	ct_gpu_span_returned(span, *now_ns - enter_ns);
	ct_gpu_span_launched(span);
	return 1;
}

#endif
