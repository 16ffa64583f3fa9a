/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/analyze.h"

#include <stdlib.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/tasks.h"
#include "analyzer/charts/curves.h"
#include "analyzer/charts/heat.h"
#include "analyzer/charts/step_gaps.h"
#include "analyzer/clock/collect.h"
#include "analyzer/findings/advice.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/choose.h"
#include "analyzer/findings/dropped_finding.h"
#include "analyzer/findings/environment_finding.h"
#include "analyzer/findings/link_findings.h"
#include "analyzer/findings/order_findings.h"
#include "analyzer/findings/overhead_finding.h"
#include "analyzer/findings/overlap_findings.h"
#include "analyzer/findings/score.h"
#include "analyzer/findings/slow_row_findings.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/findings/transport_findings.h"
#include "analyzer/hang/hang.h"
#include "analyzer/lateness/arrivals.h"
#include "analyzer/lateness/late_or_slow.h"
#include "analyzer/lateness/oversubscribed.h"
#include "analyzer/lateness/replay/judge.h"
#include "analyzer/link/links.h"
#include "analyzer/link/peaks.h"
#include "analyzer/link/traffic/traffic.h"
#include "analyzer/link/transport.h"
#include "analyzer/model/model.h"
#include "analyzer/overlap/study.h"
#include "analyzer/report/clocks_fill.h"
#include "analyzer/report/fill.h"
#include "analyzer/report/window.h"
#include "analyzer/steps/roles.h"
#include "analyzer/steps/step_log.h"
#include "analyzer/steps/throughput.h"
#include "analyzer/stream/instance_log.h"
#include "analyzer/stream/stream.h"

/* What observes the reading, in this order: the last one finds the model complete. */
enum {
	LOG,
	STEP_LOG,
	THROUGHPUT,
	OVERLAP,
	TRAFFIC,
	ARRIVALS,
	LATE_OR_SLOW,
	HEAT,
	HANG,
	CALLER,
	N_OBSERVERS
};

/* The long computations after reading. They share only data that is no longer changed, so other
 * threads run them. The longest comes first. */
enum { REPLAY, BLAME, LINKS, N_BESIDE };

/* Each step and its state, so that one function cleans up. */
struct analysis {
	const struct ct_analyze_options *options;
	struct ct_tasks *tasks; /* NULL: no other thread */
	/* The reading that only finds the steps, if some are to be skipped: `steps` borrows from
	 * it. */
	struct ct_stream first_stream;
	struct ct_step_log first_log;
	struct ct_task beside[N_BESIDE];
	uint8_t is_begun[N_BESIDE];
	struct ct_starts starts;
	struct ct_window window;  /* all zero: the whole run */
	int is_thinned;		  /* operations of the earlier part were left out of the files */
	struct ct_clocks *clocks; /* NULL: one host */
	struct ct_stream stream;
	struct ct_instance_log log;
	struct ct_step_log step_log;
	struct ct_throughput throughput;
	struct ct_overlap_log overlap;
	struct ct_traffic traffic;
	struct ct_arrivals arrivals;
	struct ct_late_or_slow late_or_slow;
	struct ct_oversubscribed oversubscribed;
	struct ct_heat heat;
	struct ct_hang_run *hang;   /* NULL: tails did not report ... */
	struct ct_gather *hang_log; /* ... and the reading has to */
	struct ct_links links;
	struct ct_steps steps;
	struct ct_in_steps *in_steps; /* by slot */
	struct ct_step_blame blame;
	struct ct_replay_judgement replay;
	struct ct_study study;
	struct ct_findings findings;
	struct ct_report *report;
};

/* ---- readings ---- */

static int find_steps_in(struct analysis *a, const struct ct_model *model,
			 const struct ct_instance_log *log, const struct ct_step_log *step_log,
			 struct ct_err *err)
{
	int st = ct_steps_find(model, log, step_log, a->options->step_anchor, a->report->memory,
			       &a->steps);

	return st == CT_NOTFOUND ? ct_fail(err, st, "operations that do: %s", a->steps.why) : st;
}

static struct ct_stream_options stream_options(const struct analysis *a)
{
	return (struct ct_stream_options){
		.tasks = a->tasks,
		.boot_id = a->options->boot_id,
		.from = a->window.from,
		.progress = a->options->progress,
		.progress_arg = a->options->progress_arg,
	};
}

