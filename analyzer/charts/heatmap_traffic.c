/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap_traffic.c — how much each rank sent to each other, from the layers of the report
 * (link/traffic/). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/charts/heatmap_private.h"
#include "analyzer/model/comm_spec.h"

/* So many names are enough to see what they look like. */
#define LISTED 16u

/* ---- which layer ---- */

/* Is it one of this kind? If a kind has only one, it is the layer of all. */
static int is_of(const struct ct_traffic_layer *layer, const char *kind)
{
	if (strcmp(layer->kind, kind) == 0)
		return 1;
	if (strcmp(layer->kind, "all") != 0)
		return 0;
	return strcmp(kind, "comm") == 0      ? layer->comm_hash != 0
	       : strcmp(kind, "backend") == 0 ? layer->backend != NULL
	       : strcmp(kind, "role") == 0    ? layer->role != NULL
					      : 0;
}

/* What one of this kind is called; NULL: it has no name. */
static const char *name_of(const struct ct_traffic_layer *layer, const char *kind)
{
	return strcmp(kind, "backend") == 0 ? layer->backend
	       : strcmp(kind, "role") == 0  ? layer->role
					    : layer->name;
}

/* The selection: a kind, and which one of it (NULL: all). */
static const char *wanted(const struct ct_heatmap_request *r, const char **name)
{
	*name = r->comm ? r->comm : r->backend ? r->backend : r->role;
	return r->comm ? "comm" : r->backend ? "backend" : r->role ? "role" : "all";
}

static int is_wanted(const struct ct_traffic_layer *layer, const struct ct_heatmap_request *r)
{
	const char *asked, *kind = wanted(r, &asked), *name;

	if (!is_of(layer, kind))
		return 0;
	name = name_of(layer, kind);
	return !asked || (r->comm ? ct_comm_spec_fits(asked, name, layer->comm_hash)
				  : name && strcmp(name, asked) == 0);
}

static int has_scope(const struct ct_report_traffic *t, const char *scope)
{
	for (size_t i = 0; i < t->n_layers; i++) {
		if (strcmp(t->layers[i].scope, scope) == 0)
			return 1;
	}
	return 0;
}

/* For many ranks it shows hosts, unless ranks are selected. */
static const char *scope_of(const struct ct_report *report, enum ct_heatmap_by by)
{
	int has_ranks = has_scope(&report->traffic, "rank");

	if (by != CT_BY_DEFAULT)
		return by == CT_BY_RANK ? "rank" : "host";
	if (has_ranks && report->n_ranks > CT_HEATMAP_MANY_RANKS &&
	    has_scope(&report->traffic, "host"))
		return "host";
	return has_ranks ? "rank" : "host";
}

/* "world (00000000deadbeef), tp (...)", the possible selections. NULL: out of memory. */
static const char *list(const struct ct_heatmap_make *make, const char *kind, const char *scope)
{
	const struct ct_report_traffic *t = &make->report->traffic;
	const char *text = "none";
	unsigned n = 0;

	for (size_t i = 0; i < t->n_layers && text; i++) {
		const struct ct_traffic_layer *l = &t->layers[i];
		const char *name = name_of(l, kind);
		char key[32] = "";

		if (!is_of(l, kind) || strcmp(l->scope, scope) != 0)
			continue;
		if (strcmp(kind, "comm") == 0)
			snprintf(key, sizeof(key), "%s%016" PRIx64 "%s", name ? " (" : "",
				 l->comm_hash, name ? ")" : "");
		if (n == LISTED)
			return ct_arena_printf(make->memory, "%s and more", text);
		text = ct_arena_printf(make->memory, "%s%s%.40s%s", n ? text : "", n ? ", " : "",
				       name	? name
				       : key[0] ? ""
						: "(unknown)",
				       key);
		n++;
	}
	return text;
}

