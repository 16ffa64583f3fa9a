/* SPDX-License-Identifier: Apache-2.0 */
/* span.h — a launch on its way, between the call (time.c) and the poll thread (poll.c).
 *
 * There is one span for each entry of the ring's open table. Threads take them a block at a time
 * and fill a block in order, so that a launch costs no locked instruction and finds its memory
 * where the last one left it. A block goes to the poll thread with its first launch that is timed;
 * the poll thread then finds the others in it by itself, by their `state`. A block is free when all
 * of its entries are closed, by any thread, and the poll thread has finished with it. Blocks that
 * were used once stay reserved in the open table, where an entry is free, reserved or a launch, and
 * an entry that a killed process leaves reserved is not a launch.
 *
 * Spans keep their two events from launch to launch, as long as the context stays the same.
 */
#ifndef CT_INTERPOSE_GPU_SPAN_H
#define CT_INTERPOSE_GPU_SPAN_H

#include <stddef.h>

#include "interpose/gpu/choice/launch.h"
#include "interpose/gpu/streams.h"
#include "interpose/guard.h"
#include "interpose/recorder.h"

/* Low bits of a span's state; the bits above are the lap of its block, so that what the last lap
 * left counts for nothing. */
enum ct_gpu_span_state {
	CT_GPU_CALLING,	 /* timed, but the call that launches has not come back */
	CT_GPU_LAUNCHED, /* its end event is recorded, or could not be */
	CT_GPU_DROPPED,	 /* nothing was launched; its record is written */
	CT_GPU_PASSED,	 /* not timed: never the poll thread's */
};
#define CT_GPU_STATE(word) ((word)&3u)
#define CT_GPU_LAP(word) ((word) >> 2)

enum {
	CT_GPU_IS_TIMED = 1,
	CT_GPU_IS_PROBED = 2,	/* what that costs is measured */
	CT_GPU_IS_REPORTED = 4, /* alone: NCCL reports its times */
};

struct ct_gpu_pair {
	struct ct_gpu_context *context; /* NULL: there are none */
	CUevent start, end;		/* start: NULL where only ends are timed */
};

/* Of the two cache lines the first is the caller's until `state` says LAUNCHED or DROPPED. */
struct ct_gpu_span {
	_Atomic uint32_t state; /* release by the caller, acquire by the poll thread */
	uint8_t timed;		/* CT_GPU_IS_...; 0 it is not */
	uint8_t has_end;	/* before the release of LAUNCHED */
	uint8_t is_last;	/* of its block */
	uint8_t reserved;
	uint32_t returned_after; /* ns since its first op was entered: when the end event had been
				    recorded; UINT32_MAX: so much or more */
	uint32_t thread;	 /* ct_gpu_thread() of the thread that began it */
	struct ct_ring_open *open;
	struct ct_gpu_stream *stream; /* NULL: not known, or not asked */
	struct ct_gpu_pair events;
	CUstream handle;

	struct ct_gpu_span *next __attribute__((aligned(64)));
	uint64_t start_seen; /* a moment after its start; 0 not seen yet */
	uint64_t start_ns;   /* when it was, by the anchors of that moment; 0 not known */
	uint32_t start_err_ns;
	uint32_t kind;		/* of launches that take as long */
	uint64_t asked_ns;	/* the last moment at which it was asked for and not done; 0 none */
	struct ct_gpu_pair old; /* caller: another context's, for the poll thread to give back */
};
_Static_assert(offsetof(struct ct_gpu_span, next) == 64, "a cache line each");
_Static_assert(sizeof(struct ct_gpu_span) == 128, "a cache line each");

struct ct_gpu_block {
	uint32_t lap;	 /* whose block it is: how often it was taken; before the push */
	uint32_t pushed; /* whose block it is: the poll thread has it as well */
	_Atomic uint32_t left
		__attribute__((aligned(64))); /* entries not closed, and 1 for the poll thread */
	uint32_t seen;			      /* poll thread: entries that it has passed */
	struct ct_gpu_block *next;	      /* pusher, then poll thread */
};

extern struct ct_gpu_span *ct_gpu_spans CT_NEAR;
extern struct ct_gpu_block *ct_gpu_blocks CT_NEAR;
extern uint32_t ct_gpu_block_bits CT_NEAR; /* a block has so many entries: a power of two */

/* For the ring of the recorder; 0 or CT_NOMEM. Before the gate opens. */
int ct_gpu_spans_init(void);

/* A new block: the number of its first entry + 1, or 0 if all are in use (a counted loss). */
uint32_t ct_gpu_spans_claim(void);

