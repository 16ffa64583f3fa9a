/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/couple.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"

#define SLOPE_ROUNDS 6 /* size: after so many rounds a slope no longer changes */

CT_SORT_BY(by_x, struct ct_couple_sample, CT_UP(x))

/* Of the samples, what is left of y after the line through (origin, 0) with this slope. */
static double residual(const struct ct_couple_sample *s, int64_t origin, double slope)
{
	return (double)s->y - slope * (double)(s->x - origin);
}

static double median_residual(const struct ct_couple_sample *s, unsigned n, int64_t origin,
			      double slope, double *scratch)
{
	for (unsigned i = 0; i < n; i++)
		scratch[i] = residual(&s[i], origin, slope);
	return ct_median(scratch, n);
}

static double mean_x(const struct ct_couple_sample *s, unsigned n, int64_t origin)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (double)(s[i].x - origin);
	return sum / n;
}

/* Tukey's resistant line: the slope between the medians of the outer thirds, until nothing is left
 * of it. */
static double resistant_slope(const struct ct_couple_sample *s, unsigned n, double *scratch)
{
	unsigned third = (n + 2) / 3;
	const struct ct_couple_sample *right = s + (n - third);
	int64_t origin = s[0].x;
	double run = mean_x(right, third, origin) - mean_x(s, third, origin);
	double slope = 0;

	if (n < 3 || run * run < CT_CLOCK_SXX)
		return 0;
	for (int round = 0; round < SLOPE_ROUNDS; round++)
		slope += (median_residual(right, third, origin, slope, scratch) -
			  median_residual(s, third, origin, slope, scratch)) /
			 run;
	return fmax(-2 * CT_CLOCK_SLOPE, fmin(2 * CT_CLOCK_SLOPE, slope));
}

/* Least squares over what was not rejected: uses every sample, where the resistant line served to
 * reject. */
static double exact_slope(const struct ct_couple_sample *s, unsigned n, int64_t origin,
			  double slope, double *sxx)
{
	double mx = 0, my = 0, sxy = 0;
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		if (s[i].is_out)
			continue;
		mx += (double)(s[i].x - origin);
		my += residual(&s[i], origin, slope);
		kept++;
	}
	mx /= kept;
	my /= kept;
	*sxx = 0;
	for (unsigned i = 0; i < n; i++) {
		double dx = (double)(s[i].x - origin) - mx;

		if (s[i].is_out)
			continue;
		*sxx += dx * dx;
		sxy += dx * (residual(&s[i], origin, slope) - my);
	}
	return *sxx > CT_CLOCK_SXX ? slope + sxy / *sxx : slope;
}

static double deviation(const struct ct_couple_sample *s, unsigned n, int64_t origin, double slope,
			double middle, double *scratch)
{
	for (unsigned i = 0; i < n; i++)
		scratch[i] = residual(&s[i], origin, slope);
	return fmax(ct_spread(scratch, n, middle), CT_CLOCK_SPREAD_NS);
}

void ct_couple_fit(struct ct_couple_sample *s, unsigned n, double *scratch,
		   struct ct_couple_line *line)
{
	int64_t origin;
	double slope, middle, sxx = 0, at = 0, farthest = 0;
	int64_t first = 0, last = 0;
	unsigned kept = 0;

	*line = (struct ct_couple_line){ .n = n };
	qsort(s, n, sizeof(*s), by_x);
	origin = s[0].x;
	slope = resistant_slope(s, n, scratch);
	middle = median_residual(s, n, origin, slope, scratch);
	line->spread = deviation(s, n, origin, slope, middle, scratch);
	for (unsigned i = 0; i < n; i++) {
		s[i].is_out = fabs(residual(&s[i], origin, slope) - middle) > 5 * line->spread;
		line->rejected += s[i].is_out;
	}
	if (n >= 3)
		slope = exact_slope(s, n, origin, slope, &sxx);
	for (unsigned i = 0; i < n; i++) {
		if (s[i].is_out)
			continue;
		first = kept ? first : s[i].x;
		last = s[i].x;
		scratch[kept++] = residual(&s[i], origin, slope);
		farthest = fmax(farthest, fabs(scratch[kept - 1] - middle));
		at += (double)(s[i].x - origin);
		line->by_host += s[i].by_host;
	}
	at /= kept;
	middle = ct_median(scratch, kept);
	line->by_host /= kept;
	line->x = (double)origin + at;
	line->y = middle + slope * at;
	line->slope = slope;
	line->run = (double)(last - first);
	for (unsigned i = 0; i < n; i++)
		scratch[i] = s[i].err_ns;
	line->err = ct_median(scratch, n);
	/* A few may agree by chance: then all of their range counts, and the bounds of each. */
	if (n < CT_LEAST_SAMPLES)
		line->spread = fmax(2 * farthest, fmax(line->err, CT_CLOCK_SPREAD_NS));
	line->se = CT_SE_OF_MEDIAN * line->spread / sqrt(kept);
	line->slope_se = sxx > CT_CLOCK_SXX ? line->spread / sqrt(sxx) : CT_CLOCK_SLOPE;
}
