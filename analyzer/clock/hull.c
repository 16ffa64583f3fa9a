/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/hull.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"

/* size: a third of the range a step: after so many steps it is below 1e-16. */
#define SEARCH_STEPS 72

/* Does the point (x, y) lie on or above the line from corner a to corner b? */
static int is_above(const struct ct_hull *h, unsigned a, unsigned b, int64_t x, int64_t y)
{
	__int128 run = (__int128)h->x[b] - h->x[a], rise = (__int128)h->y[b] - h->y[a];

	return ((__int128)y - h->y[a]) * run >= rise * ((__int128)x - h->x[a]);
}

static void cut(struct ct_hull *h, unsigned i)
{
	h->n--;
	memmove(&h->x[i], &h->x[i + 1], (h->n - i) * sizeof(h->x[0]));
	memmove(&h->y[i], &h->y[i + 1], (h->n - i) * sizeof(h->y[0]));
}

/* The corner without which the hull grows least. The first and the last one stay. */
static unsigned least_corner(const struct ct_hull *h)
{
	double best = INFINITY;
	unsigned least = 1;

	for (unsigned i = 1; i + 1 < h->n; i++) {
		double ax = (double)(h->x[i] - h->x[i - 1]), ay = (double)(h->y[i] - h->y[i - 1]);
		double bx = (double)(h->x[i + 1] - h->x[i]), by = (double)(h->y[i + 1] - h->y[i]);
		double area = fabs(ax * by - ay * bx);

		if (area < best) {
			best = area;
			least = i;
		}
	}
	return least;
}

static unsigned index_of_x(const struct ct_hull *h, int64_t x)
{
	return (unsigned)CT_BISECT(i, 0, h->n, h->x[i] < x);
}

void ct_hull_add(struct ct_hull *h, int64_t x, int64_t y)
{
	unsigned i = index_of_x(h, x);

	if (i < h->n && h->x[i] == x) {
		if (y >= h->y[i])
			return;
		cut(h, i);
	} else if (i > 0 && i < h->n && is_above(h, i - 1, i, x, y)) {
		return;
	}
	memmove(&h->x[i + 1], &h->x[i], (h->n - i) * sizeof(h->x[0]));
	memmove(&h->y[i + 1], &h->y[i], (h->n - i) * sizeof(h->y[0]));
	h->x[i] = x;
	h->y[i] = y;
	h->n++;
	while (i + 2 < h->n && is_above(h, i, i + 2, h->x[i + 1], h->y[i + 1]))
		cut(h, i + 1);
	while (i >= 2 && is_above(h, i - 2, i, h->x[i - 1], h->y[i - 1]))
		cut(h, --i);
	if (h->n > CT_HULL_MAX)
		cut(h, least_corner(h));
}

double ct_hull_floor(const struct ct_hull *h, double slope)
{
	double floor = INFINITY;

	for (unsigned i = 0; i < h->n; i++) {
		double at = (double)h->y[i] - slope * (double)h->x[i];

		floor = at < floor ? at : floor;
	}
	return floor;
}

void ct_clock_band_at_most(struct ct_clock_band *band, int64_t x, int64_t y)
{
	ct_hull_add(&band->most, x, y);
}

void ct_clock_band_at_least(struct ct_clock_band *band, int64_t x, int64_t y)
{
	ct_hull_add(&band->least, x, -y);
}

/* How far the two clouds are apart along this slope: concave in it, as a minimum of linear
 * functions. */
static double width(const struct ct_clock_band *band, double slope)
{
	return ct_hull_floor(&band->most, slope) + ct_hull_floor(&band->least, -slope);
}

int ct_clock_band_middle(const struct ct_clock_band *band, struct ct_clock_line *line)
{
	double from = -CT_CLOCK_SLOPE, to = CT_CLOCK_SLOPE;

	if (!band->most.n || !band->least.n)
		return 0;
	for (int step = 0; step < SEARCH_STEPS; step++) {
		double a = from + (to - from) / 3, b = to - (to - from) / 3;

		if (width(band, a) < width(band, b))
			from = a;
		else
			to = b;
	}
	line->slope = (from + to) / 2;
	line->margin = width(band, line->slope) / 2;
	line->at_zero = ct_hull_floor(&band->most, line->slope) - line->margin;
	return 1;
}

/* The last slope on the way from one that is possible to one that need not be. */
static double edge(const struct ct_clock_band *band, double possible, double end)
{
	if (width(band, end) >= 0)
		return end;
	for (int step = 0; step < SEARCH_STEPS; step++) {
		double mid = (possible + end) / 2;

		if (width(band, mid) >= 0)
			possible = mid;
		else
			end = mid;
	}
	return possible;
}

/* The most of y(x) = slope x + floor(hull, slope) over the slopes: concave in the slope. */
static double most_at(const struct ct_hull *hull, double from, double to, double x)
{
	for (int step = 0; step < SEARCH_STEPS; step++) {
		double a = from + (to - from) / 3, b = to - (to - from) / 3;

		if (a * x + ct_hull_floor(hull, a) < b * x + ct_hull_floor(hull, b))
			from = a;
		else
			to = b;
	}
	return (from + to) / 2 * x + ct_hull_floor(hull, (from + to) / 2);
}

void ct_clock_band_interval(const struct ct_clock_band *band, const struct ct_clock_line *line,
			    double x, double *least, double *most)
{
	double from = edge(band, line->slope, -CT_CLOCK_SLOPE);
	double to = edge(band, line->slope, CT_CLOCK_SLOPE);

	*most = most_at(&band->most, from, to, x);
	*least = -most_at(&band->least, -to, -from, x);
}
