/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, and their ranks one after the other. */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/timeline/draw.h"

/* A level of its own above the nodes where there are more than a screen holds. */
#define NODES_PER_GROUP 64u

/* In the order in which they are drawn: by host of the lowest rank, then by rank. In an overview a
 * rank, else one of its processes. */
struct stop {
	uint32_t process;
	uint32_t slot, host;
};

struct tour {
	struct ct_pen *pen;
	struct stop *stops;
	uint32_t n;
	uint32_t outer;	   /* track of a group of nodes ... */
	uint32_t outer_of; /* ... its number + 1 */
};

static int by_rank(const void *a, const void *b, void *arg)
{
	const struct ct_timeline_index *tl_index = arg;
	const struct stop *x = a, *y = b;
	uint32_t n = tl_index->hosts[x->host].number, m = tl_index->hosts[y->host].number;
	int r = tl_index->slots[x->slot].rank, s = tl_index->slots[y->slot].rank;

	return CT_CMP(n, m) ?: CT_CMP(r, s) ?: CT_UP(slot) ?: CT_UP(process);
}

static int plan(struct tour *tour)
{
	struct ct_timeline_index *tl_index = tour->pen->tl_index;
	int is_overview = tour->pen->kind == CT_TIMELINE_OVERVIEW;
	uint32_t most = is_overview ? tl_index->n_slots : tl_index->n_processes;

	tour->stops = calloc(most + 1, sizeof(*tour->stops));
	if (!tour->stops)
		return CT_NOMEM;
	for (uint32_t s = 0; s < tl_index->n_slots; s++) {
		const struct ct_timeline_index_slot *slot = &tl_index->slots[s];

		if (is_overview && slot->drawn)
			tour->stops[tour->n++] = (struct stop){ slot->process, s, slot->host };
	}
	for (uint32_t p = 0; p < tl_index->n_processes && !is_overview; p++) {
		const struct ct_timeline_index_process *process = &tl_index->processes[p];

		if (process->drawn)
			tour->stops[tour->n++] = (struct stop){ p, process->slot, process->host };
	}
	qsort_r(tour->stops, tour->n, sizeof(*tour->stops), by_rank, tl_index);
	return CT_OK;
}

static int draw_outer(struct tour *tour, uint32_t number)
{
	char name[32];
	struct ct_timeline_track track = { .name = name, .kind = CT_TRACK_GROUP };
	int st;

	snprintf(name, sizeof(name), "Node group %02u", number);
	st = ct_pen_track(tour->pen, &track);
	tour->outer = track.id;
	tour->outer_of = number + 1;
	return st;
}

/* The track of a host; *node 0 where the job has only one. Its number is the same whatever part of
 * the run is drawn. */
static int draw_node(struct tour *tour, const struct stop *stop, uint32_t *node)
{
	const struct ct_timeline_index *tl_index = tour->pen->tl_index;
	const struct ct_timeline_index_host *host = &tl_index->hosts[stop->host];
	char name[160], ranks[40] = "";
	struct ct_timeline_track track = { .name = name, .kind = CT_TRACK_GROUP };
	int st = CT_OK;

	*node = 0;
	if (tl_index->n_nodes < 2)
		return CT_OK;
	if (tl_index->n_nodes > NODES_PER_GROUP &&
	    host->number / NODES_PER_GROUP + 1 != tour->outer_of)
		st = draw_outer(tour, host->number / NODES_PER_GROUP);
	if (st != CT_OK)
		return st;
	if (host->lowest == host->highest)
		snprintf(ranks, sizeof(ranks), " (rank %d)", host->lowest);
	else if (host->highest >= 0)
		snprintf(ranks, sizeof(ranks), " (ranks %d-%d)", host->lowest, host->highest);
	snprintf(name, sizeof(name), "Node %03u %.80s%s", host->number, host->name, ranks);
	track.parent = tour->outer;
	track.order = (int32_t)host->number;
	st = ct_pen_track(tour->pen, &track);
	*node = track.id;
	return st;
}

static int draw_stop(struct tour *tour, const struct ct_run *run, const struct stop *stop,
		     struct ct_op_names *names, uint32_t node, uint32_t *group, struct ct_err *err)
{
	const struct ct_timeline_index_slot *slot = &tour->pen->tl_index->slots[stop->slot];
	const struct ct_draw_rank own = {
		.slot = stop->slot, .pid = slot->pid, .host = stop->host, .gpu = slot->device
	};
	struct ct_drawn drawn;
	int st;

	if (tour->pen->kind == CT_TIMELINE_OVERVIEW)
		return ct_draw_rank(tour->pen, &own, node, group);
	st = ct_collect(tour->pen->tl_index, run, stop->process, names, &drawn, err);
	st = st ?: ct_draw_process(tour->pen, &drawn, node, group);
	ct_drawn_fini(&drawn);
	return st;
}

static int draw_all(struct tour *tour, const struct ct_run *run, struct ct_err *err)
{
	const struct ct_timeline_options *options = tour->pen->tl_index->options;
	struct ct_op_names names = { .memory = tour->pen->tl_index->texts.memory };
	uint32_t node = 0, group = 0;
	int st = CT_OK;

	for (uint32_t i = 0; i < tour->n && st == CT_OK; i++) {
		const struct stop *stop = &tour->stops[i];

		if (!i || stop->host != stop[-1].host)
			st = draw_node(tour, stop, &node);
		if (!i || stop->slot != stop[-1].slot)
			group = 0;
		st = st ?: draw_stop(tour, run, stop, &names, node, &group, err);
		if (options->progress)
			options->progress(options->progress_arg, i + 1, tour->n);
	}
	return st;
}

int ct_draw_ranks(struct ct_pen *pen, const struct ct_run *run, struct ct_err *err)
{
	struct tour tour = { .pen = pen };
	int st = plan(&tour) ?: draw_all(&tour, run, err);

	free(tour.stops);
	return st;
}
