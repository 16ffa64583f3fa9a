/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h — threads of our own in somebody else's process: detached, every signal blocked. */
#ifndef CT_INTERPOSE_THREADS_H
#define CT_INTERPOSE_THREADS_H

#include <stdatomic.h>
#include <stdint.h>

/* 0, or -1 if there is no thread to be had. The caller's signal mask is what it was. */
int ct_thread_start(void *(*body)(void *), void *arg);

/* Sleep until somebody wakes those who wait for the word, or `ns` have passed; not at all if it is not `value`. Words are
 * of this process only. Whoever is woken looks at the word: it may be for nothing. */
void ct_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns);

/* One of those who wait. Never sleeps; changes errno. */
void ct_futex_wake(_Atomic uint32_t *word);

/* CPU time of the calling thread. */
uint64_t ct_thread_cpu_ns(void);

#endif
