/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h — the streams and contexts of this process that launches were put on.
 *
 * Fixed tables, mapped once when recording starts. A stream is known by its handle and gets a small
 * number, which is what records carry; the default streams' handles mean another stream in every
 * context, or in every thread. Programs destroy streams and get the same handle again, perhaps in
 * another context: then the old entry goes stale when an event does not fit to it. Looking up takes
 * no lock; entering takes a short spin lock, under which CUDA is not called. Entries are never
 * given back.
 */
#ifndef CT_INTERPOSE_GPU_STREAMS_H
#define CT_INTERPOSE_GPU_STREAMS_H

#include <stddef.h>

#include "interpose/gpu/clock/anchor.h"
#include "interpose/gpu/driver/cuda.h"
#include "interpose/gpu/driver/events.h"
#include "interpose/gpu/waits_table.h"

#define CT_GPU_CONTEXTS 32u /* size: one for each of 16 GPUs, and as many that were closed */

struct ct_gpu_span;
struct ct_gpu_stream;

/* Launches find no context that is closed, but another one, with the same handle perhaps. */
enum ct_gpu_closed {
	CT_GPU_OPEN,
	CT_GPU_CLOSED, /* what is on its way is still collected */
	CT_GPU_AHEAD, /* to be used when the one with the same handle is closed: its events are made
		       */
	CT_GPU_DEAD,  /* destroyed, or never usable: never touched again */
};

/* By what a context that was reset is known, which keeps its handle. */
struct ct_gpu_context_identity {
	unsigned long long id; /* 0: CUDA has none */
	int primary_is_active; /* of its device */
};

struct ct_gpu_context {
	_Atomic(CUcontext) handle;     /* NULL: free; stored last, after `device` */
	_Atomic uint32_t closed;       /* enum ct_gpu_closed */
	_Atomic uint32_t ending, door; /* ending.c */
	_Atomic uint32_t has_first;    /* event_prealloc.c: a thread creates, or has created, the
					  events in `first` */
	int32_t device;
	struct ct_gpu_context_identity identity;
	unsigned int event_flags;    /* that its events are made with */
	uint32_t n_streams;	     /* on it, under the tables' lock */
	struct ct_gpu_events first;  /* by the call that makes a communicator, once */
	struct ct_gpu_events events; /* by the poll thread */
	/* the poll thread's */
	_Atomic int ready; /* anchoring has its stream and events; set by the poll thread */
	uint64_t used_ns;
	struct ct_gpu_stream *active; /* streams with launches on their way */
	struct ct_gpu_anchoring anchoring;
};

struct ct_gpu_stream {
	_Atomic uintptr_t handle; /* 0: free; stored last. The legacy default stream is always 1 */
	uintptr_t whose;	  /* default streams: of this context, of this thread; else 0 */
	struct ct_gpu_context *context;
	uint32_t id; /* from 1 */
	_Atomic uint32_t stale;
	uint64_t word;			   /* the open table's: id << 32 | device */
	struct ct_waits_launches launches; /* on it, for threads that wait for them */
	/* queue.h, who uses it: events so far, and one of the last CT_GPU_QUEUE_MOST / 2 and one of
	 * those before */
	_Atomic uint32_t begun;
	_Atomic(CUevent) marks[2];
	/* the poll thread's */
	struct ct_gpu_stream *next __attribute__((aligned(64))); /* in its context's list */
	struct ct_gpu_span *first; /* launches in the order in which they came */
	struct ct_gpu_span **end;
	_Atomic uint32_t over; /* events that are over */
	uint64_t last_ns;      /* when the last of them was called */
	uint64_t done_ns;      /* when the latest of those that are done was done */
};

/* Map the tables, or empty those of a parent process; 0 or CT_NOMEM. Before the gate opens. */
int ct_gpu_streams_init(void);

/* The context of this handle, entered if it is new. NULL: no space, or CUDA does not report its
 * device (counted losses). Any thread. */
struct ct_gpu_context *ct_gpu_context(const struct ct_cuda *cuda, CUcontext handle);

static inline int ct_gpu_context_is_closed(const struct ct_gpu_context *context)
{
	/* acquire: by what launches are timed from now on was stored before (close_all() of
	 * streams.c) */
	return atomic_load_explicit(&context->closed, memory_order_acquire) != CT_GPU_OPEN;
}

static inline int ct_gpu_context_is_ahead(const struct ct_gpu_context *context)
{
	return atomic_load_explicit(&context->closed, memory_order_relaxed) == CT_GPU_AHEAD;
}

static inline int ct_gpu_context_is_dead(const struct ct_gpu_context *context)
{
	return atomic_load_explicit(&context->closed, memory_order_relaxed) == CT_GPU_DEAD;
}

/* Is it still the one that was entered? A program whose runtime is linked statically ends contexts
 * unseen. Poll thread. */
int ct_gpu_context_is_there(const struct ct_cuda *cuda, const struct ct_gpu_context *context);

/* Other events are to be used from some moment on: first each open context gets one ahead with
 * such, which the poll thread fills (ct_gpu_contexts_are_ready()); then the new one replaces the
 * old one. The poll thread's. */
void ct_gpu_contexts_prepare(unsigned int event_flags);
int ct_gpu_contexts_are_ready(void);
void ct_gpu_contexts_renew(void);

/* Are there more streams than may be timed, on any GPU (mode.h)? Some communicate by now that did
 * not when they were new. */
void ct_gpu_contexts_count(void);

/* By number, below CT_GPU_CONTEXTS; NULL from the first free one on. */
struct ct_gpu_context *ct_gpu_context_nth(unsigned n);

/* Make the context the calling thread's current one, as most of CUDA wants it. Returns what the
 * leaving needs, negative if it cannot be. */
static inline int ct_gpu_context_enter(const struct ct_cuda *cuda, struct ct_gpu_context *context)
{
	CUcontext handle = atomic_load_explicit(&context->handle, memory_order_relaxed);
	CUcontext current = NULL;

	if (cuda->ctx_get_current(&current) != CUDA_SUCCESS)
		return -1;
	if (__builtin_expect(current == handle, 1))
		return 0;
	return cuda->ctx_push(handle) == CUDA_SUCCESS ? 1 : -1;
}

static inline void ct_gpu_context_leave(const struct ct_cuda *cuda, int entered)
{
	CUcontext popped;

	if (entered > 0)
		cuda->ctx_pop(&popped);
}

/* The stream of a handle, for a launch by the calling thread. `device`: whose default streams are
 * meant, negative for the current context's. NULL: no space, or its context is unknown (counted
 * losses). */
struct ct_gpu_stream *ct_gpu_stream(const struct ct_cuda *cuda, CUstream handle, int device);

/* 1: the handle is now another stream; 0: it may be the same. Not for default streams. */
static inline __attribute__((always_inline)) int ct_gpu_stream_is(struct ct_gpu_stream *stream,
								  CUstream handle)
{
	return stream &&
	       atomic_load_explicit(&stream->handle, memory_order_relaxed) == (uintptr_t)handle &&
	       (uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD &&
	       !atomic_load_explicit(&stream->stale, memory_order_relaxed) &&
	       !ct_gpu_context_is_closed(stream->context);
}

/* An event of its context did not fit to this stream: look its handle up anew. 0: that changes
 * nothing, or *stream is NULL now. */
int ct_gpu_stream_again(const struct ct_cuda *cuda, struct ct_gpu_stream **stream, CUstream handle);

#endif
