/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/hang.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/template.h"
#include "analyzer/base/units.h"
#include "analyzer/model/finding.h"
#include "analyzer/render/text.h"
#include "trace/ops.h"
#include "trace/text.h"

/* Of a screen of 25 lines: 2 headline and cause, 10 evidence, 5 verdict and advice, 6 stack at
 * least where there are no other verdicts. */
#define SCREEN 25	/* lines */
#define EVIDENCE_END 12 /* no row of evidence begins below this line */
#define FEW_OTHERS 2u	/* verdicts beside the first, a headline each */
#define FEW_RANKS 1u	/* of the verdict, with what each did last ... */
#define MOST_LINES 4u	/* ... and if all is asked for */
#define MOST_RANKS 12u	/* numbers in a list */
#define MOST_MISSING 6u
#define SILENT_NS                                                                                  \
	1000000000ull /* heartbeats of processes are not simultaneous: a smaller difference means  \
			 nothing */
#define MOST_SLOW 3u

void ct_hang_rank_list(const int *ranks, uint32_t n, uint32_t most, FILE *out)
{
	uint32_t i = 0, shown = 0;

	while (i < n && shown < most) {
		uint32_t from = i;

		while (i + 1 < n && ranks[i + 1] == ranks[i] + 1)
			i++;
		fprintf(out, "%s%s", shown ? "," : "", ct_text_rank(ranks[from]).s);
		if (i > from)
			fprintf(out, "%c%d", i > from + 1 ? '-' : ',', ranks[i]);
		shown += i > from ? 2 : 1;
		i++;
	}
	if (i < n)
		fprintf(out, " and %" PRIu32 " more", n - i);
}

/* A text made by printing into a stream; the caller frees it. */
struct made {
	char *text;
	size_t size;
	FILE *out;
};

static FILE *make(struct made *m)
{
	*m = (struct made){ 0 };
	m->out = open_memstream(&m->text, &m->size);
	return m->out;
}

static void show(struct ct_text *text, const char *word, struct made *m)
{
	if (m->out && fclose(m->out) == 0)
		ct_text_row(text, word, m->text);
	free(m->text);
}

/* ---- without a verdict ---- */

/* What is known of the end of a job that did not exit cleanly. */
struct job_ends {
	const struct ct_hang_rank
		*end; /* one that ended by itself, the first one if that is known; or NULL */
	const struct ct_hang_rank
		*silent; /* one whose heartbeats stop long before all others'; or NULL */
	uint32_t n;	 /* that ended by themselves */
};

static struct job_ends ends_of(const struct ct_hang_run *run)
{
	struct job_ends ends = { 0 };

	for (uint32_t r = 0; r < run->hang_case.n_ranks; r++) {
		const struct ct_hang_rank *rank = &run->hang_case.ranks[r];

		if (rank->silent_ns)
			ends.silent = rank;
		if (!rank->how_ended || rank->process == CT_PROCESS_NO_TRACE)
			continue;
		ends.n++;
		if (!ends.end || rank->ended_first)
			ends.end = rank;
	}
	return ends;
}

static enum ct_hang_text text_of_ends(const struct ct_hang_run *run)
{
	const struct job_ends ends = ends_of(run);

	if (ends.end && ends.end->ended_first)
		return CT_HANG_TEXT_FIRST_END;
	if (ends.silent)
		return CT_HANG_TEXT_SILENT;
	if (!ends.n)
		return CT_HANG_TEXT_END_UNKNOWN;
	return ends.n == 1 ? CT_HANG_TEXT_ONE_END : CT_HANG_TEXT_ENDS;
}

/* A row of the table with its words filled in, and what else there is to say. */
struct answer {
	enum ct_hang_text headline, note;
	int has_note;
};

static struct answer answer_of(const struct ct_hang_run *run)
{
	const struct ct_hang_result *r = run->result;

