/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/links.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"

/* By host, for ct_transfers_gather(); NULL: out of memory. */
static uint64_t *clock_errors(const struct ct_model *model)
{
	uint32_t n = model->starts->n_hosts;
	uint64_t *err = malloc(((size_t)n + 1) * sizeof(*err));

	for (uint32_t h = 0; h < n && err; h++) {
		const struct ct_clock_host *host = ct_clocks_host(model->starts->clocks, h);

		err[h] = host && host->quality != CT_CLOCK_FAIL ? host->err_ns : CT_CLOCK_UNKNOWN;
	}
	return err;
}

int ct_links_measure(const struct ct_model *model, const struct ct_instance_log *log,
		     struct ct_links *links)
{
	uint64_t *err = clock_errors(model);
	int st;

	*links = (struct ct_links){ .log = log };
	if (!err)
		return CT_NOMEM;
	st = ct_transfers_gather(log, model->host_of, model->n_slots, err, &links->transfers);
	free(err);
	st = st ?: ct_compare(&links->transfers, &links->comparison);
	st = st
		     ?: ct_causes_find(&links->transfers, &links->comparison, model->host_of,
				       model->n_slots, model->starts->n_hosts, &links->causes);
	return st;
}

void ct_links_fini(struct ct_links *links)
{
	ct_causes_fini(&links->causes);
	ct_comparison_fini(&links->comparison);
	ct_transfers_fini(&links->transfers);
}

/* ---- rows ---- */

/* The cause that explains this path; NULL: none. */
static const struct ct_cause *cause_of(const struct ct_links *links, uint32_t path)
{
	for (uint32_t c = 0; c < links->causes.n; c++) {
		for (uint32_t p = 0; p < links->causes.all[c].n_paths; p++) {
			if (links->causes.all[c].paths[p] == path)
				return &links->causes.all[c];
		}
	}
	return NULL;
}

/* Ranks of the suspects that are in the path. */
static int set_suspects(const struct ct_model *model, const struct ct_cause *cause,
			const struct ct_path *path, struct ct_arena *memory,
			struct ct_report_link *row)
{
	row->suspects = ct_arena_calloc(memory, path->n + 1, sizeof(*row->suspects));
	if (!row->suspects)
		return CT_NOMEM;
	for (uint32_t s = 0; s < path->n; s++) {
		uint32_t unit = cause->kind == CT_CAUSE_HOSTS ? model->host_of[path->slots[s]]
							      : path->slots[s];
		int is_suspect = 0;

		for (uint32_t k = 0; k < cause->n; k++)
			is_suspect |= cause->suspects[k] == unit;
		if (is_suspect)
			row->suspects[row->n_suspects++] = model->slots[path->slots[s]].rank;
	}
	row->ambiguous = !cause->is_exact;
	return CT_OK;
}

/* The limit of the members' GPUs and networks; NAN: not recorded. */
static double peak_of(const struct ct_report *report, uint64_t key)
{
	for (size_t c = 0; c < report->n_comms; c++) {
		if (report->comms[c].hash == key)
			return report->comms[c].peak.Bps;
	}
	return NAN;
}

