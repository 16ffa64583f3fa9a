/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/time.h"

#include <errno.h>
#include <string.h>

#include "interpose/gpu/capture_state.h"
#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/decide.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/profiled.h"
#include "interpose/gpu/queue.h"
#include "interpose/gpu/record.h"
#include "interpose/gpu/span.h"
#include "interpose/gpu/stream_waits.h"
#include "trace/ops.h"

uint8_t ct_gpu_op_flags;

int ct_gpu_init(enum ct_gpu_timing how)
{
	return ct_gpu_init_options(&(struct ct_gpu_options){ .timing = how, .sample = CT_GPU_ALL });
}

int ct_gpu_init_options(const struct ct_gpu_options *from)
{
	enum ct_gpu_timing how = from->timing;

	ct_gpu_mode_init(from);
	ct_gpu_sampling_init(from);
	ct_gpu_op_flags = how == CT_GPU_UNTIMED ? CT_OP_UNTIMED : 0;
	ct_gpu_capture_state_init();
	ct_gpu_record_init();
	ct_poll_init(how == CT_GPU_TIMED || from->may_rise, from->budget_millionths);
	ct_gpu_decide_init(from);
	if (ct_waits_init(how == CT_GPU_TIMED || from->may_rise ? CT_WAITS_ALL
			  : how == CT_GPU_UNTIMED		? CT_WAITS_OFF
								: CT_WAITS_HOST) != CT_OK)
		return CT_NOMEM;
	if (ct_gpu_spans_init() != CT_OK || ct_gpu_profiled_init() != CT_OK)
		return CT_NOMEM;
	return ct_gpu_streams_init();
}

/* One that the poll thread never sees, or will not time. */
static void record_untimed(const struct ct_gpu_span *span, int result)
{
	ct_gpu_untimed_add();
	ct_gpu_record(span, result, NULL);
}

/* One that has no span. */
static void record_alone(const struct ct_gpu_launch *what)
{
	const struct ct_launch launch = {
		.id = what->id,
		.comm = what->comm,
		.n_ops = what->n_ops,
	};

	if (!what->unpicked)
		ct_gpu_untimed_add();
	ct_recorder_launch(&launch);
}

static inline uint32_t events_of(const struct ct_gpu_span *span)
{
	return span->events.start ? 2 : 1;
}

/* Events of the stream's context for a span that has none, or another context's, which the poll
 * thread will give back. 0: there are none. */
static __attribute__((noinline)) int change_events(struct ct_gpu_span *span)
{
	struct ct_gpu_pair events = { .context = span->stream->context };
	CUevent *start;

	/* the first launch of all comes through here */
	ct_gpu_decide(CT_GPU_HOST);
	/* what the context has, whatever the mode is by now */
	start = events.context->event_flags == CU_EVENT_DEFAULT ? &events.start : NULL;
	if ((span->events.context && span->old.context) ||
	    !(ct_gpu_events_take(&events.context->events, start, &events.end) ||
	      ct_gpu_events_take(&events.context->first, start, &events.end))) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_EVENT_POOL_EMPTY, 1);
		return 0;
	}
	if (span->events.context)
		span->old = span->events;
	span->events = events;
	return 1;
}

/* The start event, if starts are timed; its context is current. CUDA_ERROR_NOT_READY: there are no
 * events, or the stream is being captured. */
static inline CUresult start(const struct ct_cuda *cuda, struct ct_gpu_span *span,
			     enum ct_gpu_capture asked)
{
	if (asked == CT_GPU_UNASKED)
		asked = ct_gpu_capture_state_now(cuda, span->handle);
	if (asked != CT_GPU_FREE)
		return CUDA_ERROR_NOT_READY;
	if (__builtin_expect(span->events.context != span->stream->context, 0) &&
	    !change_events(span))
		return CUDA_ERROR_NOT_READY;
	if (__builtin_expect(!ct_gpu_queue_has_room(cuda, span->stream), 0)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
		return CUDA_ERROR_NOT_READY;
	}
	if (!span->events.start)
		return CUDA_SUCCESS;
	return cuda->event_record(span->events.start, span->handle);
}

static inline CUresult start_in_context(const struct ct_cuda *cuda, struct ct_gpu_span *span,
					enum ct_gpu_capture asked, CUcontext current)
{
	CUcontext context = atomic_load_explicit(&span->stream->context->handle,
						 memory_order_relaxed);
	int entered = __builtin_expect(context == current, 1)
			      ? 0
			      : ct_gpu_context_enter(cuda, span->stream->context);
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;

	if (entered >= 0) {
		result = start(cuda, span, asked);
		ct_gpu_context_leave(cuda, entered);
	}
	return result;
}

