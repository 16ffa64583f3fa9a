/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h — our threads in the program's process: detached, every signal blocked. */
#ifndef CT_INTERPOSE_THREADS_H
#define CT_INTERPOSE_THREADS_H

#include <stdatomic.h>
#include <stdint.h>

/* Starts `body` with `arg`, which the thread uses as long as it runs: nothing joins it. 0, or -1 if
 * no thread can be created. The caller's signal mask is unchanged. Any thread. */
int ct_thread_start(void *(*body)(void *), void *arg);

/* Of the calling thread, which has just begun: when it wakes, it waits for the program's threads
 * instead of interrupting one. */
void ct_thread_settle(void);

/* Sleeps until the waiters of the word are woken, or `ns` have passed; not at all if it is not
 * `value`. Words are private to this process. A woken thread checks the word: wake-ups may be
 * spurious. */
void ct_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns);

/* One of the waiting threads. Never sleeps; changes errno. */
void ct_futex_wake(_Atomic uint32_t *word);

/* 0 if no thread of this process has this number (gettid), now; 1 also if that is not known. Does
 * not need /proc, which may be missing or another pid namespace's. Never sleeps; changes errno. */
int ct_thread_lives(uint32_t tid);

/* CPU time of the calling thread. */
uint64_t ct_thread_cpu_ns(void);

#endif
