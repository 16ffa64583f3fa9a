/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/points.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

/* size: messages may join every host with every other one: of these, so many for each host, and all
 * pairs of a few. */
#define EDGES_PER_HOST 8u
#define EDGES_MIN 128u

int ct_clock_points_init(struct ct_clock_points *p, uint32_t n_hosts, uint32_t reference)
{
	*p = (struct ct_clock_points){ .n_hosts = n_hosts, .reference = reference };
	p->max_edges = n_hosts < UINT32_MAX / EDGES_PER_HOST ? n_hosts * EDGES_PER_HOST : n_hosts;
	p->max_edges = p->max_edges > EDGES_MIN ? p->max_edges : EDGES_MIN;
	p->edges = calloc(p->max_edges, sizeof(struct ct_clock_edge *));
	return p->edges ? CT_OK : CT_NOMEM;
}

void ct_clock_points_fini(struct ct_clock_points *p)
{
	for (uint32_t i = 0; i < p->n_edges; i++)
		ct_edge_free(p->edges[i]);
	for (uint32_t i = 0; i < p->n_slots; i++)
		free(p->slots[i]);
	ct_table_fini(&p->by_pair);
	free(p->edges);
	free(p->slots);
	free(p->sorted);
	free(p->parts);
	*p = (struct ct_clock_points){ 0 };
}

/* ---- what each host has of the operation ---- */

static int make_room(struct ct_clock_points *p, uint32_t n)
{
	uint32_t cap = p->cap;

	return ct_grow(&p->sorted, &cap, n, sizeof(*p->sorted)) ||
			       ct_grow(&p->parts, &p->cap, n, sizeof(*p->parts))
		       ? CT_NOMEM
		       : CT_OK;
}

CT_SORT_BY(by_host_and_end, struct ct_clock_member, CT_UP(host) ?: CT_UP(end_ns))

/* The part of the members from `from` on that are of its host. */
static struct ct_clock_part part_of(const struct ct_clock_member *m, uint32_t from, uint32_t n)
{
	const struct ct_clock_member *a, *b;
	struct ct_clock_part part = { .host = m[from].host, .from = from };

	while (from + part.n < n && m[from + part.n].host == part.host) {
		const struct ct_clock_member *next = &m[from + part.n++];

		if (next->start_ns > part.start_ns) {
			part.start_ns = next->start_ns;
			part.start_err_ns = next->start_err_ns;
		}
	}
	part.end_ns = m[from].end_ns;
	part.end_err_ns = m[from].end_err_ns;
	a = &m[from + (part.n - 1) / 2];
	b = &m[from + part.n / 2];
	part.mid_ns = a->end_ns + (b->end_ns - a->end_ns) / 2;
	part.mid_err_ns = a->end_err_ns > b->end_err_ns ? a->end_err_ns : b->end_err_ns;
	return part;
}

static uint32_t find_parts(struct ct_clock_points *p, const struct ct_clock_event *e)
{
	uint32_t n = 0;

	memcpy(p->sorted, e->members, e->n * sizeof(*p->sorted));
	ct_sort(p->sorted, e->n, sizeof(*p->sorted), by_host_and_end);
	for (uint32_t from = 0; from < e->n; from += p->parts[n++].n)
		p->parts[n] = part_of(p->sorted, from, e->n);
	return n;
}

/* ---- the self-test ---- */

static struct ct_clock_slot *slot_of(struct ct_clock_points *p, const struct ct_clock_member *m)
{
	if (ct_grow_zeroed(&p->slots, &p->n_slots, m->slot + 1, sizeof(struct ct_clock_slot *)))
		return NULL;
	if (!p->slots[m->slot]) {
		p->slots[m->slot] = calloc(1, sizeof(struct ct_clock_slot));
		if (p->slots[m->slot])
			p->slots[m->slot]->host = m->host;
	}
	return p->slots[m->slot];
}

static int note_self(struct ct_clock_points *p, const struct ct_clock_part *part)
{
	for (uint32_t i = part->from; i < part->from + part->n && part->n > 1; i++) {
		struct ct_clock_slot *slot = slot_of(p, &p->sorted[i]);
		uint64_t k;

		if (!slot)
			return CT_NOMEM;
		k = slot->seen < CT_CLOCK_SELF
			    ? slot->seen
			    : ct_mix(slot->seen ^ (uint64_t)p->sorted[i].slot << 40) % slot->seen;
		slot->seen++;
		if (k < CT_CLOCK_SELF)
			slot->late_ns[k] = (int64_t)(p->sorted[i].end_ns - part->mid_ns);
	}
	return CT_OK;
}

/* ---- edges ---- */

