/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/traffic/layers.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/link/transfers.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report_rows.h"
#include "trace/ops.h"

/* One communicator while its pairs are laid. */
struct laying {
	struct ct_layers *layers;
	const struct ct_comm *comm;
	struct ct_layer *layer;
	struct ct_flow *flows; /* by member: sums over its processes, of uncounted traffic */
	const struct ct_flow **by_member;
	uint8_t *has_counts; /* by member */
};

/* ---- ranks and hosts ---- */

/* Ranks and hosts by slot; a rank that two slots claim belongs to neither. */
static int list_ranks(struct ct_layers *l)
{
	const struct ct_model *model = l->model;
	struct ct_table by_rank = { 0 };
	uint32_t *host_at = calloc((size_t)model->starts->n_hosts + 1, sizeof(*host_at));
	int st = CT_OK;

	l->ranks = calloc((size_t)model->n_slots + 1, sizeof(*l->ranks));
	l->hosts = calloc((size_t)model->starts->n_hosts + 1, sizeof(*l->hosts));
	if (!host_at || !l->ranks || !l->hosts)
		st = CT_NOMEM;
	for (uint32_t s = 0; s < model->n_slots && st == CT_OK; s++) {
		const struct ct_rank_state *slot = &model->slots[s];
		struct ct_traffic_rank *own = &l->ranks[s], *other;

		if (!host_at[slot->host]) {
			l->hosts[l->n_hosts] = slot->host;
			host_at[slot->host] = ++l->n_hosts;
		}
		*own = (struct ct_traffic_rank){ slot->muddled ? -1 : slot->rank,
						 host_at[slot->host] - 1 };
		if (own->rank < 0)
			continue;
		other = ct_table_get(&by_rank, ct_mix((uint32_t)own->rank));
		if (other)
			other->rank = own->rank = -1;
		else
			st = ct_table_put(&by_rank, ct_mix((uint32_t)own->rank), own);
	}
	ct_table_fini(&by_rank);
	free(host_at);
	return st;
}

/* NULL: no trace identifies the member. */
static const struct ct_traffic_rank *traffic_rank_of(const struct ct_layers *l,
						     const struct ct_comm *comm, uint32_t member)
{
	uint32_t slot = comm->slots[member];

	if (!slot || comm->clash || comm->shared_slot || l->ranks[slot - 1].rank < 0)
		return NULL;
	return &l->ranks[slot - 1];
}

/* ---- one communicator ---- */

static int add_edge(struct ct_layers *l, struct ct_layer *layer, const struct ct_traffic_rank *from,
		    const struct ct_traffic_rank *to, struct ct_edge edge)
{
	int st = CT_OK;

	edge.src = (uint32_t)from->rank;
	edge.dst = (uint32_t)to->rank;
	if (l->model->n_slots <= CT_LAYER_RANKS)
		st = ct_edges_add(&layer->ranks, &edge);
	edge.src = from->host;
	edge.dst = to->host;
	return st == CT_OK && l->n_hosts > 1 ? ct_edges_add(&layer->hosts, &edge) : st;
}

static int lay(void *arg, uint32_t from, uint32_t to, struct ct_flow_sum sum, int exact)
{
	const struct laying *at = arg;
	struct ct_layers *l = at->layers;
	const struct ct_traffic_rank *src = traffic_rank_of(l, at->comm, from);
	const struct ct_traffic_rank *dst = traffic_rank_of(l, at->comm, to);
	uint64_t *total = exact ? &at->layer->exact_bytes : &at->layer->modelled_bytes;

	l->is_too_large |= sum.bytes == INT64_MAX;
	if (!src || !dst) {
		l->unattributed_bytes = ct_flow_plus(l->unattributed_bytes, sum.bytes);
		l->is_unattributed = 1;
		return CT_OK;
	}
	*total = ct_flow_plus(*total, sum.bytes);
	return add_edge(l, at->layer, src, dst,
			(struct ct_edge){ .bytes = sum.bytes, .count = sum.n });
}

static int lay_pairs(struct laying *at, const struct ct_traffic_pair *pair)
{
	int st = CT_OK;

	for (; pair && st == CT_OK; pair = pair->next) {
		int is_counted = at->has_counts[pair->from] || at->has_counts[pair->to];

		for (int kind = 0; kind < CT_TRAFFIC_KINDS && st == CT_OK; kind++) {
			const struct ct_flow_sum *sum = &pair->sums[kind];

			if (sum->n && (kind == CT_TRAFFIC_SENT || !is_counted))
				st = lay(at, pair->from, pair->to, *sum, 1);
		}
	}
	return st;
}

