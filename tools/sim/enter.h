/* SPDX-License-Identifier: Apache-2.0 */
/* enter.h — the way into the simulated driver and out of it, and what is blamed on the program.
 *
 * One lock guards everything in the process but what is said to be otherwise: critical sections are
 * short, nothing sleeps, copies or computes with it held. Every exported function enters, works
 * under the lock, and leaves with its result. */
#ifndef CT_TOOLS_SIM_ENTER_H
#define CT_TOOLS_SIM_ENTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "interpose/abi/cuda.h"

struct sim_context;

/* Takes the lock. A result other than CUDA_SUCCESS is the caller's own, and the lock is not taken:
 * no cuInit() yet, a forked child, a process that is ending, a call from inside a kernel or host
 * function. */
CUresult sim_enter(const char *call);

/* The same, and the thread has a current context without an error, which is returned. */
CUresult sim_enter_context(const char *call, struct sim_context **context);

/* Gives the lock back and hands the result through. */
CUresult sim_leave(CUresult result);

/* This thread blocks inside the driver, and with it all that call the driver meanwhile: while a
 * push buffer is full. */
void sim_hold_others(bool hold);

void sim_lock(void);
void sim_unlock(void);
void sim_lock_wait(pthread_cond_t *cond); /* gives the lock up until it is signalled */

/* Counts `why` against the call that this thread has entered, and hands the result through. Any
 * thread, with or without the lock. */
CUresult sim_misuse(CUresult result, const char *why);

/* What the thread's call is about is gone: the driver of an ending process, a handle that went with
 * its context. Real drivers crash or return an error: with SIM_GONE=abort in the environment the
 * process aborts, otherwise the result is handed through. */
CUresult sim_gone(CUresult result, const char *why);

/* True while this thread runs a kernel or a host function, which may not call CUDA. */
void sim_inside_work(bool inside);

/* Never NULL: a simulator without memory has nothing left to show, and aborts. */
void *sim_alloc(size_t bytes);

#endif
