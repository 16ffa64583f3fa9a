/* SPDX-License-Identifier: Apache-2.0 */
/* commtrace.h — what a job may report to commtrace about itself. One function, in the header alone:
 * nothing is linked.
 *
 * Without commtrace in the process it does nothing. Any thread may call it; it never blocks and
 * allocates nothing. With glibc before 2.34 the program is linked with -ldl. Python has the same in
 * commtrace.py: commtrace.mark(step, samples). */
#ifndef CT_INCLUDE_COMMTRACE_H
#define CT_INCLUDE_COMMTRACE_H

#include <dlfcn.h>
#include <stdint.h>

/* Marks the end of a training step. Every rank that calls it does so at the same point of its loop,
 * once a step. `step`: its number, growing by one. `samples`: how many samples the calling rank has
 * processed since its last mark. Each sample counts once: ranks that share samples (tensor and
 * pipeline parallelism) pass 0, but for one of them. Recorded from the first call of NCCL, MPI or
 * Gloo in the process on. `commtrace report` shows samples per second, `commtrace diff` the scaling
 * efficiency. */
static inline void commtrace_mark(uint64_t step, uint64_t samples)
{
	static void (*mark)(uint64_t step, uint64_t samples);
	static int is_known;

	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		void *found = dlsym((void *)0, "commtrace_mark"); /* RTLD_DEFAULT */

		__atomic_store_n((void **)&mark, found, __ATOMIC_RELAXED);
		__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
	}
	if (mark)
		mark(step, samples);
}

#endif