static void merge_flows(struct laying *at, const struct ct_traffic_flow *flow)
{
	for (; flow; flow = flow->next) {
		struct ct_flow *sum = &at->flows[flow->member];

		at->has_counts[flow->member] |= flow->has_counts != 0;
		at->layers->is_hidden |= flow->counts && !flow->has_counts;
		at->by_member[flow->member] = sum;
		for (int s = 0; s < CT_FLOW_SHAPES && !flow->has_counts; s++) {
			sum->sums[s].bytes = ct_flow_plus(sum->sums[s].bytes,
							  flow->flow.sums[s].bytes);
			sum->sums[s].n = ct_flow_plus(sum->sums[s].n, flow->flow.sums[s].n);
		}
	}
}

/* Times are those of the ends' slots. */
static int lay_times(struct ct_layers *l, const struct ct_comm *comm, struct ct_layer *layer)
{
	int st = CT_OK;

	for (uint32_t i = l->times_of[comm->index]; i < l->times_of[comm->index + 1] && st == CT_OK;
	     i++) {
		struct ct_edge edge = l->times[i];
		const struct ct_traffic_rank *from = &l->ranks[edge.src];
		const struct ct_traffic_rank *to = &l->ranks[edge.dst];

		if (from->rank >= 0 && to->rank >= 0 && edge.src != edge.dst)
			st = add_edge(l, layer, from, to, edge);
	}
	return st;
}

static int lay_members(struct laying *at, const struct ct_traffic_comm *entry)
{
	uint32_t n = at->comm->nranks;
	int st = CT_NOMEM;

	at->flows = calloc(n, sizeof(*at->flows));
	at->by_member = calloc(n, sizeof(*at->by_member));
	at->has_counts = calloc(n, 1);
	if (at->flows && at->by_member && at->has_counts) {
		merge_flows(at, entry->flows);
		st = lay_pairs(at, entry->pairs);
	}
	st = st ?: ct_flows_lay(at->by_member, n, lay, at);
	free(at->flows);
	free(at->by_member);
	free(at->has_counts);
	return st;
}

/* ---- all of them ---- */

static void init_layer(struct ct_layer *layer, const char *kind)
{
	*layer = (struct ct_layer){ .kind = kind };
	layer->ranks.most = layer->hosts.most = CT_LAYER_EDGES;
}

static void free_layer(struct ct_layer *layer)
{
	ct_edges_fini(&layer->ranks);
	ct_edges_fini(&layer->hosts);
}

/* The layer of this kind and name; a new one if there is none. NULL: no memory. */
static struct ct_layer *layer_of(struct ct_layers *l, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const char *known = l->all[i].name;

		if (strcmp(l->all[i].kind, kind) == 0 && strcmp(kind, "comm") != 0 &&
		    (known == name || (known && name && strcmp(known, name) == 0)))
			return &l->all[i];
	}
	if (ct_grow(&l->all, &l->cap, l->n + 1, sizeof(*l->all)))
		return NULL;
	init_layer(&l->all[l->n], kind);
	l->all[l->n].name = name;
	return &l->all[l->n++];
}

static int add_to(struct ct_layers *l, const char *kind, const char *name,
		  const struct ct_layer *from)
{
	struct ct_layer *layer = layer_of(l, kind, name);
	int st = layer ? ct_edges_add_all(&layer->ranks, &from->ranks) : CT_NOMEM;

	st = st ?: ct_edges_add_all(&layer->hosts, &from->hosts);
	if (st != CT_OK)
		return st;
	layer->exact_bytes = ct_flow_plus(layer->exact_bytes, from->exact_bytes);
	layer->modelled_bytes = ct_flow_plus(layer->modelled_bytes, from->modelled_bytes);
	layer->backend = strcmp(kind, "backend") == 0 ? name : NULL;
	layer->role = strcmp(kind, "role") == 0 ? name : NULL;
	return CT_OK;
}

uint64_t ct_layer_bytes(const struct ct_layer *layer)
{
	return ct_flow_plus(layer->exact_bytes, layer->modelled_bytes);
}

/* A communicator's own layer, if it is among those with most bytes. Takes `layer` over. */
static int keep(struct ct_layers *l, struct ct_layer *layer)
{
	struct ct_layer *least = NULL, *at;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		at = &l->all[i];
		if (!at->comm)
			continue;
		kept++;
		if (!least || ct_layer_bytes(at) < ct_layer_bytes(least))
			least = at;
	}
	if (kept < CT_LAYER_COMMS) {
		at = layer_of(l, layer->kind, layer->name);
	} else {
		l->comms_left_out++;
		at = ct_layer_bytes(layer) > ct_layer_bytes(least) ? least : NULL;
		if (at)
			free_layer(at);
	}
	if (!at) {
		free_layer(layer);
		return kept < CT_LAYER_COMMS ? CT_NOMEM : CT_OK;
	}
	*at = *layer;
	return CT_OK;
}

