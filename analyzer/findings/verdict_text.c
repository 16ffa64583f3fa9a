/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/headline.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/model/names.h"

#define WHO_COLUMNS 40u /* size: of ranks and host in a sentence */

static const struct row {
	enum ct_verdict_code code;
	const char *headline, *note, *advice, *command;
} rows[] = {
#define VERDICT(name, code, headline, note, advice, command)                                       \
	[CT_SAYS_##name] = { CT_VERDICT_##code, headline, note, advice, command },
#include "analyzer/findings/verdicts.def"
};

static const char *const notes[] = {
#define NOTE(name, text) [CT_NOTE_##name] = text,
#include "analyzer/findings/verdicts.def"
};

void ct_verdict_set(struct ct_report *report, enum ct_verdict_code code,
		    enum ct_confidence confidence, const char *fmt, ...)
{
	struct ct_report_verdict *v = &report->verdict;
	double gain = v->gain_max_pct;
	va_list ap;

	*v = (struct ct_report_verdict){ .code = code,
					 .confidence = confidence,
					 .title = ct_verdict_title(code),
					 .gain_max_pct = gain };
	va_start(ap, fmt);
	v->headline = ct_arena_vprintf(report->memory, fmt, ap);
	va_end(ap);
	v->text = v->headline;
}

/* NULL where there is no pattern. */
static const char *fill(const struct ct_report *report, const char *pattern,
			const struct ct_word *words, size_t n)
{
	const char *text;

	if (!pattern)
		return NULL;
	text = ct_template_fill_with(
		report->memory, pattern,
		CT_WORDS({ "{of}", ct_step_time_name(&report->step_time) },
			 { "{run}", report->run.words ? report->run.words : "RUN" }),
		words, n);
	return text ? text : "";
}

void ct_verdict_say(struct ct_report *report, enum ct_verdict_row at, enum ct_confidence confidence,
		    const struct ct_word *words, size_t n)
{
	const struct row *row = &rows[at];
	const char *note = fill(report, row->note, words, n);

	ct_verdict_set(report, row->code, confidence, "%s", fill(report, row->headline, words, n));
	report->verdict.advice = fill(report, row->advice, words, n);
	report->verdict.command = fill(report, row->command, words, n);
	ct_verdict_add(report, note ? note : "");
}

const char *ct_note_text(const struct ct_report *report, enum ct_note note,
			 const struct ct_word *words, size_t n)
{
	return fill(report, notes[note], words, n);
}

void ct_verdict_note(struct ct_report *report, enum ct_note note, const struct ct_word *words,
		     size_t n)
{
	ct_verdict_add(report, ct_note_text(report, note, words, n));
}

const char *ct_counted(const struct ct_report *report, uint64_t n, const char *one,
		       const char *several)
{
	return ct_arena_printf(report->memory, "%s %s", ct_text_count(n).s, n == 1 ? one : several);
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

	report->verdict.gain_max_pct = f->time_lost_pct;
	ct_verdict_set(report, code,
		       code == CT_VERDICT_NOT_ENOUGH_EVIDENCE ? CT_CONFIDENCE_NONE : f->confidence,
		       "%s", f->headline);
	if (code == CT_VERDICT_MISMATCH || code == CT_VERDICT_UNEVEN_INPUT ||
	    code == CT_VERDICT_CHANGE_POINT)
		ct_verdict_mention(report, f->cause);
	else if (f->kind == CT_FINDING_SLOW_OP)
		ct_verdict_note(report, CT_NOTE_LINK_OR_RANK, CT_NO_WORDS);
	else if (f->kind == CT_FINDING_IMBALANCE)
		/* its cause says so where the cause is shown */
		ct_verdict_mention(report,
				   ct_note_text(report, CT_NOTE_NO_RANK_CAUSES_IT, CT_NO_WORDS));
	else if (f->at_most && !f->is_bounded)
		ct_verdict_note(report, CT_NOTE_OVERLAP_HIDES, CT_NO_WORDS);
}

void ct_verdict_conclude(struct ct_report *report, const struct ct_finding *about)
{
	struct ct_report_verdict *v = &report->verdict;

	v->about = about;
	if (about && about->headline && v->headline && strcmp(about->headline, v->headline) == 0)
		v->title = ct_finding_title(about->kind);
	v->headline = ct_headline_fit(report->memory, v->title, v->headline ? v->headline : "");
	if (!about)
		return;
	v->cause = v->cause ? v->cause : about->cause;
	v->advice = v->advice ? v->advice : about->advice;
	v->command = v->command ? v->command : about->command;
}

/* ---- beside something else ---- */

const char *ct_finding_in_short(const struct ct_finding *f, struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const char *first = ct_arena_printf(memory, "%llu", (unsigned long long)f->step_first);
	const char *share = ct_arena_printf(memory, "%s%s", f->at_most ? "at most " : "",
					    ct_pct_text(report, f->time_lost_pct));
	const struct ct_word words[] = { { "{who}", ct_finding_who(f, memory, WHO_COLUMNS) },
					 { "{step}", first },
					 { "{share}", share } };
	const int one = f->n_ranks == 1;
	enum ct_note note = one ? CT_NOTE_ALSO_LATE : CT_NOTE_ALSO_LATE_SEVERAL;

	switch (f->kind) {
	case CT_FINDING_SLOW_OP:
		return f->headline;
	case CT_FINDING_CHANGE_POINT:
		note = CT_NOTE_ALSO_LONGER;
		break;
	case CT_FINDING_IMBALANCE:
		note = CT_NOTE_ALSO_UNEVEN;
		break;
	case CT_FINDING_SLOW_LINK:
		note = one ? CT_NOTE_ALSO_SLOW : CT_NOTE_ALSO_SLOW_SEVERAL;
		break;
	case CT_FINDING_PERIODIC_STALLS:
	case CT_FINDING_ROTATING_STALLS:
		note = one ? CT_NOTE_ALSO_STALLS : CT_NOTE_ALSO_STALLS_SEVERAL;
		break;
	default:
		break;
	}
	return ct_note_text(report, note, words, sizeof(words) / sizeof(words[0]));
}
