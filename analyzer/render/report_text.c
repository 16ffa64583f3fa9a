/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/model/left_out.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/facts_text.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/render.h"
#include "analyzer/render/text.h"
#include "trace/text.h"

#define SCREEN 25 /* lines */
#define MOST_ROWS 5
#define FEW_IN_FLIGHT 0u
#define MOST_IN_FLIGHT 8u
#define FEW_ENDED 1u
#define MOST_ENDED 4u
#define MOST_RANKS 12u /* numbers in a list */

/* "0-3,5 and 9 more"; sorts the ranks. NULL: out of memory. The caller frees it. */
static char *list_ranks(int *ranks, size_t n)
{
	char *list = NULL;
	size_t size, distinct = 0;
	FILE *out = open_memstream(&list, &size);

	if (!out)
		return NULL;
	qsort(ranks, n, sizeof(*ranks), ct_by_int);
	for (size_t i = 0; i < n; i++) {
		if (!distinct || ranks[distinct - 1] != ranks[i])
			ranks[distinct++] = ranks[i];
	}
	ct_hang_rank_list(ranks, (uint32_t)distinct, MOST_RANKS, out);
	if (fclose(out) == 0)
		return list;
	free(list);
	return NULL;
}

static void write_missing(struct ct_text *text, const struct ct_report_run *run)
{
	char *missing;

	if (!run->n_missing)
		return;
	missing = list_ranks(run->ranks_missing, run->n_missing);
	ct_text_line(text, CT_COLOR_YELLOW, "missing   no trace of rank%s %s",
		     run->n_missing == 1 ? "" : "s", missing ? missing : "");
	free(missing);
}

static void write_losses(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_dropped *first = NULL;
	size_t others = 0;
	int uncounted = 0;

	for (size_t i = 0; i < report->n_dropped; i++) {
		const struct ct_report_dropped *loss = &report->dropped[i];

		if (!first || (loss->is_loss_of_records && !first->is_loss_of_records))
			first = loss;
		uncounted |= loss->is_loss_of_records && loss->records == CT_UNKNOWN;
		others++;
	}
	if (!first) {
		if (report->run.n_missing)
			ct_text_line(text, CT_COLOR_YELLOW, "%s",
				     "dropped   all records of the missing; none in what is here");
		else
			ct_text_line(text, CT_COLOR_NONE, "%s", "dropped   none");
		return;
	}
	if (first->is_loss_of_records)
		ct_text_line(text, CT_COLOR_YELLOW, "dropped   %s%s records; rank %s: %s%s",
			     uncounted && report->dropped_records ? "at least " : "",
			     uncounted && !report->dropped_records
				     ? "unknown number of"
				     : ct_text_count(report->dropped_records).s,
			     ct_text_rank(first->rank).s, first->text,
			     others > 1 ? "; more in info" : "");
	else
		ct_text_line(text, CT_COLOR_NONE, "dropped   no records; %s of rank %s: %s%s",
			     ct_text_count(first->records).s, ct_text_rank(first->rank).s,
			     first->text, others > 1 ? "; more in info" : "");
}

/* Are there seconds that the share in communication is not of? */
static const char *but_for(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_ranks; i++) {
		if (report->ranks[i].left_out_ns)
			return " with timed launches";
	}
	return "";
}

/* Some launches were timed by events, and which were not is neither nothing nor seconds that can be
 * left out. */
static void write_share(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;

	if (!isnan(run->comm_share_pct))
		ct_text_line(text, CT_COLOR_NONE, "comm time %s of %s%s (busiest rank)",
			     ct_prose_pct(run->comm_share_pct).s,
			     ct_step_time_name(&report->step_time), but_for(report));
	else if (run->timing == CT_TIMING_EVENTS && run->timed_ratio < 1)
		ct_text_wrap(
			text, CT_COLOR_NONE, CT_TEXT_LABEL,
			"comm time n/a: launches without times lie between timed ones for less "
			"than %s, or are more than %s of all",
			ct_prose_ns(CT_LEFT_OUT_NS).s, ct_prose_pct(100 * (1 - CT_MOSTLY)).s);
	else
		ct_text_line(text, CT_COLOR_NONE, "%s", "comm time n/a");
}

