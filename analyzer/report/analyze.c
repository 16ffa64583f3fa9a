/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/analyze.h"

#include <stdlib.h>

#include "analyzer/base/arena.h"
#include "analyzer/charts/sizes.h"
#include "analyzer/charts/step_gaps.h"
#include "analyzer/clock/collect.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/choose.h"
#include "analyzer/findings/finding_list.h"
#include "analyzer/findings/overhead_finding.h"
#include "analyzer/findings/score.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/lateness/replay/judge.h"
#include "analyzer/lateness/weigh.h"
#include "analyzer/link/links.h"
#include "analyzer/link/peaks.h"
#include "analyzer/link/transport.h"
#include "analyzer/overlap/study.h"
#include "analyzer/report/clocks_fill.h"
#include "analyzer/report/fill.h"
#include "analyzer/steps/roles.h"
#include "analyzer/stream/stream.h"

/* What the steps work on, so that there is one place to clean up. */
struct analysis {
	struct ct_attempts attempts;
	struct ct_clocks *clocks; /* NULL: one host */
	struct ct_pass pass;
	struct ct_pass second; /* a reading for a set of ranks */
	struct ct_charge *charges;
	uint8_t *in_set;
	struct ct_set_result set; /* of those */
	struct ct_links links;
	struct ct_findings findings;
	struct ct_cycles cycles;
	struct ct_hits hits;
	struct ct_whatif whatif;
	struct ct_report *report;
};

/* How fast the links are, and what slow ones cost. */
static int judge_links(struct analysis *a)
{
	int st = ct_links_measure(&a->pass, &a->links);

	if (st == CT_OK)
		st = ct_curves_fill(&a->links, &a->pass, a->report);
	if (st == CT_OK)
		st = ct_links_fill(&a->links, &a->pass, a->report);
	return st == CT_OK ? ct_links_find(&a->links, &a->pass, a->report, &a->findings) : st;
}

/* Communication against computing. Ranks stand by seat. */
static int judge_overlap(struct analysis *a)
{
	int st = ct_overlap_study(&a->pass, a->cycles.cut_ns, a->cycles.n, a->report, &a->findings);

	return st == CT_OK ? ct_finding_tracer_cost(a->report, &a->findings) : st;
}

