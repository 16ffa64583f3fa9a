/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/clock_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "trace/status.h"

int ct_map_add(struct ct_clock_map *map, uint64_t t, int64_t more, double err)
{
	if (map->n && t <= map->knots[map->n - 1].t)
		return CT_OK;
	if (ct_grow(&map->knots, &map->cap, map->n + 1, sizeof(*map->knots)))
		return CT_NOMEM;
	map->knots[map->n++] = (struct ct_clock_knot){ t, more, err };
	return CT_OK;
}

/* Before the first knot (end 0) or after the last one. */
static uint64_t beyond(const struct ct_clock_map *map, int end, uint64_t t, double *err)
{
	const struct ct_clock_knot *k = &map->knots[end ? map->n - 1 : 0];
	double away = (double)(int64_t)(t - k->t);

	if (err)
		*err = k->err + fabs(away) * map->growth[end];
	return t + (uint64_t)k->more + (uint64_t)llround(away * map->slope[end]);
}

uint64_t ct_map_at(const struct ct_clock_map *map, uint64_t t, double *err)
{
	uint32_t from = 0, to = map->n - 1;
	const struct ct_clock_knot *a, *b;
	double share;

	if (t <= map->knots[0].t)
		return beyond(map, 0, t, err);
	if (t >= map->knots[to].t)
		return beyond(map, 1, t, err);
	while (to - from > 1) {
		uint32_t mid = (from + to) / 2;

		if (map->knots[mid].t <= t)
			from = mid;
		else
			to = mid;
	}
	a = &map->knots[from];
	b = &map->knots[to];
	share = (double)(t - a->t) / (double)(b->t - a->t);
	if (err)
		*err = a->err + share * (b->err - a->err);
	return t + (uint64_t)a->more +
	       (uint64_t)llround(share * (double)(int64_t)((uint64_t)b->more - (uint64_t)a->more));
}

/* When did the one clock show what makes the other one show `other`? */
static uint64_t back(const struct ct_clock_map *map, uint64_t other)
{
	uint64_t t = other - (uint64_t)map->knots[map->n / 2].more;

	/* Clocks part by 300 ppm at most: each round leaves less than a thousandth. */
	for (int round = 0; round < 6; round++)
		t += other - ct_map_at(map, t, NULL);
	return t;
}

static int add_both(const struct ct_clock_map *inner, const struct ct_clock_map *outer, uint64_t t,
		    struct ct_clock_map *out)
{
	double err, more_err;
	uint64_t other = ct_map_at(outer, ct_map_at(inner, t, &err), &more_err);

	return ct_map_add(out, t, (int64_t)(other - t), err + more_err);
}

int ct_map_compose(const struct ct_clock_map *inner, const struct ct_clock_map *outer,
		   struct ct_clock_map *out)
{
	uint32_t every = (inner->n + outer->n + CT_MAP_KNOTS - 1) / CT_MAP_KNOTS;
	uint32_t i = 0, k = 0;
	int st = CT_OK;

	*out = (struct ct_clock_map){ 0 };
	for (int end = 0; end < 2; end++) {
		out->slope[end] = (1 + inner->slope[end]) * (1 + outer->slope[end]) - 1;
		out->growth[end] = inner->growth[end] + outer->growth[end];
	}
	while (st == CT_OK && (i < inner->n || k < outer->n)) {
		uint64_t t = i < inner->n ? inner->knots[i].t : UINT64_MAX;
		uint64_t u = k < outer->n ? back(inner, outer->knots[k].t) : UINT64_MAX;

		if (t <= u)
			i += every;
		else
			k += every;
		st = add_both(inner, outer, t < u ? t : u, out);
	}
	if (st != CT_OK)
		ct_map_fini(out);
	return st;
}

void ct_map_fini(struct ct_clock_map *map)
{
	free(map->knots);
	*map = (struct ct_clock_map){ 0 };
}

int ct_map_copy(const struct ct_clock_map *from, struct ct_clock_map *to)
{
	*to = *from;
	to->cap = to->n;
	to->knots = malloc(to->n * sizeof(*to->knots));
	if (!to->knots) {
		to->n = 0;
		return CT_NOMEM;
	}
	memcpy(to->knots, from->knots, to->n * sizeof(*to->knots));
	return CT_OK;
}