/* The largest of these; NULL: none is known. */
static const struct ct_report_slowdown *largest(const struct ct_report_slowdown *all, size_t n)
{
	const struct ct_report_slowdown *most = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(all[i].s) && (!most || all[i].s > most->s))
			most = &all[i];
	}
	return most;
}

/* How much longer a step takes than in a job whose ranks all compute alike, and whose unevenness
 * that is. */
static void write_slowdown(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_whatif *w = &report->whatif;
	const struct ct_report_slowdown *rank = largest(w->ranks, w->n_ranks);
	const struct ct_report_slowdown *stage = largest(w->stages, w->n_stages);
	char of_rank[64] = "", of_stage[64] = "", last[64] = "", worst[64] = "";

	/* the line of steps says why there are none */
	if (isnan(w->s)) {
		if (w->why_not && report->steps.n_items)
			ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "balanced  n/a: %s",
				     w->why_not);
		return;
	}
	if (rank)
		snprintf(of_rank, sizeof(of_rank), "; rank %d alone: %.3f", rank->rank, rank->s);
	if (stage)
		snprintf(of_stage, sizeof(of_stage), "; stage %u alone: %.3f", stage->stage,
			 stage->s);
	/* a last stage that is faster than the others explains nothing */
	if (w->m_s > 0)
		snprintf(last, sizeof(last), "; last stage: %.2f of the excess (M_S)", w->m_s);
	if (!isnan(w->m_w))
		snprintf(worst, sizeof(worst), "; slowest 3 %% of ranks: %.2f of the excess (M_W)",
			 w->m_w);
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "balanced  step time is %.3f ± %.3f times that of a balanced job (S)"
		     "%s%s%s%s",
		     w->s, w->s_err, of_rank, of_stage, last, worst);
}

/* A line of figures: of an object of the report, or (n_at) of the row of a table that has most of
 * the key, or is first. */
struct section {
	const char *word, *key;
	const struct ct_columns *(*columns)(void);
	size_t at, n_at;
	const char *keys; /* what it shows; NULL: what the page does */
	size_t known;	  /* a number without which there is no line; 0: there is always one */
};
#define OF(member) offsetof(struct ct_report, member)

static const struct section sections[] = {
	{ "steps", "time_p50_ns", ct_columns_steps, OF(steps), 0, NULL, 0 },
	{ "exposed", "median_pct", ct_columns_exposed, OF(exposed), 0, NULL, 0 },
	{ "overlap", "exposed_ns", ct_columns_overlap, OF(overlap), OF(n_overlap),
	  "rank comm exposed_ns hidden_ns comm_ns overlap_ratio method", 0 },
	{ "idle", "idle_waiting_for_compute_ns", ct_columns_stream_idle, OF(stream_idle),
	  OF(n_stream_idle),
	  "rank idle_waiting_for_compute_ns idle_host_bound_ns idle_launch_ns steps steps_ns", 0 },
	{ "pipeline", "bubble_ns", ct_columns_stages, OF(stages), OF(n_stages), NULL, 0 },
	{ "links", NULL, ct_columns_links, OF(links), OF(n_links), NULL, 0 },
	{ "score", "total", ct_columns_score, OF(score), 0, NULL, OF(score.total) },
	{ "overhead", "write_cpu_ns", ct_columns_overhead, OF(overhead), OF(n_overhead),
	  "rank wrapper_pct threads_cpu_pct bytes_written timing step_overhead_pct", 0 },
};

/* Figures as the JSON has them, in the words of the page. */
static void write_facts(struct ct_text *text, const struct ct_report *report)
{
	write_missing(text, &report->run);
	ct_timing_line(text, report);
	ct_clocks_line(text, report);
	write_losses(text, report);
	write_share(text, report);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct section *s = &sections[i];
		const char *at = (const char *)report + s->at;

		if (s->known && isnan(*(const double *)((const char *)report + s->known)))
			continue;
		if (s->n_at)
			ct_columns_most(text, s->word, s->columns(), s->keys, s->key,
					*(const char *const *)at,
					*(const size_t *)((const char *)report + s->n_at));
		else
			ct_columns_facts(text, s->word, s->columns(), s->keys, s->key, at);
	}
	write_slowdown(text, report);
}

