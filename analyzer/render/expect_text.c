/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/facts_text.h"

#define HANGING 8u

static void write_one(struct ct_text *text, const struct ct_report_expectation *e,
		      struct ct_arena *memory)
{
	static const enum ct_color colors[] = { CT_COLOR_GREEN, CT_COLOR_RED, CT_COLOR_YELLOW };
	const struct {
		const char *label, *text;
	} more[] = { { "", e->why }, { "source: ", e->source }, { "not for: ", e->not_for } };

	ct_text_wrap(text, colors[e->result], HANGING, "Check %u%s%s: %s, %s", e->rule,
		     e->name ? " " : "", e->name ? e->name : "", ct_expect_result_name(e->result),
		     ct_expectation_text(e, memory));
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (more[i].text && (!i || e->result == CT_EXPECT_FAIL))
			ct_text_wrap(text, CT_COLOR_NONE, HANGING, "        %s%s", more[i].label,
				     more[i].text);
}

void ct_expect_text(struct ct_text *text, const struct ct_report *report, int verbose)
{
	const struct ct_report_expect *all = &report->expect;

	if (!all->n)
		return;
	for (size_t i = 0; i < all->n; i++) {
		if (verbose || all->items[i].result == CT_EXPECT_FAIL)
			write_one(text, &all->items[i], report->memory);
	}
	ct_text_line(text, CT_COLOR_NONE,
		     "Baseline checks: %zu passed, %zu failed, %zu not applicable", all->passed,
		     all->failed, all->not_applicable);
	ct_text_empty(text);
}
