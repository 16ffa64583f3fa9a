/* SPDX-License-Identifier: Apache-2.0 */
/* hint.h — events for a context are made before its first launch needs them. By the thread that makes a communicator,
 * with the guard held; not on the call path. Keeps errno. */
#ifndef CT_GPUHINT_H
#define CT_GPUHINT_H

/* A communicator is about to be made on the calling thread: if its current CUDA context is new, the poll thread makes
 * events for it meanwhile. */
void ct_gpu_context_hint(void);

/* One was made: the same, and if the context has no events yet, wait a few ms at most until it has some, so that the
 * first launch finds them. */
void ct_gpu_context_await(void);

#endif