static int lay_comm(struct ct_layers *l, const struct ct_comm *comm,
		    const struct ct_traffic_comm *entry)
{
	const struct ct_report_comm *row = ct_report_row_of_comm(l->report, comm->hash,
								 comm->nranks);
	struct ct_layer layer;
	struct laying at = { .layers = l, .comm = comm, .layer = &layer };
	int st;

	/* A size without confirmation may be a damaged file's, as in report/job.c. */
	if (comm->nranks > 64 * (uint64_t)comm->n_known + 1024) {
		l->is_unattributed = 1;
		return CT_OK;
	}
	init_layer(&layer, "comm");
	layer.comm = comm;
	layer.name = row ? row->name : NULL;
	layer.role = row ? row->role : NULL;
	layer.backend = ct_backend_name(comm->backend);
	st = lay_members(&at, entry) ?: lay_times(l, comm, &layer);
	if (st == CT_OK && !layer.ranks.n && !layer.hosts.n && !layer.ranks.is_full) {
		free_layer(&layer);
		return CT_OK;
	}
	st = st ?: add_to(l, "all", NULL, &layer);
	st = st ?: add_to(l, "backend", layer.backend, &layer);
	st = st ?: add_to(l, "role", layer.role, &layer);
	if (st != CT_OK) {
		free_layer(&layer);
		return st;
	}
	l->n_comms++;
	return keep(l, &layer);
}

/* ---- times ---- */

static uint64_t rounded(double x)
{
	return x < (double)INT64_MAX ? (uint64_t)x : INT64_MAX;
}

/* The transfers of messages by communicator and pair of slots: those that measure the path. */
static int gather_times(struct ct_layers *l, const struct ct_transfers *t)
{
	uint32_t n_comms = l->model->comms.n, n = 0;
	struct ct_edge *sums = calloc((size_t)t->n + 1, sizeof(*sums));
	const struct ct_comm **of = calloc((size_t)t->n + 1, sizeof(*of));
	uint32_t *next = calloc((size_t)n_comms + 2, sizeof(*next));

	l->times_of = calloc((size_t)n_comms + 2, sizeof(*l->times_of));
	for (uint32_t i = 0; i < t->n && sums && of; i++) {
		const struct ct_moved *m = &t->moved[i];
		const struct ct_track *track = &t->tracks[m->track];
		struct ct_edge *sum = n ? &sums[n - 1] : NULL;

		if (!track->is_edge || m->had_begun)
			continue;
		if (!sum || of[n - 1] != m->comm || sum->src != track->src ||
		    sum->dst != track->dst) {
			of[n] = m->comm;
			sum = &sums[n++];
			*sum = (struct ct_edge){ .src = track->src, .dst = track->dst };
		}
		sum->timed_bytes = ct_flow_plus(sum->timed_bytes, rounded(m->bytes));
		sum->time_ns = ct_flow_plus(sum->time_ns, rounded(m->ns));
		sum->time_err_ns = ct_flow_plus(sum->time_err_ns, m->err_ns);
	}
	l->times = calloc((size_t)n + 1, sizeof(*l->times));
	if (sums && of && next && l->times && l->times_of) {
		for (uint32_t i = 0; i < n; i++)
			next[of[i]->index + 2]++;
		for (uint32_t c = 2; c <= n_comms + 1; c++)
			next[c] += next[c - 1];
		for (uint32_t i = 0; i < n; i++)
			l->times[next[of[i]->index + 1]++] = sums[i];
		memcpy(l->times_of, next, (n_comms + 1) * sizeof(*next));
	}
	n = sums && of && next && l->times && l->times_of;
	free(sums);
	free(of);
	free(next);
	return n ? CT_OK : CT_NOMEM;
}

/* ---- the door ---- */

int ct_layers_make(const struct ct_model *model, const struct ct_traffic *traffic,
		   const struct ct_transfers *transfers, const struct ct_report *report,
		   struct ct_layers *l)
{
	int st;

	*l = (struct ct_layers){ .model = model, .traffic = traffic, .report = report };
	st = list_ranks(l) ?: gather_times(l, transfers);
	if (st == CT_OK)
		st = layer_of(l, "all", NULL) ? CT_OK : CT_NOMEM;
	for (uint32_t c = 0; c < traffic->n_comms && c < model->comms.n && st == CT_OK; c++) {
		const struct ct_traffic_comm *entry = &traffic->by_comm[c];

		if (entry->flows || entry->pairs)
			st = lay_comm(l, model->comms.all[c], entry);
	}
	for (uint32_t i = 0; i < l->n; i++) {
		ct_edges_sort(&l->all[i].ranks);
		ct_edges_sort(&l->all[i].hosts);
	}
	return st;
}

void ct_layers_fini(struct ct_layers *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free_layer(&l->all[i]);
	free(l->all);
	free(l->ranks);
	free(l->hosts);
	free(l->times);
	free(l->times_of);
	*l = (struct ct_layers){ 0 };
}