	switch (run->state) {
	case CT_JOB_RUNNING:
		if (!r->n_not_stalled)
			return (struct answer){ .headline = CT_HANG_TEXT_RUNNING };
		return (struct answer){ CT_HANG_TEXT_RUNNING_OLDEST, CT_HANG_TEXT_NOT_STALLED,
					r->not_stalled[0].age_ns < run->limit_ns };
	case CT_JOB_ENDED:
		return (struct answer){ .headline = run->ranks_seen >= run->ranks_expected
							    ? CT_HANG_TEXT_ALL_EXITED
							    : CT_HANG_TEXT_SOME_EXITED };
	case CT_JOB_INTERRUPTED:
		return (struct answer){ CT_HANG_TEXT_INTERRUPTED, CT_HANG_TEXT_NOT_STALLED, 1 };
	case CT_JOB_UNRECORDED:
		/* imported: the records may be complete, or end anywhere */
		return (struct answer){ r->n_not_stalled ? CT_HANG_TEXT_UNFINISHED
							 : CT_HANG_TEXT_ALL_COMPLETED,
					CT_HANG_TEXT_EXITS_UNKNOWN, 1 };
	case CT_JOB_KILLED:
		break;
	}
	return (struct answer){ CT_HANG_TEXT_NO_EVIDENCE, text_of_ends(run), 1 };
}

static const char *oldest_op(const struct ct_hang_run *run, struct ct_arena *memory)
{
	const struct ct_hang_result *r = run->result;
	const struct ct_hang_op *op;

	if (!r->n_not_stalled)
		return "";
	op = &run->hang_case.ops[r->not_stalled[0].op];
	return ct_arena_printf(memory, "%s #%" PRIu64, ct_op_name(op->op), op->seq);
}

static uint32_t count_of(const struct ct_hang_run *run)
{
	if (run->state == CT_JOB_RUNNING)
		return run->running;
	return run->state == CT_JOB_UNRECORDED ? run->result->all_not_stalled : run->ranks_seen;
}

/* NULL: out of memory. */
static const char *fill(const struct ct_hang_run *run, enum ct_hang_text text,
			struct ct_arena *memory)
{
	const struct ct_hang_result *r = run->result;
	const struct ct_hang_case *c = &run->hang_case;
	int rank = r->n_not_stalled ? c->ranks[c->ops[r->not_stalled[0].op].rank].rank : -1;
	uint32_t n = count_of(run);
	const struct job_ends ends = ends_of(run);
	const struct ct_hang_rank *end = ends.end, *silent = ends.silent;
	const struct ct_word words[] = {
		{ "{ended}",
		  end ? ct_arena_printf(memory, "rank %s (%s): %s", ct_text_rank(end->rank).s,
					end->host ? end->host : "n/a", end->how_ended)
		      : "" },
		{ "{ends}", ct_arena_printf(memory, "%" PRIu32, ends.n) },
		{ "{silent}",
		  silent ? ct_arena_printf(memory, "rank %s (%s)", ct_text_rank(silent->rank).s,
					   silent->host ? silent->host : "n/a")
			 : "" },
		{ "{before}",
		  ct_arena_printf(memory, "%s", ct_prose_ns(silent ? silent->silent_ns : 0).s) },
		{ "{n}",
		  run->state == CT_JOB_UNRECORDED
			  ? ct_arena_printf(memory, "%" PRIu32 " operation%s", n, n == 1 ? "" : "s")
			  : ct_arena_printf(memory, "%" PRIu32, n) },
		{ "{processes}",
		  ct_arena_printf(memory, "%" PRIu32 " process%s", n, n == 1 ? "" : "es") },
		{ "{all_ranks}",
		  n == 1 ? "the only rank" : ct_arena_printf(memory, "all %" PRIu32 " ranks", n) },
		{ "{all}", ct_arena_printf(memory, "%" PRIu32, run->ranks_expected) },
		{ "{op}", oldest_op(run, memory) },
		{ "{a}", ct_arena_printf(memory, "rank %s", ct_text_rank(rank).s) },
		{ "{time}",
		  ct_arena_printf(memory, "%s",
				  ct_prose_ns(r->n_not_stalled ? r->not_stalled[0].age_ns : 0).s) },
		{ "{limit}", ct_arena_printf(memory, "%s", ct_prose_ns(run->limit_ns).s) },
	};

	return ct_template_fill(memory, ct_hang_text_of(text), words,
				sizeof(words) / sizeof(words[0]));
}

static void write_answer(struct ct_text *text, const struct ct_hang_run *run)
{
	struct ct_arena *memory = ct_arena_new();
	const struct answer answer = answer_of(run);
	const char *headline = memory ? fill(run, answer.headline, memory) : NULL;

	if (headline)
		ct_text_wrap(text, run->state == CT_JOB_KILLED ? CT_COLOR_YELLOW : CT_COLOR_GREEN,
			     CT_TEXT_ROW, "%s", headline);
	if (headline && answer.has_note)
		ct_text_row(text, "note", fill(run, answer.note, memory));
	ct_arena_free(memory);
}

