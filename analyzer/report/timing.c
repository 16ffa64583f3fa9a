/* SPDX-License-Identifier: Apache-2.0 */
/* How the launches of a run were timed, how many of them, and why so. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/model/model.h"
#include "analyzer/report/fill.h"

static double ratio_of(uint64_t timed, uint64_t launches)
{
	return launches ? (double)timed / (double)launches : NAN;
}

/* Timed events would have held up the job, or did. */
static int is_forced(const struct ct_report_overhead *cost)
{
	return cost->timed_why == CT_TIMED_WHY_ONE_CONNECTION ||
	       cost->timed_why == CT_TIMED_WHY_STREAMS || cost->timed_why == CT_TIMED_WHY_SLOWER;
}

/* The first process in which something prevents timed events; NULL: none. */
static const struct ct_report_overhead *odd_one(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_overhead; i++) {
		const struct ct_report_overhead *cost = &report->overhead[i];

		if (cost->on_gpu &&
		    (ct_timed_why_name(cost->timed_why) || cost->timed_by != CT_TIMED_BY_EVENTS))
			return cost;
	}
	return NULL;
}

static const char *why(const struct ct_report *report)
{
	const struct ct_report_overhead *cost = odd_one(report);
	int one = cost && cost->timed_why == CT_TIMED_WHY_ONE_CONNECTION;

	if (!cost)
		return NULL;
	if (one && cost->timed_by != CT_TIMED_BY_PLUGIN)
		return "CUDA_DEVICE_MAX_CONNECTIONS=1, no plugin";
	if (ct_timed_why_name(cost->timed_why))
		return ct_timed_why_name(cost->timed_why);
	if (cost->timed_by == CT_TIMED_BY_PLUGIN && !cost->plugin_loaded)
		return "NCCL has not loaded the plugin";
	return "COMMTRACE_TIMING";
}

/* All ranks take the same steps, and leave the same windows out: what one sees the others see, too.
 * So the errors of several are no smaller than that of one. */
static int fill_step_change(struct ct_report *report)
{
	struct ct_report_run *run = &report->run;
	double *changes = malloc((report->n_overhead + 1) * sizeof(*changes));
	double *errs = malloc((report->n_overhead + 1) * sizeof(*errs));
	size_t n = 0;

	run->step_change_pct = run->step_change_err_pct = NAN;
	run->step_change_why = NULL;
	run->step_is_collective = 0;
	for (size_t i = 0; changes && errs && i < report->n_overhead; i++) {
		if (!run->step_change_why && report->overhead[i].on_gpu)
			run->step_change_why = report->overhead[i].step_change_why;
		if (isnan(report->overhead[i].step_change_pct))
			continue;
		if (report->overhead[i].step_kind == CT_STEP_COLLECTIVE)
			run->step_is_collective = 1;
		changes[n] = report->overhead[i].step_change_pct;
		errs[n++] = report->overhead[i].step_change_err_pct;
	}
	if (n) {
		run->step_change_pct = ct_median(changes, n);
		run->step_change_err_pct = ct_median(errs, n);
		run->step_change_why = NULL;
	}
	free(changes);
	free(errs);
	return changes && errs ? CT_OK : CT_NOMEM;
}

/* When all processes had events, if any changed over to them, or back. */
static void fill_events(struct ct_report *report)
{
	struct ct_report_run *run = &report->run;

	run->events_from_ns = run->events_until_ns = CT_UNKNOWN;
	for (size_t i = 0; i < report->n_overhead; i++) {
		const struct ct_report_overhead *c = &report->overhead[i];

		if (c->raised_ns != CT_UNKNOWN &&
		    (run->events_from_ns == CT_UNKNOWN || c->raised_ns > run->events_from_ns))
			run->events_from_ns = c->raised_ns;
		run->events_until_ns = ct_min(run->events_until_ns, c->lowered_ns);
	}
}

int ct_fill_timing(const struct ct_model *model, struct ct_report *report)
{
	struct ct_report_run *run = &report->run;
	uint64_t timed = 0, launches = 0;

	for (uint32_t s = 0; s < model->n_slots; s++) {
		const struct ct_rank_state *slot = &model->slots[s];

		report->ranks[s].timed_ratio = ratio_of(slot->timed, slot->launches);
		timed += slot->timed;
		launches += slot->launches;
	}
	run->timed_ratio = ratio_of(timed, launches);
	run->time_err_ns = model->time_err_ns;
	run->time_err_p50_ns = ct_hist_quantile(&model->time_err, 0.5);
	run->timing_why = why(report);
	run->timing_is_forced = odd_one(report) && is_forced(odd_one(report));
	fill_events(report);
	return fill_step_change(report);
}