/* Up to here ranks stood by seat; who is unknown comes last. */
static int by_rank(const void *a, const void *b)
{
	const struct ct_report_rank *x = a, *y = b;

	if (x->rank != y->rank)
		return (unsigned)x->rank < (unsigned)y->rank ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

/* Cycles, and what counts as one more piece of evidence. */
static int find_cycles(struct analysis *a, const struct ct_analyze_options *options,
		       struct ct_err *err)
{
	const char *wanted = options ? options->cycle_anchor : NULL;
	int st = ct_cycles_find(&a->pass, wanted, a->report->memory, &a->cycles);

	if (st == CT_NOTFOUND)
		return ct_fail(err, st, "operations are: %s", a->cycles.why);
	if (st == CT_OK)
		ct_verdict_rounds(&a->pass, a->cycles.cut_ns, a->cycles.n);
	if (st == CT_OK)
		st = ct_oversubscribed_find(&a->pass, &a->pass.oversubscribed);
	return st == CT_OK ? ct_hits_collect(&a->pass, &a->cycles, NULL, &a->hits) : st;
}

/* What each rank is charged with by cycles. */
static void add_hits(const struct ct_hits *hits, struct ct_charge *charges)
{
	double share = ct_hits_share(hits);

	for (uint32_t k = 0; k < hits->n && share > 0; k++)
		charges[hits->all[k].seat]
			.by_cycles_ns += (uint64_t)((double)hits->all[k].charged_ns / share);
}

static int look_at_cycles(struct analysis *a)
{
	const struct ct_time_structure t = { &a->pass, &a->cycles, &a->hits, &a->findings };
	int st = ct_cycles_fill(&a->pass, &a->cycles, &a->hits, a->report);

	if (st == CT_OK)
		st = ct_roles_fill(&a->pass, &a->cycles, &a->hits, a->report);
	return st == CT_OK ? ct_time_structure(&t) : st;
}

static int choose_verdict(struct analysis *a)
{
	const struct ct_judgement j = { &a->pass, a->charges, &a->cycles, &a->hits, &a->set };

	return ct_verdict_fill(&j, &a->findings, a->report);
}

/* Weigh every rank, and the set that looks slow together if there is one. */
static int judge(struct analysis *a, const struct ct_analyze_options *options, struct ct_err *err)
{
	struct ct_set_result *set = &a->set;
	int size, st;

	a->charges = calloc(a->pass.n_seats + 1, sizeof(*a->charges));
	a->in_set = calloc(a->pass.n_seats + 1, 1);
	if (!a->charges || !a->in_set)
		return CT_NOMEM;
	st = find_cycles(a, options, err);
	if (st != CT_OK)
		return st;
	size = ct_blame_propose_set(&a->pass.blame, a->pass.duration_ns, a->in_set);
	if (size < 0)
		return size;
	a->attempts.closed = 1;
	if (size > 1) {
		st = ct_pass_run(&a->second, a->pass.run, &a->attempts, a->pass.attempt, a->in_set,
				 options, err);
		if (st != CT_OK)
			return st;
		*set = (struct ct_set_result){ .in_set = a->in_set,
					       .size = (uint32_t)size,
					       .blame = &a->second.blame };
	}
	st = ct_verdict_weigh(&a->pass, a->charges);
	add_hits(&a->hits, a->charges);
	if (st == CT_OK)
		st = ct_whatif_judge(&a->whatif, &a->pass, a->charges);
	if (st == CT_OK)
		st = ct_whatif_weigh(&a->whatif, &a->pass, a->charges, set);
	if (st == CT_OK)
		st = ct_verdict_collect(&a->pass, a->charges, set, a->report, &a->findings);
	if (st == CT_OK)
		st = ct_whatif_findings(&a->whatif, &a->pass, &a->findings);
	ct_whatif_fill(&a->whatif, a->report);
	if (st == CT_OK)
		st = look_at_cycles(a);
	if (st == CT_OK)
		st = ct_heat_fill_cycles(&a->pass, &a->cycles, a->report);
	if (st == CT_OK)
		st = judge_overlap(a);
	if (st == CT_OK)
		st = ct_findings_advise(&a->findings, a->report);
	if (st == CT_OK)
		st = choose_verdict(a);
	qsort(a->report->ranks, a->report->n_ranks, sizeof(*a->report->ranks), by_rank);
	return st;
}

static int analyze(struct analysis *a, const struct ct_run *run,
		   const struct ct_analyze_options *options, struct ct_err *err)
{
	int attempt = options ? options->attempt : -1;
	int st = ct_attempts_find(run, &a->attempts);

	if (st != CT_OK)
		return st;
	if (attempt >= a->attempts.n_attempts)
		return ct_fail(err, CT_NOTFOUND, "attempt %d: the run has %d", attempt,
			       a->attempts.n_attempts);
	if (attempt < 0)
		attempt = a->attempts.n_attempts - 1;
	a->report = calloc(1, sizeof(*a->report));
	if (!a->report)
		return CT_NOMEM;
	a->report->memory = ct_arena_new();
	if (!a->report->memory)
		return CT_NOMEM;
	a->findings.memory = a->report->memory;
	st = ct_clocks_of_run(run, &a->attempts, attempt, options, &a->clocks, err);
	a->attempts.clocks = a->clocks;
	if (st == CT_OK)
		st = ct_pass_run(&a->pass, run, &a->attempts, attempt, NULL, options, err);
	if (st == CT_OK)
		st = ct_fill_trace(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_fill_job(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_fill_clocks(&a->pass, &a->findings, a->report);
	if (st == CT_OK)
		ct_fill_timing(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_fill_overlap(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_heat_fill_waits(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_transport_fill(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_peaks_fill(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_histogram_fill(&a->pass, a->report);
	if (st == CT_OK)
		st = ct_transport_link_errors(&a->pass, a->report, &a->findings);
	if (st == CT_OK)
		st = ct_transport_socket_fallback(&a->pass, a->report, &a->findings);
	if (st == CT_OK)
		st = judge_links(a);
	if (st == CT_OK)
		st = judge(a, options, err);
	if (st == CT_OK)
		st = ct_traffic_fill(&a->pass, &a->links.transfers, a->report);
	return st == CT_OK ? ct_score_fill(&a->links, a->report->whatif.balance_ratio, a->report)
			   : st;
}

int ct_analyze(const struct ct_run *run, const struct ct_analyze_options *options,
	       struct ct_report **report, struct ct_err *err)
{
	struct analysis *a = calloc(1, sizeof(*a));
	int st = a ? analyze(a, run, options, err) : CT_NOMEM;

	*report = NULL;
	if (st == CT_OK) {
		*report = a->report;
	} else {
		if (a)
			ct_report_free(a->report);
		if (st == CT_NOMEM)
			ct_fail(err, st, "%s", ct_status_text(st));
	}
	if (a) {
		ct_pass_fini(&a->pass);
		ct_pass_fini(&a->second);
		ct_attempts_fini(&a->attempts);
		ct_links_fini(&a->links);
		ct_whatif_fini(&a->whatif);
		ct_clocks_free(a->clocks);
		ct_findings_fini(&a->findings);
		ct_cycles_fini(&a->cycles);
		ct_hits_fini(&a->hits);
		free(a->charges);
		free(a->in_set);
	}
	free(a);
	return st;
}
