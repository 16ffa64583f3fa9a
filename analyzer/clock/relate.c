/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/relate.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

struct knot {
	double x, y, err;
};

static void conflict(struct ct_relation *r, enum ct_clock_conflict_kind kind, double by,
		     double limit, const struct ct_clock_edge *e, double x)
{
	if (r->conflict.kind && by / limit <= r->conflict.by_ns / r->conflict.limit_ns)
		return;
	r->conflict = (struct ct_clock_conflict){ kind,	 by,
						  limit, e->x0 + (uint64_t)(int64_t)llround(x),
						  0,	 0 };
}

/* What causality allows at x. 0: nothing is kept of that time. */
static int bound_at(const struct ct_clock_edge *e, double x, double *least, double *most)
{
	unsigned from = CT_BISECT(k, 0, e->n_bounds, e->bounds[k].x[2] < x);
	const struct ct_edge_bound *b;
	double share;
	int i;

	if (from == e->n_bounds)
		return 0;
	b = &e->bounds[from];
	if (x < b->x[0] || b->x[2] <= b->x[0])
		return 0;
	i = x > b->x[1];
	share = (x - b->x[i]) / (b->x[i + 1] - b->x[i]);
	*least = b->least[i] + share * (b->least[i + 1] - b->least[i]);
	*most = b->most[i] + share * (b->most[i + 1] - b->most[i]);
	return 1;
}

/* Half of the range of what kinds of operations say: some end always later on the one host. */
static double systematic(const struct ct_clock_edge *e)
{
	double least = INFINITY, most = -INFINITY;

	for (unsigned i = 0; i < CT_EDGE_STRATA; i++) {
		const struct ct_edge_stratum *s = &e->strata[i];

		if (s->n < CT_LEAST_SAMPLES)
			continue;
		least = fmin(least, s->sum / (double)s->n);
		most = fmax(most, s->sum / (double)s->n);
	}
	return most > least ? (most - least) / 2 : 0;
}

/* The same of ranks, as they show it within their host, for the mean number of ranks that an end
 * was taken of. */
static double of_ranks(const struct ct_clock_edge *e, const double *bias)
{
	double n = (double)(e->coupled ? e->coupled : 1);

	return CT_SE_OF_MEDIAN *
	       sqrt(bias[0] * bias[0] * e->parts[0] / n + bias[1] * bias[1] * e->parts[1] / n);
}

/* How far the curve between knots may be from straight lines: half of what a knot is off the line
 * of its neighbours. */
static double bend(const struct ct_clock_edge *e, unsigned i)
{
	const struct ct_couple_line *a, *b, *c;
	double share;

	if (i == 0 || i + 1 >= e->n_fits)
		return 0;
	a = &e->fits[i - 1].line;
	b = &e->fits[i].line;
	c = &e->fits[i + 1].line;
	share = (b->x - a->x) / (c->x - a->x);
	return fabs(b->y - a->y - share * (c->y - a->y)) / 2;
}

static struct knot end_knot(const struct ct_clock_edge *e, unsigned i, double b, double ranks,
			    struct ct_relation *r)
{
	const struct ct_couple_line *l = &e->fits[i].line;
	double err = sqrt(4 * l->se * l->se + b * b + 4 * ranks * ranks) + l->err;
	struct knot k = { l->x, l->y, INFINITY };
	double least, most, moved, inside;

	/* So few may all be wrong: where they lie within what causality allows is a guess, and that
	 * their error. */
	if (e->coupled < CT_FEW_SAMPLES)
		err = INFINITY;

	/* What a host saw to be over was over before. If the one host looks late and the other one
	 * does not, the median is late by up to 1.4 standard deviations of that (evenly spread;
	 * exponential: 1). */
	if (l->by_host > 0.5)
		err += 2 * l->spread;
	if (ranks <= 0)
		err += CT_CLOCK_SKEW_NS;
	err += bend(e, i) + e->fits[i].jump / 2;
	k.err = err;
	if (!bound_at(e, k.x, &least, &most))
		return k;
	k.y = fmax(least, fmin(most, k.y));
	moved = fabs(k.y - l->y);
	if (moved > 3 * err && moved > CT_CLOCK_EPS_NS)
		conflict(r, CT_CONFLICT_ENDS, moved, fmax(3 * err, CT_CLOCK_EPS_NS), e, k.x);
	k.err = err + moved;
	inside = fmax(most - k.y, k.y - least);
	/* Ends that are wrong by more than they should be say nothing of where in it the truth
	 * lies. */
	if (e->violation == 0 && (inside < k.err || moved > err))
		k.err = inside;
	return k;
}

static int add(struct ct_relation *r, const struct ct_clock_edge *e, const struct knot *k)
{
	uint64_t t = e->x0 + (uint64_t)(int64_t)llround(k->x);
	uint64_t more = e->y0 + (uint64_t)(int64_t)llround(k->y);
	int st = ct_map_add(&r->to[0], t, (int64_t)more, k->err);

	st = st ?: ct_map_add(&r->to[1], t + more, (int64_t)(0 - more), k->err);
	r->err += k->err;
	return st;
}

