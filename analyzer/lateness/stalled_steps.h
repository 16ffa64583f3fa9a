/* SPDX-License-Identifier: Apache-2.0 */
/* stalled_steps.h — steps in which all ranks waited for a stalled one, with or without a rule.
 * Pure.
 *
 * A step counts if it took longer than the median one by a tenth of that and five standard
 * deviations (1.4826 MAD), and the others waited longer for it: what ranks waited beyond the
 * median, summed and divided by all ranks but one, is at least half of it. So a step in which all
 * ranks do more (an evaluation) does not count, and one in which one host of two stalled does. The
 * stalled rank is known if it is charged (step_blame.h) with half of it beyond any other. Where
 * four or more are mostly as long as each other, or mostly come again after as many steps each, and
 * are not one rank's, they belong to what the job does (the end of a step, where what was found is
 * only a part of one), and there are none. */
#ifndef CT_ANALYZER_LATENESS_STALLED_STEPS_H
#define CT_ANALYZER_LATENESS_STALLED_STEPS_H

#include "analyzer/lateness/step_blame.h"

#define CT_STALLED_UNKNOWN UINT32_MAX

struct ct_stalled {
	uint32_t n, of;	     /* steps with a stall; steps looked at */
	uint64_t sum_ns;     /* of the stalls */
	uint64_t longest_ns; /* of the longest one ... */
	uint32_t longest_step,
		longest_slot; /* ... and whose it was; CT_STALLED_UNKNOWN: not known */
	uint32_t slots;	      /* ranks with a stall, as far as that is known */
	uint32_t most_slot;   /* the rank with most of them ... */
	uint32_t most_n;      /* ... how many of ... */
	uint32_t known_n;     /* ... how many of which it is known whose they were ... */
	uint64_t most_ns;     /* ... and how much */
};

/* Requires 8 steps in the instance log; otherwise `of` is 0. 0 or CT_NOMEM. */
int ct_stalled_find(const struct ct_steps *steps, const struct ct_step_blame *blame,
		    uint32_t n_slots, struct ct_stalled *stalled);

/* Has one rank more of them than chance gives one of `ranks` equals (1 in 1000), and half of the
 * time? */
int ct_stalled_is_one(const struct ct_stalled *stalled, uint32_t ranks);

#endif
