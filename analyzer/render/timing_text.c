/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/timing_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"

static const char *explain(enum ct_timing timing)
{
	switch (timing) {
	case CT_TIMING_CALL:
		return "host clock at entry and return of each call";
	case CT_TIMING_HOST:
		return "ends as the host saw them";
	case CT_TIMING_PLUGIN:
		return "kernel times from the library's profiler interface";
	case CT_TIMING_EVENTS:
		return "timed events on the stream";
	case CT_TIMING_OFF:
		break;
	}
	return "no operation was timed";
}

static __attribute__((format(printf, 3, 4))) void add(char *to, size_t cap, const char *format, ...)
{
	size_t len = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + len, cap - len, format, args);
	va_end(args);
}

/* What thinned it out, of the process that was thinned out most. */
static const struct ct_report_cost *coarsest(const struct ct_report *report)
{
	const struct ct_report_cost *most = NULL;

	for (size_t i = 0; i < report->n_costs; i++) {
		const struct ct_report_cost *cost = &report->costs[i];

		if (cost->on_gpu && (!most || cost->coarsest > most->coarsest))
			most = cost;
	}
	return most;
}

static void add_settings(char *to, size_t cap, const struct ct_report_cost *cost)
{
	if (cost->sample_ratio < 1)
		add(to, cap, "sample %.3g", 1 / cost->sample_ratio);
	if (cost->duty_of_ns)
		add(to, cap, "%sduty %s/%s", to[0] ? ", " : "", ct_text_ns(cost->duty_on_ns).s,
		    ct_text_ns(cost->duty_of_ns).s);
	if (cost->coarsest)
		add(to, cap, "%sbudget down to 1 in %" PRIu64, to[0] ? ", " : "",
		    UINT64_C(1) << (cost->coarsest & 63));
}

static int is_thinned(const struct ct_report_cost *cost)
{
	return cost && (cost->sample_ratio < 1 || cost->duty_of_ns || cost->coarsest);
}

void ct_timing_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	const struct ct_report_cost *cost = coarsest(report);
	char more[256] = "";

	if (run->time_err_p50_ns != CT_UNKNOWN)
		add(more, sizeof(more), ", ±%s per span (at most ±%s)",
		    ct_text_ns(run->time_err_p50_ns).s, ct_text_ns(run->time_err_ns).s);
	if (run->ranks_untimed && run->timing != CT_TIMING_OFF)
		add(more, sizeof(more), "; off on %s rank%s", ct_text_count(run->ranks_untimed).s,
		    run->ranks_untimed == 1 ? "" : "s");
	ct_text_line(text,
		     run->ranks_untimed || run->timing == CT_TIMING_OFF || run->timing_why
			     ? CT_COLOR_YELLOW
			     : CT_COLOR_NONE,
		     "timing    %s: %s%s%s%s%s", ct_timing_name(run->timing), explain(run->timing),
		     run->timing_why ? " (" : "", run->timing_why ? run->timing_why : "",
		     run->timing_why ? ")" : "", more);
	if (!is_thinned(cost))
		return;
	more[0] = '\0';
	add_settings(more, sizeof(more), cost);
	ct_text_line(text, CT_COLOR_YELLOW, "timed     %s of launches (%s): sums are of these",
		     ct_text_pct(100 * run->timed_ratio).s, more);
}

void ct_timing_of_process(char *to, size_t cap, const struct ct_report_cost *cost)
{
	to[0] = '\0';
	if (!cost->on_gpu)
		return;
	add(to, cap, "timing=%s", ct_timed_by_name(cost->timed_by));
	if (cost->sample_ratio < 1)
		add(to, cap, " sample=%.3g", 1 / cost->sample_ratio);
	if (cost->duty_of_ns)
		add(to, cap, " duty=%s/%s", ct_text_ns(cost->duty_on_ns).s,
		    ct_text_ns(cost->duty_of_ns).s);
	if (!isnan(cost->budget_ratio))
		add(to, cap, " budget=%s backoffs=%s level=%" PRIu64 " coarsest=%" PRIu64,
		    ct_text_pct(100 * cost->budget_ratio).s, ct_text_count(cost->budget_backoffs).s,
		    cost->level, cost->coarsest);
}
