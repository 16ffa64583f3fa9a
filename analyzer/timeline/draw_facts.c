/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says about itself: which run, which part of it, how far its times can be compared. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/base/units.h"
#include "analyzer/timeline/draw.h"

struct fact_list {
	struct ct_timeline_fact all[24];
	size_t n;
};

static void add(struct fact_list *facts, const char *name, const char *text, uint64_t number)
{
	facts->all[facts->n++] = (struct ct_timeline_fact){ name, text, number };
}

/* How far times of different hosts can be compared. */
static void describe_clocks(struct ct_pen *pen, char *text, size_t size)
{
	const struct ct_timeline_index *tl_index = pen->tl_index;
	struct ct_timeline_result *result = pen->result;

	for (uint32_t h = 0; h < tl_index->n_hosts && result->hosts > 1; h++) {
		const struct ct_clock_host *host = ct_clocks_host(tl_index->clocks, h);

		if (!tl_index->hosts[h].drawn)
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
			 "unsynchronized clocks of %" PRIu32
			 " hosts: their times differ from others' "
			 "by an unknown error",
			 result->unrelated);
	else
		snprintf(text, size, "clocks of all hosts synchronized, ± %" PRIu64 " ns",
			 result->clock_err_ns);
}

int ct_draw_facts(struct ct_pen *pen, const struct ct_report *report)
{
	const struct ct_timeline_index *tl_index = pen->tl_index;
	struct fact_list facts = { .n = 0 };
	char clocks[160];

	describe_clocks(pen, clocks, sizeof(clocks));
	add(&facts, "commtrace.version", CT_RELEASE, 0);
	if (report->run.job)
		add(&facts, "commtrace.job", report->run.job, 0);
	if (report->run.dir)
		add(&facts, "commtrace.run", report->run.dir, 0);
	add(&facts, "commtrace.begin_unix_ns", NULL, tl_index->begin_unix_ns);
	add(&facts, "commtrace.duration_ns", NULL, tl_index->duration_ns);
	add(&facts, "commtrace.restart", NULL, (uint64_t)report->run.restart);
	add(&facts, "commtrace.ranks", NULL, pen->result->ranks);
	add(&facts, "commtrace.hosts", NULL, pen->result->hosts);
	add(&facts, "commtrace.clocks", clocks, 0);
	add(&facts, "commtrace.part", pen->kind == CT_TIMELINE_OVERVIEW ? "overview" : "whole", 0);
	add(&facts, "commtrace.from_ns", NULL, tl_index->from_ns);
	if (tl_index->to_ns != UINT64_MAX)
		add(&facts, "commtrace.to_ns", NULL, tl_index->to_ns);
	if (pen->result->cut)
		add(&facts, "commtrace.cut",
		    "only the end is here: the rest exceeds the limit of slices", 0);
	if (tl_index->stalls.width_ns)
		add(&facts, "commtrace.stall_width_ns", NULL, tl_index->stalls.width_ns);
	if (report->verdict.text)
		add(&facts, "commtrace.verdict", report->verdict.text, 0);
	return pen->sink->begin(pen->sink->arg, &tl_index->texts, tl_index->begin_unix_ns,
				facts.all, facts.n);
}