void ct_hang_sentence(const struct ct_hang_run *run, FILE *out)
{
	const struct ct_hang_verdict *v = run->result->verdicts;
	struct ct_arena *memory = ct_arena_new();
	const char *headline = memory ? fill(run, answer_of(run).headline, memory) : NULL;

	if (run->result->n_verdicts)
		fprintf(out, "%s: %s (confidence %s)", ct_hang_title(v), v->headline,
			ct_confidence_name(v->confidence));
	else if (headline)
		fputs(headline, out);
	ct_arena_free(memory);
}

/* ---- evidence of a verdict ---- */

static void write_operation(struct ct_text *text, const struct ct_hang_run *run,
			    const struct ct_hang_verdict *v)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_op *op = v->op < c->n_ops ? &c->ops[v->op] : NULL;
	const struct ct_hang_comm *comm = v->comm < c->n_comms ? &c->comms[v->comm] : NULL;
	struct made m;

	if ((!comm && !op && !v->call) || !make(&m))
		return;
	if (op)
		fprintf(m.out, "%s #%" PRIu64 " (%s%s%s)", ct_op_name(op->op), v->seq,
			v->call ? v->call : "", v->call ? ", " : "",
			op->bytes && op->bytes != CT_UNKNOWN ? ct_prose_bytes(op->bytes).s
							     : "size unknown");
	else if (v->call)
		fputs(v->call, m.out);
	if (comm) {
		fprintf(m.out, " on communicator %016" PRIx64 " (", comm->hash);
		if (comm->name)
			fprintf(m.out, "%s, ", comm->name);
		if (comm->role)
			fprintf(m.out, "%s, ", comm->role);
		fprintf(m.out, "%" PRIu32 " ranks)", comm->n);
	}
	show(text, "operation", &m);
}

/* Bytes of a call site that are shown: of "train.py:117 step < train.py:219 main" the innermost
 * frame, unless all is asked for. */
static int site_shown(const char *site, int verbose)
{
	const char *outer = verbose ? NULL : strstr(site, " < ");

	return outer ? (int)(outer - site) : (int)strlen(site);
}

static void write_op(const struct ct_hang_op *op, uint64_t last_ns, int verbose, FILE *out)
{
	fprintf(out, "%s %s #%" PRIu64 " (%s)",
		op->state == CT_STATE_FINISHED ? "last operation" : "in", ct_op_name(op->op),
		op->seq, ct_op_state_name(op->state));
	if (op->enter_ns != CT_UNKNOWN && last_ns != CT_UNKNOWN && last_ns >= op->enter_ns)
		fprintf(out, ", called %s before the last record",
			ct_prose_ns(last_ns - op->enter_ns).s);
	if (op->site)
		fprintf(out, ", at %.*s", site_shown(op->site, verbose), op->site);
}

/* Calls that move no data and have not returned. */
static void write_inside(struct ct_text *text, const struct ct_hang_case *c, int rank, int verbose)
{
	for (uint32_t i = 0; i < c->n_calls; i++) {
		const struct ct_hang_call *call = &c->calls[i];
		if (c->ranks[call->rank].rank == rank && !call->returned)
			ct_text_rowf(text, "", "inside %s%s%.*s",
				     call->call ? call->call : "a call",
				     call->site ? ", called at " : "",
				     call->site ? site_shown(call->site, verbose) : 0,
				     call->site ? call->site : "");
	}
}

void ct_hang_rank_text(struct ct_text *text, const struct ct_hang_run *run, int rank, int verbose)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_rank *r = ct_hang_rank_of(c, rank);
	const struct ct_hang_op *op = ct_hang_last_op(c, rank);
	struct made m;
	char word[40];

	if (!r)
		return;
	snprintf(word, sizeof(word), "rank %s", ct_text_rank(rank).s);
	if (r->process == CT_PROCESS_NO_TRACE) {
		ct_text_row(text, word, ct_hang_text_of(CT_HANG_TEXT_NO_FILES));
		return;
	}
	if (!make(&m))
		return;
	fputs(r->host ? r->host : "unknown host", m.out);
	if (r->pid)
		fprintf(m.out, ", pid %" PRIu32, r->pid);
	fputs("; ", m.out);
	if (op)
		write_op(op, run->last_heartbeat_ns, verbose, m.out);
	else
		fputs("no operation on record", m.out);
	if (r->heartbeat_age_ns != CT_UNKNOWN && r->heartbeat_age_ns >= SILENT_NS)
		fprintf(m.out, "; last tracer heartbeat %s before that of its peers",
			ct_prose_ns(r->heartbeat_age_ns).s);
	if (verbose && r->cpu_ns != CT_UNKNOWN)
		fprintf(m.out, "; CPU time between two samples %s", ct_prose_ns(r->cpu_ns).s);
	if (r->how_ended)
		fprintf(m.out, "; end: %s", r->how_ended);
	if (r->error)
		fprintf(m.out, "; library error: %s", r->error);
	show(text, word, &m);
	write_inside(text, c, rank, verbose);
}