/* NULL: no space, or (*failed) no memory. */
static struct ct_clock_edge *edge_of(struct ct_clock_points *p, const struct ct_clock_part *a,
				     const struct ct_clock_part *b, int *failed)
{
	uint64_t key = (uint64_t)a->host << 32 | b->host;
	struct ct_clock_edge *edge = ct_table_get(&p->by_pair, key);

	if (edge)
		return edge;
	if (p->n_edges == p->max_edges)
		return NULL;
	edge = ct_edge_new(a->host, b->host, a->end_ns, b->end_ns - a->end_ns);
	if (!edge || ct_table_put(&p->by_pair, key, edge) != CT_OK) {
		ct_edge_free(edge);
		*failed = 1;
		return NULL;
	}
	p->edges[p->n_edges++] = edge;
	return edge;
}

static uint64_t eps_of(uint32_t a, uint32_t b)
{
	uint64_t eps = (uint64_t)a + b;

	return eps > CT_CLOCK_EPS_NS ? eps : CT_CLOCK_EPS_NS;
}

/* `later` ended after `earlier` had started. */
static int cause(struct ct_clock_edge *edge, const struct ct_clock_part *earlier,
		 const struct ct_clock_part *later)
{
	uint64_t eps = eps_of(earlier->start_err_ns, later->end_err_ns);

	/* When the first clock showed the start, the second one had not come to the end yet; or the
	 * reverse. */
	if (edge->hosts[0] == earlier->host)
		return ct_edge_cause(edge, earlier->start_ns, later->end_ns, 1, eps);
	return ct_edge_cause(edge, later->end_ns, earlier->start_ns, 0, eps);
}

static int couple(struct ct_clock_edge *edge, const struct ct_clock_event *e,
		  const struct ct_clock_part *a, const struct ct_clock_part *b)
{
	uint64_t err = (uint64_t)a->mid_err_ns + b->mid_err_ns;
	const struct ct_edge_end end = {
		.at = { a->mid_ns, b->mid_ns },
		.parts = { a->n, b->n },
		.err_ns = err < UINT32_MAX ? (uint32_t)err : UINT32_MAX,
		.stratum = e->stratum,
		.by_host = e->by_host,
	};

	return ct_edge_couple(edge, &end);
}

/* What the operation says of two hosts; a's number is the lower one. */
static int relate(struct ct_clock_points *p, const struct ct_clock_event *e,
		  const struct ct_clock_part *a, const struct ct_clock_part *b)
{
	int failed = 0, st = CT_OK;
	struct ct_clock_edge *edge = edge_of(p, a, b, &failed);

	if (!edge)
		return failed ? CT_NOMEM : CT_OK;
	if (e->kind == CT_CLOCK_SYNC) {
		st = cause(edge, a, b) ?: cause(edge, b, a);
		return st == CT_OK && !e->no_ends ? couple(edge, e, a, b) : st;
	}
	/* Only `one` and the others say something of each other. */
	if (a->has_one == (e->kind == CT_CLOCK_FROM_ONE))
		return cause(edge, a, b);
	return cause(edge, b, a);
}

/* The one that all others are compared with: that of the operation, else the reference, else the
 * first. */
static uint32_t hub_of(const struct ct_clock_points *p, const struct ct_clock_event *e, uint32_t n)
{
	uint32_t one = e->members[e->one].host;

	for (uint32_t i = 0; i < n; i++) {
		if (p->parts[i].host == (e->kind == CT_CLOCK_SYNC ? p->reference : one))
			return i;
	}
	return 0;
}

/* Only `one` itself counts on its host. */
static void narrow(struct ct_clock_part *part, const struct ct_clock_member *one)
{
	part->start_ns = one->start_ns;
	part->start_err_ns = one->start_err_ns;
	part->end_ns = one->end_ns;
	part->end_err_ns = one->end_err_ns;
	part->has_one = 1;
}

/* In order of hosts, as edges have them. */
static int relate_ordered(struct ct_clock_points *p, const struct ct_clock_event *e, uint32_t i,
			  uint32_t k)
{
	return i < k ? relate(p, e, &p->parts[i], &p->parts[k])
		     : relate(p, e, &p->parts[k], &p->parts[i]);
}

static int relate_all(struct ct_clock_points *p, const struct ct_clock_event *e, uint32_t n)
{
	int st = CT_OK;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1; k < n && st == CT_OK; k++)
			st = relate_ordered(p, e, i, k);
	}
	return st;
}

int ct_clock_points_add(struct ct_clock_points *p, const struct ct_clock_event *e)
{
	int sync = e->kind == CT_CLOCK_SYNC;
	uint32_t n, hub;
	int st = make_room(p, e->n);

	if (st != CT_OK)
		return st;
	n = find_parts(p, e);
	for (uint32_t i = 0; i < n && sync && !e->no_ends && st == CT_OK; i++)
		st = note_self(p, &p->parts[i]);
	if (st != CT_OK || (sync && n <= CT_CLOCK_PAIRS))
		return st == CT_OK ? relate_all(p, e, n) : st;
	hub = hub_of(p, e, n);
	if (!sync)
		narrow(&p->parts[hub], &e->members[e->one]);
	for (uint32_t i = 0; i < n && st == CT_OK; i++) {
		if (i != hub)
			st = relate_ordered(p, e, i, hub);
	}
	return st;
}
