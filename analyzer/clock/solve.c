/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/clock/points.h"
#include "analyzer/clock/tree.h"
#include "trace/status.h"

/* ---- ranks of one host ---- */

/* The median lateness of each rank among those of its host. Values by slot, NAN unknown. */
static double *lateness(const struct ct_clock_points *p)
{
	double scratch[CT_CLOCK_SELF];
	double *late = malloc((p->n_slots + 1) * sizeof(*late));

	for (uint32_t s = 0; late && s < p->n_slots; s++) {
		const struct ct_clock_slot *slot = p->slots[s];
		unsigned n = !slot			  ? 0
			     : slot->seen < CT_CLOCK_SELF ? (unsigned)slot->seen
							  : CT_CLOCK_SELF;

		for (unsigned i = 0; i < n; i++)
			scratch[i] = (double)slot->late_ns[i];
		late[s] = n >= CT_LEAST_SAMPLES ? ct_median(scratch, n) : NAN;
	}
	return late;
}

#define MOST_RANKS 64u /* size: ranks of a host that are compared with each other */

/* The median distance of two of n values. */
static double distance(const double *values, unsigned n)
{
	double pairs[MOST_RANKS * (MOST_RANKS - 1) / 2];
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < i; j++)
			pairs[k++] = fabs(values[i] - values[j]);
	}
	return ct_median(pairs, k);
}

/* The self-test of each host, and by how much a rank is always early or late: a standard deviation
 * over all hosts with several ranks, 0 where there is none. */
static int test_hosts(const struct ct_clock_points *p, struct ct_clocks *c, double *bias)
{
	double values[MOST_RANKS], squares = 0, freedom = 0;
	double *late = lateness(p);

	if (!late)
		return CT_NOMEM;
	for (uint32_t h = 0; h < c->n_hosts; h++) {
		double mean = 0;
		unsigned n = 0;

		for (uint32_t s = 0; s < p->n_slots && n < MOST_RANKS; s++) {
			if (p->slots[s] && p->slots[s]->host == h && !isnan(late[s])) {
				values[n++] = late[s];
				mean += late[s];
			}
		}
		c->hosts[h].selftest_ns = CT_CLOCK_UNKNOWN;
		if (n < 2)
			continue;
		mean /= n;
		for (unsigned i = 0; i < n; i++)
			squares += (values[i] - mean) * (values[i] - mean);
		freedom += n - 1;
		c->hosts[h].selftest_ns = (uint64_t)llround(distance(values, n));
	}
	*bias = freedom > 0 ? sqrt(squares / freedom) : 0;
	free(late);
	return CT_OK;
}

/* ---- from edges to hosts ---- */

static int relate_edges(const struct ct_clock_points *p, double bias, struct ct_relation *relations)
{
	const double both[2] = { bias, bias };
	int st = CT_OK;

	for (uint32_t e = 0; e < p->n_edges && st == CT_OK; e++) {
		st = ct_edge_finish(p->edges[e]) ?: ct_relate(p->edges[e], both, &relations[e]);
	}
	return st;
}

static void note_conflicts(struct ct_clocks *c, const struct ct_relation *r)
{
	for (int end = 0; end < 2; end++)
		c->hosts[r->hosts[end]].compared += r->to[0].n || r->conflict.kind;
	for (int end = 0; end < 2 && r->conflict.kind; end++) {
		struct ct_clock_conflict *worst = &c->hosts[r->hosts[end]].conflict;

		c->hosts[r->hosts[end]].conflicts++;
		if (worst->kind &&
		    worst->by_ns / worst->limit_ns >= r->conflict.by_ns / r->conflict.limit_ns)
			continue;
		*worst = r->conflict;
		worst->host = r->hosts[0];
		worst->with = r->hosts[1];
	}
}

