/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/change_point.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"

#define WINDOW CT_SHIFT_WINDOW

/* Median and robust sd of n times; `room` for n values. */
static double median(const uint64_t *times, uint32_t n, double *sd, double *room)
{
	double m;

	for (uint32_t k = 0; k < n; k++)
		room[k] = (double)times[k];
	m = ct_median(room, n);
	if (sd)
		*sd = ct_spread(room, n, m);
	return m;
}

/* By how much the window from `at` on differs from the one before it; 0: no more than it may. */
static double jump(const uint64_t *times, uint32_t at)
{
	double room[WINDOW], sd_before, sd_after;
	double before = median(times + at - WINDOW, WINDOW, &sd_before, room);
	double after = median(times + at, WINDOW, &sd_after, room);
	double sd = sd_before > sd_after ? sd_before : sd_after;
	double limit = CT_STEADY_T * CT_SE_OF_MEDIAN * sd * sqrt(2.0 / WINDOW);

	limit = limit > CT_HARDLY_ANY * before ? limit : CT_HARDLY_ANY * before;
	return fabs(after - before) > limit ? fabs(after - before) : 0;
}

static double difference(const uint64_t *times, uint32_t at)
{
	double room[WINDOW];

	return fabs(median(times + at, WINDOW, NULL, room) -
		    median(times + at - WINDOW, WINDOW, NULL, room));
}

/* Of the next WINDOW indices, the one where the difference is largest. */
static uint32_t refine(const uint64_t *times, uint32_t n, uint32_t at)
{
	uint32_t best = at;
	double most = difference(times, at);

	for (uint32_t k = at + 1; k <= at + WINDOW && k + WINDOW <= n; k++) {
		double d = difference(times, k);

		if (d > most) {
			most = d;
			best = k;
		}
	}
	return best;
}

static int differ(const struct ct_level *a, const struct ct_level *b)
{
	double sd = a->sd_ns > b->sd_ns ? a->sd_ns : b->sd_ns;
	double low = a->median_ns < b->median_ns ? a->median_ns : b->median_ns;
	double off = fabs(a->median_ns - b->median_ns);

	return off > CT_HARDLY_ANY * low && off > CT_SHIFT_SDS * sd &&
	       off > CT_STEADY_T * CT_SE_OF_MEDIAN * sd *
			       sqrt(1.0 / (a->end - a->first) + 1.0 / (b->end - b->first));
}

static void weigh(const uint64_t *times, struct ct_level *level, double *room)
{
	level->median_ns = median(times + level->first, level->end - level->first, &level->sd_ns,
				  room);
}

/* Join neighbours that do not differ, the most alike first. */
static uint32_t join(const uint64_t *times, struct ct_level *levels, uint32_t n, double *room)
{
	for (;;) {
		uint32_t best = n;
		double least = INFINITY;

		for (uint32_t k = 0; k + 1 < n; k++) {
			double off = fabs(levels[k].median_ns - levels[k + 1].median_ns);

			if (!differ(&levels[k], &levels[k + 1]) && off < least) {
				least = off;
				best = k;
			}
		}
		if (best == n)
			return n;
		levels[best].end = levels[best + 1].end;
		weigh(times, &levels[best], room);
		for (uint32_t k = best + 1; k + 1 < n; k++)
			levels[k] = levels[k + 1];
		n--;
	}
}

uint32_t ct_levels_find(const uint64_t *times, uint32_t n, struct ct_level *levels)
{
	double *room = n ? malloc(n * sizeof(*room)) : NULL;
	uint32_t found = 0, from = 0, at = WINDOW;

	if (!room)
		return 0;
	while (at + WINDOW <= n && found + 1 < CT_SHIFT_LEVELS) {
		if (jump(times, at) <= 0) {
			at++;
			continue;
		}
		at = refine(times, n, at);
		levels[found++] = (struct ct_level){ .first = from, .end = at };
		from = at;
		at += WINDOW;
	}
	levels[found++] = (struct ct_level){ .first = from, .end = n };
	for (uint32_t k = 0; k < found; k++)
		weigh(times, &levels[k], room);
	found = join(times, levels, found, room);
	free(room);
	return found;
}
