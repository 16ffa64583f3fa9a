/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h — this library as a profiler plugin of NCCL, beside the wrappers or instead of them.
 *
 * NCCL opens the file that NCCL_PROFILER_PLUGIN names and calls the functions of a structure in it
 * (profiler_plugin.c). If that file is the preloaded one, both halves share everything: a call that comes through a
 * wrapper is recorded there, and the plugin adds what only NCCL knows (algorithm, protocol, channels: DETAIL records)
 * and, where launches are timed by it (gputold.h), when the kernel ran. A call that comes through no wrapper (NCCL
 * linked statically, and hidden) is recorded by the plugin, its op marked CT_OP_PLUGIN. Which of the two a call is shows
 * in the thread: inside a wrapper or not. Versions before v5 do not tell calls, only what is launched, which may happen
 * on another thread: there, and once any wrapper was called, what comes outside of one counts as unlinked and is never
 * recorded a second time.
 */
#ifndef CT_PROFILER_H
#define CT_PROFILER_H

#include <stdint.h>

/* For which launches NCCL is asked when their kernels run. */
enum ct_profiler_times {
	CT_PROFILER_TIMES_NEVER,
	CT_PROFILER_TIMES_ALONE, /* where no wrapper sees the calls: nothing else could tell */
	CT_PROFILER_TIMES_ALWAYS,
};

/* Pools, for the recorder's ring. 0 or CT_NOMEM. Before the gate opens, after ct_gpu_init(). */
int ct_profiler_init(int times);

/* NCCL has loaded it for a communicator that lives, and the interface tells times (v4 and later). Any thread. */
int ct_profiler_is_active(void);

/* Have NCCL tell the times of kernels from its next op on, or not any more. It costs NCCL time (docs/OVERHEAD.md). Any
 * thread; what was launched before ends as it began. */
void ct_profiler_want_times(int wanted);

#endif
