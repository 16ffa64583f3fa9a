/* SPDX-License-Identifier: Apache-2.0 */
/* period.h — do times come again in the same order? Pure.
 *
 * For a distance q, F(q) is the share of pairs q apart that differ by more than a tolerance. In a series that repeats itself
 * after P, F(P) is next to nothing while F is large for some shorter distance. Noise has the same F everywhere; a change for
 * good, or for a while, has an F that grows with the distance. */
#ifndef CT_STEP_PERIOD_H
#define CT_STEP_PERIOD_H

#include <stdint.h>

#define CT_PERIOD_MOST 1024u /* longer ones are not looked for */

/* The least P from 2 to `most` (below n) after which n times come again; 0: they do not. Of the pairs that are P apart at most
 * a quarter of those differ by more than tolerance_ns that do at the worst shorter distance; there it has to be `varied` of
 * all (0 .. 1). At most 1024 pairs are compared for each distance, those in the middle. */
uint32_t ct_period_find(const uint64_t *times_ns, uint32_t n, double tolerance_ns, uint32_t most,
			double varied);

/* n times of which it is open whether each is a step or a part of one: how many make one; 0: they differ as parts do, but
 * do not come again (two steps only, or too much noise); 1: nothing says that they are parts.
 * *first: of each step, the first of its parts (0 .. parts - 1), behind the one that takes longest on average. Parts have to
 * differ by a fifth of the median and more than a third of them from it: a stall after some steps each is no part of the
 * program. At least two whole steps, and what lies around them. */
uint32_t ct_period_of_parts(const uint64_t *times_ns, uint32_t n, uint64_t median_ns,
			    uint32_t *first);

#endif
