/* SPDX-License-Identifier: Apache-2.0 */
/* period.h — detects a period in a series of times. Pure. For a distance q, F(q) is the fraction of
 * pairs q apart that differ by more than a tolerance. In a series with period P, F(P) is nearly 0
 * while F is large for some shorter distance. Noise has the same F everywhere. A permanent or
 * temporary change has an F that grows with the distance. */
#ifndef CT_ANALYZER_STEPS_PERIOD_H
#define CT_ANALYZER_STEPS_PERIOD_H

#include <stdint.h>

#define CT_PERIOD_MOST 1024u /* size: longer ones are not looked for */

/* The smallest period P of n times, from 2 to `most` (below n); 0: none. F(P) must be at most a
 * quarter of the worst F at a shorter distance, which must be at least `varied` (0 .. 1). At most
 * 1024 pairs are compared for each distance, those in the middle. */
uint32_t ct_period_find(const uint64_t *times_ns, uint32_t n, double tolerance_ns, uint32_t most,
			double varied);

/* How many of n times make a step, if each may be a step or a part of one. 0: they differ as parts
 * do, but without a period (two steps only, or too much noise). 1: no evidence that they are parts.
 * *first: the first part of each step (0 .. parts - 1), after the longest one on average. More than
 * a third of the parts must differ from the median by a fifth, since occasional stalls are not a
 * part of the program. It takes at least two whole steps and their neighbors. */
uint32_t ct_period_of_parts(const uint64_t *times_ns, uint32_t n, uint64_t median_ns,
			    uint32_t *first);

#endif
