/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/link/traffic/layers.h"
#include "analyzer/model/model.h"

/* size: a matrix of more ranks is mostly zeros and unreadable; layers have all of it. */
#define MATRIX_RANKS 1024u

/* ---- what is not known ---- */

/* What passes unseen may have moved data; these do not. */
static int moves_nothing(const char *id)
{
	return strcmp(id, "CUDART_STATIC") == 0 || strcmp(id, "OTHER_DLSYM_HOOK") == 0 ||
	       strcmp(id, "DLSYM_OFF") == 0;
}

static int has_unseen(const struct ct_model *model)
{
	for (size_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_environment_facts *facts = &model->processes[p].environment;

		for (uint32_t i = 0; model->processes[p].read && i < facts->n_unseen; i++)
			if (!moves_nothing(facts->unseen[i].name))
				return 1;
	}
	return 0;
}

/* Losses for which the number of records does not show that bytes may be missing. */
static int has_lost(const struct ct_report *report)
{
	static const char *const reasons[] = { "TRAFFIC_FULL", "STARTING", "NOT_INTERPOSABLE" };

	for (size_t i = 0; i < report->n_dropped; i++) {
		if (report->dropped[i].is_loss_of_records)
			return 1;
		for (size_t r = 0; r < sizeof(reasons) / sizeof(reasons[0]); r++)
			if (strcmp(report->dropped[i].reason, reasons[r]) == 0)
				return 1;
	}
	return 0;
}

static unsigned find_gaps(const struct ct_model *model, const struct ct_traffic *traffic,
			  const struct ct_layers *l, const struct ct_report *report)
{
	const struct {
		int is;
		enum ct_traffic_gap gap;
	} found[] = {
		{ l->is_hidden, CT_TRAFFIC_GAP_HIDDEN },
		{ l->is_too_large, CT_TRAFFIC_GAP_TOO_LARGE },
		{ !report->run.complete, CT_TRAFFIC_GAP_INCOMPLETE },
		{ has_lost(report), CT_TRAFFIC_GAP_LOST },
		{ has_unseen(model), CT_TRAFFIC_GAP_UNSEEN },
		{ l->is_unattributed, CT_TRAFFIC_GAP_UNATTRIBUTED },
	};
	unsigned gaps = traffic->gaps;

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		gaps |= found[i].is ? 1u << found[i].gap : 0;
	return gaps;
}

static const char *const gap_texts[] = {
#define CT_TRAFFIC_GAP_TEXT(name, text) text,
	CT_TRAFFIC_GAP_MAP(CT_TRAFFIC_GAP_TEXT)
#undef CT_TRAFFIC_GAP_TEXT
};
#define GAPS (sizeof(gap_texts) / sizeof(gap_texts[0]))

static const char *find_why(const struct ct_layers *l, unsigned gaps)
{
	for (unsigned g = 0; g < GAPS; g++)
		if (gaps & 1u << g)
			return gap_texts[g];
	if (!l->n_comms)
		return "nothing was sent";
	for (uint32_t s = 0; s < l->model->n_slots; s++)
		if (l->ranks[s].rank < 0)
			return "which ranks there are is not known";
	if (l->model->n_slots > MATRIX_RANKS)
		return "too many ranks for a matrix";
	return NULL;
}

/* Sentences one after the other, as far as there is space. */
struct sentences {
	char text[1200];
	size_t len;
};

static void say(struct sentences *s, const char *text)
{
	int n = snprintf(s->text + s->len, sizeof(s->text) - s->len, "%s%s", s->len ? "; " : "",
			 text);

	if (n > 0 && (size_t)n < sizeof(s->text) - s->len)
		s->len += (size_t)n;
	s->text[s->len] = '\0';
}

static void say_number(struct sentences *s, uint32_t n, const char *what)
{
	char text[96];

	snprintf(text, sizeof(text), "%u %s", n, what);
	if (n)
		say(s, text);
}

static int fill_note(const struct ct_layers *l, unsigned gaps, struct ct_arena *memory,
		     struct ct_report_traffic *out)
{
	struct sentences s = { .len = 0 };
	uint32_t n_full = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n_full += (l->all[i].ranks.is_full != 0) + (l->all[i].hosts.is_full != 0);

	if (out->modelled_bytes)
		say(&s, "collective bytes are attributed by model, P2P bytes are exact");
	if (gaps)
		say(&s, "these are at least the bytes that were sent");
	for (unsigned g = 0; g < GAPS; g++)
		if (gaps & 1u << g)
			say(&s, gap_texts[g]);
	if (l->report->n_in_flight || l->report->open_launches)
		say(&s, "operations that had not ended count in full");
	if (l->model->n_slots > CT_LAYER_RANKS)
		say(&s, "too many ranks to show each: by hosts only");
	say_number(&s, n_full, "heatmaps are left out, which have too many pairs");
	say_number(&s, l->comms_left_out,
		   "communicators with fewer bytes are not shown by themselves");
	out->note = s.len ? ct_arena_printf(memory, "%s", s.text) : NULL;
	return s.len && !out->note ? CT_NOMEM : CT_OK;
}