static void write_waiting(struct ct_text *text, const struct ct_hang_verdict *v)
{
	struct made m;

	if (!v->n_victims || !make(&m))
		return;
	fprintf(m.out, "%" PRIu32 " rank%s: ", v->n_victims, v->n_victims == 1 ? "" : "s");
	ct_hang_rank_list(v->victims, v->n_victims, MOST_RANKS, m.out);
	show(text, "waiting", &m);
}

/* In wall-clock time, to find it in other logs. */
static void wall_clock(uint64_t unix_ns, char *out, size_t size)
{
	time_t seconds = (time_t)(unix_ns / 1000000000u);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M:%S UTC, ", &tm))
		out[0] = 0;
}

static void write_since(struct ct_text *text, const struct ct_hang_run *run,
			const struct ct_hang_verdict *v)
{
	char within[64] = "", wall[48] = "";

	if (v->since_ns == CT_UNKNOWN)
		return;
	if (v->since_err_ns == CT_UNKNOWN)
		snprintf(within, sizeof(within), " by its host's clock (not synchronized)");
	else if (v->since_err_ns)
		snprintf(within, sizeof(within), " ± %s", ct_prose_ns(v->since_err_ns).s);
	wall_clock(run->begin_unix_ns + v->since_ns, wall, sizeof(wall));
	ct_text_rowf(text, "since", "%s%s after the start%s", wall, ct_prose_ns(v->since_ns).s,
		     within);
}

static void write_divergence(struct ct_text *text, const struct ct_hang_divergence *d)
{
	struct made m;

	if (!d || !make(&m))
		return;
	fprintf(m.out, "operation #%" PRIu64 " was called at %s by rank ", d->seq,
		d->site ? d->site : "an unknown site");
	ct_hang_rank_list(d->ranks, d->n_ranks, MOST_RANKS, m.out);
	fprintf(m.out, ", at %s by its peers", d->usual_site ? d->usual_site : "an unknown site");
	show(text, "diverged", &m);
}

/* Rows of evidence, the most useful first. Where not all is asked for they end with the screen's
 * part for them, the last one cut. */
static void write_evidence(struct ct_text *text, const struct ct_hang_run *run,
			   const struct ct_hang_verdict *v, int verbose)
{
	const int end = verbose ? INT32_MAX : text->lines + EVIDENCE_END - 2;
	const uint32_t ranks = verbose ? MOST_LINES : FEW_RANKS;

	text->end = verbose ? 0 : end;
	for (uint32_t i = 0; i < v->n_notes && text->lines < end; i++)
		ct_text_row(text, i ? "" : "evidence", v->notes[i]);
	if (text->lines < end)
		write_operation(text, run, v);
	for (uint32_t i = 0; i < v->n_ranks && i < ranks && text->lines < end; i++)
		ct_hang_rank_text(text, run, v->ranks[i], verbose);
	if (verbose && v->n_ranks > ranks)
		ct_text_rowf(text, "", "and %" PRIu32 " more ranks", v->n_ranks - ranks);
	if (v->site && text->lines < end)
		ct_text_rowf(text, "called at", "%.*s", site_shown(v->site, verbose), v->site);
	if (text->lines < end)
		write_waiting(text, v);
	if (text->lines < end)
		write_since(text, run, v);
	text->end = 0;
	if (verbose)
		write_divergence(text, v->divergence);
}

static void write_headline(struct ct_text *text, const struct ct_hang_verdict *v)
{
	ct_text_wrap(text, CT_COLOR_RED, CT_TEXT_ROW, "%s: %s", ct_hang_title(v), v->headline);
}

