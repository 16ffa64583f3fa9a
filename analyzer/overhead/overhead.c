/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overhead/overhead.h"

#include <inttypes.h>
#include <math.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/units.h"

/* How and how much of it was timed, where there is a GPU. */
static void fill_timing(const struct ct_cost_rec *from, struct ct_report_overhead *cost)
{
	cost->on_gpu = from->timed_by != CT_TIMED_BY_UNKNOWN &&
		       (from->gpu_events || from->launches_timed || from->launches_untimed);
	cost->events = cost->on_gpu ? from->gpu_events : CT_UNKNOWN;
	cost->budget_backoffs = cost->on_gpu ? from->budget_backoffs : CT_UNKNOWN;
	cost->timed_by = (enum ct_timed_by)from->timed_by;
	cost->timed_why = (enum ct_timed_why)from->timed_why;
	cost->plugin_loaded = from->plugin_loaded;
	cost->sample_ratio = from->sample ? (double)from->sample / 4294967296.0 : 1;
	cost->budget_ratio = from->budget_millionths ? from->budget_millionths / 1e6 : NAN;
	cost->duty_on_ns = from->duty_on_ms * 1000000ull;
	cost->duty_of_ns = from->duty_ms * 1000000ull;
	cost->level = from->level;
	cost->coarsest = from->coarsest;
}

/* From the beginning of its recording. */
static uint64_t since(uint64_t at_ns, uint64_t start_ns)
{
	return at_ns > start_ns ? at_ns - start_ns : CT_UNKNOWN;
}

static const char *why_unmeasured(struct ct_arena *memory, const struct ct_cost_rec *from)
{
	struct ct_unit_text off = ct_prose_ns(from->guard_off_ms * UINT64_C(1000000));

	switch ((enum ct_unmeasured)from->unmeasured) {
	case CT_UNMEASURED_OFF:
		return from->duty_ms ? "COMMTRACE_DUTY is set" : "COMMTRACE_GUARD=off";
	case CT_UNMEASURED_NO_COLLECTIVES:
		return "no collectives outside CUDA graphs";
	case CT_UNMEASURED_NO_STEP:
		return "no two steps alike were seen";
	case CT_UNMEASURED_LONG:
		return ct_arena_printf(memory,
				       "steps of %s are longer than a third of a window of %s",
				       ct_prose_ns(from->step_ns).s, off.s);
	case CT_UNMEASURED_FEW:
		return ct_arena_printf(memory,
				       "too few windows of %s: %" PRIu32 " without timing, %" PRIu32
				       " with",
				       off.s, from->windows_off, from->windows_on);
	case CT_UNMEASURED_NO_REPORT:
		break;
	}
	return NULL;
}

/* When that changed, and what it did to the steps. */
static void fill_decisions(struct ct_arena *memory, const struct ct_cost_rec *from,
			   uint64_t start_ns, struct ct_report_overhead *cost)
{
	int is_known = from->windows_off && from->change_err_millionths != UINT32_MAX;

	cost->raised_ns = since(from->raised_ns, start_ns);
	cost->lowered_ns = since(from->lowered_ns, start_ns);
	cost->step_change_pct = is_known ? from->change_millionths / 1e4 : NAN;
	cost->step_change_err_pct = is_known ? from->change_err_millionths / 1e4 : NAN;
	cost->step_kind = (enum ct_step_kind)from->step_kind;
	if (!is_known && (from->raised_ns || from->timed_by == CT_TIMED_BY_EVENTS))
		cost->step_change_why = why_unmeasured(memory, from);
	cost->windows_off = from->windows_off;
	cost->windows_on = from->windows_on;
	cost->step_ns = from->step_ns ? from->step_ns : CT_UNKNOWN;
	cost->step_collectives = from->step_ns ? from->step_collectives : CT_UNKNOWN;
}

