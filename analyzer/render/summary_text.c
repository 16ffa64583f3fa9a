/* SPDX-License-Identifier: Apache-2.0 */
/* summary_text.c — the run in a few lines. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/facts_text.h"

#define LABEL 15u

static void write_run(struct ct_text *text, const struct ct_report_run *run)
{
	char backends[64] = "", restart[48] = "", left_out[64] = "";
	size_t at = 0;

	for (size_t i = 0; i < run->n_backends && at < sizeof(backends); i++)
		at += (size_t)snprintf(backends + at, sizeof(backends) - at, "%s%s", i ? "+" : "",
				       run->backends[i]);
	if (run->starts > 1)
		snprintf(restart, sizeof(restart), ", restart %d of %d", run->restart,
			 run->starts - 1);
	if (run->left_out_ns)
		snprintf(left_out, sizeof(left_out), " on record of %s",
			 ct_prose_ns(run->left_out_ns + run->duration_ns).s);
	ct_text_wrap(text, run->n_missing ? CT_COLOR_YELLOW : CT_COLOR_NONE, LABEL,
		     "run            %s of %s ranks on %zu host%s, %s, %s%s%s%s, job %s",
		     ct_text_count(run->ranks_seen).s, ct_text_count(run->ranks_expected).s,
		     run->n_hosts, run->n_hosts == 1 ? "" : "s",
		     backends[0] ? backends : "no backend", ct_prose_ns(run->duration_ns).s,
		     left_out, run->processes_running ? " so far" : "", restart,
		     run->job ? run->job : "n/a");
	if (run->hang_why)
		ct_text_wrap(text, CT_COLOR_YELLOW, LABEL, "hang           not judged: %s",
			     run->hang_why);
}

/* ", first 10 skipped"; nothing where none are. */
static void skipped_text(char *to, size_t cap, const struct ct_report_steps *steps)
{
	to[0] = '\0';
	if (steps->skipped)
		snprintf(to, cap, ", first %s skipped", ct_text_count(steps->skipped).s);
}

static void write_steps(struct ct_text *text, const struct ct_report_steps *c)
{
	char skipped[48];

	skipped_text(skipped, sizeof(skipped), c);
	if (c->count && (c->anchor_comm_key || c->marker))
		ct_text_wrap(text, CT_COLOR_NONE, LABEL,
			     "step time      %s median, %s p99, %s steps%s",
			     ct_prose_ns(c->time_p50_ns).s, ct_prose_ns(c->time_p99_ns).s,
			     ct_text_count(c->count).s, skipped);
	else if (c->why)
		ct_text_wrap(text, CT_COLOR_NONE, LABEL, "step time      n/a: %s", c->why);
}

static void write_throughput(struct ct_text *text, const struct ct_report_throughput *t)
{
	if (!isnan(t->per_s))
		ct_text_wrap(text, CT_COLOR_NONE, LABEL, "throughput     %s, marked by %u rank%s",
			     ct_prose_rate_err(t->per_s, t->err_per_s).s, t->ranks,
			     t->ranks == 1 ? "" : "s");
	else if (t->marks)
		ct_text_wrap(text, CT_COLOR_NONE, LABEL,
			     "throughput     n/a: too few steps were marked");
}

/* The hidden part of the communication that was followed; NAN: none was. */
static double overlap_pct(const struct ct_report *report)
{
	double hidden_ns = 0, comm_ns = 0;

	for (size_t i = 0; i < report->n_overlap; i++) {
		if (report->overlap[i].hidden_ns == CT_UNKNOWN)
			continue;
		hidden_ns += (double)report->overlap[i].hidden_ns;
		comm_ns += (double)report->overlap[i].comm_ns;
	}
	return comm_ns > 0 ? 100 * hidden_ns / comm_ns : NAN;
}