static void write_confidence(struct ct_text *text, const struct ct_hang_verdict *v, int verbose)
{
	struct made m;

	if (!make(&m))
		return;
	fprintf(m.out, "%s, confidence %s", ct_hang_code_name(v->code),
		ct_confidence_name(v->confidence));
	for (uint32_t i = 0; i < v->n_reasons && (verbose || !i); i++)
		fprintf(m.out, "%s%s", i ? "; " : ": ", v->reasons[i]);
	show(text, "verdict", &m);
}

/* `below`: lines that follow it on the screen. */
static void write_verdict(struct ct_text *text, const struct ct_hang_run *run,
			  const struct ct_hang_verdict *v, int verbose, int below)
{
	write_headline(text, v);
	ct_text_row(text, "cause", v->cause);
	write_evidence(text, run, v, verbose);
	write_confidence(text, v, verbose);
	ct_text_row(text, "do", v->advice);
	ct_text_command(text, "run", v->command);
	ct_hang_stacks_text(text, run, v, verbose ? INT32_MAX : SCREEN - below - text->lines);
}

/* ---- the rest ---- */

static int rank_of(const struct ct_hang_case *c, const struct ct_hang_slow *slow)
{
	return c->ranks[c->ops[slow->op].rank].rank;
}

/* The oldest ones, by rank. */
static void write_slow(struct ct_text *text, const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_result *r = run->result;
	struct ct_hang_slow shown[MOST_SLOW];
	uint32_t n = 0;

	for (; n < r->n_not_stalled && n < MOST_SLOW; n++) {
		uint32_t at = n;

		for (; at && rank_of(c, &shown[at - 1]) > rank_of(c, &r->not_stalled[n]); at--)
			shown[at] = shown[at - 1];
		shown[at] = r->not_stalled[n];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct ct_hang_op *op = &c->ops[shown[i].op];

		ct_text_rowf(text, i ? "" : "in flight", "rank %s: %s #%" PRIu64 " %s, for %s",
			     ct_text_rank(c->ranks[op->rank].rank).s, ct_op_name(op->op), op->seq,
			     ct_op_state_name(op->state), ct_prose_ns(shown[i].age_ns).s);
	}
	if (r->all_not_stalled > n)
		ct_text_rowf(text, "", "and %" PRIu32 " more", r->all_not_stalled - n);
}

static void write_missing(struct ct_text *text, const struct ct_hang_run *run, uint32_t most)
{
	const struct ct_hang_result *r = run->result;
	size_t all = run->n_missing_data + r->n_missing;
	uint32_t shown = 0;

	for (size_t i = 0; i < run->n_missing_data && shown < most; i++, shown++)
		ct_text_rowf(text, shown ? "" : "data quality", "%s", run->missing_data[i]);
	for (uint32_t i = 0; i < r->n_missing && shown < most; i++, shown++)
		ct_text_rowf(text, shown ? "" : "data quality", "rank %s %s",
			     ct_text_rank(r->missing[i].rank).s, r->missing[i].text);
	if (all > shown)
		ct_text_rowf(text, shown ? "" : "data quality", "and %zu more", all - shown);
}

static void write_job(struct ct_text *text, const struct ct_hang_run *run)
{
	char expected[32] = "", restart[48] = "";

	if (run->ranks_expected && run->ranks_expected != run->ranks_seen)
		snprintf(expected, sizeof(expected), " of %" PRIu32, run->ranks_expected);
	if (run->starts > 1)
		snprintf(restart, sizeof(restart), ", restart %d of %d", run->restart,
			 run->starts - 1);
	ct_text_rowf(text, "job", "%s, %" PRIu32 "%s rank%s on %" PRIu32 " host%s%s",
		     ct_job_state_word(run->state), run->ranks_seen, expected,
		     run->ranks_seen == 1 && !expected[0] ? "" : "s", run->hosts,
		     run->hosts == 1 ? "" : "s", restart);
}

/* The command that shows all that is known. */
static void write_next(struct ct_text *text, const struct ct_hang_run *run,
		       const struct ct_text_style *style)
{
	char shown[1024], command[1100];

	if (!ct_text_runs(shown, sizeof(shown), style, run->dir))
		return;
	snprintf(command, sizeof(command), "commtrace hang %s --verbose", shown);
	ct_text_command(text, "more", command);
}