/* `n` entries of the block are closed, or the poll thread is through with it. Any thread. */
void ct_gpu_block_give(struct ct_gpu_block *block, uint32_t n);

static inline uint32_t ct_gpu_per_block(void)
{
	return 1u << ct_gpu_block_bits;
}

static inline struct ct_gpu_block *ct_gpu_block_nth(uint32_t span)
{
	return &ct_gpu_blocks[span >> ct_gpu_block_bits];
}

static inline struct ct_gpu_block *ct_gpu_block_of(const struct ct_gpu_span *span)
{
	return ct_gpu_block_nth((uint32_t)(span - ct_gpu_spans));
}

/* The calling thread's next one, NULL if there is none (a counted loss). It stays the next one. */
static inline struct ct_gpu_span *ct_gpu_span_next(void)
{
	uint32_t at = ct_self.launches;

	if (__builtin_expect(!at, 0)) {
		at = ct_gpu_spans_claim();
		ct_self.launches = (uint16_t)at;
	}
	return __builtin_expect(at != 0, 1) ? &ct_gpu_spans[at - 1] : NULL;
}

/* The next one is the one after it, which is fetched meanwhile: the poll thread, on another core,
 * had it last. */
static inline void ct_gpu_span_pass(const struct ct_gpu_span *span)
{
	ct_self.launches = (uint16_t)(span->is_last ? 0 : ct_self.launches + 1);
	__builtin_prefetch(span + 1, 1);
	__builtin_prefetch(span->open + 1, 1);
}

static inline struct ct_gpu_span *ct_gpu_span_take(void)
{
	struct ct_gpu_span *span = ct_gpu_span_next();

	if (__builtin_expect(span != NULL, 1))
		ct_gpu_span_pass(span);
	return span;
}

/* From now on the poll thread finds it in its block. */
void ct_gpu_span_push(struct ct_gpu_block *block);
static inline __attribute__((always_inline)) void ct_gpu_span_show(struct ct_gpu_span *span,
								   struct ct_gpu_block *block,
								   int is_timed)
{
	enum ct_gpu_span_state state = is_timed ? CT_GPU_CALLING : CT_GPU_PASSED;

	atomic_store_explicit(&span->state, block->lap << 2 | state, memory_order_release);
	if (__builtin_expect(is_timed && !block->pushed, 0))
		ct_gpu_span_push(block);
}

static inline void ct_gpu_span_set(struct ct_gpu_span *span, enum ct_gpu_span_state state)
{
	uint32_t word = atomic_load_explicit(&span->state, memory_order_relaxed);

	atomic_store_explicit(&span->state, CT_GPU_LAP(word) << 2 | state, memory_order_release);
}

/* The same for one that is CALLING. */
_Static_assert(CT_GPU_CALLING == 0, "a state is set by one or");
static inline void ct_gpu_span_launched(struct ct_gpu_span *span)
{
	uint32_t word = atomic_load_explicit(&span->state, memory_order_relaxed);

	atomic_store_explicit(&span->state, word | CT_GPU_LAUNCHED, memory_order_release);
}

static inline void ct_gpu_span_returned(struct ct_gpu_span *span, uint64_t after)
{
	span->returned_after = after < UINT32_MAX ? (uint32_t)after : UINT32_MAX;
}

/* `stream`: its word, 0 not known yet. */
static inline __attribute__((always_inline)) void ct_gpu_open_fill(
	struct ct_ring_open *open, const struct ct_gpu_launch *launch, uint64_t stream)
{
	const uint64_t words[8] = {
		[1] = launch->enter_ns,
		[3] = (uint64_t)launch->comm << 32 | (uint64_t)(launch->n_ops & 0xffffff) << 8 |
		      launch->op,
		[4] = launch->seq,
		[5] = stream,
		[6] = (uint32_t)launch->peer,
		[7] = launch->bytes,
	};

	ct_ring_open_fill(open, launch->id, words);
}

/* Distinguishes threads that live at the same time. */
static inline uint32_t ct_gpu_thread(void)
{
	return (uint32_t)((uintptr_t)&ct_self >> 6);
}

/* Its launch is closed and recorded. Called once, by the thread that closes it. */
static inline void ct_gpu_span_close(struct ct_gpu_span *span)
{
	ct_ring_open_empty(span->open);
	ct_gpu_block_give(ct_gpu_block_of(span), 1);
}

/* When a launch began and ended on the GPU, on the host's clock. */
struct ct_gpu_times {
	uint64_t start_ns, end_ns;
	uint32_t start_err_ns, end_err_ns;
	enum ct_source start_source, end_source;
};

/* The calling thread ends: what it had reserved is free. */
void ct_gpu_thread_end(void);

#endif
