/* SPDX-License-Identifier: Apache-2.0 */
/* How long an operation must have been under way to be stalled, and what makes that longer. */
#include "analyzer/hang/gather.h"

uint64_t ct_hang_limit(struct ct_gather *g, const struct ct_comm *comm, unsigned op,
		       uint64_t least_ns)
{
	struct ct_hang_class *class = ct_table_get(&g->classes, ct_hang_class_key(comm, op));

	if (!class || !class->took.n)
		return least_ns;
	if (!class->limit_ns)
		class->limit_ns = ct_hist_unusual(ct_hist_quantile(&class->took, 0.99),
						  class->took.max);
	return class->limit_ns > least_ns ? class->limit_ns : least_ns;
}
