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

#define LACKING_COLUMNS 59u /* size: what is lacking may be the headline of the verdict */

/* Ranks of which records are missing, sorted. */
static const char *ranks_with_losses(const struct ct_report *report)
{
	int *ranks = ct_arena_calloc(report->memory, report->n_dropped + 1, sizeof(*ranks));
	const char *text = "";
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
	for (unsigned most = CT_RANKS_SHOWN; n && most >= 4; most--) {
		text = ct_note_text(
			report, CT_NOTE_RECORDS_LACKING,
			CT_WORDS({ "{ranks}", ct_ranks_words(report->memory, ranks, n, most) }));
		if (ct_headline_columns(text) <= LACKING_COLUMNS)
			break;
	}
	return text;
}

const char *ct_lacking_text(const struct ct_model *model, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	double all = (double)model->matched + (double)model->messages + (double)model->incomplete;
	const char *lost;

	if (run->n_missing)
		return ct_note_text(report, CT_NOTE_RANKS_LACKING,
				    CT_WORDS({ "{n}", ct_text_count(run->ranks_seen).s },
					     { "{all}", ct_text_count(run->ranks_expected).s }));
	if ((double)model->incomplete < CT_A_FEW * all || !model->incomplete)
		return "";
	lost = ranks_with_losses(report);
	return *lost ? lost
		     : ct_note_text(report, CT_NOTE_MEMBERS_LACKING,
				    CT_WORDS({ "{n}", ct_text_count(model->incomplete).s },
					     { "{all}", ct_text_count((uint64_t)all).s }));
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

const char *ct_remedy_of_lacking(const struct ct_report *report)
{
	const char *remedy = ct_remedy_text(report);

	if (remedy && !report->run.n_missing)
		return ct_note_text(report, CT_NOTE_SEE_MISSING, CT_WORDS({ "{remedy}", remedy }));
	return ct_note_text(report, CT_NOTE_BRING_FILES, CT_NO_WORDS);
}

/* The whole job is one rank, as far as it is known. */
static int is_alone(const struct ct_model *model, const struct ct_report *report)
{
	return model->n_slots == 1 && report->run.ranks_expected == 1;
}

/* Operations of which each rank has a time are too few, and it is known why. */
static int lacks_times(const struct ct_model *model, struct ct_report *report, const char *lacks)
{
	const struct ct_report_run *run = &report->run;

	if (run->timing == CT_TIMING_HOST && model->matched == 0 && model->time_err.n == 0)
		ct_verdict_say(report, CT_SAYS_ONLY_ENDS, CT_CONFIDENCE_NONE, CT_NO_WORDS);
	else if (run->timing == CT_TIMING_OFF && run->timing_why)
		ct_verdict_say(report, CT_SAYS_UNTIMED, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{why}", run->timing_why }));
	else if (run->ranks_untimed)
		ct_verdict_say(report, CT_SAYS_RANKS_UNTIMED, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{n}", ct_text_count(run->ranks_untimed).s },
					{ "{all}", ct_text_count(run->ranks_seen).s }));
	else if (*lacks)
		ct_verdict_say(report, CT_SAYS_LACKING, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{lacks}", lacks },
					{ "{remedy}", ct_remedy_of_lacking(report) }));
	else if (model->n_slots == 1)
		ct_verdict_say(report, CT_SAYS_ONE_OF_MANY, CT_CONFIDENCE_NONE, CT_NO_WORDS);
	else if (report->whatif.remedy)
		ct_verdict_say(report, CT_SAYS_NO_TIMES, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{why}", report->whatif.reason },
					{ "{remedy}", report->whatif.remedy }));
	else
		return 0;
	return 1;
}

static void lacks_operations(const struct ct_model *model, struct ct_report *report)
{
	const struct ct_unit_text least = ct_text_count(CT_LEAST_SAMPLES);
	const struct ct_unit_text n = ct_text_count(model->matched);
	enum ct_verdict_row row = model->messages <= model->matched ? CT_SAYS_FEW_OPERATIONS
				  : model->matched		    ? CT_SAYS_FEW_COLLECTIVES
								    : CT_SAYS_ONLY_MESSAGES;

	ct_verdict_say(report, row, CT_CONFIDENCE_NONE,
		       CT_WORDS({ "{n}", n.s }, { "{least}", least.s }));
}

