/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/sample.h"

#define STRETCHES 8u /* size: parts of a run that are thinned out one by one */
/* size: more doublings than a run has stretches mean that its times are not to be believed. */
#define SPARSEST (1u << 20)

int ct_sample_halve(struct ct_sample *sample, uint64_t first_ns, uint64_t last_ns)
{
	if (sample->one_of >= SPARSEST)
		return 0;
	if (!sample->stretch_ns) {
		sample->from_ns = first_ns;
		sample->stretch_ns = (last_ns - first_ns) / STRETCHES + 1;
	}
	sample->one_of *= 2;
	return 1;
}
