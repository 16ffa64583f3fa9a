/* SPDX-License-Identifier: Apache-2.0 */
/* How long an operation must have been under way to be stalled. */
#include "analyzer/hang/gather.h"

/* Longer than these times what all but one in a hundred of its like took is unusual, and so is longer than these times
 * the longest: of few, one in a hundred is the first, which has connections to make. */
#define TIMES_P99 20u
#define TIMES_LONGEST 2u

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t ct_hang_limit(struct ct_gather *g, const struct ct_comm *comm, unsigned op,
		       uint64_t least_ns)
{
	struct ct_hang_class *class = ct_table_get(&g->classes, (uint64_t)comm->index << 8 | op);
	uint64_t p99, longest;

	if (!class || !class->took.n)
		return least_ns;
	if (!class->limit_ns) {
		p99 = times(ct_hist_quantile(&class->took, 0.99), TIMES_P99);
		longest = times(class->took.max, TIMES_LONGEST);
		class->limit_ns = p99 < longest ? p99 : longest;
	}
	return class->limit_ns > least_ns ? class->limit_ns : least_ns;
}