/* size: of a process, on average. In smaller files the pass for marks (tails.h) took more than was
 * saved. */
#define TAILS_FROM_BYTES (1u << 19)

static int has_tails(const struct ct_run *run)
{
	uint64_t bytes = 0;

	for (size_t p = 0; p < run->n_processes; p++)
		bytes += run->processes[p].segment_bytes;
	return bytes >= run->n_processes * (uint64_t)TAILS_FROM_BYTES;
}

/* A hang is at the end of the files: mostly little has to be read twice for it. What cannot be read
 * now is left to the reading. */
static int read_tails(struct analysis *a, const struct ct_run *run, int restart)
{
	struct ct_err err = { .text = "" };
	int st = CT_OK;

	if (has_tails(run) || a->is_thinned)
		st = ct_hang_of_tails(run, &a->starts, restart, NULL, a->report->memory, &a->hang,
				      &err);
	if (st != CT_NOMEM && !a->hang && !a->is_thinned) {
		a->hang_log = ct_hang_log_new(NULL, a->report->memory);
		st = a->hang_log ? CT_OK : CT_NOMEM;
	}
	return st == CT_NOMEM ? st : CT_OK;
}

static int read_clocks(struct analysis *a, const struct ct_run *run, int restart,
		       struct ct_err *err)
{
	const struct ct_stream_options options = stream_options(a);
	int st = ct_clocks_of_run(run, &a->starts, restart, &options, &a->clocks, err);

	a->starts.clocks = a->clocks;
	return st;
}

/* There are steps behind those that are to be skipped? */
static int skip_steps(struct analysis *a, struct ct_err *err)
{
	if (!a->steps.n)
		return ct_fail(err, CT_RANGE, "no steps found: %s", a->steps.why);
	if (a->options->skip_steps >= a->steps.n)
		return ct_fail(err, CT_RANGE, "the run has %u steps", a->steps.n);
	ct_steps_skip(&a->steps, a->options->skip_steps);
	return CT_OK;
}

/* Steps are known once all is read, and what is summed up while reading depends on where the
 * skipped ones end. */
static int read_steps(struct analysis *a, const struct ct_run *run, int restart, struct ct_err *err)
{
	struct ct_observer observers[2] = { 0 };
	struct ct_stream_options options = stream_options(a);
	struct ct_instance_log log;
	int st;

	options.observers = observers;
	options.n_observers = 2;
	ct_instance_log_init(&log, 0);
	ct_instance_log_observe(&log, &observers[0]);
	ct_step_log_observe(&a->first_log, &observers[1]);
	st = ct_stream_run(&a->first_stream, run, &a->starts, restart, &options, err);
	st = st ?: find_steps_in(a, &a->first_stream.model, &log, &a->first_log, err);
	ct_instance_log_fini(&log);
	return st == CT_OK ? skip_steps(a, err) : st;
}

static int read_run(struct analysis *a, const struct ct_run *run, int restart, struct ct_err *err)
{
	struct ct_observer observers[N_OBSERVERS] = { 0 };
	struct ct_stream_options options = stream_options(a);

	options.observers = observers;
	options.n_observers = a->options->observer ? N_OBSERVERS : CALLER;
	options.from_ns = a->options->skip_steps ? a->steps.cut_ns[0] : a->window.from_ns;
	ct_instance_log_init(&a->log, 0);
	a->overlap.sample = &a->log.sample;
	a->overlap.each = a->options->exposure;
	a->overlap.each_arg = a->options->exposure_arg;
	ct_instance_log_observe(&a->log, &observers[LOG]);
	ct_step_log_observe(&a->step_log, &observers[STEP_LOG]);
	a->throughput.skip = a->options->skip_steps;
	ct_throughput_observe(&a->throughput, &observers[THROUGHPUT]);
	ct_overlap_observe(&a->overlap, &observers[OVERLAP]);
	ct_traffic_observe(&a->traffic, &observers[TRAFFIC]);
	ct_arrivals_observe(&a->arrivals, &observers[ARRIVALS]);
	ct_late_or_slow_observe(&a->late_or_slow, &observers[LATE_OR_SLOW]);
	ct_heat_observe(&a->heat, &observers[HEAT]);
	if (a->hang_log)
		ct_hang_observe(a->hang_log, &observers[HANG]);
	observers[HANG].gets_all = 1;
	if (a->options->observer)
		observers[CALLER] = *a->options->observer;
	return ct_stream_run(&a->stream, run, &a->starts, restart, &options, err);
}

