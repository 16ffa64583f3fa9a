/* SPDX-License-Identifier: Apache-2.0 */
/* stalls.h — rare large delays that follow a rule: equally long, after equally many steps. Pure.
 * Those of one rank are periodic (checkpoints, a data loader that fills up, garbage collection by
 * count). Those of alternating ranks are rotating: garbage collection, which no rank's mean shows.
 *
 * An event is a step with a charge of at least half the fourth largest one, and of the threshold.
 * They make a pattern if
 *   - there are four or more;
 *   - they stand out: at most a fifth as many charges lie between that limit and half of it;
 *   - three quarters of them lie within a quarter of their median;
 *   - three quarters of the distances lie within 10 % (a step at least) of the median distance,
 * which is 3 steps or more, and events * median covers half of the run;
 *   - where several ranks have them, none has three quarters.
 * Hiccups have none of that: their lengths and distances are exponential. Those of ranks that count
 * each for itself have no common distance, either: they are unevenness in single steps
 * (docs/dev/algorithms/stalls.md). */
#ifndef CT_ANALYZER_LATENESS_STALLS_H
#define CT_ANALYZER_LATENESS_STALLS_H

#include <stdint.h>

#include "analyzer/lateness/replay/limits.h"

struct ct_stall {
	uint32_t step, slot;
	double ns;
	double err_ns;
	uint64_t stretch; /* of the run: what was between two of them is unknown */
	uint32_t more;	  /* steps behind this one that it reaches into, too */
};

struct ct_stall_pattern {
	uint32_t n;	   /* events; 0: there is no pattern */
	double every;	   /* steps from one to the next, median; 0: not regular */
	double typical_ns; /* median length */
	double sum_ns, err_ns;
	uint32_t first, last; /* steps */
	uint32_t slots;	      /* different ones ... */
	uint32_t most_of_one; /* ... and how many events the one has that has most */
};

/* The pattern of one rank. charges[n], by step; put in another order: the pattern's events come
 * first, by step. `steps`: that were seen. */
void ct_stalls_of_one(struct ct_stall *charges, uint32_t n, uint32_t steps, double threshold_ns,
		      struct ct_stall_pattern *pattern);

/* The pattern of all ranks together: the largest charge of each step. Likewise. */
void ct_stalls_of_all(struct ct_stall *charges, uint32_t n, uint32_t steps, double threshold_ns,
		      struct ct_stall_pattern *pattern);

#endif
