/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h — by which of the edges each host is related to the reference.
 *
 * Errors add along a path, so each host's path is the one whose errors add up to least; edges that
 * contradict themselves are taken only where there is no other way, and what hangs on them then has
 * failed. Pure functions. */
#ifndef CT_ANALYZER_CLOCK_TREE_H
#define CT_ANALYZER_CLOCK_TREE_H

#include "analyzer/clock/relate.h"

struct ct_tree_node {
	int reached;
	int failed;	 /* an edge of its path contradicts itself */
	uint32_t parent; /* of the reference: itself */
	uint32_t edge;	 /* to the parent: index of the relation; of the reference: meaningless */
	uint32_t hops;
	double err;
	uint32_t order; /* parents come before their children */
};

/* nodes[n_hosts] are filled. Relations that are INCOMPLETE are not a way at all. 0 or CT_NOMEM. */
int ct_tree(const struct ct_relation *relations, uint32_t n, uint32_t reference,
	    struct ct_tree_node *nodes, uint32_t n_hosts);

#endif
