/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h — this library as a profiler plugin of NCCL, beside the wrappers or instead of them.
 *
 * NCCL opens the file that NCCL_PROFILER_PLUGIN names and calls the functions of a structure in it
 * (plugin.c). If that file is the preloaded one, both halves share everything: a call that comes
 * through a wrapper is recorded there, and the plugin adds what only NCCL knows (algorithm,
 * protocol, channels: DETAIL records) and, where launches are timed by it (gpu/profiled.h), when
 * the kernel ran. A call that comes through no wrapper (NCCL linked statically, and hidden) is
 * recorded by the plugin, its op marked CT_OP_PLUGIN. Which of the two a call is shows in the
 * thread: inside a wrapper or not. Versions before v5 do not report calls, only what is launched,
 * which may happen on another thread: there, and once any wrapper was called, what comes outside
 * one counts as unlinked and is never recorded a second time.
 */
#ifndef CT_INTERPOSE_PROFILER_PROFILER_H
#define CT_INTERPOSE_PROFILER_PROFILER_H

#include <stdint.h>

/* Pools, for the recorder's ring. `alone`: where no wrapper sees the calls, kernels are timed by
 * the plugin whatever launches are timed with, since nothing else could. 0 or CT_NOMEM. Before the
 * gate opens, after ct_gpu_init(). */
int ct_profiler_init(int alone);

/* NCCL has loaded it for a live communicator, and the interface reports times (v4 and later). Any
 * thread. */
int ct_profiler_is_active(void);

#endif