static int not_there(const struct ct_heatmap_make *make, const char *scope)
{
	const char *name, *kind = wanted(make->request, &name);
	const char *known = list(make, kind, scope);

	if (!name)
		return ct_fail(make->err, CT_NOTFOUND,
			       strcmp(scope, "rank") == 0
				       ? "there are too many ranks: only traffic between hosts is "
					 "kept"
				       : "all ranks are on one host");
	if (!known)
		return CT_NOMEM;
	return ct_fail(make->err, CT_NOTFOUND, "no %s '%s' has traffic; there are: %s",
		       make->request->comm ? "communicator" : kind, name, known);
}

/* The wanted one with most bytes; several may have one name. */
static int choose(const struct ct_heatmap_make *make, const struct ct_traffic_layer **layer)
{
	const struct ct_report_traffic *t = &make->report->traffic;
	const char *scope = scope_of(make->report, make->request->by);
	size_t n = 0;

	*layer = make->request->traffic_layer;
	for (size_t i = 0; i < t->n_layers && !make->request->traffic_layer; i++) {
		const struct ct_traffic_layer *l = &t->layers[i];

		if (strcmp(l->scope, scope) != 0 || !is_wanted(l, make->request))
			continue;
		n++;
		if (!*layer || l->exact_bytes + l->modelled_bytes >
				       (*layer)->exact_bytes + (*layer)->modelled_bytes)
			*layer = l;
	}
	if (!t->n_layers)
		return ct_fail(make->err, CT_EMPTY, "%s", t->why ? t->why : "no P2P was recorded");
	if (!*layer)
		return not_there(make, scope);
	if (n > 1)
		ct_heatmap_note(make->heatmap,
				ct_arena_printf(make->memory,
						"%zu communicators are called %s: this is the one "
						"with most bytes, %016" PRIx64 ".",
						n, make->request->comm, (*layer)->comm_hash));
	return CT_OK;
}

/* ---- rows and columns ---- */

/* The ranks that take part, in order: the members of a communicator, else all. */
static int list_ranks(const struct ct_heatmap_make *make, const struct ct_traffic_layer *layer,
		      int **ranks, size_t *n)
{
	const struct ct_report *report = make->report;
	const struct ct_report_comm *comm = NULL;
	size_t most = report->n_ranks + 2 * layer->n, out = 0;

	for (size_t i = 0; i < report->n_comms && layer->comm_hash; i++) {
		if (report->comms[i].hash == layer->comm_hash)
			comm = &report->comms[i];
	}
	if (comm)
		most += comm->n_ranks;
	*ranks = ct_arena_calloc(make->memory, most + 1, sizeof(**ranks));
	if (!*ranks)
		return CT_NOMEM;
	for (size_t i = 0; comm && i < comm->n_ranks; i++)
		(*ranks)[out++] = comm->ranks[i];
	for (size_t i = 0; !comm && i < report->n_ranks; i++)
		(*ranks)[out++] = report->ranks[i].rank;
	for (size_t i = 0; i < layer->n; i++) {
		(*ranks)[out++] = layer->src[i];
		(*ranks)[out++] = layer->dst[i];
	}
	qsort(*ranks, out, sizeof(**ranks), ct_by_int);
	*n = 0;
	for (size_t i = 0; i < out; i++) {
		if ((*ranks)[i] >= 0 && (!*n || (*ranks)[*n - 1] != (*ranks)[i]))
			(*ranks)[(*n)++] = (*ranks)[i];
	}
	return CT_OK;
}

static int list_hosts(const struct ct_heatmap_make *make, int **hosts, size_t *n)
{
	*n = make->report->traffic.n_hosts;
	*hosts = ct_arena_calloc(make->memory, *n + 1, sizeof(**hosts));
	for (size_t i = 0; *hosts && i < *n; i++)
		(*hosts)[i] = (int)i;
	return *hosts ? CT_OK : CT_NOMEM;
}

