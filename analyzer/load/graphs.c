/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/graphs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/stats.h"
#include "trace/ops.h"
#include "trace/status.h"

#define TEXT_BYTES 240u	 /* size: characters of the line about a graph */
#define PARTS_MAX 65536u /* size: of one list; a hostile file is no longer */

struct ct_graph_part {
	struct ct_graph_rec rec;
	struct ct_graph_part *next;
};

void ct_graphs_fini(struct ct_graphs *graphs)
{
	ct_table_fini(&graphs->by_key);
}

static uint64_t key_of(uint32_t list, uint32_t comm)
{
	return (uint64_t)list << 32 | comm;
}

static struct ct_graph *find(const struct ct_graphs *graphs, uint32_t list, uint32_t comm)
{
	return ct_table_get(&graphs->by_key, key_of(list, comm));
}

static struct ct_graph *enter(struct ct_graphs *graphs, const struct ct_graph_rec *rec)
{
	struct ct_graph *g = ct_arena_calloc(graphs->memory, 1, sizeof(*g));

	if (!g || ct_table_put(&graphs->by_key, key_of(rec->list, rec->comm), g) != CT_OK)
		return NULL;
	g->list = rec->list;
	g->comm = rec->comm;
	return g;
}

int ct_graphs_add(struct ct_graphs *graphs, const struct ct_graph_rec *rec)
{
	struct ct_graph *g = find(graphs, rec->list, rec->comm);
	struct ct_graph_part *part;
	uint32_t n_parts = 0;

	if (!g)
		g = enter(graphs, rec);
	if (!g)
		return CT_NOMEM;
	g->n_ops = rec->n_ops;
	g->n_colls = rec->n_colls;
	g->bytes = rec->bytes;
	/* Runs come in their order, and all of them again in every checkpoint. */
	for (part = g->first; part; part = part->next, n_parts++)
		if (part->rec.first == rec->first)
			return CT_OK;
	if (n_parts >= PARTS_MAX || !rec->n || rec->n > UINT32_MAX - g->n_known)
		return CT_OK;
	part = ct_arena_calloc(graphs->memory, 1, sizeof(*part));
	if (!part)
		return CT_NOMEM;
	part->rec = *rec;
	*(g->last ? &g->last->next : &g->first) = part;
	g->last = part;
	g->n_known += rec->n;
	g->n_sync += ct_op_class(rec->op) == CT_CLASS_SYNC ? rec->n : 0;
	return CT_OK;
}

/* Sums and text of what is known by now. */
static int check_graph(struct ct_graph *g, struct ct_arena *memory, uint32_t nranks)
{
	char text[TEXT_BYTES];
	size_t len = 0;
	uint64_t total = 0;

	text[0] = '\0';
	for (const struct ct_graph_part *p = g->first; p; p = p->next) {
		const struct ct_graph_rec *r = &p->rec;
		const char *op = ct_op_name(r->op), *dtype = ct_dtype_name(r->dtype);
		char times_text[16] = "";

		total = ct_plus(total, ct_times(r->n, ct_op_total_bytes(r->op, r->count, r->dtype,
									nranks)));
		if (len + 80 > sizeof(text))
			continue;
		if (r->n > 1)
			snprintf(times_text, sizeof(times_text), "%u ", r->n);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%s%s x%" PRIu64,
					len ? ", " : "", times_text, op ? op : "?",
					dtype ? " " : "", dtype ? dtype : "", r->count);
		if (p->next && len + 80 > sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, ", ...");
	}
	g->text = ct_arena_printf(memory, "%s", text);
	g->total_bytes = g->n_known == g->n_ops ? total : g->bytes;
	g->n_shown = g->n_known;
	g->nranks = nranks;
	return ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}

int ct_graph_each_run(const struct ct_graph *graph,
		      int (*each)(void *arg, const struct ct_graph_rec *run), void *arg)
{
	int st = 0;

	for (const struct ct_graph_part *p = graph->first; p && !st; p = p->next)
		st = each(arg, &p->rec);
	return st;
}

const struct ct_graph *ct_graphs_get(const struct ct_graphs *graphs, uint32_t list, uint32_t comm,
				     uint32_t nranks)
{
	struct ct_graph *g = find(graphs, list, comm);

	if (g && (g->n_shown != g->n_known || g->nranks != nranks) &&
	    check_graph(g, graphs->memory, nranks) != CT_OK)
		return NULL;
	return g;
}
