/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/base/units.h"
#include "analyzer/render/facts_text.h"

/* ---- how the run was cut ---- */

#define MOST_PCT 75.0 /* of the run; steps that are less say how much */

/* " 26.2MB", or nothing where its size is another one each time. */
static void size_text(char *to, size_t cap, uint64_t bytes)
{
	snprintf(to, cap, "%s%s", bytes == CT_UNKNOWN ? "" : " ",
		 bytes == CT_UNKNOWN ? "" : ct_prose_bytes(bytes).s);
}

void ct_skipped_text(char *to, size_t cap, const struct ct_report_steps *steps)
{
	to[0] = '\0';
	if (steps->skipped)
		snprintf(to, cap, ", first %s skipped", ct_text_count(steps->skipped).s);
}

void ct_steps_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_steps *c = &report->steps;
	char size[32], err[32] = "", again[96] = "", by[96], part[48] = "", skipped[48];

	if (!c->anchor_comm_key && !c->marker) {
		if (c->why)
			ct_text_line(text, CT_COLOR_NONE, "steps    n/a: %s", c->why);
		return;
	}
	if (c->err_ns != CT_UNKNOWN)
		snprintf(err, sizeof(err), " ± %s", ct_prose_ns(c->err_ns).s);
	if (c->n_recurring) {
		size_text(size, sizeof(size), c->recurring[0].bytes);
		snprintf(again, sizeof(again), "; %.32s%s every %" PRIu64, c->recurring[0].op_name,
			 size, c->recurring[0].every);
	}
	size_text(size, sizeof(size), c->anchor_bytes);
	if (c->marker)
		snprintf(by, sizeof(by), "NVTX range %.24s", c->marker);
	else
		snprintf(by, sizeof(by), "%.32s%s on %08" PRIx64, c->anchor_op, size,
			 c->anchor_comm_key >> 32);
	if (c->covered_pct < MOST_PCT)
		snprintf(part, sizeof(part), ", %s of the run", ct_prose_pct(c->covered_pct).s);
	ct_skipped_text(skipped, sizeof(skipped), c);
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "steps    %s of %s%s, p99 %s%s%s, by %s%s%s", ct_text_count(c->count).s,
		     ct_prose_ns(c->time_p50_ns).s, err, ct_prose_ns(c->time_p99_ns).s, skipped,
		     part, by, again, c->note ? "; a step may have several" : "");
}

/* ---- communication against computing ---- */

static uint64_t idle(const struct ct_report_gaps *g)
{
	return g->launch_ns + g->host_late_ns + g->not_ready_ns;
}

static double pct(uint64_t ns, uint64_t of_ns)
{
	return ns == CT_UNKNOWN || !of_ns ? NAN : 100 * (double)ns / (double)of_ns;
}

void ct_share_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_exposed *e = &report->exposed;

	if (!e->of_steps || isnan(e->share_pct))
		return;
	if (isnan(e->wait_pct) || isnan(e->transferring_pct)) {
		ct_text_line(
			text, CT_COLOR_NONE,
			"step     exposed %s ± %s, median rank; waiting for others n/a: of over a "
			"tenth it is not known",
			ct_prose_pct(e->share_pct).s, ct_prose_pct(e->err_pct).s);
		return;
	}
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "step     exposed %s ± %s, %s of it waiting for others; data moves for %s; "
		     "median rank",
		     ct_prose_pct(e->share_pct).s, ct_prose_pct(e->err_pct).s,
		     ct_prose_pct(e->share_pct > 0 ? 100 * e->wait_pct / e->share_pct : NAN).s,
		     ct_prose_pct(e->transferring_pct).s);
}

void ct_gaps_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_gaps *most = NULL;

	for (size_t i = 0; i < report->n_gaps; i++) {
		const struct ct_report_gaps *g = &report->gaps[i];

		if (g->launch_ns != CT_UNKNOWN && (!most || idle(g) > idle(most)))
			most = g;
	}
	if (!most)
		return;
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "gaps      communication of rank %s has the longest gaps: of its steps %s "
		     "not ready, %s host late, %s "
		     "launch, ±%s",
		     ct_text_rank(most->rank).s,
		     ct_prose_pct(pct(most->not_ready_ns, most->steps_ns)).s,
		     ct_prose_pct(pct(most->host_late_ns, most->steps_ns)).s,
		     ct_prose_pct(pct(most->launch_ns, most->steps_ns)).s,
		     ct_prose_pct(pct(most->gaps_err_ns, most->steps_ns)).s);
}

void ct_pipeline_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_stage *most = NULL;

	for (size_t i = 0; i < report->n_stages; i++) {
		const struct ct_report_stage *s = &report->stages[i];

		if (s->bubble_ns != CT_UNKNOWN &&
		    (!most ||
		     pct(s->bubble_ns, s->steps_ns) > pct(most->bubble_ns, most->steps_ns)))
			most = s;
	}
	if (!report->n_stages)
		return;
	if (!most) {
		ct_text_line(text, CT_COLOR_NONE, "%s",
			     "pipeline  n/a: stages are on hosts whose clocks are not related");
		return;
	}
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "pipeline  bubble %s%s ± %s of the step, ideal %s, stage %d of %d, rank %s",
		     most->at_most ? "up to " : "",
		     ct_prose_pct(pct(most->bubble_ns, most->steps_ns)).s,
		     ct_prose_pct(pct(most->err_ns, most->steps_ns)).s,
		     ct_prose_pct(pct(most->ideal_ns, most->steps_ns)).s, most->stage,
		     most->n_stages, ct_text_rank(most->rank).s);
}
