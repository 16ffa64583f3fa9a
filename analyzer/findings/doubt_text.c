/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/gain.h"
#include "analyzer/findings/headline.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/lateness/arrivals.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

uint64_t ct_most_exposed(const struct ct_model *model)
{
	uint64_t most = 0;

	for (uint32_t s = 0; s < model->n_slots; s++) {
		const struct ct_exposed *sum = &model->slots[s].exposed;

		if (!sum->is_known)
			return UINT64_MAX;
		most = sum->exposed_ns + sum->err_ns > most ? sum->exposed_ns + sum->err_ns : most;
	}
	return most;
}

uint64_t ct_most_gained(const struct ct_model *model, const uint32_t *slots, uint32_t n)
{
	uint64_t most = ct_most_exposed(model), sum = 0;

	if (most == UINT64_MAX)
		return most;
	for (uint32_t k = 0; k < n && sum < most; k++) {
		const struct ct_exposed *own = &model->slots[slots[k]].exposed;

		sum += most + own->err_ns > own->exposed_ns ? most + own->err_ns - own->exposed_ns
							    : 0;
	}
	return sum < most ? sum : most;
}

/* ---- what is not there ---- */

/* Ranks of which records are missing, sorted. */
static const char *ranks_with_losses(const struct ct_report *report)
{
	int *ranks = ct_arena_calloc(report->memory, report->n_dropped + 1, sizeof(*ranks));
	size_t n = 0;

	for (size_t i = 0; ranks && i < report->n_dropped; i++) {
		size_t known = 0;

		if (!report->dropped[i].is_loss_of_records)
			continue;
		while (known < n && ranks[known] != report->dropped[i].rank)
			known++;
		if (known == n)
			ranks[n++] = report->dropped[i].rank;
	}
	if (!n)
		return "";
	return ct_arena_printf(report->memory, "records of rank%s %s are missing",
			       n == 1 ? "" : "s", ct_ranks_text(report->memory, ranks, n, 4));
}

const char *ct_lacking_text(const struct ct_model *model, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	double all = (double)model->matched + (double)model->messages + (double)model->incomplete;
	const char *lost;

	if (run->n_missing)
		return ct_arena_printf(report->memory, "only %llu of %llu ranks left a trace",
				       (unsigned long long)run->ranks_seen,
				       (unsigned long long)run->ranks_expected);
	if ((double)model->incomplete < CT_A_FEW * all || !model->incomplete)
		return "";
	lost = ranks_with_losses(report);
	return *lost ? lost
		     : ct_arena_printf(report->memory, "%s of %s operations lack members",
				       ct_text_count(model->incomplete).s,
				       ct_text_count((uint64_t)all).s);
}

const char *ct_remedy_text(const struct ct_report *report)
{
	const struct ct_report_dropped *most = NULL;

	for (size_t i = 0; i < report->n_dropped; i++) {
		const struct ct_report_dropped *loss = &report->dropped[i];

		if (loss->remedy && (!most || loss->records > most->records))
			most = loss;
	}
	return most ? most->remedy : NULL;
}

const char *ct_advice_on_lacking(const struct ct_report *report)
{
	const char *remedy = ct_remedy_text(report);

	return remedy && !report->run.n_missing ? remedy
						: "bring the files of all hosts: commtrace collect";
}

/* The whole job is one rank, as far as it is known. */
static int is_alone(const struct ct_model *model, const struct ct_report *report)
{
	return model->n_slots == 1 && report->run.ranks_expected == 1;
}

