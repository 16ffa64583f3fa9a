/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gputime.h"

#include <errno.h>
#include <string.h>

#include "interpose/gpuspan.h"
#include "interpose/poll.h"

static enum ct_gpu_timing wanted;
static _Atomic int looked; /* for CUDA, at the first launch */
static _Atomic uint64_t untimed;
uint8_t ct_gpu_op_flags;

int ct_gpu_init(enum ct_gpu_timing timing)
{
	wanted = timing;
	ct_gpu_op_flags = timing == CT_GPU_UNTIMED ? CT_OP_UNTIMED : 0;
	atomic_store_explicit(&looked, 0, memory_order_relaxed);
	atomic_store_explicit(&untimed, 0, memory_order_relaxed);
	ct_poll_init(timing == CT_GPU_TIMED);
	return ct_gpu_spans_init() == CT_OK ? ct_gpu_streams_init() : CT_NOMEM;
}

void ct_gpu_context_hint(void)
{
	const struct ct_cuda *cuda = wanted != CT_GPU_UNTIMED ? ct_cuda_find() : NULL;
	CUcontext current = NULL;
	int saved = errno;

	if (cuda && !ct_poll_is_held() && cuda->ctx_get_current(&current) == CUDA_SUCCESS &&
	    current && ct_gpu_context(cuda, current)) {
		ct_poll_start();
		ct_poll_wake();
	}
	errno = saved;
}

static uint64_t load(const ct_word *word)
{
	return atomic_load_explicit((ct_word *)(uintptr_t)word, memory_order_relaxed);
}

void ct_gpu_record(const struct ct_gpu_span *span, int result, const struct ct_gpu_times *times)
{
	uint64_t comm_op = load(&span->open->comm_op);
	struct ct_launch launch = {
		.id = (uint32_t)load(&span->open->tag),
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
	ct_recorder_launch(&launch);
}

/* One that the poll thread never sees, or will not time. */
static void record_untimed(const struct ct_gpu_span *span, int result)
{
	atomic_fetch_add_explicit(&untimed, 1, memory_order_relaxed);
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

	atomic_fetch_add_explicit(&untimed, 1, memory_order_relaxed);
	ct_recorder_launch(&launch);
}

/* What events recorded now would end in: a captured event is the graph's, it cannot be asked. While another stream is
 * captured the legacy stream cannot even be asked whether it is; then nothing is done to it either. */
static inline int is_captured(const struct ct_cuda *cuda, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return cuda->stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Two events of the stream's context for a span that has none, or another context's, which the poll thread will give
 * back. 0: there are none. */
static __attribute__((noinline)) int change_events(struct ct_gpu_span *span)
{
	struct ct_gpu_pair events = { .context = span->stream->context };

	if ((span->events.context && span->old.context) ||
	    !ct_gpu_events_take(&events.context->events, &events.start, &events.end)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_EVENT_POOL_EMPTY, 1);
		return 0;
	}
	if (span->events.context)
		span->old = span->events;
	span->events = events;
	return 1;
}

/* The start event; its context is current. CUDA_ERROR_NOT_READY: there are no events, or the stream is being captured. */
static inline CUresult start(const struct ct_cuda *cuda, struct ct_gpu_span *span)
{
	if (is_captured(cuda, span->handle))
		return CUDA_ERROR_NOT_READY;
	if (__builtin_expect(span->events.context != span->stream->context, 0) &&
	    !change_events(span))
		return CUDA_ERROR_NOT_READY;
	return cuda->event_record(span->events.start, span->handle);
}

static inline CUresult start_in_context(const struct ct_cuda *cuda, struct ct_gpu_span *span)
{
	int entered = ct_gpu_context_enter(cuda, span->stream->context);
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;

	if (entered >= 0) {
		result = start(cuda, span);
		ct_gpu_context_leave(cuda, entered);
	}
	return result;
}

/* CUDA and the poll thread, which come with the first launch that finds them. NULL: there are none, or none any more. */
static __attribute__((noinline)) const struct ct_cuda *start_cuda(void)
{
	const struct ct_cuda *cuda = ct_cuda();

	if (!cuda && !atomic_load_explicit(&looked, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&looked, 1, memory_order_relaxed))
		cuda = ct_cuda_find();
	if (!cuda)
		return NULL;
	if (ct_poll_gave_up()) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
		return NULL;
	}
	ct_poll_start();
	return cuda;
}

static __attribute__((noinline)) CUresult begin_failed(const struct ct_cuda *cuda,
						       struct ct_gpu_span *span, CUresult result)
{
	if (result == CUDA_ERROR_INVALID_HANDLE &&
	    ct_gpu_stream_again(cuda, &span->stream, span->handle))
		result = start_in_context(cuda, span);
	if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
	return result;
}

