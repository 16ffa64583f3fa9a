/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/judge.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

int ct_replay_judge(struct ct_replay_judgement *j, const struct ct_model *model,
		    const struct ct_instance_log *log, const struct ct_steps *steps,
		    struct ct_tasks *tasks)
{
	int st = ct_engine_build(&j->engine, model, log, steps);

	if (st == CT_OK)
		st = ct_slow_rows_find(&j->rows, &j->engine, model);
	if (st == CT_OK && !j->engine.why_not)
		st = ct_unevenness_find(&j->engine, &j->uneven);
	return st == CT_OK ? ct_even_job_play(&j->even, &j->engine, tasks) : st;
}

void ct_replay_judgement_fini(struct ct_replay_judgement *j)
{
	ct_slow_rows_fini(&j->rows);
	ct_even_job_fini(&j->even);
	ct_engine_fini(&j->engine);
}

int ct_replay_is_off(const struct ct_replay_judgement *j)
{
	const struct ct_engine *e = &j->engine;

	if (e->recorded <= 0)
		return 0;
	return ct_engine_is_off(e) || ct_engine_is_short(e);
}

double ct_replay_unexplained(const struct ct_replay_judgement *j)
{
	/* what a few steps hold is stalls, and explains nothing */
	int is_uneven = j->uneven.ns > j->uneven.err_ns;
	double share;

	if (j->engine.why_not || j->engine.stages.n > 1)
		return 0;
	share = (is_uneven ? j->uneven.left_ns : j->uneven.wait_ns) / j->engine.played;
	return share > CT_MOST_UNEXPLAINED ? share : 0;
}

uint64_t ct_replay_of_run(const struct ct_replay_judgement *j, double ns, uint64_t duration_ns)
{
	double run = ns * j->engine.n_run / j->engine.n_steps;

	return run > 0 ? ct_round_whole(fmin(run, (double)duration_ns)) : 0;
}

double ct_replay_in_steps(const struct ct_replay_judgement *j)
{
	return j->engine.n_run ? (double)(j->engine.n_run - 1) / j->engine.n_run : 1;
}

/* Of the run: a rank's gaps lie between two measured times each, and all of these may be off the
 * same way. */
static double error_of_times(const struct ct_engine *e, const struct ct_report *report)
{
	double gaps = (double)e->schedule.n_launches / e->schedule.n_slots;
	double err = report->run.time_err_p50_ns == CT_UNKNOWN
			     ? NAN
			     : (double)report->run.time_err_p50_ns;

	return 100 * gaps * err / (double)e->schedule.total_ns;
}

CT_SORT_BY(by_rank, struct ct_report_slowdown, CT_UP(rank))

static int fill_slowdowns(const struct ct_replay_judgement *j, const struct ct_model *model,
			  struct ct_report *report)
{
	struct ct_report_whatif *to = &report->whatif;
	const struct ct_stages *g = &j->engine.stages;
	uint32_t n_slots = j->engine.schedule.n_slots;

	to->ranks = ct_arena_calloc(report->memory, (size_t)n_slots + 1, sizeof(*to->ranks));
	to->stages = ct_arena_calloc(report->memory, (size_t)g->n + 1, sizeof(*to->stages));
	if (!to->ranks || !to->stages)
		return CT_NOMEM;
	for (uint32_t slot = 0; slot < n_slots; slot++) {
		/* what communicates nothing is in no stage */
		if (j->engine.schedule.slot_first[slot] == j->engine.schedule.slot_first[slot + 1])
			continue;
		to->ranks[to->n_ranks++] = (struct ct_report_slowdown){
			.rank = model->slots[slot].rank,
			.stage = g->stage_of[slot],
			.worker = g->worker_of[slot],
			.s = j->even.s_worker[slot],
		};
	}
	qsort(to->ranks, to->n_ranks, sizeof(*to->ranks), by_rank);
	for (uint32_t stage = 0; g->n > 1 && stage < g->n; stage++)
		to->stages[to->n_stages++] = (struct ct_report_slowdown){
			.rank = -1,
			.stage = stage,
			.s = j->even.s_stage[stage],
		};
	return CT_OK;
}

/* Shares of what may be nothing are none, nor that of the worst where chance decides which ranks
 * these are. 0 or CT_NOMEM. */