/* ---- layers ---- */

static int kind_order(const char *kind)
{
	static const char *const kinds[] = { "all", "backend", "role", "comm" };
	int k = 0;

	while (strcmp(kinds[k], kind) != 0)
		k++;
	return k;
}

static int by_kind(const void *a, const void *b)
{
	const struct ct_layer *x = a, *y = b;
	uint64_t of_x = ct_layer_bytes(x), of_y = ct_layer_bytes(y);

	if (strcmp(x->kind, y->kind) != 0)
		return kind_order(x->kind) - kind_order(y->kind);
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	if (x->comm && y->comm)
		return x->comm->index < y->comm->index ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* If a kind has only one, that is the layer of all: it says so, and the other is omitted. */
static void drop_the_only_ones(struct ct_layers *l)
{
	struct ct_layer *all = &l->all[0];
	uint32_t n_of[4] = { 0 }, n = 1;

	for (uint32_t i = 1; i < l->n; i++)
		n_of[kind_order(l->all[i].kind)]++;
	for (uint32_t i = 1; i < l->n; i++) {
		struct ct_layer *layer = &l->all[i];
		int kind = kind_order(layer->kind);

		if (n_of[kind] > 1) {
			l->all[n++] = *layer;
			continue;
		}
		all->backend = kind == 1 ? layer->backend : all->backend;
		all->role = kind == 2 ? layer->role : all->role;
		all->comm = kind == 3 ? layer->comm : all->comm;
		all->name = kind == 3 ? layer->name : all->name;
		ct_edges_fini(&layer->ranks);
		ct_edges_fini(&layer->hosts);
	}
	l->n = n;
}

/* All heatmaps of ranks together have as many pairs as one may have, and so have those of hosts. */
static void drop_without_room(struct ct_layers *l)
{
	uint32_t room[2] = { CT_LAYER_EDGES, CT_LAYER_EDGES };

	for (uint32_t i = 0; i < l->n; i++) {
		struct ct_edges *edges[2] = { &l->all[i].ranks, &l->all[i].hosts };

		for (int scope = 0; scope < 2; scope++) {
			if (edges[scope]->n <= room[scope])
				room[scope] -= edges[scope]->n;
			else
				ct_edges_drop(edges[scope]);
		}
	}
}

/* For a pair whose messages have a time longer than its error. */
static void fill_bandwidth(const struct ct_edge *edge, struct ct_traffic_layer *out, size_t i)
{
	uint64_t time_ns = edge->time_ns, err_ns = edge->time_err_ns;

	out->time_ns[i] = time_ns ? time_ns : CT_UNKNOWN;
	out->time_err_ns[i] = time_ns ? err_ns : CT_UNKNOWN;
	out->bandwidth_Bps[i] = out->bandwidth_err_Bps[i] = CT_UNKNOWN;
	if (time_ns <= err_ns)
		return;
	out->bandwidth_Bps[i] = ct_Bps(edge->timed_bytes, time_ns);
	out->bandwidth_err_Bps[i] = ct_Bps(edge->timed_bytes, time_ns - err_ns) -
				    out->bandwidth_Bps[i];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return b != CT_UNKNOWN && (a == CT_UNKNOWN || b > a) ? b : a;
}

static int fill_edges(const struct ct_edges *edges, struct ct_arena *memory,
		      struct ct_traffic_layer *out)
{
	uint64_t **columns[] = { &out->bytes,	    &out->count,	 &out->time_ns,
				 &out->time_err_ns, &out->bandwidth_Bps, &out->bandwidth_err_Bps };

	out->src = ct_arena_calloc(memory, edges->n, sizeof(*out->src));
	out->dst = ct_arena_calloc(memory, edges->n, sizeof(*out->dst));
	if (!out->src || !out->dst)
		return CT_NOMEM;
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		*columns[c] = ct_arena_calloc(memory, edges->n, sizeof(uint64_t));
		if (!*columns[c])
			return CT_NOMEM;
	}
	out->n = edges->n;
	out->max_bytes = out->max_count = out->max_bandwidth_Bps = CT_UNKNOWN;
	for (uint32_t i = 0; i < edges->n; i++) {
		const struct ct_edge *edge = &edges->all[i];

		out->src[i] = (int)edge->src;
		out->dst[i] = (int)edge->dst;
		out->bytes[i] = edge->bytes;
		out->count[i] = edge->count;
		fill_bandwidth(edge, out, i);
		out->max_bytes = larger(out->max_bytes, out->bytes[i]);
		out->max_count = larger(out->max_count, out->count[i]);
		out->max_bandwidth_Bps = larger(out->max_bandwidth_Bps, out->bandwidth_Bps[i]);
	}
	return CT_OK;
}