static void write_all(const struct ct_hang_run *run, const struct ct_text_style *style, int verbose,
		      FILE *out)
{
	const struct ct_hang_result *r = run->result;
	const struct ct_text plain = ct_text_to(out, style);
	struct ct_text text = ct_text_screen(&plain);
	const uint32_t shown = verbose || r->n_verdicts <= 1 + FEW_OTHERS ? r->n_verdicts
									  : 1 + FEW_OTHERS;
	const size_t missing = run->n_missing_data + r->n_missing;
	/* other verdicts, an empty line, job, missing (two lines of text, one of a number), more */
	const int below = (int)(shown ? shown - 1 : 0) + (r->n_verdicts > shown) + 3 +
			  (missing > 1 ? 3
			   : missing   ? 2
				       : 0);

	for (uint32_t i = 0; i < shown; i++) {
		if (i && verbose)
			ct_text_empty(&text);
		if (!i || verbose)
			write_verdict(&text, run, &r->verdicts[i], verbose, below);
		else
			write_headline(&text, &r->verdicts[i]);
	}
	if (r->n_verdicts > shown)
		ct_text_line(&text, CT_COLOR_DIM, "and %" PRIu32 " more verdicts (--verbose)",
			     r->n_verdicts - shown);
	if (r->n_verdicts) {
		ct_text_empty(&text);
	} else {
		write_answer(&text, run);
		write_slow(&text, run);
	}
	write_job(&text, run);
	write_missing(&text, run, verbose ? MOST_MISSING : 1);
}

/* What write_all() writes; NULL: out of memory. The caller frees it. */
static char *all_text(const struct ct_hang_run *run, const struct ct_text_style *style, int verbose)
{
	struct made m;

	if (!make(&m))
		return NULL;
	write_all(run, style, verbose, m.out);
	if (fclose(m.out) == 0)
		return m.text;
	free(m.text);
	return NULL;
}

void ct_hang_text(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out)
{
	const struct ct_text plain = ct_text_to(out, style);
	struct ct_text text = ct_text_screen(&plain);
	char *brief, *verbose;

	write_all(run, style, style && style->verbose, out);
	if (style && style->verbose)
		ct_text_rowf(&text, "read", "%s from %s of files; of a process at most %s",
			     ct_prose_bytes(run->read_bytes).s, ct_prose_bytes(run->file_bytes).s,
			     ct_prose_bytes(run->most_read_bytes).s);
	if (!run->result->n_verdicts || (style && style->verbose))
		return;
	brief = all_text(run, style, 0);
	verbose = all_text(run, style, 1);
	if (!brief || !verbose || strcmp(brief, verbose) != 0)
		write_next(&text, run, style);
	free(brief);
	free(verbose);
}

/* ---- for scripts ---- */

static void write_kv(struct ct_text *text, const struct ct_hang_run *run,
		     const struct ct_hang_verdict *v)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_rank *rank = v->n_ranks ? ct_hang_rank_of(c, v->ranks[0]) : NULL;
	struct made m;

	if (!make(&m))
		return;
	fprintf(m.out, "VERDICT code=%s ranks=", ct_hang_code_name(v->code));
	ct_hang_rank_list(v->ranks, v->n_ranks, UINT32_MAX, m.out);
	fprintf(m.out, " host=%s", rank && rank->host ? rank->host : "n/a");
	if (v->op < c->n_ops)
		fprintf(m.out, " op=%s seq=%" PRIu64, ct_op_name(c->ops[v->op].op), v->seq);
	if (v->comm < c->n_comms)
		fprintf(m.out, " comm=%016" PRIx64, c->comms[v->comm].hash);
	fprintf(m.out, " waiting=%" PRIu32 " age=%s confidence=%s", v->n_victims,
		ct_text_ns(v->age_ns).s, ct_confidence_name(v->confidence));
	if (fclose(m.out) == 0)
		ct_text_line(text, CT_COLOR_NONE, "%s", m.text);
	free(m.text);
}

void ct_hang_kv(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);

	text.unwrapped = 1;
	ct_text_line(&text, CT_COLOR_NONE,
		     "JOB state=%s ranks=%" PRIu32 " expected=%" PRIu32 " hosts=%" PRIu32
		     " verdicts=%" PRIu32,
		     ct_job_state_word(run->state), run->ranks_seen, run->ranks_expected,
		     run->hosts, run->result->n_verdicts);
	for (uint32_t i = 0; i < run->result->n_verdicts; i++)
		write_kv(&text, run, &run->result->verdicts[i]);
}