static void write_table(struct ct_text *text, const struct ct_report *report, int verbose,
			size_t most)
{
	static const char few[] = "op comm bytes_each op_count span_p50_ns wait_each_ns "
				  "transfer_ns busbw_p50_Bps";
	static const char all[] = "op comm bytes_each op_count span_p50_ns span_p99_ns "
				  "wait_each_ns transfer_ns busbw_p50_Bps last_rank last_cost_ns";
	const char *keys = verbose ? all : few;

	if (!report->n_ops || !most)
		return;
	ct_text_empty(text);
	ct_columns_head(text, ct_columns_ops(), keys);
	for (size_t i = 0; i < report->n_ops && i < most; i++)
		ct_columns_row(text, CT_COLOR_NONE, ct_columns_ops(), keys, &report->ops[i]);
	if (report->n_ops > most)
		ct_text_line(text, CT_COLOR_DIM, "... %zu more (%s)", report->n_ops - most,
			     verbose ? "a larger --top" : "--verbose");
	if (verbose)
		ct_text_wrap(text, CT_COLOR_DIM, 0,
			     "wait/rank: sum over operations, mean over ranks; transfer: sum over "
			     "operations; busbw: median bus bandwidth; last: the rank that arrives "
			     "last in most operations, if one does; cost: of its lateness");
}

/* Queued up behind one another: of a rank, on one communicator, one number after the other. */
static int is_next(const struct ct_report_in_flight *a, const struct ct_report_in_flight *b)
{
	return a->rank == b->rank && a->comm_hash == b->comm_hash && a->launched && b->launched &&
	       !a->message && !b->message && b->seq == a->seq + 1 && a->call && b->call &&
	       strcmp(a->call, b->call) == 0;
}

/* The first of `n` that are queued up. */
static void write_one_in_flight(struct ct_text *text, const struct ct_report_in_flight *op,
				size_t n)
{
	char peer[32] = "", number[48] = "", what[160];

	if (op->op_name && op->message && op->peer >= 0)
		snprintf(peer, sizeof(peer), " %s %d", op->message == CT_MESSAGE_TO ? "to" : "from",
			 op->peer);
	else if (op->op_name && op->message)
		snprintf(peer, sizeof(peer), " from any");
	if (n > 1)
		snprintf(number, sizeof(number), "#%" PRIu64 "-%" PRIu64, op->seq, op[n - 1].seq);
	else
		snprintf(number, sizeof(number), "#%" PRIu64, op->seq);
	if (op->op_name)
		snprintf(what, sizeof(what), "%s %s%s on %016" PRIx64,
			 op->call ? op->call : op->op_name, number, peer, op->comm_hash);
	else
		snprintf(what, sizeof(what), "%s", op->call ? op->call : "a call");
	ct_text_line(text, CT_COLOR_NONE, "    rank %s: %s, %s, for %s since %s",
		     ct_text_rank(op->rank).s, what, op->launched ? "returned" : "entered",
		     ct_prose_ns(op->age_ns).s, ct_prose_ns(op->since_at_ns).s);
}

static void write_in_flight(struct ct_text *text, const struct ct_report *report, size_t most)
{
	int *ranks = calloc(report->n_in_flight + 1, sizeof(*ranks));
	size_t shown = 0;
	char *list;

	if (!report->n_in_flight || !ranks) {
		free(ranks);
		return;
	}
	for (size_t i = 0; i < report->n_in_flight; i++)
		ranks[i] = report->in_flight[i].rank;
	list = list_ranks(ranks, report->n_in_flight);
	ct_text_line(text, CT_COLOR_YELLOW, "in flight %zu operation%s (rank%s %s) %s",
		     report->n_in_flight, report->n_in_flight == 1 ? "" : "s",
		     list && strpbrk(list, ",- ") ? "s" : "", list ? list : "?",
		     report->run.processes_running ? "now" : "when recording ended");
	free(list);
	free(ranks);
	for (size_t rows = 0; shown < report->n_in_flight && rows < most; rows++) {
		size_t i = shown++;

		while (shown < report->n_in_flight &&
		       is_next(&report->in_flight[shown - 1], &report->in_flight[shown]))
			shown++;
		write_one_in_flight(text, &report->in_flight[i], shown - i);
	}
	if (most && report->n_in_flight > shown)
		ct_text_line(text, CT_COLOR_DIM, "    ... %zu more", report->n_in_flight - shown);
}

