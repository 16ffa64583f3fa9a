/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h — random numbers that belong to something: the same (seed, what, which) always gives the
 * same number, so that a job with a fault and the one without it differ in the fault alone. Pure
 * functions; any thread. */
#ifndef CT_TOOLS_SYNTH_NOISE_H
#define CT_TOOLS_SYNTH_NOISE_H

#include <stdint.h>

/* What a number is for; two of them never share a draw. */
enum ct_noise {
	CT_NOISE_KERNEL = 1, /* a kernel takes longer or shorter */
	CT_NOISE_SPREAD,     /* a rank is always a little faster or slower */
	CT_NOISE_HICCUP,     /* whether a rank has one in a step */
	CT_NOISE_HICCUP_AT,  /* at which kernel */
	CT_NOISE_HICCUP_MS,  /* how long */
	CT_NOISE_TRANSFER,   /* a transfer takes longer or shorter */
	CT_NOISE_SKEW,	     /* a rank ends later than the others */
	CT_NOISE_SKEW_FIXED, /* and always so */
	CT_NOISE_CALL,	     /* how long a call takes */
	CT_NOISE_START,	     /* when a rank starts */
	CT_NOISE_JITTER,     /* how bad a rank's event times are */
	CT_NOISE_STAMP,	     /* one such time */
	CT_NOISE_OFFSET,     /* a host's clock */
	CT_NOISE_DRIFT,
	CT_NOISE_WANDER,
	CT_NOISE_BOOT,
	CT_NOISE_POLL,
};

uint64_t ct_noise_mix(uint64_t a, uint64_t b);

/* In [0, 1). */
double ct_noise_uniform(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b);

/* Mean 0, deviation 1 (Box and Muller). */
double ct_noise_normal(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b);

/* Mean 1, exponential. */
double ct_noise_exponential(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b);

#endif
