/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym_hook.h — dlsym itself: programs that look NCCL, CUDA or MPI up (ctypes, JAX, CuPy) get the wrappers, too.
 *
 * The exported dlsym is ct_dlsym_hook, a few instructions for each architecture that ask ct_dlsym_look() and then
 * either return its answer or jump to the next dlsym, which sees the program as its caller: RTLD_NEXT and RTLD_DEFAULT
 * mean what they meant. Only functions of nccl_calls.def and cudart_calls.def have another answer (an entry: entries.h), and those
 * of mpi_calls.def (the wrapper itself, for the first copy of MPI in the process; another one's are left alone),
 * and only where the real function was found: what is missing stays missing, with the right dlerror(). What CUDA and
 * NCCL themselves ask of CUDA they get as it is. RTLD_NEXT, with which those who wrap
 * functions as we do ask for what is behind them, is touched only where it would find a wrapper of ours that has nothing
 * behind it; pnccl* names never: they are the functions themselves. dlvsym is not hooked.
 *
 * Runs in every process that carries the preload, before main(), in constructors and in signal handlers, whether or not
 * recording was ever started: no allocation, no lock, no I/O of its own, and other names cost one comparison.
 * COMMTRACE_NO_DLSYM=1 and COMMTRACE=0 switch it off; the environment is read when the first such name is asked for.
 */
#ifndef CT_INTERPOSE_DLSYM_HOOK_H
#define CT_INTERPOSE_DLSYM_HOOK_H

#include "interpose/dlsym_real.h"

struct ct_dlsym_way {
	void *answer;
	ct_dlsym_fn *go_on; /* not NULL: jump there instead */
};

/* `caller` is the return address of the dlsym call. The way comes back in two registers. */
struct ct_dlsym_way ct_dlsym_look(void *handle, const char *symbol, const void *caller);

/* dlsym, under a name that tests can call. */
void *ct_dlsym_hook(void *handle, const char *symbol);

#endif