static const char *what_is_missing(const struct ct_model *model, const struct ct_report *report,
				   const char *lacks)
{
	struct ct_arena *memory = report->memory;
	unsigned long long matched = model->matched, lost = ct_model_order_lost(model);

	if (model->ops == 0)
		return "no communication was recorded";
	if (lost)
		return ct_arena_printf(memory,
				       "%llu operations in CUDA graphs or their launches could not "
				       "be followed, so operations of the ranks cannot be matched",
				       lost);
	if (model->matched >= CT_LEAST_SAMPLES)
		return "";
	if (is_alone(model, report))
		return "one rank only: there is no peer to wait for";
	if (report->run.timing == CT_TIMING_HOST && model->matched == 0 && model->time_err.n == 0)
		return "only the ends of operations were timed";
	if (report->run.timing_why && report->run.timing == CT_TIMING_OFF)
		return ct_arena_printf(memory, "nothing was timed (%s)", report->run.timing_why);
	if (report->run.ranks_untimed)
		return ct_arena_printf(memory,
				       "%llu of %llu ranks were not timed (timing off), so too few "
				       "operations have times on every rank",
				       (unsigned long long)report->run.ranks_untimed,
				       (unsigned long long)report->run.ranks_seen);
	if (*lacks)
		return ct_arena_printf(memory, "%s, so too few operations are complete", lacks);
	if (model->n_slots == 1)
		return "one rank only: there is no peer to wait for";
	if (report->whatif.remedy)
		return report->whatif.reason;
	if (model->messages > model->matched && !model->matched)
		return "only point-to-point messages: this version judges no rank by those";
	if (model->messages > model->matched)
		return ct_arena_printf(
			memory,
			"only %llu collectives with times on every rank, at least %u are needed; "
			"this version judges no rank by point-to-point messages",
			matched, CT_LEAST_SAMPLES);
	return ct_arena_printf(
		memory, "only %llu operations with times on every rank, at least %u are needed",
		matched, CT_LEAST_SAMPLES);
}

const char *ct_missing_text(const struct ct_model *model, const struct ct_report *report)
{
	const char *text = what_is_missing(model, report, ct_lacking_text(model, report));
	const char *vain = ct_gain_why_not(report);

	return !*text && vain ? vain : text;
}

const char *ct_advice_on_missing(const struct ct_model *model, const struct ct_report *report)
{
	enum ct_timing timing = report->run.timing;

	if (!model->ops)
		return "find out why nothing was recorded: commtrace doctor -- PROGRAM";
	if (report->run.n_missing || *ct_lacking_text(model, report))
		return ct_arena_printf(report->memory,
				       "see what is missing and why: commtrace info; %s",
				       ct_advice_on_lacking(report));
	if (ct_model_order_lost(model))
		return "record one run without CUDA graphs";
	if (is_alone(model, report))
		return "record a job of at least two ranks: verdicts compare ranks";
	if (model->n_slots == 1)
		return "record all ranks of the job into one directory";
	if (timing == CT_TIMING_OFF || report->run.ranks_untimed)
		return "record with COMMTRACE_TIMING=auto, and see commtrace doctor for what "
		       "speaks "
		       "against it";
	if (timing == CT_TIMING_HOST)
		return "record the starts, too: NCCL's profiler plugin (commtrace run --plugin) or "
		       "COMMTRACE_TIMING=events";
	return report->whatif.remedy ? report->whatif.remedy : "record more steps";
}

void ct_verdict_two_jobs(const struct ct_model *model, const uint32_t processes[2],
			 struct ct_report *report)
{
	const struct ct_process *a = &model->run->processes[processes[0]].id;
	const struct ct_process *b = &model->run->processes[processes[1]].id;
	const char *first = ct_arena_text(report->memory, a->job, sizeof(a->job));
	const char *other = ct_arena_text(report->memory, b->job, sizeof(b->job));

	report->run.is_two_jobs = 1;
	ct_verdict_doubt(report, "report each job by itself",
			 "traces of two jobs, %s and %s, were read as one run", first, other);
}