int ct_verdict_missing(const struct ct_model *model, struct ct_report *report)
{
	const char *lacks = ct_lacking_text(model, report), *vain;
	uint64_t lost = ct_model_order_lost(model);

	if (model->ops == 0) {
		ct_verdict_say(report, CT_SAYS_NOTHING, CT_CONFIDENCE_NONE, CT_NO_WORDS);
		return 1;
	}
	if (lost) {
		ct_verdict_say(report, CT_SAYS_GRAPHS_LOST, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{n}", ct_text_count(lost).s }));
		return 1;
	}
	if (model->matched < CT_LEAST_SAMPLES) {
		if (is_alone(model, report))
			ct_verdict_say(report, CT_SAYS_ALONE, CT_CONFIDENCE_NONE, CT_NO_WORDS);
		else if (!lacks_times(model, report, lacks))
			lacks_operations(model, report);
		return 1;
	}
	vain = ct_gain_why_not(report);
	if (vain)
		ct_verdict_say(
			report, CT_SAYS_NO_TIMES, CT_CONFIDENCE_NONE,
			CT_WORDS({ "{why}", vain },
				 { "{remedy}", report->whatif.remedy
						       ? report->whatif.remedy
						       : ct_note_text(report, CT_NOTE_MORE_STEPS,
								      CT_NO_WORDS) }));
	return vain != NULL;
}

void ct_verdict_two_jobs(const struct ct_model *model, const uint32_t processes[2],
			 struct ct_report *report)
{
	const struct ct_process *a = &model->run->processes[processes[0]].id;
	const struct ct_process *b = &model->run->processes[processes[1]].id;
	const char *first = ct_arena_text(report->memory, a->job, sizeof(a->job));
	const char *other = ct_arena_text(report->memory, b->job, sizeof(b->job));

	report->run.is_two_jobs = 1;
	ct_verdict_say(report, CT_SAYS_TWO_JOBS, CT_CONFIDENCE_NONE,
		       CT_WORDS({ "{first}", first }, { "{other}", other }));
}

const char *ct_last_arrivals_text(const struct ct_judgement *j, const struct ct_report *report)
{
	const struct ct_arrivals *arrivals = j->arrivals;
	const struct ct_model *model = j->model;
	uint32_t slot = ct_arrivals_latest(arrivals, model);
	const struct ct_arrival *of;
	double pct;

	if (!report->run.n_missing || slot == model->n_slots)
		return "";
	of = &arrivals->all[slot];
	pct = ct_step_time_pct(&report->step_time, j->in_steps[slot].late * (double)of->alone_ns);
	return ct_note_text(report, CT_NOTE_LAST_ON_RECORD,
			    CT_WORDS({ "{rank}", ct_text_rank(model->slots[slot].rank).s },
				     { "{n}", ct_text_count(of->last).s },
				     { "{all}", ct_text_count(of->met).s },
				     { "{time}", ct_prose_ns(of->alone_ns).s },
				     { "{share}", ct_pct_text(report, pct) }));
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

static enum ct_note how_ended(const struct ct_report_process *p)
{
	if (p->aborted)
		return CT_NOTE_ABORTED;
	switch (p->how.how) {
	case CT_END_SIGNAL:
		return p->how.for_memory ? CT_NOTE_KILLED_FOR_MEMORY : CT_NOTE_KILLED;
	case CT_END_EXIT:
		return CT_NOTE_LEFT_BY__EXIT;
	case CT_END_EXEC:
		return CT_NOTE_REPLACED;
	case CT_END_CLEAN:
	case CT_END_RUNNING:
	case CT_END_UNKNOWN:
		break;
	}
	return p->left ? CT_NOTE_EXITED_WITHOUT_FINALIZE : CT_NOTE_EXITED;
}

static const char *how_text(const struct ct_report_process *p, const struct ct_report *report)
{
	const char *code = ct_arena_printf(report->memory, "%d", p->how.exit_code);
	const char *signal = ct_arena_printf(report->memory, "%d", p->how.signal);

	return ct_note_text(report, how_ended(p),
			    CT_WORDS({ "{code}", code }, { "{signal}", signal }));
}

static const char *when_text(const struct ct_report_process *p, const struct ct_report *report)
{
	uint64_t after = p->ended_after_at_ns, before = p->ended_before_at_ns;

	if (after != CT_UNKNOWN && before != CT_UNKNOWN && before - after > before / 100)
		return ct_note_text(report, CT_NOTE_ENDED_BETWEEN,
				    CT_WORDS({ "{after}", ct_prose_ns(after).s },
					     { "{before}", ct_prose_ns(before).s }));
	if (after != CT_UNKNOWN)
		return ct_note_text(report, CT_NOTE_ENDED_AFTER,
				    CT_WORDS({ "{after}", ct_prose_ns(after).s }));
	if (p->last_heartbeat_at_ns != CT_UNKNOWN)
		return ct_note_text(report, CT_NOTE_LAST_HEARTBEAT,
				    CT_WORDS({ "{time}", ct_prose_ns(p->last_heartbeat_at_ns).s }));
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
			return ct_note_text(report, CT_NOTE_SILENT,
					    CT_WORDS({ "{rank}", ct_text_rank(p->rank).s },
						     { "{time}", ct_prose_ns(p->silent_ns).s }));
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
	return ct_note_text(report, CT_NOTE_ENDED_TOGETHER,
			    CT_WORDS({ "{n}", ct_text_count(n).s },
				     { "{pid}", ct_text_exact(end->kill_by).s },
				     { "{signal}", ct_text_exact((uint64_t)end->kill_signal).s }));
}

/* Two parts of a sentence; either may be "". */
static const char *join(const struct ct_report *report, const char *a, const char *b,
			const char *between)
{
	return *a && *b ? ct_arena_printf(report->memory, "%s%s%s", a, between, b) : *a ? a : b;
}

/* Which process failed; what else is known of it and of the others goes to `rest`, "": nothing. */
static const char *first_end(const struct ct_report *report, const char **rest)
{
	const struct ct_report_process *first = NULL;
	size_t n = 0;

	*rest = "";
	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];

		n += was_seen(p) != 0;
		first = first || !was_seen(p) ? first : p;
	}
	if (!first)
		return silent_text(report);
	if (report->ended_together) {
		*rest = ct_note_text(report, CT_NOTE_REASON_UNKNOWN, CT_NO_WORDS);
		return together_text(report);
	}
	if (is_first(report, first))
		*rest = ct_note_text(report, CT_NOTE_WAS_FIRST, CT_NO_WORDS);
	*rest = join(report, *rest, when_text(first, report), ", ");
	if (n > 1)
		*rest = join(report, *rest,
			     ct_note_text(report, CT_NOTE_OTHERS_ENDED,
					  CT_WORDS({ "{n}", ct_text_count(n - 1).s })),
			     ", ");
	return ct_note_text(report, CT_NOTE_RANK_ENDED,
			    CT_WORDS({ "{rank}", ct_text_rank(first->rank).s },
				     { "{how}", how_text(first, report) }));
}

