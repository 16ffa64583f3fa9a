/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/gain.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/headline.h"
#include "analyzer/findings/verdict_text.h"

/* Waiting time of the rank that waited longest, of the run; NAN: not known for all. */
static double exposed_of_run(const struct ct_report *report)
{
	double most = report->n_ranks ? 0 : NAN;

	for (size_t r = 0; r < report->n_ranks; r++) {
		const struct ct_report_rank *rank = &report->ranks[r];

		if (rank->exposed_ns == CT_UNKNOWN || rank->left_out_ns >= report->run.duration_ns)
			return NAN;
		most = fmax(most, ((double)rank->exposed_ns + (double)rank->exposed_err_ns) /
					  (double)(report->run.duration_ns - rank->left_out_ns));
	}
	return 100 * most;
}

double ct_gain_exposed_pct(const struct ct_report *report)
{
	const struct ct_report_exposed *e = &report->exposed;

	return e->covered_pct >= 100 * CT_MOST ? e->max_pct + e->err_pct : exposed_of_run(report);
}

const char *ct_gain_exposed_text(const struct ct_report *report)
{
	double pct = ct_gain_exposed_pct(report);

	return report->exposed.covered_pct >= 100 * CT_MOST ? ct_pct_text(report, pct)
							    : ct_run_share_text(report, pct);
}

double ct_gain_pct(const struct ct_report *report)
{
	double played = report->whatif.free_gain_pct + report->whatif.error_pct;

	return fmin(fmin(report->run.comm_share_pct, exposed_of_run(report)), played);
}

double ct_gain_wait_pct(const struct ct_report *report)
{
	double sum = 0, n = 0;

	if (!isnan(report->exposed.wait_pct))
		return report->exposed.wait_pct;
	for (size_t r = 0; r < report->n_ranks; r++) {
		if (report->ranks[r].wait_ns == CT_UNKNOWN)
			continue;
		sum += (double)report->ranks[r].wait_ns;
		n++;
	}
	return 100 * sum / n / (double)report->run.duration_ns;
}

const char *ct_gain_wait_text(const struct ct_report *report)
{
	double pct = ct_gain_wait_pct(report);

	return isnan(report->exposed.wait_pct) ? ct_run_share_text(report, pct)
					       : ct_pct_text(report, pct);
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
