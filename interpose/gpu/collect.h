/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — the results of the launches of one context: queries CUDA, turns events into times,
 * writes LAUNCH records. Everything by the poll thread, with the context current.
 *
 * Events of one stream are done in the order in which they were recorded, so only the oldest
 * unfinished one of each stream is polled. A span is published at once. Times come from the
 * context's anchors (CT_SOURCE_EVENT); where there are none yet, the end lies between the poll that
 * saw it undone and the one that saw it done, and the start is as long before it as the events say
 * (CT_SOURCE_POLL). A span with an end event only has no start (CT_SOURCE_NONE), and its end lies
 * between the two polls likewise.
 */
#ifndef CT_INTERPOSE_GPU_COLLECT_H
#define CT_INTERPOSE_GPU_COLLECT_H

#include "interpose/gpu/clock/host_clock.h"
#include "interpose/gpu/span.h"

struct ct_gpu_collect {
	const struct ct_cuda *cuda;
	struct ct_gpu_host_clock host;
	uint64_t next_ns; /* when it is worth to look again: only ever brought forward */
	uint64_t events, timed, untimed;
};

/* Launches that are new in a block: into their streams' lists. 1: there are no more to come. */
int ct_gpu_collect_block(struct ct_gpu_collect *collect, struct ct_gpu_block *block);

/* Everything of the context that is done. CUDA_SUCCESS, or the error that ended it. */
CUresult ct_gpu_collect(struct ct_gpu_collect *collect, struct ct_gpu_context *context);

/* CUDA no longer responds: everything that was launched is recorded without times, as lost. */
void ct_gpu_collect_lost(struct ct_gpu_collect *collect, struct ct_gpu_context *context);

/* size: between two looks of the poll thread, each of which takes some us of a core: at most 2,000
 * a second. What ends sooner or later than usual is seen within the longest nap. */
#define CT_GPU_SHORTEST_NAP_NS 500000u
#define CT_GPU_LONGEST_NAP_NS 10000000u

#endif
