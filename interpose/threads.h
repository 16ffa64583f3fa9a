/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h — threads of our own in somebody else's process: detached, every signal blocked. */
#ifndef CT_THREADS_H
#define CT_THREADS_H

#include <stdint.h>

/* 0, or -1 if there is no thread to be had. The caller's signal mask is what it was. */
int ct_thread_start(void *(*body)(void *), void *arg);

/* CPU time of the calling thread. */
uint64_t ct_thread_cpu_ns(void);

#endif