const char *ct_last_arrivals_text(const struct ct_arrivals *arrivals, const struct ct_model *model,
				  const struct ct_report *report)
{
	uint32_t slot = ct_arrivals_latest(arrivals, model);
	const struct ct_arrival *of;

	if (!report->run.n_missing || slot == model->n_slots)
		return "";
	of = &arrivals->all[slot];
	return ct_arena_printf(
		report->memory,
		"of the recorded ranks, rank %s was last in %s of %s operations, at a cost of %s "
		"(%s); a missing rank may be later",
		ct_text_rank(model->slots[slot].rank).s, ct_text_count(of->last).s,
		ct_text_count(of->met).s, ct_prose_ns(of->alone_ns).s,
		ct_share_text(report, of->alone_ns));
}

/* ---- how processes ended ---- */

/* An end that the process or its launcher reported as a failure. An unknown end is not a failure.
 */
static int was_seen(const struct ct_report_process *p)
{
	return p->ended_badly && (p->how.how != CT_END_UNKNOWN || p->aborted);
}

/* A file whose end is missing does not show how the process ended. */
static int could_be_seen(const struct ct_report_process *p)
{
	int cut = p->torn_bytes || p->skipped_bytes || p->missing_blocks || p->damage_why;

	return !p->imported && (!cut || p->ring[0] == 'p');
}

int ct_ends_unseen(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];

		if (p->how.how == CT_END_UNKNOWN && could_be_seen(p))
			return 1;
	}
	return 0;
}

static const char *how_text(const struct ct_report_process *p, struct ct_arena *memory)
{
	if (p->aborted)
		return "called MPI_Abort";
	switch (p->how.how) {
	case CT_END_SIGNAL:
		return ct_arena_printf(memory, "was killed by signal %d%s", p->how.signal,
				       p->how.for_memory ? " (out of memory)" : "");
	case CT_END_EXIT:
		return ct_arena_printf(memory, "left by _exit(%d)", p->how.exit_code);
	case CT_END_EXEC:
		return "was replaced by another program";
	case CT_END_CLEAN:
	case CT_END_RUNNING:
	case CT_END_UNKNOWN:
		break;
	}
	return ct_arena_printf(memory, "exited with %d%s", p->how.exit_code,
			       p->left ? " without MPI_Finalize" : "");
}

static const char *when_text(const struct ct_report_process *p, struct ct_arena *memory)
{
	uint64_t after = p->ended_after_at_ns, before = p->ended_before_at_ns;

	if (after != CT_UNKNOWN && before != CT_UNKNOWN && before - after > before / 100)
		return ct_arena_printf(memory, ", at %s..%s", ct_prose_ns(after).s,
				       ct_prose_ns(before).s);
	if (after != CT_UNKNOWN)
		return ct_arena_printf(memory, ", at %s", ct_prose_ns(after).s);
	if (p->last_heartbeat_at_ns != CT_UNKNOWN)
		return ct_arena_printf(memory, ", last heartbeat at %s",
				       ct_prose_ns(p->last_heartbeat_at_ns).s);
	return "";
}

/* Is it known that it failed by itself before all others that did not end well (exit_order.h)? */
static int is_first(const struct ct_report *report, const struct ct_report_process *p)
{
	return report->n_ended > 1 && report->n_ended_first == 1 &&
	       p == &report->processes[report->ended[0]] && !report->ended_together;
}

/* No end is recorded, but all others have clearly later heartbeats (exit_order.h). */
static const char *silent_text(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];

		if (p->silent_ns)
			return ct_arena_printf(
				report->memory,
				"the last heartbeat of rank %s was at %s, %s before any other "
				"rank's",
				ct_text_rank(p->rank).s, ct_prose_ns(p->last_heartbeat_at_ns).s,
				ct_prose_ns(p->silent_ns).s);
	}
	return "";
}

/* A launcher that ends a job signals one rank after the other: the first of them is not the cause.
 */
