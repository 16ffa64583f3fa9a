/* SPDX-License-Identifier: Apache-2.0 */
/* scc.h — circular waits: the strongly connected components of the graph (Tarjan, SIAM J. Comput.
 * 1(2), 1972, without recursion). For the files of hang/ only. */
#ifndef CT_ANALYZER_HANG_SCC_H
#define CT_ANALYZER_HANG_SCC_H

#include "analyzer/hang/waits_for.h"

struct ct_components {
	uint32_t n;
	uint32_t *of;	 /* by node; NONE: not reached */
	uint32_t *first; /* n + 1: nodes of each */
	uint32_t *nodes;
	uint8_t *is_sink; /* none of its nodes waits for a node outside */
};

/* Arrays are the arena's of the graph's index. 0 or CT_NOMEM. */
int ct_components_find(const struct ct_waiting *w, struct ct_components *components);

#endif