static struct ct_report_link row_of(const struct ct_links *links, const struct ct_model *model,
				    const struct ct_path *path, const struct ct_report *report)
{
	const struct ct_track *t = &links->transfers.tracks[path->track];
	const struct ct_track_rating *s = &links->comparison.of[path->track];
	const struct ct_line *line = &s->fit.lines[s->fit.regimes == 2];
	int has_alpha = s->fit.regimes && s->fit.has_alpha && !t->shared;
	double efficiency = s->peers ? s->ratio / s->reference : NAN;
	double peak = t->is_edge ? NAN : peak_of(report, t->comm->hash);

	if (!isnan(peak) && peak > 0 && !isnan(s->Bps) && path->state != CT_TOMO_SLOW_ONE)
		efficiency = s->Bps / peak;
	return (struct ct_report_link){
		.scope = t->is_edge ? "edge" : "comm",
		.src = t->is_edge ? model->slots[t->src].rank : -1,
		.dst = t->is_edge ? model->slots[t->dst].rank : -1,
		.comm_hash = t->is_edge ? 0 : t->comm->hash,
		.op_name = t->is_edge	? NULL
			   : t->is_swap ? "SendRecv"
					: ct_op_names_get(&model->names, t->op),
		.alpha_ns = ct_round_whole(has_alpha ? s->fit.lines[0].alpha_ns : NAN),
		.alpha_err_ns = ct_round_whole(has_alpha ? s->fit.lines[0].alpha_err_ns : NAN),
		.beta_Bps = ct_round_whole(s->Bps),
		.beta_err_Bps = ct_round_whole(has_alpha && line->ns_per_byte > 0 ? s->Bps_err
										  : NAN),
		.expected_Bps = ct_round_whole(s->Bps / efficiency),
		.samples = t->n,
		.efficiency_ratio = efficiency,
		.slow = path->state == CT_TOMO_SLOW_ONE,
	};
}

/* In the report's order, with what it is sorted by. */
struct ranked_path {
	uint32_t path;
	int slow;
	double ns;
};

CT_SORT_BY(by_weight, struct ranked_path, CT_DOWN(slow) ?: CT_DOWN(ns) ?: CT_UP(path))

/* A host is slow in all that goes to others; no row of its own where it is only one of several that
 * may be. */
static int add_hosts(const struct ct_links *links, const struct ct_model *model,
		     struct ct_report *report)
{
	for (uint32_t c = 0; c < links->causes.n && report->n_links < CT_LINK_ROWS; c++) {
		const struct ct_cause *cause = &links->causes.all[c];
		struct ct_report_link *row = &report->links[report->n_links];
		const char *name;

		if (cause->kind != CT_CAUSE_HOSTS || !cause->is_exact)
			continue;
		name = model->starts->hosts[cause->suspects[0]].name;
		*row = row_of(links, model, &links->causes.paths[cause->paths[0]], report);
		row->scope = "host";
		row->src = row->dst = -1;
		row->comm_hash = 0;
		row->alpha_ns = row->alpha_err_ns = CT_UNKNOWN;
		row->host = ct_arena_text(report->memory, name, strlen(name));
		row->suspects = ct_arena_calloc(report->memory, model->n_slots + 1,
						sizeof(*row->suspects));
		if (!row->host || !row->suspects)
			return CT_NOMEM;
		for (uint32_t s = 0; s < model->n_slots; s++) {
			if (model->host_of[s] == cause->suspects[0])
				row->suspects[row->n_suspects++] = model->slots[s].rank;
		}
		report->n_links++;
	}
	return CT_OK;
}

int ct_links_fill(const struct ct_links *links, const struct ct_model *model,
		  struct ct_report *report)
{
	uint32_t n = links->causes.n_paths;
	struct ranked_path *order = malloc(((size_t)n + 1) * sizeof(*order));
	int st = CT_OK;

	report->links = ct_arena_calloc(report->memory, CT_LINK_ROWS, sizeof(*report->links));
	if (!order || !report->links) {
		free(order);
		return CT_NOMEM;
	}
	for (uint32_t p = 0; p < n; p++)
		order[p] = (struct ranked_path){ p,
						 links->causes.paths[p].state == CT_TOMO_SLOW_ONE,
						 links->causes.paths[p].all_ns };
	qsort(order, n, sizeof(*order), by_weight);
	st = add_hosts(links, model, report);
	for (uint32_t i = 0; i < n && st == CT_OK; i++) {
		const struct ct_path *path = &links->causes.paths[order[i].path];
		const struct ct_cause *cause = cause_of(links, order[i].path);
		struct ct_report_link *row;

		if (report->n_links == CT_LINK_ROWS) {
			report->links_left_out = n - i;
			break;
		}
		row = &report->links[report->n_links++];
		*row = row_of(links, model, path, report);
		if (cause)
			st = set_suspects(model, cause, path, report->memory, row);
	}
	free(order);
	return st;
}
