/* SPDX-License-Identifier: Apache-2.0 */
/* edges.h — a matrix of traffic that is mostly empty: sums by sender and receiver. Memory follows
 * the pairs that have any, up to a limit beyond which it keeps nothing and says so. A zeroed struct
 * with `most` set is an empty one. One thread. */
#ifndef CT_ANALYZER_LINK_TRAFFIC_EDGES_H
#define CT_ANALYZER_LINK_TRAFFIC_EDGES_H

#include "analyzer/base/table.h"

struct ct_edge {
	uint32_t src, dst;
	uint64_t bytes, count;
	/* of those messages whose transfer is known */
	uint64_t timed_bytes, time_ns, time_err_ns;
};

struct ct_edges {
	struct ct_table by_pair; /* to index + 1 */
	struct ct_edge *all;
	uint32_t n, cap;
	uint32_t most;
	int is_full; /* there were more: nothing is kept */
};

/* Add to the pair's sums, which stay at INT64_MAX once there. 0 or CT_NOMEM. */
int ct_edges_add(struct ct_edges *edges, const struct ct_edge *edge);

/* All of another one. 0 or CT_NOMEM. */
int ct_edges_add_all(struct ct_edges *edges, const struct ct_edges *from);

/* Keep nothing, as if there were too many. */
void ct_edges_drop(struct ct_edges *edges);

/* By sender, then receiver. Nothing is added any more. */
void ct_edges_sort(struct ct_edges *edges);

/* Empty again. */
void ct_edges_fini(struct ct_edges *edges);

#endif