const char *ct_ends_text(const struct ct_report *report)
{
	const char *rest, *end = first_end(report, &rest);

	return join(report, end, rest, report->ended_together ? "; " : " ");
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

static const char *operations(const struct ct_report *report, uint64_t n)
{
	return ct_counted(report, n, "operation", "operations");
}

const char *ct_open_text(const struct ct_report *report, uint64_t n)
{
	return ct_note_text(report, CT_NOTE_UNFINISHED,
			    CT_WORDS({ "{operations}", operations(report, n) }));
}

static const char *stuck_text(const struct ct_report *report, const struct ct_stuck_sum *stuck)
{
	if (stuck->late)
		return ct_note_text(report, CT_NOTE_IN_FLIGHT_LONG,
				    CT_WORDS({ "{operations}", operations(report, stuck->late) }));
	if (stuck->unusual)
		return ct_note_text(report, CT_NOTE_IN_FLIGHT_UNUSUAL,
				    CT_WORDS({ "{operations}", operations(report, stuck->unusual) },
					     { "{time}", ct_prose_ns(stuck->longest_ns).s }));
	return ct_note_text(report,
			    report->run.processes_running ? CT_NOTE_IN_FLIGHT_RUNNING
							  : CT_NOTE_IN_FLIGHT,
			    CT_WORDS({ "{operations}", operations(report, stuck->all) }));
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

void ct_verdict_unclear(struct ct_report *report, const struct ct_stuck_sum *stuck)
{
	const char *open = stuck->all ? stuck_text(report, stuck) : "", *rest;
	const char *end = first_end(report, &rest);

	if (*open && (!*end || were_killed(report))) {
		rest = join(report, end, rest, " ");
		end = open;
	} else {
		rest = join(report, rest, open, "; ");
	}
	if (!*end)
		ct_verdict_say(report, CT_SAYS_ENDS_UNKNOWN, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{processes}", ct_counted(report, report->n_ended,
								    "process", "processes") }));
	else if (!*rest)
		ct_verdict_say(report, CT_SAYS_ENDED_ALONE, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{ended}", end }));
	else
		ct_verdict_say(report, CT_SAYS_ENDED, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{ended}", end }, { "{rest}", rest }));
}
