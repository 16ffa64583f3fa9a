/* SPDX-License-Identifier: Apache-2.0 */
/* clock_map.h — one clock in terms of another: straight lines between knots, and the error at each.
 * Owns its knots; one thread. Times are CLOCK_MONOTONIC of their hosts, ns. */
#ifndef CT_ANALYZER_MODEL_CLOCK_MAP_H
#define CT_ANALYZER_MODEL_CLOCK_MAP_H

#include <stdint.h>

struct ct_clock_knot {
	uint64_t t;   /* on the one clock */
	int64_t more; /* what the other one shows more */
	double err;   /* of that, ns */
};

#define CT_MAP_KNOTS 2048u /* size: of one map; of more, as many evenly */

/* Beyond its knots the clock continues at `slope` (what the other gains a ns), and the error grows
 * by `growth` a ns. */
struct ct_clock_map {
	struct ct_clock_knot *knots; /* by t */
	uint32_t n, cap;
	double slope[2], growth[2]; /* before the first, after the last */
};

/* t is later than all there are (else it is left out); err not negative. 0 or CT_NOMEM. */
int ct_map_add(struct ct_clock_map *map, uint64_t t, int64_t more, double err);

/* The other clock when the one shows t; *err may be NULL. At least one knot. */
uint64_t ct_map_at(const struct ct_clock_map *map, uint64_t t, double *err);

/* The first one's clock in terms of the last one's: first `inner`, then `outer`, with the errors of
 * both. At most CT_MAP_KNOTS knots. *out is new. 0 or CT_NOMEM. */
int ct_map_compose(const struct ct_clock_map *inner, const struct ct_clock_map *outer,
		   struct ct_clock_map *out);

/* The same once more: *to is new, and the caller's. 0 or CT_NOMEM. */
int ct_map_copy(const struct ct_clock_map *from, struct ct_clock_map *to);

void ct_map_fini(struct ct_clock_map *map);

#endif