/* How it ended; of several of one kind, what they have in common. */
static void end_text(char *to, size_t cap, const struct ct_report_process *p)
{
	char by[64] = "";

	if (p->how.kill_ns)
		snprintf(by, sizeof(by), ", signal %d sent by pid %u", p->how.kill_signal,
			 p->how.kill_by);
	switch (p->aborted ? CT_END_UNKNOWN : p->how.how) {
	case CT_END_SIGNAL:
		snprintf(to, cap, " killed by signal %d%s%s", p->how.signal,
			 p->how.for_memory ? " (out of memory)" : "", by);
		break;
	case CT_END_CLEAN:
		snprintf(to, cap, " exited with %d%s%s", p->how.exit_code,
			 p->left ? " without MPI_Finalize" : "", by);
		break;
	case CT_END_EXIT:
		snprintf(to, cap, " left by _exit(%d)%s", p->how.exit_code, by);
		break;
	case CT_END_EXEC:
		snprintf(to, cap, " replaced by another program%s", by);
		break;
	case CT_END_RUNNING:
	case CT_END_UNKNOWN:
		snprintf(to, cap, "%s%s",
			 p->aborted ? " called MPI_Abort" : ", how is not recorded", by);
		break;
	}
}

static int end_alike(const struct ct_report_process *a, const struct ct_report_process *b)
{
	return a->how.how == b->how.how && a->how.signal == b->how.signal &&
	       a->how.exit_code == b->how.exit_code && a->how.for_memory == b->how.for_memory &&
	       a->how.kill_signal == b->how.kill_signal && a->how.kill_by == b->how.kill_by &&
	       !a->aborted == !b->aborted && !a->left == !b->left;
}

static void write_one_end(struct ct_text *text, const struct ct_report_process *p, const char *how)
{
	char when[64] = "";

	if (p->ended_before_at_ns != CT_UNKNOWN && p->ended_after_at_ns != CT_UNKNOWN)
		snprintf(when, sizeof(when), ", at %s..%s", ct_prose_ns(p->ended_after_at_ns).s,
			 ct_prose_ns(p->ended_before_at_ns).s);
	else if (p->last_heartbeat_at_ns != CT_UNKNOWN)
		snprintf(when, sizeof(when), ", last heartbeat at %s",
			 ct_prose_ns(p->last_heartbeat_at_ns).s);
	ct_text_wrap(text, CT_COLOR_YELLOW, CT_TEXT_LABEL, "ended     rank %s (pid %u)%s%s",
		     ct_text_rank(p->rank).s, p->pid, how, when);
}

static void write_ends_alike(struct ct_text *text, int *ranks, size_t n, const char *how)
{
	char *list = list_ranks(ranks, n);

	if (list)
		ct_text_wrap(text, CT_COLOR_YELLOW, CT_TEXT_LABEL, "ended     %zu ranks%s: %s", n,
			     how, list);
	free(list);
}

/* Those that ended in one way share a line: which of them was first is not known, and none stands
 * for the others. The first one of the list has a line of its own where it is known to be the
 * first. */
static void write_ends(struct ct_text *text, const struct ct_report *report, size_t most)
{
	uint8_t *shown = calloc(report->n_ended + 1, 1);
	struct ct_text screen = ct_text_screen(text);
	size_t left = report->n_ended, all = 1;
	int *ranks;

	for (size_t i = 0; i < report->n_ended; i++)
		all += report->processes[report->ended[i]].n_ranks + 1;
	ranks = calloc(all, sizeof(*ranks));
	for (size_t i = 0; shown && ranks && i < report->n_ended && most; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];
		const int is_first = i == 0 && report->n_ended_first == 1;
		size_t n = 0, processes = 0;
		char how[128];

		if (shown[i])
			continue;
		for (size_t k = i; k < report->n_ended; k++) {
			const struct ct_report_process *other = &report->processes[report->ended[k]];

			if (shown[k] || (k > i && (is_first || !end_alike(p, other))))
				continue;
			shown[k] = 1;
			processes++;
			for (size_t r = 0; r < other->n_ranks; r++)
				ranks[n++] = other->ranks[r];
			if (!other->n_ranks)
				ranks[n++] = other->rank;
		}
		end_text(how, sizeof(how), p);
		if (n == 1)
			write_one_end(&screen, p, how);
		else
			write_ends_alike(&screen, ranks, n, how);
		left -= processes;
		most--;
	}
	if (left)
		ct_text_line(&screen, CT_COLOR_YELLOW, "          ... %zu more in info", left);
	text->lines = screen.lines;
	free(shown);
	free(ranks);
}

