/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/facts_text.h"

/* ---- how operations were timed ---- */

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
static const struct ct_report_overhead *coarsest(const struct ct_report *report)
{
	const struct ct_report_overhead *most = NULL;

	for (size_t i = 0; i < report->n_overhead; i++) {
		const struct ct_report_overhead *cost = &report->overhead[i];

		if (cost->on_gpu && (!most || cost->coarsest > most->coarsest))
			most = cost;
	}
	return most;
}

static void add_settings(char *to, size_t cap, const struct ct_report_overhead *cost)
{
	if (cost->sample_ratio < 1)
		add(to, cap, "sample %.3g", 1 / cost->sample_ratio);
	if (cost->duty_of_ns)
		add(to, cap, "%sduty %s/%s", to[0] ? ", " : "", ct_prose_ns(cost->duty_on_ns).s,
		    ct_prose_ns(cost->duty_of_ns).s);
	if (cost->coarsest)
		add(to, cap, "%sbudget down to 1 in %" PRIu64, to[0] ? ", " : "",
		    UINT64_C(1) << (cost->coarsest & 63));
}

static int is_thinned(const struct ct_report_overhead *cost)
{
	return cost && (cost->sample_ratio < 1 || cost->duty_of_ns || cost->coarsest);
}

/* auto had not come to events in any process: a short run, or one whose collectives are all in
 * graphs. */
static int is_early(const struct ct_report *report)
{
	int n = 0;

	for (size_t i = 0; i < report->n_overhead; i++) {
		const struct ct_report_overhead *cost = &report->overhead[i];

		if (cost->on_gpu &&
		    (cost->raised_ns != CT_UNKNOWN || cost->timed_why != CT_TIMED_WHY_EARLY))
			return 0;
		n += cost->on_gpu;
	}
	return n > 0;
}

/* What was timed otherwise, and so is not in what needs starts. */
static void write_events(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	char from[40] = "", until[40] = "";

	if (is_early(report))
		ct_text_wrap(
			text, CT_COLOR_YELLOW, CT_TEXT_LABEL,
			"events    not used yet: there are no device times, and findings rest on "
			"host times; 'commtrace run --set TIMING=events' records device times "
			"from the start");
	if (run->events_from_ns == CT_UNKNOWN && run->events_until_ns == CT_UNKNOWN)
		return;
	if (run->events_from_ns != CT_UNKNOWN)
		snprintf(from, sizeof(from), " from %s", ct_prose_ns(run->events_from_ns).s);
	if (run->events_until_ns != CT_UNKNOWN)
		snprintf(until, sizeof(until), " until %s", ct_prose_ns(run->events_until_ns).s);
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "events    used%s%s: lateness and exposed communication are of that time",
		     from, until);
}

void ct_timing_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	const struct ct_report_overhead *cost = coarsest(report);
	char more[256] = "";

	if (run->time_err_p50_ns != CT_UNKNOWN)
		add(more, sizeof(more), ", ± %s per span (at most ± %s)",
		    ct_prose_ns(run->time_err_p50_ns).s, ct_prose_ns(run->time_err_ns).s);
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
	write_events(text, report);
	if (!is_thinned(cost))
		return;
	more[0] = '\0';
	add_settings(more, sizeof(more), cost);
	ct_text_wrap(text, CT_COLOR_YELLOW, CT_TEXT_LABEL,
		     "timed     %s of launches (%s): sums are of these",
		     report->is_outline ? "a part" : ct_prose_pct(100 * run->timed_ratio).s, more);
}

void ct_decisions_of_process(char *to, size_t cap, const struct ct_report_overhead *cost)
{
	to[0] = '\0';
	if (!cost->on_gpu)
		return;
	if (cost->raised_ns != CT_UNKNOWN)
		add(to, cap, "events from %s", ct_prose_ns(cost->raised_ns).s);
	if (cost->lowered_ns != CT_UNKNOWN)
		add(to, cap, "%sevents until %s", to[0] ? ", " : "",
		    ct_prose_ns(cost->lowered_ns).s);
	if (cost->step_ns != CT_UNKNOWN)
		add(to, cap, "%s%s %s", to[0] ? ", " : "",
		    cost->step_kind == CT_STEP_COLLECTIVE ? ct_step_kind_name(cost->step_kind)
							  : "step",
		    ct_prose_ns(cost->step_ns).s);
	if (!isnan(cost->step_change_pct))
		add(to, cap, "%sstep change %+.2f ± %.2f %% (windows: %s untimed, %s timed)",
		    to[0] ? ", " : "", cost->step_change_pct, cost->step_change_err_pct,
		    ct_text_count(cost->windows_off).s, ct_text_count(cost->windows_on).s);
	else if (cost->step_change_why)
		add(to, cap, "%sstep change n/a (%s)", to[0] ? ", " : "", cost->step_change_why);
}

