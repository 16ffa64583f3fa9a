/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — streams: a cursor, a queue of what could not be computed yet, and a thread that works
 * it off.
 *
 * What is put on a stream whose queue is empty is computed at once, by the caller, if it needs
 * nothing but arithmetic: an event, a wait for a known moment, computing. Only kernels, copies,
 * host functions and what comes behind them are queued, and only then a thread is made, which
 * sleeps while there is nothing to do. The lock is held for all of it; what waits, and the thread
 * while it works, gives it up meanwhile. */
#ifndef CT_TOOLS_SIM_STREAM_H
#define CT_TOOLS_SIM_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/sim/context.h"
#include "tools/sim/graph.h"
#include "tools/sim/mark.h"
#include "tools/sim/sim.h"

#define SIM_PRIORITY_LEAST 0
#define SIM_PRIORITY_GREATEST (-5)

struct sim_work;

struct sim_stream {
	CUstream handle;  /* NULL for default streams */
	CUgreenCtx green; /* that it was made for, or NULL */
	struct sim_context *context;
	unsigned int flags;
	unsigned queue; /* of the device's */
	int priority;
	uint64_t cursor;	/* work time at which all that is computed is done */
	struct sim_work *head;	/* not computed yet, or at work just now */
	struct sim_work **tail; /* where the next one goes */
	struct sim_mark *last; /* the end of the last in the queue, which owns it; valid while there
				  is one */
	bool has_thread, dying;
	pthread_cond_t wake;	      /* the thread: work, or the end */
	struct sim_captured captured; /* none, or its position in a capture */
	struct sim_stream *next;
};

/* queue.c */

/* Without a handle. */
struct sim_stream *sim_stream_new(struct sim_context *context, unsigned int flags, int priority);

/* What is on it will still be done; then it is freed. */
void sim_stream_retire(struct sim_stream *stream);

/* The point that is reached when all is done that was put on the stream by now; the caller's
 * reference. */
struct sim_mark *sim_stream_mark(struct sim_stream *stream);

/* The same without putting anything there, so that it waits for nothing but the stream's own. */
struct sim_mark *sim_stream_tail(const struct sim_stream *stream);

/* What comes later waits for the mark. */
CUresult sim_stream_wait(struct sim_stream *stream, struct sim_mark *mark);

CUresult sim_stream_busy(struct sim_stream *stream, uint64_t ns);

/* Something was put on it by one call of the program. Sleeps while the stream's hardware queue is
 * full, and delays all calls of the driver meanwhile. */
void sim_stream_pushed(struct sim_stream *stream);

/* Something to run when its turn has come; `starves` with its device (simStarve). The kernel is
 * copied. */
CUresult sim_stream_run(struct sim_stream *stream, const struct sim_kernel *kernel, bool starves);

/* Is everything done that was put on it? For the legacy default stream: on all that it is in order
 * with. */
bool sim_stream_idle(const struct sim_stream *stream);

/* Wakes all that wait for something in the queue. */
void sim_stream_wake(struct sim_stream *stream);

/* Sleeps until all that was put on the context's streams by now is done, or the context has an
 * error. */
CUresult sim_streams_await(struct sim_context *context);

/* stream.c */

/* The stream behind a handle, default streams included; what they mean depends on the thread and
 * its current context. A handle that is none: CUDA_ERROR_INVALID_HANDLE. */
CUresult sim_stream_get(CUstream handle, struct sim_context *current, struct sim_stream **stream);

#endif
