/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/tree.h"

#include <stdlib.h>

#include "trace/status.h"

struct tree_edge {
	uint32_t host, edge, next;
};

#define NONE UINT32_MAX

/* Lists of each host's edges: heads[host] is the first of `steps`. */
static struct tree_edge *list_edges(const struct ct_relation *relations, uint32_t n,
				    uint32_t *heads, uint32_t n_hosts)
{
	struct tree_edge *steps = calloc(2 * (size_t)n + 1, sizeof(*steps));
	uint32_t used = 0;

	for (uint32_t h = 0; h < n_hosts; h++)
		heads[h] = NONE;
	for (uint32_t e = 0; steps && e < n; e++) {
		if (!relations[e].to[0].n)
			continue;
		for (int end = 0; end < 2; end++) {
			uint32_t from = relations[e].hosts[end];

			steps[used] = (struct tree_edge){ relations[e].hosts[!end], e,
							  heads[from] };
			heads[from] = used++;
		}
	}
	return steps;
}

/* Of two paths to a host. */
static int is_better(int failed, double err, const struct ct_tree_node *than)
{
	return !than->reached || failed < than->failed ||
	       (failed == than->failed && err < than->err);
}

/* The nearest among those that are reached and not settled. */
static uint32_t nearest(const struct ct_tree_node *nodes, const uint8_t *settled, uint32_t n_hosts)
{
	uint32_t best = NONE;

	for (uint32_t h = 0; h < n_hosts; h++) {
		if (nodes[h].reached && !settled[h] &&
		    (best == NONE || is_better(nodes[h].failed, nodes[h].err, &nodes[best])))
			best = h;
	}
	return best;
}

int ct_tree(const struct ct_relation *relations, uint32_t n, uint32_t reference,
	    struct ct_tree_node *nodes, uint32_t n_hosts)
{
	uint32_t *heads = calloc(n_hosts + 1, sizeof(*heads));
	uint8_t *settled = calloc(n_hosts + 1, 1);
	struct tree_edge *steps = heads ? list_edges(relations, n, heads, n_hosts) : NULL;
	uint32_t at, order = 0;
	int st = steps && settled ? CT_OK : CT_NOMEM;

	for (uint32_t h = 0; h < n_hosts; h++)
		nodes[h] = (struct ct_tree_node){ .order = NONE };
	nodes[reference].reached = 1;
	nodes[reference].parent = reference;
	while (st == CT_OK && (at = nearest(nodes, settled, n_hosts)) != NONE) {
		settled[at] = 1;
		nodes[at].order = order++;
		for (uint32_t s = heads[at]; s != NONE; s = steps[s].next) {
			const struct ct_relation *r = &relations[steps[s].edge];
			struct ct_tree_node *to = &nodes[steps[s].host];
			int failed = nodes[at].failed || r->quality == CT_CLOCK_FAIL;
			double err = nodes[at].err + r->err;

			if (settled[steps[s].host] || !is_better(failed, err, to))
				continue;
			*to = (struct ct_tree_node){
				1, failed, at, steps[s].edge, nodes[at].hops + 1, err, NONE
			};
		}
	}
	free(steps);
	free(settled);
	free(heads);
	return st;
}
