/* SPDX-License-Identifier: Apache-2.0 */
/* mode.h — by what launches are timed: as COMMTRACE_TIMING says, or as auto finds. It changes at
 * the first launch, or when the plugin is loaded before it; at most once from what the host sees,
 * which disturbs nothing, to timed events (decide.h), and at most once back, when there are more
 * streams than the GPU has connections for or steps have become longer. Any thread.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_MODE_H
#define CT_INTERPOSE_GPU_CHOICE_MODE_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/gpu/choice/launch.h"
#include "interpose/gpu/choice/options.h"
#include "interpose/gpu/choice/unusual.h"
#include "interpose/guard.h"

/* Before the gate opens. */
void ct_gpu_mode_init(const struct ct_gpu_options *options);

extern _Atomic uint32_t ct_gpu_mode CT_NEAR; /* enum ct_gpu_timing */

/* As decided by now. */
static inline enum ct_gpu_timing ct_gpu_timing(void)
{
	return (enum ct_gpu_timing)atomic_load_explicit(&ct_gpu_mode, memory_order_relaxed);
}

/* Are there events of ours? */
static inline int ct_gpu_has_events(void)
{
	return !ct_gpu_is_unusual(CT_GPU_NO_EVENTS);
}

/* What events are made with. */
static inline unsigned int ct_gpu_event_flags(void)
{
	enum ct_gpu_timing how = ct_gpu_timing();

	return how == CT_GPU_HOST || how == CT_GPU_PLUGIN_OR_HOST ? CU_EVENT_DISABLE_TIMING
								  : CU_EVENT_DEFAULT;
}

/* A first context is there: CUDA has read CUDA_DEVICE_MAX_CONNECTIONS by now, which may have been
 * set since recording started. */
void ct_gpu_mode_connected(void);

/* Timed events may still come. */
int ct_gpu_mode_may_rise(void);

/* They do from now on, and not any more: the caller has contexts with such events. 0: something
 * speaks against it by now, or there are none. */
int ct_gpu_mode_rise(void);
int ct_gpu_mode_lower(void);

/* `streams` are seen on one GPU, `launching` of them communicate. 1: too many to time events on, so
 * that from now on only the host times; the caller closes the contexts, whose events are timed
 * ones. */
int ct_gpu_mode_is_crowded(uint32_t streams, uint32_t launching);

/* Times of events contradicted each other: for the ledger. */
void ct_gpu_mode_distrust(void);

/* CT_GPU_PLUGIN_OR_HOST becomes this; nothing else changes. */
void ct_gpu_decide(enum ct_gpu_timing how);

/* NCCL has loaded this library as its profiler plugin, and will report when kernels run: while the
 * first communicator is made, before anything is launched. Decides CT_GPU_PLUGIN_OR_HOST, and
 * changes nothing else. Any thread. */
void ct_gpu_plugin_loaded(void);

/* How launches are timed, for the ledger: the fields that are settings, and by what. */
struct ct_cost_rec;
void ct_gpu_ledger(struct ct_cost_rec *cost);

#endif
