/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/fit.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

#define HUBER 1.345	  /* fact: 95 % efficient where errors are normal */
#define ROUNDS 10	  /* size: after so many rounds weights no longer change */
#define MOST_CLASSES 256u /* size: four an octave, 64 octaves */
/* fact: libraries change their protocol between these sizes. */
#define SPLIT_FROM 65536.0
#define SPLIT_TO 1048576.0

/* A size that represents those near it. */
struct size_point {
	double bytes, ns;
	size_t first, n; /* of the transfers */
};

struct points {
	struct size_point at[MOST_CLASSES];
	uint32_t n;
};

CT_SORT_BY(by_bytes, struct ct_transfer, CT_UP(bytes) ?: CT_UP(ns))

/* ---- classes ---- */

static void classify(const struct ct_transfer *t, size_t n, struct points *points)
{
	size_t first = 0;

	for (size_t i = 1; i <= n && points->n < MOST_CLASSES; i++) {
		double width = i < n ? t[i].bytes / t[first].bytes : INFINITY;

		if (width < CT_NARROW_CLASS ||
		    (width < CT_WIDE_CLASS && i - first < CT_LEAST_STEPS))
			continue;
		if (i - first >= CT_FEW_SAMPLES)
			points->at[points->n++] = (struct size_point){
				t[first + (i - first) / 2].bytes, 0, first, i - first
			};
		first = i;
	}
}

/* The time that represents the class: the 25th percentile of its times, scaled to its own size. */
static void represent(const struct ct_transfer *t, struct size_point *p, const struct ct_fit *fit,
		      double *scratch)
{
	double here = fit->regimes ? ct_fit_expect(fit, p->bytes) : 1;

	for (size_t i = 0; i < p->n; i++) {
		const struct ct_transfer *each = &t[p->first + i];
		double there = fit->regimes ? ct_fit_expect(fit, each->bytes) : 1;

		scratch[i] = each->ns * here / there;
	}
	ct_sort(scratch, p->n, sizeof(*scratch), ct_by_double);
	p->ns = ct_quantile(scratch, p->n, 0.25);
}

/* ---- one line ---- */

struct fit_sums {
	double w, x, xx, y, xy;
};

/* Least squares with these weights; neither alpha nor beta below 0. */
static struct ct_line solve(const struct fit_sums *s)
{
	double det = s->w * s->xx - s->x * s->x;
	struct ct_line line = { 0 };

	line.ns_per_byte = det > 0 ? (s->w * s->xy - s->x * s->y) / det : 0;
	line.alpha_ns = (s->y - line.ns_per_byte * s->x) / s->w;
	if (line.ns_per_byte <= 0 && det > 0)
		line = (struct ct_line){ .alpha_ns = s->y / s->w };
	else if (line.alpha_ns < 0 || det <= 0)
		line = (struct ct_line){ .ns_per_byte = s->xy / s->xx };
	return line;
}

static double relative(const struct ct_line *line, const struct size_point *p)
{
	return (p->ns - line->alpha_ns - line->ns_per_byte * p->bytes) / p->ns;
}

static double spread(const struct ct_line *line, const struct size_point *p, uint32_t n,
		     double *scratch)
{
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = fabs(relative(line, &p[i]));
	ct_sort(scratch, n, sizeof(*scratch), ct_by_double);
	return CT_SD_OF_MAD * ct_quantile(scratch, n, 0.5) + CT_FIT_SCATTER;
}

static double huber(double e, double sd)
{
	double off = fabs(e) / (HUBER * sd);

	return off > 1 ? 1 / off : 1;
}

/* The line through n points, and what it leaves: the sum of squares in relative terms. */
static double draw(const struct size_point *p, uint32_t n, struct ct_line *line)
{
	double scratch[MOST_CLASSES], sd = INFINITY, left = 0;
	struct fit_sums s;

	for (int round = 0; round < ROUNDS; round++) {
		s = (struct fit_sums){ 0 };
		for (uint32_t i = 0; i < n; i++) {
			double e = round ? relative(line, &p[i]) : 0;
			double w = huber(e, sd) / (p[i].ns * p[i].ns);

			s.w += w;
			s.x += w * p[i].bytes;
			s.xx += w * p[i].bytes * p[i].bytes;
			s.y += w * p[i].ns;
			s.xy += w * p[i].bytes * p[i].ns;
		}
		*line = solve(&s);
		sd = spread(line, p, n, scratch);
	}
	for (uint32_t i = 0; i < n; i++) {
		double e = relative(line, &p[i]);

		left += huber(e, sd) * e * e;
	}
	line->alpha_err_ns = line->ns_per_byte_err = NAN;
	if (n >= 3) {
		double det = s.w * s.xx - s.x * s.x;
		/* what counts less leaves less: not below what the middle one is off */
		double var = fmax(left / (double)(n - 2), sd * sd);

		line->alpha_err_ns = 2 * sqrt(var * s.xx / det);
		line->ns_per_byte_err = 2 * sqrt(var * s.w / det);
	}
	return left;
}