static int name_ends(const struct ct_heatmap_make *make, const int *ends, size_t n, int are_hosts)
{
	struct ct_heatmap *p = make->heatmap;
	int st = CT_OK;

	p->rows.title = are_hosts ? "sending host" : "sending rank";
	p->rows.word = are_hosts ? "from" : "from rank";
	p->columns.title = are_hosts ? "receiving host" : "receiving rank";
	p->columns.word = are_hosts ? "to" : "to rank";
	p->rows.about = p->columns.about = are_hosts ? "host" : "rank";
	for (size_t i = 0; i < n && st == CT_OK; i++) {
		const char *name = are_hosts ? make->report->traffic.hosts[ends[i]]
					     : ct_arena_printf(make->memory, "%d", ends[i]);

		st = ct_heatmap_name(&p->rows, i, name, NULL);
		st = st ?: ct_heatmap_name(&p->columns, i, name, NULL);
	}
	return st;
}

/* ---- cells ---- */

static const uint64_t *values_of(const struct ct_traffic_layer *layer, enum ct_heatmap_show show)
{
	return show == CT_SHOW_COUNT	   ? layer->count
	       : show == CT_SHOW_BANDWIDTH ? layer->bandwidth_Bps
					   : layer->bytes;
}

/* Where nothing went there are 0 bytes, but no bandwidth. */
static int put_cells(const struct ct_heatmap_make *make, const struct ct_traffic_layer *layer,
		     const int *ends, size_t n)
{
	const uint64_t *values = values_of(layer, make->request->show);
	uint64_t *cells = make->heatmap->values;
	size_t *cell_of = ct_arena_calloc(make->memory, layer->n + 1, sizeof(*cell_of));

	if (!cell_of)
		return CT_NOMEM;
	make->heatmap->cell_of = cell_of;
	make->heatmap->n_cells = layer->n;
	for (size_t i = 0; i < n * n; i++)
		cells[i] = make->request->show == CT_SHOW_BANDWIDTH ? CT_HEATMAP_NOTHING : 0;
	for (size_t i = 0; i < layer->n; i++) {
		const int *src = bsearch(&layer->src[i], ends, n, sizeof(*ends), ct_by_int);
		const int *dst = bsearch(&layer->dst[i], ends, n, sizeof(*ends), ct_by_int);

		cell_of[i] = SIZE_MAX;
		if (!src || !dst)
			continue;
		cell_of[i] = (size_t)(src - ends) * n + (size_t)(dst - ends);
		cells[cell_of[i]] = values[i];
	}
	return CT_OK;
}

static int set_tips(const struct ct_heatmap_make *make, const struct ct_traffic_layer *layer)
{
	static const struct {
		const char *label, *key, *err, *unit;
	} values[] = {
		{
			"bytes",
			"bytes",
			NULL,
			"bytes",
		},
		{ "count", "count", NULL, "count" },
		{ "P2P bandwidth", "bandwidth_Bps", "bandwidth_err_Bps", "Bps" },
		{ "P2P time", "time_ns", "time_err_ns", "ns" },
	};
	const size_t n = sizeof(values) / sizeof(values[0]);
	long at = layer - make->report->traffic.layers;
	struct ct_chart_value *tips = ct_arena_calloc(make->memory, n, sizeof(*tips));
	enum ct_heatmap_show show = make->request->show;
	size_t first = show == CT_SHOW_COUNT ? 1 : show == CT_SHOW_BANDWIDTH ? 2 : 0;

	for (size_t i = 0; tips && i < n; i++) {
		size_t to = i == first ? 0 : i < first ? i + 1 : i;

		tips[to].label = values[i].label;
		tips[to].unit = values[i].unit;
		tips[to].path = ct_arena_printf(make->memory, "traffic.layers.%ld.%s.{i}", at,
						values[i].key);
		if (values[i].err)
			tips[to].err = ct_arena_printf(make->memory, "traffic.layers.%ld.%s.{i}",
						       at, values[i].err);
		if (!tips[to].path || (values[i].err && !tips[to].err))
			return CT_NOMEM;
	}
	make->heatmap->tips = tips;
	make->heatmap->n_tips = n;
	return tips ? CT_OK : CT_NOMEM;
}

