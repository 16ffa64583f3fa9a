/* SPDX-License-Identifier: Apache-2.0 */
/* stream_waits.h — which stream or host waits for communication, and since when, from the calls of
 * abi/cudart_calls.def.
 *
 * A stream that waits for an event which stands for a launch (waits_table.h knows, through however
 * many streams) gets a pooled event just before the wait: when that is complete, the stream has
 * reached the wait and is blocked until the launch has ended. The poll thread takes its time and
 * writes a WAIT record for each stream of communication that was waited for. A call in which the
 * host waits is recorded by itself. The analyzer finds out which of these waits delayed compute.
 *
 * Nothing is put on a stream that is being captured, nor where launches have no events of their
 * own; then only the host's waits are recorded. Nothing here allocates, waits, or makes CUDA
 * objects on the call path; what finds no space is a counted loss.
 */
#ifndef CT_INTERPOSE_GPU_STREAM_WAITS_H
#define CT_INTERPOSE_GPU_STREAM_WAITS_H

#include <stdint.h>

#include "interpose/abi/cuda.h"
#include "interpose/gpu/waits_table.h"

struct ct_gpu_collect;
struct ct_gpu_context;
struct ct_gpu_span;

enum ct_waits_how {
	CT_WAITS_OFF,  /* launches are not recorded: nothing to wait for */
	CT_WAITS_HOST, /* no events of ours on streams that wait */
	CT_WAITS_ALL,
};

/* 0 or CT_NOMEM. Before the gate opens. */
int ct_waits_init(enum ct_waits_how how);

/* A launch was put on its stream: after ct_waits_count(), if the stream's launches are not known.
 * Guard held; like all that follows, but for the poll thread's. */
void ct_waits_launch(const struct ct_gpu_span *span);

/* Calls of the program; a stream that is 0 is the legacy default stream. */
void ct_waits_event(CUevent event, CUstream stream);
void ct_waits_event_end(CUevent event);
void ct_waits_stream_end(CUstream stream);
void ct_waits_stream(CUstream stream, CUevent event);

/* One in which the host waits; `found` and the time are kept on its wrapper's stack. */
struct ct_waits_host {
	struct ct_waits_new found;
	uint64_t enter_ns;
};
void ct_waits_host_event(struct ct_waits_host *host, CUevent event);
void ct_waits_host_stream(struct ct_waits_host *host, CUstream stream);
void ct_waits_host_device(struct ct_waits_host *host);
void ct_waits_host_end(const struct ct_waits_host *host);

/* Poll thread, with the context current: what has been reached is recorded, or everything is given
 * up. */
void ct_waits_collect(struct ct_gpu_collect *collect, struct ct_gpu_context *context, int give_up);

/* Has the context waits that are not reached? */
int ct_waits_pending(const struct ct_gpu_context *context);

#endif
