/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/period.h"

#include "analyzer/base/limits.h"

#define SAMPLE 1024u /* size: pairs */

/* Share of pairs `apart` from each other that differ. */
static double differing(const uint64_t *times, uint32_t n, uint32_t apart, double tolerance)
{
	uint32_t pairs = n - apart, from = 0, differ = 0;

	if (pairs > SAMPLE) {
		from = (pairs - SAMPLE) / 2;
		pairs = SAMPLE;
	}
	for (uint32_t k = from; k < from + pairs; k++) {
		double off = (double)times[k + apart] - (double)times[k];

		differ += off > tolerance || -off > tolerance;
	}
	return (double)differ / pairs;
}

uint32_t ct_period_find(const uint64_t *times, uint32_t n, double tolerance, uint32_t most,
			double varied)
{
	double share[CT_PERIOD_MOST + 1], worst = 0, best = 1;

	most = most < CT_PERIOD_MOST ? most : CT_PERIOD_MOST;
	for (uint32_t q = 1; q <= most; q++) {
		share[q] = differing(times, n, q, tolerance);
		if (q > 1 && worst >= varied && share[q] <= (1 - CT_MOSTLY) * worst &&
		    share[q] < best)
			best = share[q];
		worst = share[q] > worst ? share[q] : worst;
	}
	worst = 0;
	for (uint32_t q = 1; q <= most; q++) {
		if (q > 1 && worst >= varied && share[q] <= (1 - CT_MOSTLY) * worst &&
		    share[q] <= best + CT_NEAR * worst) {
			while (q < most && share[q + 1] < share[q])
				q++;
			return q;
		}
		worst = share[q] > worst ? share[q] : worst;
	}
	return 0;
}

/* The part behind the one that takes longest, by its mean. */
static uint32_t phase_of(const uint64_t *times, uint32_t n, uint32_t parts)
{
	double most = -1;
	uint32_t best = 0;

	for (uint32_t r = 0; r < parts; r++) {
		double sum = 0;
		uint32_t seen = 0;

		for (uint32_t k = r; k < n; k += parts, seen++)
			sum += (double)times[k];
		if (seen && sum / seen > most) {
			most = sum / seen;
			best = (r + 1) % parts;
		}
	}
	return best;
}

uint32_t ct_period_of_parts(const uint64_t *times, uint32_t n, uint64_t median_ns, uint32_t *first)
{
	double median = (double)median_ns, tolerance = CT_STEP_TOLERANCE * median;
	uint32_t other = 0, parts;

	*first = 0;
	for (uint32_t k = 0; k < n; k++)
		other += (double)times[k] > median + tolerance ||
			 (double)times[k] < median - tolerance;
	if (other < CT_STEP_OTHER * n)
		return 1;
	parts = ct_period_find(times, n, tolerance, (n + 1) / 3, CT_STEP_VARIED);
	if (!parts) /* a change for good leaves neighbours alike */
		return n > 1 && differing(times, n, 1, tolerance) >= CT_STEP_RESTLESS ? 0 : 1;
	*first = phase_of(times, n, parts);
	return parts;
}
