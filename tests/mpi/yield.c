/* SPDX-License-Identifier: Apache-2.0 */
/* yield.c — a preload for MPICH's ranks where they are more than cores. A waiting rank polls there
 * and never yields its core, so that a barrier of 4 ranks on 2 cores takes as long as a time slice
 * of the kernel's (13 ms; 0.1 ms with this). MPICH asks UCX whether there is progress; where there
 * was none for a while, the others run. */
#include <dlfcn.h>
#include <sched.h>

#define POLLS 50

unsigned ucp_worker_progress(void *worker) __attribute__((visibility("default")));

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	static __thread int polls;
	unsigned progress;

	if (!real)
		real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
	progress = real(worker);
	if (progress) {
		polls = 0;
	} else if (++polls >= POLLS) {
		polls = 0;
		sched_yield();
	}
	return progress;
}
