/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/chart/chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/chart/draw.h"

/* A level of its own above the nodes where there are more than a screen holds. */
#define NODES_PER_GROUP 64u

const char *ct_chart_key_name(enum ct_chart_key key)
{
	static const char *const names[] = {
#define ARG(name) #name,
#include "analyzer/chart/chart_args.def"
#undef ARG
	};

	return names[key];
}

const char *ct_chart_category_name(enum ct_chart_category category)
{
	static const char *const names[] = { "comm.gpu",  "comm.host", "comm.api",
					     "comm.wait", "comm.job",  "finding" };

	return names[category];
}

/* ---- the whole ---- */

struct fact_list {
	struct ct_chart_fact all[24];
	size_t n;
};

static void add(struct fact_list *facts, const char *name, const char *text, uint64_t number)
{
	facts->all[facts->n++] = (struct ct_chart_fact){ name, text, number };
}

/* How far times of different hosts can be compared. */
static void tell_clocks(struct ct_pen *pen, char *text, size_t size)
{
	const struct ct_census *census = pen->census;
	struct ct_chart_result *result = pen->result;

	for (uint32_t h = 0; h < census->n_hosts && result->hosts > 1; h++) {
		const struct ct_clock_host *host = ct_clocks_host(census->clocks, h);

		if (!census->hosts[h].drawn)
			continue;
		if (!host || host->err_ns == CT_CLOCK_UNKNOWN)
			result->unrelated++;
		else if (host->err_ns > result->clock_err_ns)
			result->clock_err_ns = host->err_ns;
	}
	if (result->hosts < 2)
		snprintf(text, size, "one host, one clock");
	else if (result->unrelated)
		snprintf(text, size,
			 "unsynchronised clocks of %" PRIu32
			 " hosts: their times differ from others' "
			 "by an unknown error",
			 result->unrelated);
	else
		snprintf(text, size, "clocks of all hosts related, within %" PRIu64 " ns",
			 result->clock_err_ns);
}

static int begin(struct ct_pen *pen, const struct ct_report *report)
{
	const struct ct_census *census = pen->census;
	struct fact_list facts = { .n = 0 };
	char clocks[160];

	tell_clocks(pen, clocks, sizeof(clocks));

	add(&facts, "commtrace.version", CT_RELEASE, 0);
	if (report->run.job)
		add(&facts, "commtrace.job", report->run.job, 0);
	add(&facts, "commtrace.run", report->run.dir ? report->run.dir : "?", 0);
	add(&facts, "commtrace.begin_unix_ns", NULL, census->begin_unix_ns);
	add(&facts, "commtrace.duration_ns", NULL, census->duration_ns);
	add(&facts, "commtrace.attempt", NULL, (uint64_t)report->run.attempt);
	add(&facts, "commtrace.ranks", NULL, pen->result->ranks);
	add(&facts, "commtrace.hosts", NULL, pen->result->hosts);
	add(&facts, "commtrace.clocks", clocks, 0);
	add(&facts, "commtrace.from_ns", NULL, census->from_ns);
	if (census->to_ns != UINT64_MAX)
		add(&facts, "commtrace.to_ns", NULL, census->to_ns);
	if (pen->result->cut)
		add(&facts, "commtrace.cut",
		    "only the end is here: the rest exceeds the limit of slices", 0);
	add(&facts, "commtrace.verdict", report->verdict.text ? report->verdict.text : "?", 0);
	return pen->sink->begin(pen->sink->arg, &census->texts, census->begin_unix_ns, facts.all,
				facts.n);
}

/* ---- nodes and ranks ---- */

/* In the order in which they are drawn: by host of the lowest rank, then by rank. */
struct stop {
	uint32_t process;
	uint32_t seat, host;
	int first_rank; /* of its host */
};

struct tour {
	struct ct_pen *pen;
	struct stop *stops;
	uint32_t n;
	uint32_t nodes; /* drawn so far */
	uint32_t outer; /* track of a group of nodes */
};

static int lowest_rank(const struct ct_census *census, uint32_t host, int *highest)
{
	int lowest = INT32_MAX;

	*highest = -1;
	for (uint32_t s = 0; s < census->n_seats; s++) {
		int rank = census->seats[s].rank;

		if (!census->seats[s].drawn || census->seats[s].host != host || rank < 0)
			continue;
		lowest = rank < lowest ? rank : lowest;
		*highest = rank > *highest ? rank : *highest;
	}
	return lowest;
}

