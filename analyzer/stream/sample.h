/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h — the parts of a run that are kept if not all of it fits. All users with lists of single
 * items keep the same parts, at first everything. A user without space halves the sample: the time
 * so far is cut into eight stretches, and every second of these and all later ones is dropped, then
 * three of four, and so on. The remainder is whole stretches of the run, the same on all ranks,
 * spread evenly. Stretches are counted from the first item: where only the end of a run is read,
 * the rest of it has no part in that. Times are ns since the run began. One thread. */
#ifndef CT_ANALYZER_STREAM_SAMPLE_H
#define CT_ANALYZER_STREAM_SAMPLE_H

#include <stdint.h>

struct ct_sample {
	uint64_t stretch_ns; /* 0: all is kept; else every one_of-th stretch of this length ... */
	uint64_t from_ns;    /* ... from here on; what is before belongs to the first one */
	uint32_t one_of;
};

#define CT_SAMPLE_ALL ((struct ct_sample){ .one_of = 1 })

/* The stretch that a time lies in, and whether stretches of that number are kept. */
static inline uint64_t ct_sample_stretch(const struct ct_sample *sample, uint64_t at_ns)
{
	return sample->stretch_ns && at_ns > sample->from_ns
		       ? (at_ns - sample->from_ns) / sample->stretch_ns
		       : 0;
}

static inline int ct_sample_keeps(const struct ct_sample *sample, uint64_t at_ns)
{
	return ct_sample_stretch(sample, at_ns) % sample->one_of == 0;
}

/* Keep half as many stretches; first_ns, last_ns: the earliest and latest time that is kept. 0:
 * there is nothing to be halved any more. */
int ct_sample_halve(struct ct_sample *sample, uint64_t first_ns, uint64_t last_ns);

#endif