static __attribute__((noinline)) CUresult begin_failed(const struct ct_cuda *cuda,
						       struct ct_gpu_span *span, CUresult result)
{
	if (result == CUDA_ERROR_INVALID_HANDLE &&
	    ct_gpu_stream_again(cuda, &span->stream, span->handle))
		result = start_in_context(cuda, span, CT_GPU_UNASKED, NULL);
	if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
	return result;
}

/* What the driver's lock is held for is none of the program's NCCL call, perhaps: better untimed
 * than late. */
static __attribute__((noinline)) void leave_untimed(void)
{
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_DRIVER_HELD, 1);
}

/* The stream and, if it can be timed, its events. A span's last stream is most likely the next
 * one's. */
static __attribute__((noinline)) void begin_on_gpu(struct ct_gpu_span *span,
						   const struct ct_gpu_launch *launch)
{
	const struct ct_cuda *cuda = ct_poll_is_up() ? ct_cuda() : ct_gpu_cuda_start();
	CUresult result;

	span->handle = launch->stream;
	if (__builtin_expect(!cuda, 0)) {
		span->stream = NULL;
		return;
	}
	if (ct_poll_is_held()) {
		if (!ct_gpu_stream_is(span->stream, launch->stream))
			span->stream = NULL;
		leave_untimed();
		return;
	}
	if (__builtin_expect(!ct_gpu_stream_is(span->stream, launch->stream), 0))
		span->stream = ct_gpu_stream(cuda, launch->stream, (int)launch->device - 1);
	if (__builtin_expect(!span->stream, 0))
		return;
	result = start_in_context(cuda, span, launch->asked, launch->current);
	if (__builtin_expect(result != CUDA_SUCCESS, 0))
		result = begin_failed(cuda, span, result);
	span->timed = result == CUDA_SUCCESS ? CT_GPU_IS_TIMED : 0;
	if (__builtin_expect(span->timed, 1))
		ct_gpu_queue_add(span->stream, events_of(span), span->events.end);
}

static __attribute__((noinline)) void begin_probed(struct ct_gpu_span *span,
						   const struct ct_gpu_launch *launch)
{
	uint64_t since_ns = ct_poll_take_probe();

	begin_on_gpu(span, launch);
	if (!since_ns || !span->timed)
		return;
	ct_poll_probe_begun(since_ns);
	span->timed |= CT_GPU_IS_PROBED;
}

void ct_gpu_span_push(struct ct_gpu_block *block)
{
	block->pushed = 1;
	atomic_fetch_add_explicit(&block->left, 1, memory_order_relaxed);
	ct_poll_push(block);
}

static void show(struct ct_gpu_span *span)
{
	ct_gpu_span_show(span, ct_gpu_block_of(span), span->timed != 0);
}

/* Which stream it is, for the record. */
static void name_stream(struct ct_gpu_span *span, const struct ct_gpu_launch *launch)
{
	const struct ct_cuda *cuda = ct_gpu_cuda();

	span->handle = launch->stream;
	if (!cuda || ct_poll_gave_up())
		span->stream = NULL;
	else if (!ct_gpu_stream_is(span->stream, launch->stream))
		span->stream = ct_gpu_stream(cuda, launch->stream, (int)launch->device - 1);
}

static void note_stream(struct ct_gpu_span *span)
{
	if (span->stream)
		atomic_store_explicit(&span->open->stream, span->stream->word,
				      memory_order_relaxed);
}

struct ct_gpu_span *ct_gpu_begin_profiled(const struct ct_gpu_launch *launch)
{
	int is_wanted = ct_gpu_timing() != CT_GPU_UNTIMED;
	struct ct_gpu_span *span = is_wanted && !launch->unpicked ? ct_gpu_span_take() : NULL;
	int saved;

	if (!span) {
		if (is_wanted)
			record_alone(launch);
		return NULL;
	}
	saved = errno;
	ct_gpu_open_fill(span->open, launch, 0);
	span->timed = 0;
	span->has_end = 0;
	span->thread = ct_gpu_thread();
	name_stream(span, launch);
	note_stream(span);
	show(span); /* nothing for the poll thread */
	span->timed = CT_GPU_IS_REPORTED;
	ct_gpu_profiled_begin(span, launch->id);
	errno = saved;
	return span;
}

/* One that gets no events: not picked, no space, or none of ours. */
static __attribute__((noinline)) struct ct_gpu_span *begin_without(
	const struct ct_gpu_launch *launch)
{
	if (ct_gpu_timing() == CT_GPU_PLUGIN)
		return ct_gpu_begin_profiled(launch);
	if (ct_gpu_timing() != CT_GPU_UNTIMED)
		record_alone(launch);
	return NULL;
}

