/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/hang.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/units.h"
#include "analyzer/render/text.h"
#include "trace/ops.h"

#define HANGING 12u    /* columns of the word that a line begins with, and its two spaces */
#define MOST_RANKS 12u /* numbers in a list */
#define MOST_LINES 4u  /* ranks of a verdict that are listed one by one */
#define MOST_MISSING 6u
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

static void show(struct ct_text *text, enum ct_color color, unsigned hanging, struct made *m)
{
	if (m->out && fclose(m->out) == 0 && m->text)
		ct_text_wrap(text, color, hanging, "%s", m->text);
	free(m->text);
}

/* ---- the first line ---- */

static void say_running(const struct ct_hang_run *run, FILE *out)
{
	const struct ct_hang_result *r = run->result;
	const struct ct_hang_case *c = &run->hang_case;

	fprintf(out, "nothing hangs: %" PRIu32 " processes run", run->running);
	if (!r->n_not_stalled) {
		fputs(", and nothing is under way", out);
		return;
	}
	fprintf(out,
		", and the oldest operation that is under way has been so for %s (rank %s, %s "
		"#%" PRIu64 ")",
		ct_text_ns(r->not_stalled[0].age_ns).s,
		ct_text_rank(c->ranks[c->ops[r->not_stalled[0].op].rank].rank).s,
		ct_op_name(c->ops[r->not_stalled[0].op].op), c->ops[r->not_stalled[0].op].seq);
	if (r->not_stalled[0].age_ns < run->limit_ns)
		fprintf(out, "; what is younger than %s does not count as stalled",
			ct_text_ns(run->limit_ns).s);
}

static void say_ended(const struct ct_hang_run *run, FILE *out)
{
	if (run->ranks_seen >= run->ranks_expected)
		fprintf(out, "nothing hung: all ranks (%" PRIu32 ") exited cleanly",
			run->ranks_seen);
	else
		fprintf(out,
			"nothing hung, as far as is known: %" PRIu32 " of %" PRIu32
			" ranks exited cleanly, and the others left no trace",
			run->ranks_seen, run->ranks_expected);
}

/* Imported: the records may be complete, or end anywhere. */
static void say_unrecorded(const struct ct_hang_run *run, FILE *out)
{
	uint32_t n = run->result->n_not_stalled;

	if (n)
		fprintf(out,
			"no hang found: %" PRIu32
			" operation%s unfinished at the end of the trace, "
			"none for long",
			n, n == 1 ? " is" : "s are");
	else
		fputs("no hang found: every operation on record has finished", out);
	fputs("; how the processes ended is not recorded", out);
}

static void say_nothing(const struct ct_hang_run *run, FILE *out)
{
	switch (run->state) {
	case CT_JOB_RUNNING:
		say_running(run, out);
		return;
	case CT_JOB_ENDED:
		say_ended(run, out);
		return;
	case CT_JOB_INTERRUPTED:
		fputs("nothing hung: the job was ended from outside while it went on", out);
		return;
	case CT_JOB_UNRECORDED:
		say_unrecorded(run, out);
		return;
	case CT_JOB_KILLED:
		break;
	}
	fputs("not enough evidence: the job did not exit cleanly, no rank is seen to have kept it "
	      "from going on, and what ended it is not on record",
	      out);
}

void ct_hang_sentence(const struct ct_hang_run *run, FILE *out)
{
	const struct ct_hang_verdict *v = run->result->verdicts;

	if (run->result->n_verdicts)
		fprintf(out, "%s: %s (confidence %s)", ct_hang_code_name(v->code), v->sentence,
			ct_confidence_name(v->confidence));
	else
		say_nothing(run, out);
}

/* ---- a verdict ---- */

static void write_where(struct ct_text *text, const struct ct_hang_run *run,
			const struct ct_hang_verdict *v)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_op *op = v->op < c->n_ops ? &c->ops[v->op] : NULL;
	const struct ct_hang_comm *comm = v->comm < c->n_comms ? &c->comms[v->comm] : NULL;
	struct made m;

	if ((!comm && !op && !v->call) || !make(&m))
		return;
	fprintf(m.out, "%-*s", HANGING, "in");
	if (op)
		fprintf(m.out, "%s", ct_op_name(op->op));
	if (v->seq != CT_UNKNOWN)
		fprintf(m.out, " #%" PRIu64, v->seq);
	if (v->call)
		fprintf(m.out, op ? " (%s)" : "%s", v->call);
	if (comm)
		fprintf(m.out, " on comm=%016" PRIx64 "%s%s%s%s of %" PRIu32 " ranks", comm->key,
			comm->name ? " name=" : "", comm->name ? comm->name : "",
			comm->role ? " role=" : "", comm->role ? comm->role : "", comm->n);
	if (op && op->bytes && op->bytes != CT_UNKNOWN)
		fprintf(m.out, ", %s", ct_text_bytes(op->bytes).s);
	show(text, CT_COLOR_NONE, HANGING, &m);
	if (v->site)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, "%-*s%s", HANGING, "called at", v->site);
}

