/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h — the kernel's clocks, in nanoseconds. Any thread, also in a signal handler; never fails,
 * errno stays. */
#ifndef CT_TRACE_CLOCK_H
#define CT_TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CT_SECOND_NS 1000000000ull /* fact: ns in a second */

static inline uint64_t ct_clock_ns(clockid_t clock)
{
	struct timespec t = { 0, 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * CT_SECOND_NS + (uint64_t)t.tv_nsec;
}

#endif
