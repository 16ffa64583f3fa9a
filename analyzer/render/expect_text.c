/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/facts_text.h"

#define HANGING 8u

/* "80.0 GB/s", "410 us", "85.0 %" */
static struct ct_unit_text figure(const struct ct_report_expectation *e, double value)
{
	uint64_t whole = isnan(value) || value > 1e19 ? CT_UNKNOWN : (uint64_t)value;

	if (strcmp(e->unit, "pct") == 0)
		return ct_prose_pct(value);
	return strcmp(e->unit, "ns") == 0 ? ct_prose_ns(whole) : ct_prose_Bps(whole);
}

static void write_one(struct ct_text *text, const struct ct_report_expectation *e)
{
	static const enum ct_color colors[] = { CT_COLOR_GREEN, CT_COLOR_RED, CT_COLOR_YELLOW };
	const char *limit = strcmp(e->metric, "latency") == 0 ? "at most" : "at least";
	char where[128] = "", err[CT_UNIT_TEXT + 8] = "";

	if (!isnan(e->err))
		snprintf(err, sizeof(err), " ± %s", figure(e, e->err).s);
	if (e->comm_hash)
		snprintf(where, sizeof(where), ", comm %08" PRIx64 ", %s", e->comm_hash >> 32,
			 ct_prose_bytes(e->bytes_each).s);
	ct_text_wrap(text, colors[e->result], HANGING,
		     "Check %u%s%s: %s, %s of %s (%s%s) is %s%s, expected %s %s", e->rule,
		     e->name ? " " : "", e->name ? e->name : "", ct_expect_result_name(e->result),
		     e->metric, e->op ? e->op : "any operation", e->scope, where,
		     figure(e, e->value).s, err, limit, figure(e, e->limit).s);
	if (e->why)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, "        %s", e->why);
}

void ct_expect_text(struct ct_text *text, const struct ct_report *report, int verbose)
{
	const struct ct_report_expect *all = &report->expect;

	if (!all->n)
		return;
	for (size_t i = 0; i < all->n; i++) {
		if (verbose || all->items[i].result == CT_EXPECT_FAIL)
			write_one(text, &all->items[i]);
	}
	ct_text_line(text, CT_COLOR_NONE,
		     "Baseline checks: %zu passed, %zu failed, %zu not applicable", all->passed,
		     all->failed, all->not_applicable);
	ct_text_empty(text);
}