/* ---- beside the rest ---- */

static int judge_replay(void *arg)
{
	struct analysis *a = arg;

	return ct_replay_judge(&a->replay, &a->stream.model, &a->log, &a->steps, a->tasks);
}

static int collect_blame(void *arg)
{
	struct analysis *a = arg;

	return ct_step_blame_collect(&a->stream.model, &a->log, &a->steps, NULL, &a->blame);
}

static int measure_links(void *arg)
{
	struct analysis *a = arg;

	return ct_links_measure(&a->stream.model, &a->log, &a->links);
}

/* Once there are steps. */
static void begin_beside(struct analysis *a)
{
	int (*const run[N_BESIDE])(void *arg) = {
		[REPLAY] = judge_replay, [BLAME] = collect_blame, [LINKS] = measure_links
	};

	for (int i = 0; i < N_BESIDE; i++) {
		a->beside[i] = (struct ct_task){ .run = run[i], .arg = a };
		a->is_begun[i] = 1;
		ct_task_begin(a->tasks, &a->beside[i]);
	}
}

/* Its result is needed now. */
static int end_beside(struct analysis *a, int which)
{
	a->is_begun[which] = 0;
	return ct_task_end(a->tasks, &a->beside[which]);
}

/* Those whose results a failure has made useless. */
static void give_up_beside(struct analysis *a)
{
	for (int i = 0; i < N_BESIDE; i++) {
		if (a->is_begun[i] && !ct_task_cancel(a->tasks, &a->beside[i]))
			end_beside(a, i);
	}
}

/* ---- what it comes to ---- */

/* How fast the links are, and what slow ones cost. */
static int judge_links(struct analysis *a)
{
	const struct ct_model *model = &a->stream.model;
	int st = end_beside(a, LINKS);

	st = st ?: ct_curves_fill(&a->links, model, a->report);
	st = st ?: ct_links_fill(&a->links, model, a->report);
	return st == CT_OK ? ct_links_find(&a->links, model, a->report, &a->findings) : st;
}

/* What `hang` says of it, if anything. What cannot be read again leaves it unsaid. */
static int judge_hang(struct analysis *a)
{
	struct ct_err err = { .text = "" };
	int st = a->hang_log ? ct_hang_judge(a->hang_log, &a->hang, &err) : CT_OK;

	if (st == CT_OK && a->is_thinned && !a->hang && !a->options->last_ns)
		a->report->run
			.hang_why = "what a verdict needs was left out of the parts of the run";
	if (st == CT_OK && a->hang && a->hang->result->n_verdicts)
		a->report->hang = a->hang;
	return st == CT_NOMEM ? st : CT_OK;
}

/* Communication against compute. Ranks are indexed by slot. */
static int study_overlap(struct analysis *a)
{
	a->study = (struct ct_study){
		.model = &a->stream.model,
		.log = &a->log,
		.exposures = &a->overlap.exposures,
		.overlap = a->overlap.overlap,
		.report = a->report,
	};
	return ct_overlap_study(&a->study, a->steps.cut_ns, a->steps.n);
}

static int judge_overlap(struct analysis *a)
{
	int st = ct_study_find(&a->study, &a->findings);

	st = st ?: ct_study_buckets(&a->study, &a->findings);
	ct_finding_tracer_overhead(a->report, &a->findings);
	return st;
}

/* Up to here ranks were indexed by slot; unknown ranks sort last. */
CT_SORT_BY(by_rank, struct ct_report_rank,
	   CT_CMP((unsigned)x->rank, (unsigned)y->rank) ?: CT_UP(pid) ?: CT_UP(device))

/* Those behind the skipped ones are known; all that is new is which of them the log has. */
static int find_steps(struct analysis *a, struct ct_err *err)
{
	const struct ct_model *model = &a->stream.model;
	int st = a->options->skip_steps ? ct_steps_keep(&a->steps, &a->log)
					: find_steps_in(a, model, &a->log, &a->step_log, err);

	if (st != CT_OK)
		return st;
	a->report->step_time = a->findings.step_time = ct_step_time_of(&a->steps, model);
	a->in_steps = ct_in_steps_find(&a->log, &a->report->step_time, model);
	return a->in_steps ? ct_oversubscribed_find(model, &a->oversubscribed) : CT_NOMEM;
}

