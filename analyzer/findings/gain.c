/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/gain.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/verdict_text.h"

double ct_gain_exposed_pct(const struct ct_report *report)
{
	return report->exposed.max_pct + report->exposed.err_pct;
}

double ct_gain_pct(const struct ct_report *report)
{
	double played = report->whatif.free_gain_pct + report->whatif.error_pct;

	return fmin(fmin(report->run.comm_share_pct, ct_gain_exposed_pct(report)), played);
}

double ct_gain_wait_pct(const struct ct_report *report)
{
	double sum = 0, n = 0;

	if (!isnan(report->exposed.wait_pct))
		return report->exposed.wait_pct;
	for (size_t r = 0; r < report->n_ranks; r++) {
		if (isnan(report->ranks[r].wait_pct))
			continue;
		sum += report->ranks[r].wait_pct;
		n++;
	}
	return sum / n;
}

double ct_gain_times_err_pct(const struct ct_report *report)
{
	uint64_t ops = 0;

	if (report->run.time_err_p50_ns == CT_UNKNOWN || !report->run.duration_ns)
		return NAN;
	for (size_t r = 0; r < report->n_ranks; r++)
		ops = report->ranks[r].ops > ops ? report->ranks[r].ops : ops;
	return 100 * (double)ops * (double)report->run.time_err_p50_ns /
	       (double)report->run.duration_ns;
}

const char *ct_gain_why_not(const struct ct_report *report)
{
	if (!report->run.duration_ns)
		return ct_note_text(report, CT_NOTE_ONE_MOMENT, CT_NO_WORDS);
	if (ct_gain_times_err_pct(report) > 100 * CT_MOST)
		return ct_note_text(
			report, CT_NOTE_BLURRED,
			CT_WORDS({ "{err}", ct_prose_ns(report->run.time_err_p50_ns).s }));
	if (report->whatif.is_contradicted)
		return ct_note_text(report, CT_NOTE_CONTRADICTED, CT_NO_WORDS);
	return NULL;
}

const struct ct_report_stage *ct_gain_schedule(const struct ct_report *report)
{
	const struct ct_report_stage *most = NULL;

	for (size_t i = 0; i < report->n_stages; i++) {
		const struct ct_report_stage *s = &report->stages[i];

		if (s->ideal_ns == CT_UNKNOWN || !s->steps_ns || isnan(s->microbatches))
			return NULL;
		if (!most || (double)s->ideal_ns / (double)s->steps_ns >
				     (double)most->ideal_ns / (double)most->steps_ns)
			most = s;
	}
	return most;
}

double ct_gain_bubble_pct(const struct ct_report *report)
{
	const struct ct_report_stage *s = ct_gain_schedule(report);

	return s ? 100 * (double)s->ideal_ns / (double)s->steps_ns : NAN;
}