/* What older recorders did not count. */
static void fill_switches(const struct ct_cost_rec *from, struct ct_report_overhead *cost)
{
	int is_known = from->voluntary_and_1 != 0;

	cost->stacks_cpu_ns = is_known ? from->stacks_cpu_ns : CT_UNKNOWN;
	cost->counters_cpu_ns = is_known ? from->counters_cpu_ns : CT_UNKNOWN;
	cost->around_cpu_ns = is_known ? from->around_cpu_ns : CT_UNKNOWN;
	cost->voluntary = is_known ? from->voluntary_and_1 - 1 : CT_UNKNOWN;
	cost->involuntary = is_known ? from->involuntary : CT_UNKNOWN;
	cost->start_ns = from->start_ns ? from->start_ns : CT_UNKNOWN;
}

/* How long the threads ran: a job that hangs records nothing more, and its heartbeats go on. */
static double lived_ns(const struct ct_model *model, size_t p)
{
	const struct ct_process_info *info = &model->run->processes[p];
	uint64_t kept = model->processes[p].facts.beat_ns;
	uint64_t beat = info->last_beat_ns > kept ? info->last_beat_ns : kept;
	uint64_t beats = beat > info->id.start_ns ? beat - info->id.start_ns : 0;

	return (double)(beats > model->duration_ns ? beats : model->duration_ns);
}

int ct_overhead_fill(const struct ct_model *model, struct ct_report *report)
{
	size_t n = model->run->n_processes;
	double run_ns = (double)model->end_ns, lived;

	report->overhead = ct_arena_calloc(report->memory, n, sizeof(*report->overhead));
	report->overhead_pct = report->overhead_cpu_pct = report->overhead_switches_per_s = NAN;
	report->overhead_bytes = CT_UNKNOWN;
	if (!report->overhead)
		return CT_NOMEM;
	for (size_t p = 0; p < n; p++) {
		const struct ct_cost_rec *from = &model->processes[p].facts.cost;
		struct ct_report_overhead *cost = &report->overhead[report->n_overhead];

		if (!model->processes[p].read || !model->processes[p].facts.has_cost)
			continue;
		report->n_overhead++;
		cost->rank = model->slots[model->starts->processes[p].slot].rank;
		cost->wrapper_ns = from->wrapper_ns;
		cost->calls = from->calls;
		/* reported before its first block was written, and never again: what it cost is not
		 * known */
		if (!from->calls && model->processes[p].facts.ops)
			cost->wrapper_ns = cost->calls = CT_UNKNOWN;
		fill_timing(from, cost);
		fill_decisions(report->memory, from, model->run->processes[p].id.start_ns, cost);
		cost->poll_cpu_ns = from->poll_cpu_ns;
		cost->write_cpu_ns = from->write_cpu_ns;
		cost->beat_cpu_ns = from->beat_cpu_ns;
		fill_switches(from, cost);
		cost->bytes_written = from->bytes_written;
		report->overhead_bytes = (report->n_overhead > 1 ? report->overhead_bytes : 0) +
					 from->bytes_written;
		cost->wrapper_pct = cost->cpu_pct = NAN;
		if (run_ns <= 0)
			continue;
		if (cost->wrapper_ns != CT_UNKNOWN)
			cost->wrapper_pct = 100 * (double)cost->wrapper_ns / run_ns;
		lived = lived_ns(model, p);
		cost->cpu_pct = 100 *
				((double)from->poll_cpu_ns + (double)from->write_cpu_ns +
				 (double)from->beat_cpu_ns) /
				lived;
		if (cost->voluntary != CT_UNKNOWN)
			report->overhead_switches_per_s = fmax(
				report->overhead_switches_per_s,
				1e9 * (double)(cost->voluntary + cost->involuntary) / lived);
		report->overhead_pct = fmax(report->overhead_pct, cost->wrapper_pct);
		report->overhead_cpu_pct = fmax(report->overhead_cpu_pct, cost->cpu_pct);
	}
	return CT_OK;
}