/* By the clock on the wall, to find it again in other logs. */
static void wall_clock(uint64_t unix_ns, char *out, size_t size)
{
	time_t seconds = (time_t)(unix_ns / 1000000000u);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(out, size, " (%Y-%m-%d %H:%M:%S UTC)", &tm))
		out[0] = 0;
}

static void write_since(struct ct_text *text, const struct ct_hang_run *run,
			const struct ct_hang_verdict *v)
{
	char within[48] = "", ago[64] = "", wall[48] = "";

	if (v->since_ns == CT_UNKNOWN)
		return;
	if (v->since_err_ns == CT_UNKNOWN)
		snprintf(within, sizeof(within), " of its host (clocks are not related)");
	else if (v->since_err_ns)
		snprintf(within, sizeof(within), ", within %s", ct_text_ns(v->since_err_ns).s);
	if (v->age_ns != CT_UNKNOWN)
		snprintf(ago, sizeof(ago), ", %s before the last record", ct_text_ns(v->age_ns).s);
	wall_clock(run->begin_unix_ns + v->since_ns, wall, sizeof(wall));
	ct_text_line(text, CT_COLOR_NONE, "%-*s%s after the run began%s%s%s", HANGING, "since",
		     ct_text_ns(v->since_ns).s, wall, within, ago);
}

static void write_op(const struct ct_hang_run *run, const struct ct_hang_op *op, FILE *out)
{
	const struct ct_hang_case *c = &run->hang_case;

	fprintf(out, "%s %s #%" PRIu64, op->state == CT_STATE_FINISHED ? "last:" : "in",
		ct_op_name(op->op), op->seq);
	if (op->comm < c->n_comms)
		fprintf(out, " of comm=%016" PRIx64, c->comms[op->comm].key);
	fprintf(out, " %s, called %s after the run began", ct_op_state_name(op->state),
		ct_text_ns(op->enter_ns).s);
}

/* Calls that move no data and have not come back. */
static void write_inside(struct ct_text *text, const struct ct_hang_case *c, int rank)
{
	for (uint32_t i = 0; i < c->n_calls; i++) {
		const struct ct_hang_call *call = &c->calls[i];
		if (c->ranks[call->rank].rank == rank && !call->returned)
			ct_text_wrap(text, CT_COLOR_NONE, HANGING, "%-*sinside of %s%s%s", HANGING,
				     "", call->call ? call->call : "a call",
				     call->site ? ", called at " : "",
				     call->site ? call->site : "");
	}
}

static void write_rank(struct ct_text *text, const struct ct_hang_run *run, int rank)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_rank *r = ct_hang_rank_of(c, rank);
	const struct ct_hang_op *op = ct_hang_last_op(c, rank);
	struct made m;
	char word[40];

	if (!r)
		return;
	snprintf(word, sizeof(word), "rank %s", ct_text_rank(rank).s);
	if (r->life == CT_LIFE_NO_TRACE) {
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, "%-*sleft no trace", HANGING, word);
		return;
	}
	if (!make(&m))
		return;
	fprintf(m.out, "%-*son %s; ", HANGING, word, r->host ? r->host : "an unknown host");
	if (op)
		write_op(run, op, m.out);
	else
		fputs("no operation on record", m.out);
	if (r->heartbeat_age_ns != CT_UNKNOWN)
		fprintf(m.out, "; last tracer heartbeat %s before the latest of all",
			ct_text_ns(r->heartbeat_age_ns).s);
	if (r->cpu_ns != CT_UNKNOWN)
		fprintf(m.out, "; processor time while looked at %s", ct_text_ns(r->cpu_ns).s);
	if (r->how_ended)
		fprintf(m.out, "; ended: %s", r->how_ended);
	if (r->error)
		fprintf(m.out, "; its library told: %s", r->error);
	show(text, CT_COLOR_NONE, HANGING, &m);
	if (op && op->site)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, "%-*scalled at %s", HANGING, "",
			     op->site);
	write_inside(text, c, rank);
}

static void write_divergence(struct ct_text *text, const struct ct_hang_divergence *d)
{
	struct made m;

	if (!d || !make(&m))
		return;
	fprintf(m.out, "%-*sfrom operation #%" PRIu64 " on called from different places: by rank ",
		HANGING, "apart", d->seq);
	ct_hang_rank_list(d->ranks, d->n_ranks, MOST_RANKS, m.out);
	fprintf(m.out, " at %s, by the others at %s", d->site ? d->site : "?",
		d->usual_site ? d->usual_site : "?");
	show(text, CT_COLOR_NONE, HANGING, &m);
}

