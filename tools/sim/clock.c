/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c — sim time. */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "tools/sim/sim.h"

#define NS_PER_S 1000000000u

static _Atomic int no_timing;

uint64_t simNow(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void simSleepUntil(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void simSetTiming(int real)
{
	atomic_store_explicit(&no_timing, !real, memory_order_relaxed);
}

int simTiming(void)
{
	return !atomic_load_explicit(&no_timing, memory_order_relaxed);
}