/* What the driver's lock is held for is none of the program's NCCL call, perhaps: better untimed than late. */
static __attribute__((noinline)) void leave_untimed(void)
{
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_DRIVER_HELD, 1);
}

/* The stream and, if it can be timed, its events. A span's last stream is most likely the next one's. */
static inline void begin_on_gpu(struct ct_gpu_span *span, const struct ct_gpu_launch *launch)
{
	const struct ct_cuda *cuda = ct_poll_is_up() ? ct_cuda() : start_cuda();
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
	result = start_in_context(cuda, span);
	if (__builtin_expect(result != CUDA_SUCCESS, 0))
		result = begin_failed(cuda, span, result);
	span->timed = result == CUDA_SUCCESS;
}

/* From now on the poll thread finds it in its block. */
static void show(struct ct_gpu_span *span)
{
	struct ct_gpu_block *block = ct_gpu_block_of(span);
	enum ct_gpu_span_state state = span->timed ? CT_GPU_CALLING : CT_GPU_PASSED;

	atomic_store_explicit(&span->state, block->lap << 2 | state, memory_order_release);
	if (__builtin_expect(span->timed && !block->pushed, 0)) {
		block->pushed = 1;
		atomic_fetch_add_explicit(&block->left, 1, memory_order_relaxed);
		ct_poll_push(block);
	}
}

static void set_state(struct ct_gpu_span *span, enum ct_gpu_span_state state)
{
	uint32_t word = atomic_load_explicit(&span->state, memory_order_relaxed);

	atomic_store_explicit(&span->state, CT_GPU_LAP(word) << 2 | state, memory_order_release);
}

static void open_entry(struct ct_ring_open *open, const struct ct_gpu_launch *launch)
{
	const uint64_t words[8] = {
		[1] = launch->enter_ns,
		[3] = (uint64_t)launch->comm << 32 | (uint64_t)(launch->n_ops & 0xffffff) << 8 |
		      launch->op,
		[4] = launch->seq,
		[6] = (uint32_t)launch->peer,
		[7] = launch->bytes,
	};

	ct_ring_open_fill(open, launch->id, words);
}

struct ct_gpu_span *ct_gpu_begin(const struct ct_gpu_launch *launch)
{
	struct ct_gpu_span *span = wanted != CT_GPU_UNTIMED ? ct_gpu_span_take() : NULL;
	int saved;

	if (!span) {
		if (wanted != CT_GPU_UNTIMED)
			record_alone(launch);
		return NULL;
	}
	saved = errno;
	open_entry(span->open, launch);
	span->timed = 0;
	span->has_end = 0;
	span->thread = &ct_self;
	begin_on_gpu(span, launch);
	if (span->stream)
		atomic_store_explicit(&span->open->stream,
				      (uint64_t)span->stream->id << 32 |
					      (uint32_t)span->stream->context->device,
				      memory_order_relaxed);
	show(span);
	errno = saved;
	return span;
}

static void close_untimed(struct ct_gpu_span *span, int result)
{
	record_untimed(span, result);
	ct_gpu_span_close(span);
}

static void end_on_gpu(struct ct_gpu_span *span)
{
	const struct ct_cuda *cuda = ct_cuda();
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;
	int entered;

	/* each thread has its own per-thread stream: from another one the end is not to be had */
	if (span->handle == CU_STREAM_PER_THREAD && span->thread != &ct_self)
		return;
	if (ct_poll_is_held()) {
		leave_untimed();
		return;
	}
	entered = ct_gpu_context_enter(cuda, span->events.context);
	if (entered >= 0) {
		result = cuda->event_record(span->events.end, span->handle);
		ct_gpu_context_leave(cuda, entered);
	}
	span->has_end = result == CUDA_SUCCESS;
	if (!span->has_end)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
}

void ct_gpu_end(struct ct_gpu_span *span)
{
	int saved;

	if (!span)
		return;
	saved = errno;
	if (!span->timed) {
		close_untimed(span, 0);
		return;
	}
	if (!ct_poll_gave_up())
		end_on_gpu(span);
	set_state(span, CT_GPU_LAUNCHED);
	errno = saved;
}

void ct_gpu_drop(struct ct_gpu_span *span, int result)
{
	if (!span)
		return;
	if (!span->timed) {
		close_untimed(span, result);
		return;
	}
	record_untimed(span, result);
	set_state(span, CT_GPU_DROPPED);
}

uint64_t ct_gpu_untimed(void)
{
	return atomic_load_explicit(&untimed, memory_order_relaxed);
}