/* Before the first and after the last knot: the slope over the two knots next to it, and its error.
 */
static void extend(struct ct_relation *r, int end, const struct ct_clock_edge *e)
{
	const struct ct_clock_map *map = &r->to[0];
	double slope = 0, growth = CT_CLOCK_SLOPE;

	if (map->n > 1) {
		uint32_t i = end ? map->n - 1 : 0, k = map->n > 2 ? 2 : 1;
		const struct ct_clock_knot *a = &map->knots[i], *b = &map->knots[end ? i - k : k];
		double run = (double)(int64_t)(b->t - a->t);

		slope = (double)(int64_t)((uint64_t)b->more - (uint64_t)a->more) / run;
		growth = fmin((a->err + b->err) / fabs(run) + CT_CLOCK_WANDER, CT_CLOCK_SLOPE);
	} else if (e->n_fits == 1) {
		slope = e->fits[0].line.slope;
		growth = fmin(2 * e->fits[0].line.slope_se + CT_CLOCK_WANDER, CT_CLOCK_SLOPE);
	}
	/* A slope that is known no better than what clocks do anyway says nothing. */
	if (growth >= CT_CLOCK_SLOPE) {
		slope = 0;
		growth = CT_CLOCK_SLOPE;
	}
	r->to[0].slope[end] = slope;
	r->to[0].growth[end] = growth;
	r->to[1].slope[end] = -slope / (1 + slope);
	r->to[1].growth[end] = growth;
}

/* Clocks do not drift apart as fast as these ends say: something is wrong with one of them, or with
 * what was matched. `b`: what operations of other kinds, earlier and later ones, may differ by
 * anyway. */
static void check_drift(const struct ct_clock_edge *e, double b, struct ct_relation *r)
{
	for (unsigned i = 0; i < e->n_fits; i++) {
		const struct ct_couple_line *l = &e->fits[i].line;
		double beyond = (fabs(l->slope) - CT_CLOCK_SLOPE) * l->run;
		double limit = CT_STEADY_T * l->slope_se * l->run + 2 * (b + l->err) +
			       CT_CLOCK_EPS_NS;

		if (l->n >= CT_LEAST_SAMPLES && beyond > limit)
			conflict(r, CT_CONFLICT_DRIFT, beyond, limit, e, l->x);
	}
}

static int relate_by_ends(const struct ct_clock_edge *e, const double *bias, struct ct_relation *r)
{
	double b = systematic(e), ranks = of_ranks(e, bias);
	int st = CT_OK;

	check_drift(e, b, r);

	for (unsigned i = 0; i < e->n_fits && st == CT_OK; i++) {
		struct knot k = end_knot(e, i, b, ranks, r);

		if (isfinite(k.err))
			st = add(r, e, &k);
	}
	return st;
}

static int relate_by_causes(const struct ct_clock_edge *e, struct ct_relation *r)
{
	int st = CT_OK;

	for (unsigned i = 0; i < 3 * e->n_bounds && st == CT_OK; i++) {
		const struct ct_edge_bound *b = &e->bounds[i / 3];
		struct knot k = { b->x[i % 3], (b->least[i % 3] + b->most[i % 3]) / 2,
				  (b->most[i % 3] - b->least[i % 3]) / 2 };

		st = add(r, e, &k);
	}
	return st;
}

int ct_relate(const struct ct_clock_edge *e, const double *bias, struct ct_relation *r)
{
	int st = CT_OK;

	*r = (struct ct_relation){ .hosts = { e->hosts[0], e->hosts[1] },
				   .quality = CT_CLOCK_INCOMPLETE };
	if (e->coupled)
		st = relate_by_ends(e, bias, r);
	else
		st = relate_by_causes(e, r);
	if (st != CT_OK)
		return st;
	if (e->violation > CT_CLOCK_ACCURATE_NS)
		conflict(r, CT_CONFLICT_CAUSE, e->violation, CT_CLOCK_ACCURATE_NS, e,
			 e->violation_x);
	if (e->jump > 0)
		conflict(r, CT_CONFLICT_JUMP, e->jump, e->jump_limit, e, e->jump_x);
	if (e->left_out > e->seen / 10)
		conflict(r, CT_CONFLICT_ORDER, (double)e->left_out, (double)e->seen / 10 + 1, e, 0);
	if (r->to[0].n) {
		r->err /= r->to[0].n;
		extend(r, 0, e);
		extend(r, 1, e);
		r->quality = e->coupled >= CT_LEAST_SAMPLES && r->err <= CT_CLOCK_ACCURATE_NS
				     ? CT_CLOCK_ACCURATE
				     : CT_CLOCK_APPROXIMATE;
	}
	if (r->conflict.kind)
		r->quality = CT_CLOCK_FAIL;
	return CT_OK;
}

void ct_relation_fini(struct ct_relation *r)
{
	ct_map_fini(&r->to[0]);
	ct_map_fini(&r->to[1]);
}