static void write_next(struct ct_text *text, const struct ct_report *report,
		       const struct ct_text_style *style)
{
	char run[1024], anchor[512], options[sizeof(anchor) + 64] = "";

	if (!ct_text_runs(run, sizeof(run), style, report->run.dir))
		strcpy(run, "RUN");
	if (report->steps.skipped)
		snprintf(options, sizeof(options), " --skip-steps=%" PRIu64, report->steps.skipped);
	if (style && style->anchor && ct_text_quote(anchor, sizeof(anchor), style->anchor))
		snprintf(options + strlen(options), sizeof(options) - strlen(options),
			 " --step-anchor=%s", anchor);
	ct_text_empty(text);
	if (report->verdict.code == CT_VERDICT_HANG) {
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "next      commtrace hang %s",
			     run);
	} else if (!style || !style->verbose) {
		/* one command a line, so that each can be pasted whole */
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
			     "next      commtrace report %s%s --verbose", run, options);
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
			     "          commtrace report %s%s -o report.html", run, options);
	} else {
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
			     "next      commtrace info %s; commtrace report %s%s -o report.html; "
			     "commtrace timeline %s -o run.pftrace",
			     run, run, options, run);
	}
}

/* From all to what fits a screen of any report: a table of fewer rows, fewer findings beside the
 * verdict's, no table, shorter texts. */
static const struct ct_text_detail details[] = {
	{ 3, 3, 0 }, { 3, 2, 0 }, { 3, 1, 0 }, { 2, 1, 0 }, { 1, 1, 0 },
	{ 0, 1, 0 }, { 0, 0, 0 }, { 0, 0, 3 }, { 0, 0, 2 }, { 0, 0, 1 },
};

static void write_report(struct ct_text *text, const struct ct_report *report,
			 const struct ct_text_style *style, const struct ct_text_detail *detail)
{
	int verbose = style && style->verbose;
	size_t top = style ? style->top : 0;

	ct_findings_text(text, report, verbose, detail);
	ct_expect_text(text, report, verbose);
	/* how a job died says more of it than how it ran */
	write_ends(text, report, top ? top : verbose ? MOST_ENDED : FEW_ENDED);
	write_in_flight(text, report, top ? top : verbose ? MOST_IN_FLIGHT : FEW_IN_FLIGHT);
	if (report->n_ended || report->n_in_flight)
		ct_text_empty(text);
	ct_summary_text(text, report, verbose);
	if (verbose)
		write_facts(text, report);
	write_table(text, report, verbose, detail->rows);
	write_next(text, report, style);
}

/* How many lines it takes with this detail. */
static int lines_of(const struct ct_report *report, const struct ct_text_style *style,
		    const struct ct_text_detail *detail)
{
	struct ct_text text = ct_text_to(NULL, style);

	write_report(&text, report, style, detail);
	return text.lines;
}

void ct_report_text(const struct ct_report *report, const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);
	const size_t n = sizeof(details) / sizeof(details[0]);
	struct ct_text_detail detail = details[0];
	size_t top = style ? style->top : 0;

	if (style && style->verbose)
		detail = (struct ct_text_detail){ SIZE_MAX, MOST_ROWS, 0 };
	else
		for (size_t i = 0; i < n && !top; i++) {
			detail = details[i];
			if (lines_of(report, style, &detail) <= SCREEN)
				break;
		}
	if (top)
		detail.others = detail.rows = top;
	write_report(&text, report, style, &detail);
}