static uint64_t largest_error(const struct ct_traffic_layer *layer)
{
	uint64_t most = CT_UNKNOWN;

	for (size_t i = 0; i < layer->n; i++) {
		uint64_t err = layer->bandwidth_err_Bps[i];

		if (err != CT_UNKNOWN && (most == CT_UNKNOWN || err > most))
			most = err;
	}
	return most;
}

static void say_model(const struct ct_heatmap_make *make, const struct ct_traffic_layer *layer)
{
	struct ct_heatmap *p = make->heatmap;
	uint64_t err = largest_error(layer);

	if (strcmp(layer->model, "exact") == 0)
		ct_heatmap_note(p, "P2P exact: every byte of this is known.");
	else
		ct_heatmap_note(p, ct_arena_printf(make->memory, "%s by the %s model, %s exact.",
						   ct_prose_bytes(layer->modelled_bytes).s,
						   layer->model,
						   ct_prose_bytes(layer->exact_bytes).s));
	if (make->request->show == CT_SHOW_BANDWIDTH)
		ct_heatmap_note(p, ct_arena_printf(make->memory,
						   "P2P only: each pair's bytes "
						   "over their time; error up to %s.",
						   ct_prose_Bps(err).s));
	if (make->report->traffic.note)
		ct_heatmap_note(p, ct_arena_printf(make->memory, "Traffic: %s.",
						   make->report->traffic.note));
	if (make->report->traffic.unattributed_bytes)
		ct_heatmap_note(
			p, ct_arena_printf(
				   make->memory, "%s between ranks without a trace are not shown.",
				   ct_prose_bytes(make->report->traffic.unattributed_bytes).s));
}

static const char *title_of(const struct ct_heatmap_make *make,
			    const struct ct_traffic_layer *layer)
{
	enum ct_heatmap_show show = make->request->show;
	const char *asked, *kind = wanted(make->request, &asked);
	const char *what = show == CT_SHOW_COUNT       ? "Collectives and P2P"
			   : show == CT_SHOW_BANDWIDTH ? "P2P bandwidth"
						       : "Bytes sent";

	if (!asked)
		return what;
	if (make->request->comm)
		return ct_arena_printf(make->memory, "%s, communicator %.40s%s%016" PRIx64, what,
				       layer->name ? layer->name : "", layer->name ? ":" : "",
				       layer->comm_hash);
	return ct_arena_printf(make->memory, "%s, %s %.40s", what, kind, asked);
}

int ct_heatmap_traffic(const struct ct_heatmap_make *make)
{
	struct ct_heatmap *p = make->heatmap;
	enum ct_heatmap_show show = make->request->show;
	const struct ct_traffic_layer *layer;
	int *ends, st = choose(make, &layer), are_hosts;
	size_t n;

	if (st != CT_OK)
		return st;
	if (show == CT_SHOW_BANDWIDTH && layer->max_bandwidth_Bps == CT_UNKNOWN)
		return ct_fail(make->err, CT_EMPTY, "no message in it has a known time");
	are_hosts = strcmp(layer->scope, "host") == 0;
	st = are_hosts ? list_hosts(make, &ends, &n) : list_ranks(make, layer, &ends, &n);
	st = st ?: ct_heatmap_size(make, n, n);
	st = st ?: name_ends(make, ends, n, are_hosts);
	if (st != CT_OK)
		return st;
	if (put_cells(make, layer, ends, n) != CT_OK || set_tips(make, layer) != CT_OK)
		return CT_NOMEM;
	p->title = title_of(make, layer);
	p->unit = show == CT_SHOW_COUNT	      ? CT_HEATMAP_COUNT
		  : show == CT_SHOW_BANDWIDTH ? CT_HEATMAP_BPS
					      : CT_HEATMAP_BYTES;
	p->ramp = CT_RAMP_AMOUNT;
	p->scale = "logarithmic scale";
	p->nothing = show == CT_SHOW_BANDWIDTH ? "no P2P" : "no traffic";
	p->zero_is_nothing = 1;
	say_model(make, layer);
	return p->title ? ct_heatmap_scale_log(make) : CT_NOMEM;
}
