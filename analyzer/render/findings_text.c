/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/findings_text.h"

#include <string.h>

/* With what to do about them. */
#define MOST_ADVISED 3u
/* Columns before what belongs to a finding. */
#define INDENT "    "
#define HANGING 10u

static int is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* One finding. What the verdict has said, or the finding above, is not told again. */
static void write_finding(struct ct_text *text, const struct ct_report *report, size_t i)
{
	static const enum ct_color colors[] = { CT_COLOR_NONE, CT_COLOR_YELLOW, CT_COLOR_RED };
	const struct ct_finding *f = &report->findings[i], *before = i ? f - 1 : NULL;
	int alike = before && is_same(f->cause, before->cause);

	ct_text_wrap(text, colors[f->severity], HANGING, "%s %s severity=%s confidence=%s",
		     ct_finding_name(f->kind), f->line, ct_severity_name(f->severity),
		     ct_confidence_name(f->confidence));
	if (f->cause && !alike && (i || !strstr(report->verdict.text, f->cause)))
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, INDENT "why:  %s", f->cause);
	if (i >= MOST_ADVISED || (alike && is_same(f->advice, before->advice)))
		return;
	if (f->advice)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, INDENT "do:   %s", f->advice);
	if (f->command)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, INDENT "run:  %s", f->command);
}

void ct_findings_text(struct ct_text *text, const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++)
		write_finding(text, report, i);
	if (report->n_findings)
		ct_text_line(text, CT_COLOR_NONE, "%s", "");
}