void ct_timing_of_process(char *to, size_t cap, const struct ct_report_overhead *cost)
{
	to[0] = '\0';
	if (!cost->on_gpu)
		return;
	if (ct_timed_why_name(cost->timed_why))
		add(to, cap, "%s", ct_timed_why_name(cost->timed_why));
	if (cost->sample_ratio < 1)
		add(to, cap, "%ssample %.3g", to[0] ? ", " : "", 1 / cost->sample_ratio);
	if (cost->duty_of_ns)
		add(to, cap, "%sduty %s/%s", to[0] ? ", " : "", ct_prose_ns(cost->duty_on_ns).s,
		    ct_prose_ns(cost->duty_of_ns).s);
	if (!isnan(cost->budget_ratio))
		add(to, cap, "%sbudget %s, backoffs %s, level %" PRIu64 ", coarsest %" PRIu64,
		    to[0] ? ", " : "", ct_prose_pct(100 * cost->budget_ratio).s,
		    ct_text_count(cost->budget_backoffs).s, cost->level, cost->coarsest);
}

/* ---- the hosts' clocks ---- */

#define MOST_ODD 3

static int is_related(const struct ct_report_clock *c)
{
	return !strcmp(c->quality, "ACCURATE") || !strcmp(c->quality, "APPROXIMATE");
}

/* Those that are not synchronized, by name; ABSENT but set by the time of day is shown with that
 * time's error. */
static void list_odd(const struct ct_report *report, char *out, size_t size)
{
	size_t at = 0, n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < report->n_clocks; i++) {
		const struct ct_report_clock *c = &report->clocks[i];

		if (is_related(c) || n++ >= MOST_ODD || at >= size)
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%.40s %s", at ? ", " : "", c->host,
				       c->quality);
		if (c->err_ns != CT_UNKNOWN && at < size)
			at += (size_t)snprintf(out + at, size - at, " (NTP only, ± %s)",
					       ct_prose_ns(c->err_ns).s);
	}
	if (n > MOST_ODD && at < size)
		snprintf(out + at, size - at, ", %zu more", n - MOST_ODD);
}

void ct_clocks_line(struct ct_text *text, const struct ct_report *report)
{
	const char *reference = NULL;
	uint64_t err = 0, self = CT_UNKNOWN;
	char odd[256], tested[64] = "";
	size_t related = 0;

	for (size_t i = 0; i < report->n_clocks; i++) {
		const struct ct_report_clock *c = &report->clocks[i];

		if (c->selftest_ns != CT_UNKNOWN && (self == CT_UNKNOWN || c->selftest_ns > self))
			self = c->selftest_ns;
		if (!is_related(c))
			continue;
		related++;
		reference = c->ref_host;
		err = c->err_ns > err ? c->err_ns : err;
	}
	if (!report->n_clocks)
		return;
	list_odd(report, odd, sizeof(odd));
	if (related < 2) {
		ct_text_line(text, CT_COLOR_YELLOW, "clocks    not synchronized: %s", odd);
		return;
	}
	if (self != CT_UNKNOWN)
		snprintf(tested, sizeof(tested), "; self-test within a host %s",
			 ct_prose_ns(self).s);
	ct_text_wrap(text, related < report->n_clocks ? CT_COLOR_YELLOW : CT_COLOR_NONE,
		     CT_TEXT_LABEL, "clocks    %zu of %zu hosts synchronized to %.40s, ± %s%s%s%s",
		     related, report->n_clocks, reference ? reference : "?", ct_prose_ns(err).s,
		     tested, odd[0] ? "; not: " : "", odd);
}

void ct_clocks_rows(struct ct_text *text, const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_clocks; i++) {
		char pairs[512];

		ct_columns_pairs(pairs, sizeof(pairs), ct_columns_clocks(),
				 "host ref_host offset_ns drift_ppb err_ns quality selftest_ns",
				 &report->clocks[i]);
		ct_text_line(text, CT_COLOR_NONE, "clock     %s", pairs);
	}
}