static void write_verdict(struct ct_text *text, const struct ct_hang_run *run,
			  const struct ct_hang_verdict *v)
{
	struct made m;

	write_where(text, run, v);
	write_since(text, run, v);
	for (uint32_t i = 0; i < v->n_ranks && i < MOST_LINES; i++)
		write_rank(text, run, v->ranks[i]);
	if (v->n_ranks > MOST_LINES)
		ct_text_line(text, CT_COLOR_NONE, "%-*sand %" PRIu32 " more ranks", HANGING, "",
			     v->n_ranks - MOST_LINES);
	ct_hang_stacks_text(text, run, v);
	write_divergence(text, v->divergence);
	if (make(&m)) {
		if (v->n_victims) {
			fprintf(m.out, "%-*s%" PRIu32 ": %s ", HANGING, "waiting", v->n_victims,
				v->n_victims == 1 ? "rank" : "ranks");
			ct_hang_rank_list(v->victims, v->n_victims, MOST_RANKS, m.out);
		} else {
			fprintf(m.out, "%-*snobody else", HANGING, "waiting");
		}
		show(text, CT_COLOR_NONE, HANGING, &m);
	}
	for (uint32_t i = 0; i < v->n_reasons; i++)
		ct_text_wrap(text, CT_COLOR_YELLOW, HANGING, "%-*s%s", HANGING,
			     i ? "" : "less sure", v->reasons[i]);
	if (v->advice)
		ct_text_wrap(text, CT_COLOR_BOLD, HANGING, "%-*s%s", HANGING, "do", v->advice);
}

/* ---- the rest ---- */

static void write_slow(struct ct_text *text, const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_result *r = run->result;

	if (r->n_verdicts)
		return;
	for (uint32_t i = 0; i < r->n_not_stalled && i < MOST_SLOW; i++) {
		const struct ct_hang_op *op = &c->ops[r->not_stalled[i].op];

		ct_text_line(text, CT_COLOR_NONE, "%-*srank %s %s #%" PRIu64 " %s for %s", HANGING,
			     i ? "" : "under way", ct_text_rank(c->ranks[op->rank].rank).s,
			     ct_op_name(op->op), op->seq, ct_op_state_name(op->state),
			     ct_text_ns(r->not_stalled[i].age_ns).s);
	}
}

static void write_missing(struct ct_text *text, const struct ct_hang_run *run)
{
	const struct ct_hang_result *r = run->result;
	uint32_t shown = 0;

	for (size_t i = 0; i < run->n_missing_data && shown < MOST_MISSING; i++, shown++)
		ct_text_wrap(text, CT_COLOR_YELLOW, HANGING, "%-*s%s", HANGING,
			     shown ? "" : "missing", run->missing_data[i]);
	for (uint32_t i = 0; i < r->n_missing && shown < MOST_MISSING; i++, shown++)
		ct_text_wrap(text, CT_COLOR_YELLOW, HANGING, "%-*srank %s %s", HANGING,
			     shown ? "" : "missing", ct_text_rank(r->missing[i].rank).s,
			     r->missing[i].text);
	if (run->n_missing_data + r->n_missing > shown)
		ct_text_line(text, CT_COLOR_YELLOW, "%-*sand %zu more", HANGING, "",
			     run->n_missing_data + r->n_missing - shown);
}

static void write_job(struct ct_text *text, const struct ct_hang_run *run)
{
	char expected[32] = "", restart[48] = "";

	if (run->ranks_expected && run->ranks_expected != run->ranks_seen)
		snprintf(expected, sizeof(expected), " of %" PRIu32, run->ranks_expected);
	if (run->starts > 1)
		snprintf(restart, sizeof(restart), ", restart %d of %d", run->restart,
			 run->starts - 1);
	ct_text_line(text, CT_COLOR_NONE, "%-*s%s; %" PRIu32 "%s ranks on %" PRIu32 " host%s%s",
		     HANGING, "job", ct_job_state_word(run->state), run->ranks_seen, expected,
		     run->hosts, run->hosts == 1 ? "" : "s", restart);
}

void ct_hang_text(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out)
{
	const struct ct_hang_result *r = run->result;
	struct ct_text text = { .out = out,
				.color = style && style->color,
				.whole = style && style->whole };
	struct made m;

	for (uint32_t i = 0; i < r->n_verdicts; i++) {
		const struct ct_hang_verdict *v = &r->verdicts[i];

		if (i)
			ct_text_line(&text, CT_COLOR_NONE, "%s", "");
		ct_text_wrap(&text, CT_COLOR_RED, 4, "%s: %s (confidence %s)",
			     ct_hang_code_name(v->code), v->sentence,
			     ct_confidence_name(v->confidence));
		write_verdict(&text, run, v);
	}
	if (!r->n_verdicts && make(&m)) {
		ct_hang_sentence(run, m.out);
		show(&text, run->state == CT_JOB_KILLED ? CT_COLOR_YELLOW : CT_COLOR_GREEN, 4, &m);
	}
	write_slow(&text, run);
	if (r->n_verdicts > 1)
		ct_text_line(&text, CT_COLOR_NONE, "%s", "");
	ct_hang_check_text(run, &text);
	ct_hang_messages_text(run, &text);
	write_job(&text, run);
	write_missing(&text, run);
}