static int fill_shares(const struct ct_replay_judgement *j, struct ct_report *report)
{
	struct ct_report_whatif *to = &report->whatif;
	const struct ct_even_job *even = &j->even;
	double err = fmax(even->m_worst_most - even->m_worst, even->m_worst - even->m_worst_least);

	if (isnan(even->m_worst)) {
		to->m_w_why = "S is 1 within its error: there is no excess to share out";
	} else if (err > CT_M_ERROR) {
		to->m_w_why = ct_arena_printf(report->memory,
					      "chance decides which of %u ranks are the slowest "
					      "3 %%: M_W is between %.2f and %.2f",
					      even->may_be_worst, fmax(0, even->m_worst_least),
					      even->m_worst_most);
		if (!to->m_w_why)
			return CT_NOMEM;
	} else {
		to->m_w = even->m_worst;
	}
	to->m_s = even->m_last;
	if (isnan(to->m_s))
		to->m_s_why = j->engine.stages.n > 1 ? to->m_w_why : "no pipeline was found";
	return CT_OK;
}

static void say_nothing(struct ct_report_whatif *to, const char *why)
{
	to->why_not = to->reason = to->m_w_why = to->m_s_why = why;
	to->remedy = NULL;
}

/* Where times are missing, which, and how to get them. 0 or CT_NOMEM. */
static int say_untimed(const struct ct_report *report, struct ct_report_whatif *to, const char *why)
{
	enum ct_timing timing = report->run.timing;
	const char *remedy = NULL;

	if ((timing == CT_TIMING_EVENTS || timing == CT_TIMING_PLUGIN) &&
	    report->run.timed_ratio < CT_LEAST_TIMED) {
		why = ct_arena_printf(report->memory, "only %s of the launches were timed",
				      ct_prose_pct(100 * report->run.timed_ratio).s);
		remedy = "COMMTRACE_SAMPLE=1 COMMTRACE_BUDGET=off times all";
	} else if (timing == CT_TIMING_HOST) {
		why = "only ends of operations were timed";
		remedy = report->run.timing_is_forced
				 ? "NCCL's profiler plugin, if it is loaded, times starts, too"
				 : "COMMTRACE_TIMING=events times starts, too";
	}
	say_nothing(to, why);
	if (!remedy)
		return why ? CT_OK : CT_NOMEM;
	to->remedy = remedy;
	to->why_not = to->m_w_why = to->m_s_why = ct_arena_printf(report->memory, "%s; %s", why,
								  remedy);
	return why && to->why_not ? CT_OK : CT_NOMEM;
}

int ct_replay_fill(const struct ct_replay_judgement *j, const struct ct_model *model,
		   struct ct_report *report)
{
	struct ct_report_whatif *to = &report->whatif;
	const struct ct_engine *e = &j->engine;

	*to = (struct ct_report_whatif){ .s = NAN,
					 .s_err = NAN,
					 .m_w = NAN,
					 .m_s = NAN,
					 .uneven_pct = NAN,
					 .free_gain_pct = NAN,
					 .balance_ratio = NAN };
	if (e->why_not)
		return say_untimed(report, to, e->why_not);
	if (e->has_graphs) {
		say_nothing(to, "CUDA graphs compute and communicate in one span");
		return CT_OK;
	}
	to->uneven_pct = fmax(0, 100 * j->uneven.ns / e->played);
	to->free_gain_pct = 100 * (1 - (double)e->free_ns / (double)e->all_ns);
	to->error_pct = 100 * fabs(e->played / e->recorded - 1) + error_of_times(e, report);
	to->is_contradicted = to->free_gain_pct + to->error_pct < 0;
	if (to->is_contradicted) {
		to->free_gain_pct = NAN;
		say_nothing(to, "played without communication it would take longer: its times "
				"contradict each other");
		return CT_OK;
	}
	if (ct_replay_unexplained(j) > 0 && !j->rows.n) {
		say_nothing(to, "ranks wait for each other, and what they wait for is not known");
		return CT_OK;
	}
	if (j->even.s < CT_LEAST_S) {
		say_nothing(to,
			    "a balanced job would take longer: the times contradict each other");
		return CT_OK;
	}
	if (isnan(j->even.s)) {
		say_nothing(to,
			    e->under_messages > CT_HARDLY_ANY
				    ? "ranks compute while messages are under way: which of "
				      "these they wait for is not known"
				    : "operations of the pipeline lack members, or take another "
				      "time when played again");
		return CT_OK;
	}
	to->s = j->even.s;
	to->s_err = j->even.s_err;
	to->balance_ratio = 1 / j->even.s;
	if (fill_shares(j, report) != CT_OK)
		return CT_NOMEM;
	return fill_slowdowns(j, model, report);
}
