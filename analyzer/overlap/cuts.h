/* SPDX-License-Identifier: Apache-2.0 */
/* cuts.h — which step something belongs to.
 *
 * The cuts are given: where steps begin and end, ns since the run began, in order, none within
 * another; time between them is in no step. An operation belongs to the step in which its last
 * member came: the operation at which a step was cut is then its first, on whichever member's time
 * the cut was made. Pure functions. */
#ifndef CT_ANALYZER_OVERLAP_CUTS_H
#define CT_ANALYZER_OVERLAP_CUTS_H

#include "analyzer/model/report_steps.h"
#include "analyzer/stream/instance_log.h"

struct ct_cut {
	uint64_t begin_ns, end_ns;
};

struct ct_cuts {
	const struct ct_cut *all;
	uint32_t n;
};

/* The first step that ends after a time; cuts->n: none. */
uint32_t ct_cuts_from(const struct ct_cuts *cuts, uint64_t ns);

/* The same; the search starts at `near`, since successive times are mostly in the same step or the
 * next one. */
static inline uint32_t ct_cuts_near(const struct ct_cuts *cuts, uint32_t near, uint64_t ns)
{
	for (uint32_t k = near; k < cuts->n && k <= near + 1; k++) {
		if (cuts->all[k].end_ns > ns && (!k || cuts->all[k - 1].end_ns <= ns))
			return k;
	}
	return ct_cuts_from(cuts, ns);
}

/* The step of a time; CT_NO_STEP: none. *near: where the search starts, and what it found. */
static inline uint32_t ct_cuts_at(const struct ct_cuts *cuts, uint32_t *near, uint64_t at_ns)
{
	*near = ct_cuts_near(cuts, *near, at_ns);
	return *near < cuts->n && cuts->all[*near].begin_ns <= at_ns ? *near : CT_NO_STEP;
}

/* Adds the part of [begin_ns, end_ns) in each step to the step's sum: that of step k is `stride`
 * bytes after that of step k - 1, sums NULL: none. *near: where the search starts, and where the
 * first one was found. Returns the time in steps. */
uint64_t ct_cuts_spread(const struct ct_cuts *cuts, uint32_t *near, uint64_t begin_ns,
			uint64_t end_ns, uint64_t *sums, size_t stride);

/* By instance of the log, its step; of one that was not timed, by its entry. To be freed; NULL: out
 * of memory. */
uint32_t *ct_cuts_of_log(const struct ct_cuts *cuts, const struct ct_instance_log *log);

#endif