void ct_gpu_begin_refused(struct ct_gpu_span *span, CUresult result)
{
	span->timed = 0;
	span->has_end = 0;
	result = begin_failed(ct_cuda(), span, result);
	if (result == CUDA_SUCCESS) {
		span->timed = CT_GPU_IS_TIMED;
		ct_gpu_queue_add(span->stream, events_of(span), span->events.end);
	}
	atomic_store_explicit(&span->open->stream, span->stream ? span->stream->word : 0,
			      memory_order_relaxed);
	show(span);
}

struct ct_gpu_span *ct_gpu_begin(const struct ct_gpu_launch *launch)
{
	struct ct_gpu_span *span = ct_gpu_has_events() && !launch->unpicked ? ct_gpu_span_take()
									    : NULL;
	int saved;

	if (!span)
		return begin_without(launch);
	saved = errno;
	ct_gpu_open_fill(span->open, launch, 0);
	span->timed = 0;
	span->has_end = 0;
	span->thread = ct_gpu_thread();
	if (__builtin_expect(ct_poll_wants_probe(), 0))
		begin_probed(span, launch);
	else
		begin_on_gpu(span, launch);
	note_stream(span);
	show(span);
	errno = saved;
	return span;
}

static void close_untimed(struct ct_gpu_span *span, int result)
{
	record_untimed(span, result);
	ct_gpu_span_close(span);
}

void ct_gpu_end_refused(CUresult result)
{
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
}

/* The end event, if it can be recorded from here. Returns 1 if so. */
static inline __attribute__((always_inline)) int end_on_gpu(struct ct_gpu_span *span)
{
	const struct ct_cuda *cuda = ct_cuda();
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;
	int entered;

	/* the program has ended it meanwhile, with its events */
	if (__builtin_expect(ct_gpu_context_is_dead(span->events.context), 0))
		return 0;
	/* each thread has its own per-thread stream: from another one the end is not to be had */
	if (__builtin_expect(span->handle == CU_STREAM_PER_THREAD, 0) &&
	    span->thread != ct_gpu_thread())
		return 0;
	if (ct_poll_is_held()) {
		leave_untimed();
		return 0;
	}
	entered = ct_gpu_context_enter(cuda, span->events.context);
	if (__builtin_expect(entered >= 0, 1)) {
		result = cuda->event_record(span->events.end, span->handle);
		ct_gpu_context_leave(cuda, entered);
	}
	if (__builtin_expect(result != CUDA_SUCCESS, 0))
		ct_gpu_end_refused(result);
	return result == CUDA_SUCCESS;
}

static __attribute__((noinline)) uint64_t end_untimed(struct ct_gpu_span *span)
{
	if (span->timed == CT_GPU_IS_REPORTED)
		ct_gpu_profiled_end(span, 0);
	else
		close_untimed(span, 0);
	return 0;
}

uint64_t ct_gpu_end(struct ct_gpu_span *span)
{
	uint64_t now, probe_ns = 0;
	uint8_t timed;
	int saved;

	if (!span)
		return 0;
	timed = span->timed;
	if (__builtin_expect(!(timed & CT_GPU_IS_TIMED), 0))
		return end_untimed(span);
	saved = errno;
	if (__builtin_expect(timed & CT_GPU_IS_PROBED, 0))
		probe_ns = ct_now_ns();
	if (__builtin_expect(!ct_poll_gave_up(), 1))
		span->has_end = (uint8_t)end_on_gpu(span);
	/* a graph is more than its communication: a wait for it may be for the rest */
	if (__builtin_expect((uint8_t)ct_load_relaxed(&span->open->comm_op) != CT_OP_GraphLaunch,
			     1)) {
		ct_waits_count(&span->stream->launches,
			       (uint32_t)ct_load_relaxed(&span->open->tag));
		if (__builtin_expect(!atomic_load_explicit(&span->stream->launches.known,
							   memory_order_relaxed),
				     0))
			ct_waits_launch(span);
	}
	/* not a moment earlier than the event: this thread may be delayed between the two */
	now = ct_now_ns();
	ct_gpu_span_returned(span, now - ct_load_relaxed(&span->open->opened_ns));
	if (__builtin_expect(probe_ns != 0, 0))
		ct_poll_probe_ended(now - probe_ns);
	ct_gpu_span_set(span, CT_GPU_LAUNCHED);
	errno = saved;
	return now;
}

void ct_gpu_drop(struct ct_gpu_span *span, int result)
{
	if (!span)
		return;
	if (!(span->timed & CT_GPU_IS_TIMED)) {
		if (span->timed == CT_GPU_IS_REPORTED)
			ct_gpu_profiled_end(span, result);
		else
			close_untimed(span, result);
		return;
	}
	record_untimed(span, result);
	ct_gpu_span_set(span, CT_GPU_DROPPED);
}