static const char *together_text(const struct ct_report *report)
{
	const struct ct_end *end = &report->processes[report->ended[0]].how;
	size_t n = 0;

	for (size_t i = 0; i < report->n_ended; i++)
		n += report->processes[report->ended[i]].how.kill_by == end->kill_by;
	return ct_arena_printf(
		report->memory,
		"%zu ranks were ended by pid %u (signal %d); the reason is not on record", n,
		end->kill_by, end->kill_signal);
}

const char *ct_ends_text(const struct ct_report *report)
{
	const struct ct_report_process *first = NULL;
	struct ct_arena *memory = report->memory;
	const char *how, *when, *others = "";
	size_t n = 0;

	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];

		n += was_seen(p) != 0;
		first = first || !was_seen(p) ? first : p;
	}
	if (!first)
		return silent_text(report);
	if (report->ended_together)
		return together_text(report);
	how = how_text(first, memory);
	when = when_text(first, memory);
	if (n > 1)
		others = ct_arena_printf(memory, " (%zu more ended badly)", n - 1);
	return ct_arena_printf(memory, "rank %s %s%s%s%s", ct_text_rank(first->rank).s, how,
			       is_first(report, first) ? " before the others" : "", when, others);
}

/* ---- what had not ended ---- */

uint64_t ct_open_unexplained(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_processes; i++)
		if (report->processes[i].restart == report->run.restart &&
		    !report->processes[i].imported)
			return 0;
	return report->open_launches;
}

const char *ct_open_text(const struct ct_report *report, uint64_t n)
{
	return ct_arena_printf(
		report->memory,
		"%s operation%s unfinished at the end of the trace (`commtrace hang` "
		"lists them)",
		ct_text_count(n).s, n == 1 ? " is" : "s are");
}

static const char *stuck_text(const struct ct_report *report, const struct ct_stuck_sum *stuck)
{
	struct ct_arena *memory = report->memory;
	const char *had = report->run.processes_running ? "have" : "had";

	if (stuck->late)
		return ct_arena_printf(
			memory,
			"%u operation%s %s been in flight for longer than COMMTRACE_HANG_AFTER",
			stuck->late, stuck->late == 1 ? "" : "s",
			stuck->late == 1 && had[2] == 'v' ? "has" : had);
	if (stuck->unusual)
		return ct_arena_printf(memory,
				       "%u operation%s in flight for up to %s so far, much longer "
				       "than usual in this run",
				       stuck->unusual, stuck->unusual == 1 ? " is" : "s are",
				       ct_prose_ns(stuck->longest_ns).s);
	return ct_arena_printf(memory, "%u operation%s had not returned when %s ended", stuck->all,
			       stuck->all == 1 ? "" : "s",
			       report->run.processes_running ? "their processes" : "recording");
}

/* Were all processes with a known end killed? Then the operation that they were in comes first. */
static int were_killed(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];

		if (was_seen(p) && p->manner != CT_MANNER_SENT && p->manner != CT_MANNER_ASKED &&
		    p->manner != CT_MANNER_SHOT)
			return 0;
	}
	return 1;
}

#define FIND_END                                                                                   \
	"look at the log of the rank that ended first, and at dmesg (OOM killer, Xid); commtrace " \
	"hang shows what each rank was in"

void ct_verdict_unclear(struct ct_report *report, const struct ct_stuck_sum *stuck)
{
	const char *open = stuck->all ? stuck_text(report, stuck) : "",
		   *ends = ct_ends_text(report);

	if (*ends && *open && were_killed(report))
		ct_verdict_doubt(report, FIND_END, "%s; %s; the reason is not known", open, ends);
	else if (*ends && *open)
		ct_verdict_doubt(report, FIND_END, "%s; %s; the reason is not known", ends, open);
	else if (*ends || *open)
		ct_verdict_doubt(report, FIND_END, "%s%s; the reason is not known", ends, open);
	else
		ct_verdict_doubt(report, FIND_END,
				 "%zu process%s ended in a way that was not recorded; the reason "
				 "is not known",
				 report->n_ended, report->n_ended == 1 ? "" : "es");
}
