/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/python.h"

/* size: one is usual; more of either is a list that never ends. */
#define MOST_INTERPRETERS 256u
#define MOST_THREADS 65536u

static uint32_t tid_of(const struct ct_python *py, ct_python_read read, uintptr_t state,
		       uint64_t pthread)
{
	uint64_t tid = 0;
	uint32_t kept;

	if (py->at.thread_tid != CT_PYTHON_NOT_THERE)
		return read(state + py->at.thread_tid, &tid, sizeof(tid)) == 0 && tid <= UINT32_MAX
			       ? (uint32_t)tid
			       : 0;
	if (!py->tid_at || !pthread ||
	    read((uintptr_t)pthread + py->tid_at, &kept, sizeof(kept)) != 0)
		return 0;
	return kept;
}

static struct ct_python_thread thread_of(const struct ct_python *py, ct_python_read read,
					 uintptr_t state)
{
	uint64_t pthread = 0;

	if (read(state + py->at.thread_pthread, &pthread, sizeof(pthread)) != 0)
		pthread = 0;
	return (struct ct_python_thread){ .state = state,
					  .tid = tid_of(py, read, state, pthread),
					  .pthread = (uintptr_t)pthread };
}

uint32_t ct_python_threads(const struct ct_python *py, ct_python_read read,
			   struct ct_python_thread *threads, uint32_t room)
{
	uintptr_t interp, state;
	uint32_t n = 0, seen = 0;

	if (read(py->runtime + py->at.runtime_interpreters, &interp, sizeof(interp)) != 0)
		return 0;
	for (uint32_t i = 0; interp && i < MOST_INTERPRETERS; i++) {
		if (read(interp + py->at.interp_threads, &state, sizeof(state)) != 0)
			break;
		for (; state && n < room && seen < MOST_THREADS; seen++) {
			threads[n++] = thread_of(py, read, state);
			if (read(state + py->at.thread_next, &state, sizeof(state)) != 0)
				break;
		}
		if (read(interp + py->at.interp_next, &interp, sizeof(interp)) != 0)
			break;
	}
	return n;
}