/* Step by step. */
static int fill_steps(struct analysis *a)
{
	const struct ct_model *model = &a->stream.model;
	int st = end_beside(a, BLAME);

	st = st ?: ct_steps_fill(model, &a->steps, &a->blame, a->report);
	ct_throughput_fill(&a->throughput, a->report);
	st = st ?: ct_roles_fill(model, &a->log, &a->steps, a->report);
	st = st ?: ct_heat_fill_steps(model, &a->overlap.exposures, &a->log, &a->steps, a->report);
	return st == CT_OK ? study_overlap(a) : st;
}

static int look_at_steps(struct analysis *a)
{
	const struct ct_time_structure t = { &a->stream.model, &a->log, &a->steps, &a->blame,
					     &a->findings };

	return ct_time_structure(&t);
}

static int choose_verdict(struct analysis *a)
{
	const struct ct_judgement j = {
		&a->stream.model, &a->arrivals, &a->late_or_slow, &a->oversubscribed,
		&a->steps,	  &a->blame,	&a->replay,	  a->in_steps,
	};

	return ct_verdict_fill(&j, &a->findings, a->report);
}

static int judge_lateness(struct analysis *a)
{
	const struct ct_model *model = &a->stream.model;
	int st = end_beside(a, REPLAY);

	st = st ?: ct_replay_fill(&a->replay, model, a->report);
	return st == CT_OK
		       ? ct_slow_row_findings(&a->replay, model, &a->stream.order.sites,
					      &a->report->whatif, &a->oversubscribed, &a->findings)
		       : st;
}

/* What contradicts other findings or takes away from them. */
static int judge_records(struct analysis *a)
{
	const struct ct_model *model = &a->stream.model;
	int st = CT_OK;

	if (!a->window.from)
		st = ct_order_findings(model, &a->stream.order, &a->findings);
	else if (!a->options->last_ns)
		st = ct_order_contradictions(model, &a->stream.order, &a->findings);

	ct_finding_dropped_records(model, a->report, &a->findings);
	ct_finding_environment(a->report, &a->findings);
	return st;
}

static int judge_run(struct analysis *a)
{
	int st = judge_records(a);

	if (a->is_thinned)
		a->report->run.left_out_ns = a->stream.model.from_ns;
	st = st ?: judge_lateness(a);
	st = st ?: look_at_steps(a);
	st = st ?: judge_overlap(a);
	if (st == CT_OK) {
		ct_advice_find(a->report, &a->findings);
		ct_findings_advise(&a->findings, a->report);
		st = choose_verdict(a);
	}
	qsort(a->report->ranks, a->report->n_ranks, sizeof(*a->report->ranks), by_rank);
	return st;
}

/* The tables that need no judgement. */
static int fill(struct analysis *a)
{
	const struct ct_model *model = &a->stream.model;
	struct ct_report *report = a->report;
	int st = ct_fill_trace(model, report);

	if (a->options->run)
		report->run.words = ct_arena_printf(report->memory, "%s", a->options->run);
	st = st ?: ct_fill_job(model, &a->stream.order, report);
	if (st == CT_OK)
		ct_fill_shares(model, a->in_steps, report);
	st = st ?: ct_fill_clocks(model, &a->findings, report);
	st = st ?: ct_fill_timing(model, report);
	st = st ?: ct_fill_overlap(model, a->overlap.overlap, report);
	st = st ?: ct_heat_fill_waits(model, &a->heat, report);
	st = st ?: ct_transport_fill(model, report);
	st = st ?: ct_peaks_fill(model, a->options->expect, report);
	st = st ?: ct_transport_link_errors(model, report, &a->findings);
	return st == CT_OK ? ct_transport_socket_fallback(model, report, &a->findings) : st;
}

/* The findings in the order in which they are made, the replay as late as it can be waited for. */
static int conclude(struct analysis *a)
{
	int st = fill(a);

	st = st ?: judge_hang(a);
	st = st ?: judge_links(a);
	st = st ?: fill_steps(a);
	st = st ?: judge_run(a);
	st = st ?: ct_traffic_fill(&a->stream.model, &a->traffic, &a->links.transfers, a->report);
	return st == CT_OK ? ct_score_fill(&a->links, a->report->whatif.balance_ratio, a->report)
			   : st;
}

