/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/report/analyze.h"
#include "analyzer/timeline/draw.h"
#include "analyzer/timeline/draw_hang.h"

struct ct_timeline {
	const struct ct_run *run;
	const struct ct_timeline_options *options;
	struct ct_report *report;
	struct ct_timeline_index tl_index;
	enum ct_timeline_kind kind;
	uint64_t from_ns;
	int cut; /* it begins later than the selection */
};

const char *ct_timeline_key_name(enum ct_timeline_key key)
{
	static const char *const names[] = {
#define ARG(name) #name,
#include "analyzer/timeline/timeline_args.def"
#undef ARG
	};

	return names[key];
}

const char *ct_timeline_category_name(enum ct_timeline_category category)
{
	static const char *const names[] = { "comm.gpu", "comm.host", "comm.api",     "comm.wait",
					     "comm.job", "finding",   "comm.exposed", "hang" };

	return names[category];
}

/* ---- what is drawn ---- */

/* Does every selected rank exist? */
static int check_ranks(const struct ct_timeline *timeline, struct ct_timeline_result *result,
		       struct ct_err *err)
{
	const struct ct_timeline_index *tl_index = &timeline->tl_index;

	for (size_t i = 0; i < timeline->options->n_ranks; i++) {
		uint32_t s = 0;

		while (s < tl_index->n_slots &&
		       tl_index->slots[s].rank != timeline->options->ranks[i])
			s++;
		if (s == tl_index->n_slots) {
			result->missing_rank = timeline->options->ranks[i];
			return ct_fail(err, CT_NOTFOUND, "rank %d left no trace",
				       result->missing_rank);
		}
	}
	return CT_OK;
}

static int check_ops(const struct ct_timeline *timeline, struct ct_err *err)
{
	const struct ct_timeline_index *tl_index = &timeline->tl_index;
	uint64_t recorded = 0;

	for (size_t i = 0; i < timeline->report->n_ranks; i++)
		recorded += timeline->report->ranks[i].ops;
	if (!recorded)
		return ct_fail(err, CT_NOTFOUND, "no operation was recorded");
	if (!tl_index->budget->total ||
	    timeline->options->from_ns > ct_hangs_last_ns(tl_index, timeline->report))
		return ct_fail(err, CT_NOTFOUND, "no operation lies in the window");
	return CT_OK;
}

/* Instants of findings, on their own track and on those of the ranks, and what is drawn of a hang. */
static uint64_t instants(const struct ct_report *report)
{
	uint64_t n = report->n_findings + ct_hangs_slices(report);

	for (size_t i = 0; i < report->n_findings; i++)
		n += report->findings[i].n_ranks;
	return n;
}

/* The end of the selection, as much of it as the limit allows: hangs are at the end. */
static int keep_end(struct ct_timeline *timeline, struct ct_err *err)
{
	uint64_t from = 0;

	if (!ct_budget_fit(timeline->tl_index.budget, timeline->options->max_slices, &from))
		return ct_fail(err, CT_FULL,
			       "the last moment alone holds more than %" PRIu64 " slices",
			       timeline->options->max_slices);
	timeline->cut = from > timeline->from_ns;
	if (timeline->cut)
		timeline->from_ns = from;
	return CT_OK;
}

int ct_timeline_summarize(struct ct_timeline *timeline, struct ct_err *err)
{
	const struct ct_timeline_options *options = timeline->options;
	uint64_t slices = timeline->tl_index.stalls.n + timeline->tl_index.costly.n_timed +
			  instants(timeline->report);

	if (slices > options->max_slices)
		return ct_fail(err, CT_FULL, "an overview alone holds more than %" PRIu64 " slices",
			       options->max_slices);
	timeline->kind = CT_TIMELINE_OVERVIEW;
	ct_instance_cache_forget(timeline->tl_index.kept);
	return CT_OK;
}

static int choose(struct ct_timeline *timeline, struct ct_timeline_result *result,
		  struct ct_err *err)
{
	const struct ct_timeline_options *options = timeline->options;
	struct ct_budget *budget = timeline->tl_index.budget;
	int st = check_ranks(timeline, result, err) ?: check_ops(timeline, err);

	if (st != CT_OK)
		return st;
	ct_budget_add(budget, CT_TIMELINE_OPEN, instants(timeline->report));
	if (budget->total > options->max_slices && !options->keeps_end)
		return ct_timeline_summarize(timeline, err);
	return keep_end(timeline, err);
}