static void write_exposed(struct ct_text *text, const struct ct_report *report, int verbose)
{
	const struct ct_report_exposed *e = &report->exposed;
	const char *of = ct_step_time_name(&report->step_time);
	double hidden_pct = overlap_pct(report);
	const char *why = verbose ? e->why : NULL;
	char parts[96] = "", overlap[48] = "";

	if (isnan(e->median_pct)) {
		if (isnan(report->run.comm_share_pct))
			ct_text_line(text, CT_COLOR_NONE, "communication  n/a");
		else
			ct_text_wrap(text, CT_COLOR_NONE, LABEL,
				     "communication  %s of %s (busiest rank), exposed "
				     "communication n/a%s%s",
				     ct_prose_pct(report->run.comm_share_pct).s, of,
				     why ? ": " : "", why ? why : "");
		return;
	}
	if (!isnan(e->wait_pct))
		snprintf(parts, sizeof(parts), ": %s arrival skew, %s transfer",
			 ct_prose_pct(e->wait_pct).s,
			 ct_prose_pct(fmax(0, e->median_pct - e->wait_pct)).s);
	if (!isnan(hidden_pct))
		snprintf(overlap, sizeof(overlap), "; overlap %s", ct_prose_pct(hidden_pct).s);
	ct_text_wrap(text, CT_COLOR_NONE, LABEL, "communication  exposed for %s of %s%s%s",
		     ct_prose_pct_err(e->median_pct, e->err_pct).s, of, parts, overlap);
}

/* "no dropped records", "no dropped records, but 12 calls were not recorded", "no dropped records
 * (31 lack details)", "123 records dropped", "an unknown number of records dropped" */
static void dropped_text(char *to, size_t cap, const struct ct_report *report)
{
	int some = 0, uncounted = 0;
	uint64_t details = 0;

	for (size_t i = 0; i < report->n_dropped; i++) {
		if (!report->dropped[i].is_loss_of_records)
			details += report->dropped[i].records;
		some |= report->dropped[i].is_loss_of_records;
		uncounted |= report->dropped[i].is_loss_of_records &&
			     report->dropped[i].records == CT_UNKNOWN;
	}
	details -= report->dropped_calls;
	if (!some && report->dropped_calls)
		snprintf(to, cap, "no dropped records, but %s calls were not recorded",
			 ct_text_count(report->dropped_calls).s);
	else if (!some && details)
		snprintf(to, cap, "no dropped records (%s lack details)", ct_text_count(details).s);
	else if (!some)
		snprintf(to, cap, "no dropped records");
	else if (uncounted && !report->dropped_records)
		snprintf(to, cap, "an unknown number of records dropped");
	else
		snprintf(to, cap, "%s%s records dropped", uncounted ? "at least " : "",
			 ct_text_count(report->dropped_records).s);
}

static void write_quality(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	char dropped[80], messages[48] = "", timing[160] = "";

	dropped_text(dropped, sizeof(dropped), report);
	if (run->messages)
		snprintf(messages, sizeof(messages), ", %s P2P", ct_text_count(run->messages).s);
	if (run->time_err_p50_ns != CT_UNKNOWN)
		snprintf(timing, sizeof(timing), " ± %s", ct_prose_ns(run->time_err_p50_ns).s);
	else if (run->timing_why)
		snprintf(timing, sizeof(timing), " (%s)", run->timing_why);
	ct_text_wrap(text, run->complete ? CT_COLOR_NONE : CT_COLOR_YELLOW, LABEL,
		     "data quality   %s, %s collectives%s, %s incomplete; timing %s%s", dropped,
		     ct_text_count(run->matched).s, messages, ct_text_count(run->incomplete).s,
		     ct_timing_name(run->timing), timing);
	if (report->n_invisible)
		ct_text_wrap(text, CT_COLOR_YELLOW, LABEL, "warning        %s: %s",
			     report->invisible[0].what, report->invisible[0].why);
}

void ct_summary_text(struct ct_text *text, const struct ct_report *report, int verbose)
{
	struct ct_text screen = ct_text_screen(text);

	write_run(&screen, &report->run);
	write_steps(&screen, &report->steps);
	write_throughput(&screen, &report->throughput);
	write_exposed(&screen, report, verbose);
	write_quality(&screen, report);
	text->lines = screen.lines;
}
