/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/enter.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/context.h"
#include "tools/sim/device.h"
#include "tools/sim/driver.h"
#include "tools/sim/sim.h"

enum sim_state { BEFORE_INIT, READY, FORKED, ENDING };

/* Set under the lock or where there is but one thread; read without it, so that a forked child,
 * which may have inherited a lock that no thread will release, does not take it. */
static _Atomic int state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic uint64_t misuses;
static _Atomic int first_claimed;
static char first_text[160];
static _Atomic(const char *) first; /* first_text, once it is whole */

static _Atomic uint64_t held_until; /* sim time */
static _Atomic uint32_t holding;    /* threads that wait inside for a push buffer */
#define LOOK_NS 50000		    /* the threads that wait for them */

static bool gone_aborts; /* SIM_GONE=abort; set by the first cuInit() */

static __thread const char *entered;
static __thread bool inside_work;

void sim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sim_lock_wait(pthread_cond_t *cond)
{
	pthread_cond_wait(cond, &lock);
}

void simHoldDriver(double ms)
{
	if (simTiming() && ms > 0 && ms < 1e9)
		atomic_store(&held_until, simNow() + (uint64_t)(ms * 1e6));
}

/* Threads that want the lock while it is held. Streams do not: work on the device continues. */
static void wait_for_holder(void)
{
	uint64_t until;

	while ((until = atomic_load_explicit(&held_until, memory_order_relaxed)) &&
	       simNow() < until)
		simSleepUntil(until);
	while (atomic_load_explicit(&holding, memory_order_relaxed))
		simSleepUntil(simNow() + LOOK_NS);
}

void sim_hold_others(bool hold)
{
	atomic_fetch_add_explicit(&holding, hold ? 1 : -1u, memory_order_relaxed);
}

CUresult sim_enter(const char *call)
{
	entered = call;
	switch (atomic_load_explicit(&state, memory_order_acquire)) {
	case BEFORE_INIT:
		return sim_misuse(CUDA_ERROR_NOT_INITIALIZED, "before cuInit");
	case FORKED:
		return sim_misuse(CUDA_ERROR_NOT_INITIALIZED, "in a child of a CUDA process");
	case ENDING:
		return sim_gone(CUDA_ERROR_DEINITIALIZED, "after the driver was torn down");
	}
	if (inside_work)
		return sim_misuse(CUDA_ERROR_NOT_PERMITTED, "inside a kernel or host function");
	wait_for_holder();
	/* the process may have begun to end meanwhile */
	if (atomic_load_explicit(&state, memory_order_acquire) != READY)
		return sim_gone(CUDA_ERROR_DEINITIALIZED, "while the driver is torn down");
	sim_lock();
	return CUDA_SUCCESS;
}

CUresult sim_enter_context(const char *call, struct sim_context **context)
{
	CUresult result = sim_enter(call);

	if (result)
		return result;
	*context = sim_context_current();
	if (!*context)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "no current context"));
	if (!(*context)->is_active)
		return sim_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
	if ((*context)->error)
		return sim_leave((*context)->error);
	return CUDA_SUCCESS;
}

CUresult sim_leave(CUresult result)
{
	sim_unlock();
	return result;
}

void sim_inside_work(bool inside)
{
	inside_work = inside;
}

void *sim_alloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		abort();
	return p;
}

void simBlame(const char *call, const char *why)
{
	int none = 0;

	atomic_fetch_add_explicit(&misuses, 1, memory_order_relaxed);
	if (!atomic_compare_exchange_strong(&first_claimed, &none, 1))
		return;
	snprintf(first_text, sizeof(first_text), "%s: %s", call, why);
	atomic_store_explicit(&first, first_text, memory_order_release);
}

CUresult sim_misuse(CUresult result, const char *why)
{
	simBlame(entered, why);
	return result;
}

CUresult sim_gone(CUresult result, const char *why)
{
	if (!gone_aborts)
		return result;
	fprintf(stderr, "libcuda (simulated): %s %s\n", entered, why);
	abort();
}

uint64_t simMisuse(void)
{
	return atomic_load_explicit(&misuses, memory_order_relaxed);
}

const char *simFirstMisuse(void)
{
	return atomic_load_explicit(&first, memory_order_acquire);
}

static void in_child(void)
{
	atomic_store_explicit(&state, FORKED, memory_order_release);
}

/* As the real driver's, which cuInit() registers: handlers that were registered before it run after
 * it. Threads that still run are left alone. */
static void tear_down(void)
{
	atomic_store_explicit(&state, ENDING, memory_order_release);
}

/* With the lock. */
static CUresult initialise(void)
{
	const char *gone = getenv("SIM_GONE");

	gone_aborts = gone && strcmp(gone, "abort") == 0;
	sim_device_read_environment();
	if (pthread_atfork(NULL, NULL, in_child) || atexit(tear_down))
		return CUDA_ERROR_OUT_OF_MEMORY;
	atomic_store_explicit(&state, READY, memory_order_release);
	return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int flags)
{
	CUresult result = CUDA_SUCCESS;

	entered = __func__;
	if (flags)
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags");
	if (atomic_load_explicit(&state, memory_order_acquire) == BEFORE_INIT) {
		sim_lock();
		if (atomic_load_explicit(&state, memory_order_relaxed) == BEFORE_INIT)
			result = initialise();
		return sim_leave(result);
	}
	result = sim_enter(__func__);
	return result ? result : sim_leave(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version)
{
	entered = __func__;
	if (!version)
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	*version = CUDA_VERSION_SIMULATED;
	return CUDA_SUCCESS;
}
