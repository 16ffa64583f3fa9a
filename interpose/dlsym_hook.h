/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym_hook.h — dlsym itself: programs that look NCCL, CUDA or MPI up (ctypes, JAX, CuPy) get the
 * wrappers, too.
 *
 * The exported dlsym is ct_dlsym_hook, a few instructions for each architecture that ask
 * ct_dlsym_look() and then either return its answer or jump to the next dlsym, which sees the
 * program as its caller: RTLD_NEXT and RTLD_DEFAULT mean what they meant. Only functions of
 * nccl_calls.def and cudart_calls.def have another answer (an entry: entries.h), and those of
 * mpi_calls.def (the wrapper itself, for the first copy of MPI in the process; another one's are
 * left alone), and only if the real function was found: a missing one stays missing, with the right
 * dlerror(). Look-ups of CUDA functions by CUDA and NCCL themselves are unchanged. RTLD_NEXT is
 * what other wrappers use to find the next function. It is changed only where it would find a
 * wrapper of ours with no function after it; pnccl* names never: they are the functions themselves.
 * dlvsym is not hooked.
 *
 * Runs in every process that carries the preload, before main(), in constructors and in signal
 * handlers, whether or not recording was ever started: no allocation, no lock, no I/O of its own,
 * and other names cost one comparison. COMMTRACE_NO_DLSYM=1 and COMMTRACE=0 switch it off; the
 * environment is read at the first look-up of such a name.
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