static int by_place(const void *a, const void *b, void *arg)
{
	const struct ct_census *census = arg;
	const struct stop *x = a, *y = b;
	int r = census->seats[x->seat].rank, s = census->seats[y->seat].rank;

	if (x->first_rank != y->first_rank)
		return x->first_rank < y->first_rank ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (r != s)
		return r < s ? -1 : 1;
	if (x->seat != y->seat)
		return x->seat < y->seat ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int plan(struct tour *tour)
{
	struct ct_census *census = tour->pen->census;
	int highest;

	tour->stops = calloc(census->n_processes + 1, sizeof(*tour->stops));
	if (!tour->stops)
		return CT_NOMEM;
	for (uint32_t p = 0; p < census->n_processes; p++) {
		const struct ct_census_process *process = &census->processes[p];

		if (!process->drawn)
			continue;
		tour->stops[tour->n++] = (struct stop){ p, process->seat, process->host,
							lowest_rank(census, process->host,
								    &highest) };
	}
	qsort_r(tour->stops, tour->n, sizeof(*tour->stops), by_place, census);
	for (uint32_t i = 0; i < tour->n; i++)
		tour->pen->result->hosts += !i || tour->stops[i].host != tour->stops[i - 1].host;
	for (uint32_t s = 0; s < census->n_seats; s++)
		tour->pen->result->ranks += census->seats[s].drawn;
	return CT_OK;
}

/* The track of a host; *node 0 where there is only one. */
static int draw_node(struct tour *tour, const struct stop *stop, uint32_t *node)
{
	const struct ct_census *census = tour->pen->census;
	char name[160], ranks[40] = "";
	struct ct_chart_track track = { .name = name, .kind = CT_TRACK_GROUP };
	int highest, lowest = lowest_rank(census, stop->host, &highest), st;

	*node = 0;
	if (tour->pen->result->hosts < 2)
		return CT_OK;
	if (tour->pen->result->hosts > NODES_PER_GROUP && tour->nodes % NODES_PER_GROUP == 0) {
		struct ct_chart_track outer = { .name = name, .kind = CT_TRACK_GROUP };

		snprintf(name, sizeof(name), "Node group %02u", tour->nodes / NODES_PER_GROUP);
		st = ct_pen_track(tour->pen, &outer);
		if (st != CT_OK)
			return st;
		tour->outer = outer.id;
	}
	if (lowest == highest)
		snprintf(ranks, sizeof(ranks), " (rank %d)", lowest);
	else if (highest >= 0)
		snprintf(ranks, sizeof(ranks), " (ranks %d-%d)", lowest, highest);
	snprintf(name, sizeof(name), "Node %03u %.80s%s", tour->nodes,
		 census->hosts[stop->host].name, ranks);
	track.parent = tour->outer;
	track.order = (int32_t)tour->nodes++;
	st = ct_pen_track(tour->pen, &track);
	*node = track.id;
	return st;
}

static int draw_stop(struct tour *tour, const struct ct_run *run, const struct stop *stop,
		     struct ct_op_names *names, uint32_t node, uint32_t *group, struct ct_err *err)
{
	struct ct_drawn drawn;
	int st = ct_collect(tour->pen->census, run, stop->process, names, &drawn, err);

	if (st == CT_OK)
		st = ct_draw_process(tour->pen, &drawn, node, group);
	ct_drawn_fini(&drawn);
	return st;
}

static int draw_ranks(struct tour *tour, const struct ct_run *run, struct ct_err *err)
{
	const struct ct_chart_options *options = tour->pen->census->options;
	struct ct_op_names names = { .memory = tour->pen->census->texts.memory };
	uint32_t node = 0, group = 0;
	int st = CT_OK;

	for (uint32_t i = 0; i < tour->n && st == CT_OK; i++) {
		const struct stop *stop = &tour->stops[i];

		if (!i || stop->host != stop[-1].host)
			st = draw_node(tour, stop, &node);
		if (!i || stop->seat != stop[-1].seat)
			group = 0;
		if (st == CT_OK)
			st = draw_stop(tour, run, stop, &names, node, &group, err);
		if (options->progress)
			options->progress(options->progress_arg, i + 1, tour->n);
	}
	return st;
}

static int draw(struct ct_pen *pen, const struct ct_run *run, const struct ct_report *report,
		struct ct_err *err)
{
	struct tour tour = { .pen = pen };
	int st = plan(&tour);

	if (st == CT_OK && pen->census->options->flows == CT_FLOWS_ALL &&
	    pen->result->ranks > CT_FLOWS_ALL_RANKS)
		st = ct_fail(err, CT_RANGE, "arrows through more than %u ranks hide what they join",
			     CT_FLOWS_ALL_RANKS);
	if (st == CT_OK)
		st = begin(pen, report);
	if (st == CT_OK)
		st = ct_draw_findings(pen, report);
	if (st == CT_OK)
		st = ct_draw_job(pen);
	if (st == CT_OK)
		st = draw_ranks(&tour, run, err);
	if (st == CT_OK)
		st = pen->sink->end(pen->sink->arg);
	free(tour.stops);
	return st;
}

int ct_chart_draw(const struct ct_run *run, const struct ct_chart_options *options,
		  const struct ct_chart_sink *sink, struct ct_chart_result *result,
		  struct ct_err *err)
{
	struct ct_census census;
	struct ct_report *report = NULL;
	struct ct_pen pen = { .sink = sink, .census = &census, .result = result };
	int st;

	*result = (struct ct_chart_result){ .missing_rank = -1 };
	st = ct_census_take(&census, run, options, result, &report, err);
	if (st == CT_OK) {
		result->from_ns = census.from_ns;
		result->to_ns = census.to_ns;
		st = draw(&pen, run, report, err);
	}
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	ct_report_free(report);
	ct_census_fini(&census);
	return st;
}
