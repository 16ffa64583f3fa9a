/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/windows.h"

#include "interpose/hash.h"

/* tuning: one of the first five of a block is off. So of blocks of twelve, from any moment on, one
 * of the next 17 is off as a whole: three minutes after the second what timing does has been seen
 * once. */
#define MOST 5u
/* tuning: the last ones never are: two that are off shall have timed ones between them. */
#define NEVER 3u

uint64_t ct_gpu_window(const struct ct_gpu_options *o, uint64_t unix_ns)
{
	return unix_ns / 1000000 / o->guard_off_ms;
}

/* tuning: after so many blocks, half an hour, what timing does is known well; from then on one
 * block of eight has a window, so that of a long run one per cent is untimed. */
#define DENSE 15u
#define SPARSE 8u

int ct_gpu_window_is_off(const struct ct_gpu_options *o, uint64_t job, uint64_t window,
			 uint64_t age_ns)
{
	uint64_t dense_ms = o->guard_after_ms + (uint64_t)DENSE * o->guard_ms;
	uint64_t n = o->guard_ms / o->guard_off_ms;
	uint64_t hash = ct_hash_mix(ct_hash_mix(CT_HASH_START, job), window / n);

	if (age_ns < (uint64_t)o->guard_after_ms * 1000000 ||
	    (age_ns > dense_ms * 1000000 && hash % SPARSE))
		return 0;
	return window % n == (hash >> 32) % (n - NEVER < MOST ? n - NEVER : MOST);
}
