/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/overlap_text.h"

#include <math.h>

#include "analyzer/base/units.h"

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

	if (!e->of_cycles || isnan(e->share_pct))
		return;
	if (isnan(e->wait_pct) || isnan(e->transferring_pct)) {
		ct_text_line(
			text, CT_COLOR_NONE,
			"cycle     exposed %s±%s, median rank; waiting for others n/a: of over a "
			"tenth it is not known",
			ct_text_pct(e->share_pct).s, ct_text_pct(e->err_pct).s);
		return;
	}
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "cycle     exposed %s±%s, %s of it waiting for others; data moves for %s; "
		     "median rank",
		     ct_text_pct(e->share_pct).s, ct_text_pct(e->err_pct).s,
		     ct_text_pct(e->share_pct > 0 ? 100 * e->wait_pct / e->share_pct : NAN).s,
		     ct_text_pct(e->transferring_pct).s);
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
		     "gaps      communication of rank %d has the longest gaps: of its cycles %s "
		     "not ready, %s host late, %s "
		     "launch, ±%s",
		     most->rank, ct_text_pct(pct(most->not_ready_ns, most->cycles_ns)).s,
		     ct_text_pct(pct(most->host_late_ns, most->cycles_ns)).s,
		     ct_text_pct(pct(most->launch_ns, most->cycles_ns)).s,
		     ct_text_pct(pct(most->gaps_err_ns, most->cycles_ns)).s);
}

void ct_pipeline_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_stage *most = NULL;

	for (size_t i = 0; i < report->n_stages; i++) {
		const struct ct_report_stage *s = &report->stages[i];

		if (s->bubble_ns != CT_UNKNOWN &&
		    (!most ||
		     pct(s->bubble_ns, s->cycles_ns) > pct(most->bubble_ns, most->cycles_ns)))
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
		     "pipeline  bubble %s%s±%s of the cycle, ideal %s, stage %d of %d, rank %d",
		     most->at_most ? "up to " : "",
		     ct_text_pct(pct(most->bubble_ns, most->cycles_ns)).s,
		     ct_text_pct(pct(most->err_ns, most->cycles_ns)).s,
		     ct_text_pct(pct(most->ideal_ns, most->cycles_ns)).s, most->stage,
		     most->n_stages, most->rank);
}
