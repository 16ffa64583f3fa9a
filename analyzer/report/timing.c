/* SPDX-License-Identifier: Apache-2.0 */
/* How the launches of a run were timed, how many of them, and why so. */
#include "analyzer/model/model.h"
#include "analyzer/report/fill.h"

#include <math.h>

static double ratio_of(uint64_t timed, uint64_t launches)
{
	return launches ? (double)timed / (double)launches : NAN;
}

/* Timed events would have held up other streams. */
static int is_forced(const struct ct_report_cost *cost)
{
	return cost->timed_why == CT_TIMED_WHY_ONE_CONNECTION ||
	       cost->timed_why == CT_TIMED_WHY_STREAMS;
}

/* The first process in which something speaks against timed events; NULL: there is none. */
static const struct ct_report_cost *odd_one(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_costs; i++) {
		const struct ct_report_cost *cost = &report->costs[i];

		if (cost->on_gpu && (is_forced(cost) || cost->timed_why == CT_TIMED_WHY_CLOCK ||
				     cost->timed_by != CT_TIMED_BY_EVENTS))
			return cost;
	}
	return NULL;
}

static const char *why(const struct ct_report *report)
{
	const struct ct_report_cost *cost = odd_one(report);
	int one = cost && cost->timed_why == CT_TIMED_WHY_ONE_CONNECTION;

	if (!cost)
		return NULL;
	if (one && cost->timed_by == CT_TIMED_BY_PLUGIN)
		return "CUDA_DEVICE_MAX_CONNECTIONS=1";
	if (one)
		return "CUDA_DEVICE_MAX_CONNECTIONS=1, no plugin";
	if (cost->timed_why == CT_TIMED_WHY_STREAMS)
		return "too many streams for CUDA_DEVICE_MAX_CONNECTIONS";
	if (cost->timed_why == CT_TIMED_WHY_CLOCK)
		return "times of a GPU's events contradict each other";
	if (cost->timed_by == CT_TIMED_BY_PLUGIN && !cost->plugin_loaded)
		return "NCCL has not loaded the plugin";
	return "COMMTRACE_TIMING";
}

void ct_fill_timing(const struct ct_model *model, struct ct_report *report)
{
	struct ct_report_run *run = &report->run;
	uint64_t timed = 0, launches = 0;

	for (uint32_t s = 0; s < model->n_seats; s++) {
		const struct ct_seat *seat = &model->seats[s];

		report->ranks[s].timed_ratio = ratio_of(seat->timed, seat->launches);
		timed += seat->timed;
		launches += seat->launches;
	}
	run->timed_ratio = ratio_of(timed, launches);
	run->time_err_ns = model->time_err_ns;
	run->time_err_p50_ns = ct_hist_quantile(&model->time_err, 0.5);
	run->timing_why = why(report);
	run->timing_is_forced = odd_one(report) && is_forced(odd_one(report));
}
