/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/facts_text.h"

/* ---- what was found ---- */

/* With what to do about them. */
#define MOST_ADVISED 3u
/* Columns before what belongs to a finding. */
#define INDENT "    "
#define HANGING 10u /* of a finding */

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
	if (f->note)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, INDENT "note: %s", f->note);
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
		ct_text_empty(text);
}

/* ---- what was expected ---- */

#define EXPECT_HANGING 8u /* of an expectation */

/* "80.0GB/s", "410us", "85.0%" */
static struct ct_unit_text figure(const struct ct_report_expectation *e, double value)
{
	uint64_t whole = isnan(value) || value > 1e19 ? CT_UNKNOWN : (uint64_t)value;

	if (strcmp(e->unit, "pct") == 0)
		return ct_text_pct(value);
	return strcmp(e->unit, "ns") == 0 ? ct_text_ns(whole) : ct_text_Bps(whole);
}

static void write_one(struct ct_text *text, const struct ct_report_expectation *e)
{
	static const enum ct_color colors[] = { CT_COLOR_GREEN, CT_COLOR_RED, CT_COLOR_YELLOW };
	const char *limit = strcmp(e->metric, "latency") == 0 ? "most" : "least";
	char where[128] = "", err[CT_UNIT_TEXT + 4] = "";

	if (!isnan(e->err))
		snprintf(err, sizeof(err), "±%s", figure(e, e->err).s);
	if (e->comm_key)
		snprintf(where, sizeof(where), " comm=%016" PRIx64 " bytes=%s n=%s rows=%s",
			 e->comm_key, ct_text_bytes(e->bytes_each).s, ct_text_count(e->instances).s,
			 ct_text_count(e->rows).s);
	ct_text_wrap(text, colors[e->result], EXPECT_HANGING,
		     "EXPECT result=%s rule=%u op=%s scope=%s metric=%s value=%s%s %s=%s%s%s%s",
		     ct_expect_result_name(e->result), e->rule, e->op ? e->op : "any", e->scope,
		     e->metric, figure(e, e->value).s, err, limit, figure(e, e->limit).s,
		     e->within_error ? " within_error=yes" : "", e->required ? " required=yes" : "",
		     where);
	if (e->why || e->name)
		ct_text_wrap(text, CT_COLOR_NONE, EXPECT_HANGING, "    %s%s%s",
			     e->name ? e->name : "", e->name && e->why ? ": " : "",
			     e->why ? e->why : "");
}

void ct_expect_text(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_expect *all = &report->expect;

	for (size_t i = 0; i < all->n; i++)
		write_one(text, &all->items[i]);
	if (!all->n)
		return;
	ct_text_line(text, CT_COLOR_NONE, "EXPECTED passed=%zu failed=%zu not_applicable=%zu",
		     all->passed, all->failed, all->not_applicable);
	ct_text_empty(text);
}