static int fill_layer(const struct ct_layer *from, const char *scope, struct ct_arena *memory,
		      struct ct_report_traffic *t)
{
	const struct ct_edges *edges = strcmp(scope, "rank") == 0 ? &from->ranks : &from->hosts;
	struct ct_traffic_layer *out = &t->layers[t->n_layers];

	if (!edges->n)
		return CT_OK;
	out->scope = scope;
	out->kind = from->kind;
	out->name = from->name;
	out->backend = from->backend;
	out->role = from->role;
	out->comm_hash = from->comm ? from->comm->hash : 0;
	out->model = from->modelled_bytes ? "ring" : "exact";
	out->exact_bytes = from->exact_bytes;
	out->modelled_bytes = from->modelled_bytes;
	t->n_layers++;
	return fill_edges(edges, memory, out);
}

static int fill_layers(const struct ct_layers *l, struct ct_arena *memory,
		       struct ct_report_traffic *out)
{
	int st = CT_OK;

	out->layers = ct_arena_calloc(memory, 2 * (size_t)l->n, sizeof(*out->layers));
	if (!out->layers)
		return CT_NOMEM;
	for (uint32_t i = 0; i < l->n && st == CT_OK; i++)
		st = fill_layer(&l->all[i], "rank", memory, out);
	for (uint32_t i = 0; i < l->n && st == CT_OK; i++)
		st = fill_layer(&l->all[i], "host", memory, out);
	return st;
}

static int fill_hosts(const struct ct_model *model, const struct ct_layers *l,
		      struct ct_arena *memory, struct ct_report_traffic *out)
{
	out->hosts = ct_arena_calloc(memory, l->n_hosts, sizeof(*out->hosts));
	if (!out->hosts)
		return CT_NOMEM;
	for (uint32_t h = 0; h < l->n_hosts; h++) {
		const char *name = model->starts->hosts[l->hosts[h]].name;

		out->hosts[h] = ct_arena_text(memory, name, sizeof(((struct ct_process *)0)->host));
		if (!out->hosts[h])
			return CT_NOMEM;
	}
	out->n_hosts = l->n_hosts;
	return CT_OK;
}

/* ---- the matrix ---- */

static size_t index_of(const struct ct_report_traffic *out, uint32_t rank)
{
	const int wanted = (int)rank;
	const int *found = bsearch(&wanted, out->ranks, out->n_ranks, sizeof(*out->ranks),
				   ct_by_int);

	return (size_t)(found - out->ranks);
}

/* Everything is known: of every slot its rank, and that is its own. */
static int fill_matrix(const struct ct_model *model, const struct ct_edges *edges,
		       struct ct_arena *memory, struct ct_report_traffic *out)
{
	size_t n = model->n_slots;

	out->ranks = ct_arena_calloc(memory, n, sizeof(*out->ranks));
	out->matrix = ct_arena_calloc(memory, n * n, sizeof(*out->matrix));
	if (!out->ranks || !out->matrix)
		return CT_NOMEM;
	for (uint32_t s = 0; s < n; s++)
		out->ranks[s] = model->slots[s].rank;
	qsort(out->ranks, n, sizeof(*out->ranks), ct_by_int);
	out->n_ranks = n;
	for (uint32_t i = 0; i < edges->n; i++)
		out->matrix[index_of(out, edges->all[i].src) * n +
			    index_of(out, edges->all[i].dst)] = edges->all[i].bytes;
	return CT_OK;
}

int ct_traffic_fill(const struct ct_model *model, const struct ct_traffic *traffic,
		    const struct ct_transfers *transfers, struct ct_report *report)
{
	struct ct_report_traffic *out = &report->traffic;
	struct ct_layers layers;
	unsigned gaps;
	int st = ct_layers_make(model, traffic, transfers, report, &layers);

	if (st == CT_OK) {
		gaps = find_gaps(model, traffic, &layers, report);
		out->at_least = gaps != 0;
		out->why = find_why(&layers, gaps);
		out->exact_bytes = layers.all[0].exact_bytes;
		out->modelled_bytes = layers.all[0].modelled_bytes;
		out->unattributed_bytes = layers.unattributed_bytes;
		out->comms_left_out = layers.comms_left_out;
		qsort(layers.all, layers.n, sizeof(*layers.all), by_kind);
		drop_the_only_ones(&layers);
		drop_without_room(&layers);
		st = fill_note(&layers, gaps, report->memory, out);
	}
	if (st == CT_OK && !out->why)
		st = fill_matrix(model, &layers.all[0].ranks, report->memory, out);
	st = st ?: fill_hosts(model, &layers, report->memory, out);
	st = st ?: fill_layers(&layers, report->memory, out);
	ct_layers_fini(&layers);
	return st;
}
