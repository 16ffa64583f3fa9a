/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <string.h>

#include "analyzer/findings/headline.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/model/names.h"

/* size: ranks in a sentence. */
#define MOST_RANKS 8u

__attribute__((format(printf, 4, 0))) static void say(struct ct_report *report,
						      enum ct_verdict_code code,
						      enum ct_confidence confidence,
						      const char *fmt, va_list ap)
{
	report->verdict.code = code;
	report->verdict.confidence = confidence;
	report->verdict.title = ct_verdict_title(code);
	report->verdict.headline = ct_arena_vprintf(report->memory, fmt, ap);
	report->verdict.text = report->verdict.headline;
	report->verdict.hang_code = NULL;
	report->verdict.note = NULL;
	report->verdict.cause = NULL;
	report->verdict.advice = NULL;
	report->verdict.command = NULL;
}

void ct_verdict_set(struct ct_report *report, enum ct_verdict_code code,
		    enum ct_confidence confidence, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(report, code, confidence, fmt, ap);
	va_end(ap);
}

void ct_verdict_doubt(struct ct_report *report, const char *advice, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE, fmt, ap);
	va_end(ap);
	report->verdict.advice = advice;
}

void ct_verdict_mention(struct ct_report *report, const char *text)
{
	if (*text)
		report->verdict.text = ct_arena_printf(report->memory, "%s; %s",
						       report->verdict.text, text);
}

void ct_verdict_add(struct ct_report *report, const char *text)
{
	const char *before = report->verdict.note;

	ct_verdict_mention(report, text);
	if (*text)
		report->verdict.note = ct_arena_printf(
			report->memory, "%s%s%s", before ? before : "", before ? "; " : "", text);
}

static const enum ct_verdict_code verdicts[] = {
#define NONE NOT_ENOUGH_EVIDENCE
#define VERDICT(code) CT_VERDICT_##code
#define HEADLINE(kind, verdict, text) [CT_FINDING_##kind] = VERDICT(verdict),
#include "analyzer/findings/headlines.def"
#undef VERDICT
#undef NONE
};

void ct_verdict_of_finding(const struct ct_finding *f, struct ct_report *report)
{
	enum ct_verdict_code code = verdicts[f->kind];

	report->verdict.gain_max_pct = f->time_lost_pct_of_run;
	if (code == CT_VERDICT_NOT_ENOUGH_EVIDENCE)
		ct_verdict_doubt(report, f->advice, "%s", f->headline);
	else
		ct_verdict_set(report, code, f->confidence, "%s", f->headline);
	if (code == CT_VERDICT_MISMATCH || code == CT_VERDICT_UNEVEN_INPUT ||
	    code == CT_VERDICT_CHANGE_POINT)
		ct_verdict_mention(report, f->cause);
	else if (f->kind == CT_FINDING_SLOW_OP)
		ct_verdict_add(report,
			       "these timings cannot distinguish a slow link from a slow rank");
	else if (f->at_most && !f->is_bounded)
		ct_verdict_add(report, "overlap may hide part of it");
}

void ct_verdict_conclude(struct ct_report *report, const struct ct_finding *about)
{
	struct ct_report_verdict *v = &report->verdict;

	v->about = about;
	if (!about)
		return;
	if (about->headline && v->headline && strcmp(about->headline, v->headline) == 0)
		v->title = ct_finding_title(about->kind);
	v->cause = v->cause ? v->cause : about->cause;
	v->advice = v->advice ? v->advice : about->advice;
	v->command = v->command ? v->command : about->command;
}

/* ---- beside something else ---- */

/* "rank 5 (node1)", "ranks 1,4 (node0)", "ranks 1,9" */
static const char *who_text(const struct ct_finding *f, struct ct_arena *memory)
{
	const char *ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, MOST_RANKS);
	const char *host = f->n_hosts == 1 ? ct_host_word(memory, f->hosts[0]) : "";

	return ct_arena_printf(memory, "rank%s %s%s%s%s", f->n_ranks == 1 ? "" : "s", ranks,
			       *host ? " (" : "", host, *host ? ")" : "");
}

/* "is late": one; "are late": several. */
static const char *does_text(const struct ct_finding *f)
{
	int one = f->n_ranks == 1;

	switch (f->kind) {
	case CT_FINDING_SLOW_LINK:
		return one ? "has slow transfers" : "have slow transfers";
	case CT_FINDING_PERIODIC_STALLS:
	case CT_FINDING_ROTATING_STALLS:
		return one ? "stalls occasionally" : "stall occasionally";
	default:
		return one ? "is late" : "are late";
	}
}

const char *ct_finding_in_short(const struct ct_finding *f, struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const char *share = ct_share_text(report, f->time_lost_ns);

	if (f->kind == CT_FINDING_CHANGE_POINT)
		return ct_arena_printf(memory, "steps take longer from step %llu on (%s)",
				       (unsigned long long)f->step_first, share);
	if (f->kind == CT_FINDING_IMBALANCE)
		return ct_arena_printf(memory, "uneven compute time costs another %s", share);
	if (f->kind == CT_FINDING_SLOW_OP)
		return f->headline;
	return ct_arena_printf(memory, "also, %s %s (%s%s)", who_text(f, memory), does_text(f),
			       f->at_most ? "at most " : "", share);
}