/* ---- both ---- */

static void one_line(const struct points *points, struct ct_fit *fit)
{
	double left = draw(points->at, points->n, &fit->lines[0]);

	fit->regimes = 1;
	fit->has_alpha = points->n > 1;
	fit->scatter = points->n >= 3 ? sqrt(left / (double)(points->n - 2)) : NAN;
	if (!fit->has_alpha)
		fit->lines[0] = (struct ct_line){ .ns_per_byte = points->at[0].ns /
								 points->at[0].bytes,
						  .alpha_err_ns = NAN,
						  .ns_per_byte_err = NAN };
}

/* Would two lines be much better? */
static void two_lines(const struct points *points, struct ct_fit *fit)
{
	double best = fit->scatter * fit->scatter * (double)(points->n - 2) * CT_SPLIT_GAIN;

	for (uint32_t k = CT_LEAST_OFTEN; k + CT_LEAST_OFTEN <= points->n; k++) {
		struct ct_line low, high;
		double left;

		if (points->at[k].bytes < SPLIT_FROM || points->at[k].bytes > SPLIT_TO)
			continue;
		left = draw(points->at, k, &low) + draw(points->at + k, points->n - k, &high);
		if (left >= best)
			continue;
		best = left;
		fit->regimes = 2;
		fit->lines[0] = low;
		fit->lines[1] = high;
		fit->split_bytes = points->at[k].bytes;
		fit->scatter = sqrt(left / (double)(points->n - 2));
	}
}

int ct_fit(struct ct_transfer *transfers, size_t n, struct ct_fit *fit)
{
	struct points *points = calloc(1, sizeof(*points));
	double *scratch = malloc((n + 1) * sizeof(*scratch));
	int st = points && scratch ? CT_OK : CT_NOMEM;

	*fit = (struct ct_fit){ .scatter = NAN };
	if (st != CT_OK)
		goto out;
	ct_sort(transfers, n, sizeof(*transfers), by_bytes);
	classify(transfers, n, points);
	/* The second and third time with the times of a class moved to where they are in it. */
	for (int round = 0; round < 3 && points->n; round++) {
		struct ct_fit before = *fit;

		for (uint32_t i = 0; i < points->n; i++)
			represent(transfers, &points->at[i], &before, scratch);
		one_line(points, fit);
	}
	for (uint32_t i = 0; i < points->n; i++)
		fit->samples += (uint32_t)points->at[i].n;
	fit->classes = points->n;
	if (points->n)
		fit->largest_bytes = points->at[points->n - 1].bytes;
	if (points->n >= 2 * CT_LEAST_OFTEN && fit->scatter > CT_SPLIT_SCATTER)
		two_lines(points, fit);
out:
	free(points);
	free(scratch);
	return st;
}

int ct_fit_shows_bandwidth(const struct ct_fit *fit)
{
	const struct ct_line *line = &fit->lines[fit->regimes == 2];

	if (!fit->regimes)
		return 0;
	/* smaller ones suffice if three sizes or more show a clear slope that explains most of the
	 * largest one's time */
	return fit->largest_bytes >= CT_LARGE_BYTES ||
	       (line->ns_per_byte > 2 * line->ns_per_byte_err &&
		line->ns_per_byte * fit->largest_bytes > line->alpha_ns);
}

double ct_fit_expect(const struct ct_fit *fit, double bytes)
{
	const struct ct_line
		*line = &fit->lines[fit->regimes == 2 && bytes >= fit->split_bytes ? 1 : 0];

	return fit->regimes ? line->alpha_ns + line->ns_per_byte * bytes : NAN;
}
