/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/cuts.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"

uint32_t ct_cuts_from(const struct ct_cuts *cuts, uint64_t ns)
{
	return (uint32_t)CT_BISECT(i, 0, cuts->n, cuts->all[i].end_ns <= ns);
}

uint64_t ct_cuts_spread(const struct ct_cuts *cuts, uint32_t *near, uint64_t begin, uint64_t end,
			uint64_t *sums, size_t stride)
{
	uint64_t all = 0;

	*near = ct_cuts_near(cuts, *near, begin);
	for (uint32_t k = *near; k < cuts->n && cuts->all[k].begin_ns < end; k++) {
		uint64_t from = ct_max(begin, cuts->all[k].begin_ns);
		uint64_t to = ct_min(end, cuts->all[k].end_ns);

		if (to <= from)
			continue;
		if (sums)
			*(uint64_t *)((char *)sums + k * stride) += to - from;
		all += to - from;
	}
	return all;
}

uint32_t *ct_cuts_of_log(const struct ct_cuts *cuts, const struct ct_instance_log *log)
{
	uint32_t *step = calloc((size_t)log->n_instances + 1, sizeof(*step)), near = 0;

	for (uint32_t i = 0; step && i < log->n_instances; i++) {
		const struct ct_log_instance *instance = &log->instances[i];
		uint64_t last = 0;

		for (uint32_t p = 0; p < instance->n; p++) {
			uint64_t start = log->parts[instance->first_part + p].start_ns;

			last = start > last ? start : last;
		}
		step[i] = ct_cuts_at(cuts, &near, last ? last : instance->at_ns);
	}
	return step;
}