static int analyze(struct analysis *a, const struct ct_run *run, struct ct_err *err)
{
	int restart = a->options->restart;
	int st = ct_starts_find(run, &a->starts);

	if (st != CT_OK)
		return st;
	if (restart >= a->starts.n_starts)
		return ct_fail(err, CT_NOTFOUND, "restart %d: the run has %d starts", restart,
			       a->starts.n_starts);
	if (restart < 0)
		restart = a->starts.n_starts - 1;
	a->report = calloc(1, sizeof(*a->report));
	if (!a->report)
		return CT_NOMEM;
	a->report->memory = ct_arena_new();
	if (!a->report->memory)
		return CT_NOMEM;
	a->findings.memory = a->report->memory;
	a->is_thinned = ct_starts_thinned(run, &a->starts, restart);
	if (a->is_thinned && a->options->skip_steps)
		return ct_fail(err, CT_RANGE, "the parts of the run have only its end on record");
	st = CT_OK;
	if (a->options->last_ns || a->is_thinned)
		st = ct_window_find(run, &a->starts, restart, a->options->last_ns, &a->window, err);
	if (st == CT_OK && !a->options->last_ns)
		st = read_tails(a, run, restart);
	st = st ?: read_clocks(a, run, restart, err);
	if (st == CT_OK && a->options->skip_steps)
		st = read_steps(a, run, restart, err);
	st = st ?: read_run(a, run, restart, err);
	st = st ?: find_steps(a, err);
	if (st != CT_OK)
		return st;
	begin_beside(a);
	st = conclude(a);
	give_up_beside(a);
	return st;
}

static void fini(struct analysis *a)
{
	ct_study_fini(&a->study);
	ct_replay_judgement_fini(&a->replay);
	ct_step_blame_fini(&a->blame);
	free(a->in_steps);
	ct_steps_fini(&a->steps);
	ct_links_fini(&a->links);
	ct_findings_fini(&a->findings);
	ct_hang_log_free(a->hang_log);
	ct_heat_fini(&a->heat);
	ct_arrivals_fini(&a->arrivals);
	ct_union_fini(&a->late_or_slow.spans);
	ct_traffic_fini(&a->traffic);
	ct_overlap_log_fini(&a->overlap);
	ct_throughput_fini(&a->throughput);
	ct_step_log_fini(&a->step_log);
	ct_instance_log_fini(&a->log);
	ct_stream_fini(&a->stream);
	ct_step_log_fini(&a->first_log);
	ct_stream_fini(&a->first_stream);
	ct_window_fini(&a->window);
	ct_starts_fini(&a->starts);
	ct_clocks_free(a->clocks);
	ct_tasks_free(a->tasks);
}

/* Was any text of the report, or a name that it borrows, not created for lack of memory? */
static int lacked_memory(const struct analysis *a)
{
	const struct ct_model *model = &a->stream.model;

	return ct_arena_failed(a->report->memory) || ct_arena_failed(model->memory) ||
	       ct_arena_failed(model->names.memory) || ct_arena_failed(model->comms.memory);
}

static int analyze_by(unsigned threads, const struct ct_run *run,
		      const struct ct_analyze_options *options, struct ct_report **report,
		      struct ct_err *err)
{
	struct analysis *a = calloc(1, sizeof(*a));
	int st = CT_NOMEM;

	if (a) {
		a->options = options;
		a->tasks = ct_tasks_new(threads);
		st = analyze(a, run, err);
	}
	if (st == CT_OK && lacked_memory(a))
		st = CT_NOMEM;
	*report = st == CT_OK ? a->report : NULL;
	if (a && st != CT_OK)
		ct_report_free(a->report);
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	if (a)
		fini(a);
	free(a);
	return st;
}

int ct_analyze(const struct ct_run *run, const struct ct_analyze_options *options,
	       struct ct_report **report, struct ct_err *err)
{
	static const struct ct_analyze_options defaults = CT_ANALYZE_DEFAULTS;
	int st;

	if (!options)
		options = &defaults;
	st = analyze_by(options->threads, run, options, report, err);
	/* Each thread takes address space for a stack and a heap: where that is limited, one alone
	 * may have enough. What an observer has heard cannot be taken back. */
	if (st == CT_NOMEM && options->threads > 1 && !options->observer && !options->exposure)
		st = analyze_by(1, run, options, report, err);
	return st;
}
