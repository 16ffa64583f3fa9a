/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/facts_text.h"

#define LABEL CT_TEXT_ROW

/* ---- the verdict's ---- */

static enum ct_color color_of(const struct ct_report *report)
{
	static const enum ct_color colors[] = { [CT_VERDICT_IS_GOOD] = CT_COLOR_GREEN,
						[CT_VERDICT_IS_UNSURE] = CT_COLOR_YELLOW,
						[CT_VERDICT_IS_WARNING] = CT_COLOR_YELLOW,
						[CT_VERDICT_IS_CRITICAL] = CT_COLOR_RED };

	return colors[ct_verdict_level(report->verdict.code)];
}

/* In which steps, where not in all. */
static void when(struct ct_text *text, const struct ct_report *report, const struct ct_finding *f)
{
	if (f->step_first == CT_UNKNOWN ||
	    (f->step_first == report->steps.skipped &&
	     f->step_last + 1 >= report->steps.skipped + report->steps.count))
		return;
	ct_text_wrap(text, CT_COLOR_NONE, LABEL,
		     "  %-*ssteps %" PRIu64 " to %" PRIu64 ", %s to %s%s", (int)LABEL - 2, "when",
		     f->step_first, f->step_last, ct_prose_ns(f->begin_at_ns).s,
		     ct_prose_ns(f->end_at_ns).s,
		     isnan(f->per_step_ns) ? "" : "; the cost per step is of the slow ones");
}

/* A row of at most so many lines; 0: all of it. */
static void row(struct ct_text *text, const char *word, const char *what, int most)
{
	text->end = most ? text->lines + most : 0;
	ct_text_row(text, word, what);
	text->end = 0;
}

static void write_verdict(struct ct_text *text, const struct ct_report *report, int most)
{
	const struct ct_report_verdict *v = &report->verdict;
	const struct ct_finding *f = v->about;

	ct_text_wrap(text, color_of(report), LABEL, "%s: %s", v->title, v->headline);
	if (f)
		row(text, "where", f->where, most);
	row(text, "cause", v->cause, most);
	if (f) {
		when(text, report, f);
		row(text, "note", f->note, most);
	}
	row(text, "note", v->note, most);
	if (v->confidence != CT_CONFIDENCE_NONE)
		ct_text_wrap(text, CT_COLOR_NONE, LABEL, "  %-*s%s%s%s, confidence %s",
			     (int)LABEL - 2, "verdict", ct_verdict_name(v->code),
			     v->hang_code ? " " : "", v->hang_code ? v->hang_code : "",
			     ct_confidence_name(v->confidence));
	row(text, "do", v->advice, most);
	ct_text_command(text, "run", v->command);
}

/* ---- the others ---- */

static int is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Text of the finding above is not repeated. */
static void write_finding(struct ct_text *text, const struct ct_report *report, size_t i,
			  int verbose)
{
	static const enum ct_color colors[] = { CT_COLOR_NONE, CT_COLOR_YELLOW, CT_COLOR_RED };
	const struct ct_finding *f = &report->findings[i], *before = i ? f - 1 : NULL;

	ct_text_wrap(text, colors[f->severity], LABEL, "%s: %s", ct_finding_title(f->kind),
		     f->headline ? f->headline : "");
	if (!verbose) {
		if (f->kind == CT_FINDING_ADVICE)
			ct_text_row(text, "do", f->advice);
		return;
	}
	ct_text_row(text, "where", f->where);
	if (!before || !is_same(f->cause, before->cause))
		ct_text_row(text, "cause", f->cause);
	when(text, report, f);
	ct_text_row(text, "note", f->note);
	ct_text_wrap(text, CT_COLOR_NONE, LABEL, "  %-*s%s, %s, confidence %s", (int)LABEL - 2,
		     "finding", ct_finding_name(f->kind), ct_severity_name(f->severity),
		     ct_confidence_name(f->confidence));
	if (before && is_same(f->advice, before->advice))
		return;
	ct_text_row(text, "do", f->advice);
	ct_text_command(text, "run", f->command);
}

void ct_findings_text(struct ct_text *text, const struct ct_report *report, int verbose,
		      const struct ct_text_detail *detail)
{
	size_t first = report->verdict.about != NULL, end = report->n_findings;
	struct ct_text own = ct_text_screen(text);

	if (end - first > detail->others)
		end = first + detail->others;
	write_verdict(&own, report, detail->row_lines);
	if (end > first)
		ct_text_empty(&own);
	for (size_t i = first; i < end; i++)
		write_finding(&own, report, i, verbose);
	if (report->n_findings > end)
		ct_text_line(&own, CT_COLOR_DIM, "%zu more finding%s (%s)",
			     report->n_findings - end, report->n_findings - end == 1 ? "" : "s",
			     verbose ? "a larger --top" : "--verbose");
	ct_text_empty(&own);
	text->lines = own.lines;
}