/* The run, and the time after it in which nothing but heartbeats came. */
static uint64_t drawn_until(const struct ct_timeline *timeline)
{
	uint64_t last_ns = ct_hangs_last_ns(&timeline->tl_index, timeline->report);

	return last_ns > timeline->tl_index.duration_ns ? last_ns : timeline->tl_index.duration_ns;
}

int ct_timeline_open(const struct ct_run *run, const struct ct_timeline_options *options,
		     struct ct_timeline **timeline, struct ct_timeline_result *result,
		     struct ct_err *err)
{
	struct ct_timeline *c = calloc(1, sizeof(*c));
	int st;

	*timeline = c;
	*result = (struct ct_timeline_result){ .missing_rank = -1 };
	if (!c)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	c->run = run;
	c->options = options;
	c->from_ns = options->from_ns;
	st = ct_timeline_index_take(&c->tl_index, run, options, &c->report, err);
	result->duration_ns = c->tl_index.duration_ns;
	if (st == CT_OK) {
		ct_hangs_signs(&c->tl_index, c->report);
		result->duration_ns = drawn_until(c);
		st = choose(c, result, err);
	}
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	return st;
}

void ct_timeline_close(struct ct_timeline *timeline)
{
	if (!timeline)
		return;
	ct_report_free(timeline->report);
	ct_timeline_index_fini(&timeline->tl_index);
	free(timeline);
}

enum ct_timeline_kind ct_timeline_kind(const struct ct_timeline *timeline)
{
	return timeline->kind;
}

const struct ct_report *ct_timeline_report(const struct ct_timeline *timeline)
{
	return timeline->report;
}

/* ---- drawing it ---- */

static void show(struct ct_pen *pen, const struct ct_timeline *timeline)
{
	struct ct_timeline_index *tl_index = pen->tl_index;

	ct_timeline_index_show(tl_index, timeline->from_ns);
	for (uint32_t h = 0; h < tl_index->n_hosts; h++)
		pen->result->hosts += tl_index->hosts[h].drawn;
	for (uint32_t s = 0; s < tl_index->n_slots; s++)
		pen->result->ranks += tl_index->slots[s].drawn;
	for (uint32_t b = 0; b < tl_index->costly.n_blamed; b++) {
		struct ct_blamed *blamed = &tl_index->costly.blamed[b];

		blamed->drawn = 0;
		for (uint32_t v = 0; v < blamed->n_victims; v++)
			blamed->victims[v].drawn = 0;
	}
}

/* Arrows from ranks that waited count where they have both ends. */
static void count_blame(struct ct_pen *pen)
{
	const struct ct_costly *costly = &pen->tl_index->costly;

	for (uint32_t b = 0; b < costly->n_blamed; b++) {
		for (uint32_t v = 0; v < costly->blamed[b].n_victims; v++)
			pen->result->flows += costly->blamed[b].drawn &&
					      costly->blamed[b].victims[v].drawn;
	}
}

static int draw(struct ct_pen *pen, const struct ct_timeline *timeline, struct ct_err *err)
{
	int st = CT_OK;

	if (timeline->options->flows == CT_FLOWS_ALL && pen->result->ranks > CT_FLOWS_ALL_RANKS)
		st = ct_fail(err, CT_RANGE, "arrows through more than %u ranks hide what they join",
			     CT_FLOWS_ALL_RANKS);
	st = st ?: ct_draw_facts(pen, timeline->report);
	st = st ?: ct_pen_findings(pen, timeline->report);
	if (st == CT_OK) {
		ct_hangs_init(pen, timeline->report);
		st = ct_draw_findings(pen);
	}
	st = st ?: ct_draw_hangs(pen);
	st = st ?: ct_draw_job(pen);
	st = st ?: ct_draw_ranks(pen, timeline->run, err);
	count_blame(pen);
	return st == CT_OK ? pen->sink->end(pen->sink->arg) : st;
}

int ct_timeline_draw(struct ct_timeline *timeline, const struct ct_timeline_sink *sink,
		     struct ct_timeline_result *result, struct ct_err *err)
{
	struct ct_pen pen = {
		.sink = sink,
		.tl_index = &timeline->tl_index,
		.result = result,
		.kind = timeline->kind,
	};
	int st;

	*result = (struct ct_timeline_result){ .duration_ns = drawn_until(timeline),
					       .from_ns = timeline->from_ns,
					       .to_ns = timeline->options->to_ns,
					       .cut = timeline->cut,
					       .missing_rank = -1 };
	show(&pen, timeline);
	st = draw(&pen, timeline, err);
	ct_pen_fini(&pen);
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	return st;
}