static int fill_host(struct ct_clocks *c, uint32_t h, const struct ct_tree_node *nodes,
		     const struct ct_relation *relations)
{
	const struct ct_tree_node *node = &nodes[h];
	const struct ct_relation *r = &relations[node->edge];
	const struct ct_clock_map *step = &r->to[r->hosts[0] != h];
	struct ct_clock_host *host = &c->hosts[h];
	struct ct_clock_map *map = &c->maps[h];
	double err = 0;
	int st = node->parent == c->reference ? ct_map_copy(step, map)
					      : ct_map_compose(step, &c->maps[node->parent], map);

	if (st != CT_OK)
		return st;
	for (uint32_t i = 0; i < map->n; i++)
		err = map->knots[i].err > err ? map->knots[i].err : err;
	host->err_ns = (uint64_t)llround(err);
	host->hops = node->hops;
	host->first_ns = map->knots[0].t;
	host->last_ns = map->knots[map->n - 1].t;
	host->quality = c->hosts[node->parent].quality;
	if (r->quality == CT_CLOCK_APPROXIMATE && host->quality == CT_CLOCK_ACCURATE)
		host->quality = CT_CLOCK_APPROXIMATE;
	if (node->failed) {
		host->quality = CT_CLOCK_FAIL;
		host->err_ns = CT_CLOCK_UNKNOWN;
	}
	return CT_OK;
}

static int fill_hosts(struct ct_clocks *c, const struct ct_clock_points *p,
		      const struct ct_relation *relations)
{
	struct ct_tree_node *nodes = calloc(c->n_hosts + 1, sizeof(*nodes));
	uint32_t *ordered = malloc((c->n_hosts + 1) * sizeof(*ordered));
	uint32_t n = 0;
	int st = nodes && ordered ? CT_OK : CT_NOMEM;

	st = st ?: ct_tree(relations, p->n_edges, c->reference, nodes, c->n_hosts);
	for (uint32_t h = 0; h < c->n_hosts && st == CT_OK; h++) {
		c->hosts[h].quality = CT_CLOCK_ABSENT;
		c->hosts[h].err_ns = CT_CLOCK_UNKNOWN;
		if (nodes[h].reached) {
			ordered[nodes[h].order] = h;
			n++;
		}
	}
	for (uint32_t e = 0; e < p->n_edges && st == CT_OK; e++) {
		const struct ct_relation *r = &relations[e];

		note_conflicts(c, r);
		/* one that is met, but never both ways */
		for (int end = 0; end < 2; end++) {
			if (!nodes[r->hosts[end]].reached && nodes[r->hosts[!end]].reached)
				c->hosts[r->hosts[end]].quality = CT_CLOCK_INCOMPLETE;
		}
	}
	c->hosts[c->reference].quality = CT_CLOCK_ACCURATE;
	c->hosts[c->reference].err_ns = 0;
	for (uint32_t i = 1; i < n && st == CT_OK; i++)
		st = fill_host(c, ordered[i], nodes, relations);
	free(ordered);
	free(nodes);
	return st;
}

int ct_clocks_solve(struct ct_clock_points *p, uint32_t reference, struct ct_clocks **out)
{
	struct ct_clocks *c = calloc(1, sizeof(*c));
	struct ct_relation *relations = calloc(p->n_edges + 1, sizeof(*relations));
	double bias = 0;
	int st = c && relations ? CT_OK : CT_NOMEM;

	*out = NULL;
	if (st == CT_OK) {
		c->n_hosts = p->n_hosts;
		c->reference = reference;
		c->hosts = calloc(p->n_hosts + 1, sizeof(*c->hosts));
		c->maps = calloc(p->n_hosts + 1, sizeof(*c->maps));
		st = c->hosts && c->maps ? test_hosts(p, c, &bias) : CT_NOMEM;
	}
	st = st ?: relate_edges(p, bias, relations);
	st = st ?: fill_hosts(c, p, relations);
	for (uint32_t e = 0; relations && e < p->n_edges; e++)
		ct_relation_fini(&relations[e]);
	free(relations);
	if (st == CT_OK)
		*out = c;
	else
		ct_clocks_free(c);
	return st;
}
