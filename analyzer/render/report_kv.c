/* SPDX-License-Identifier: Apache-2.0 */
/* report_kv.c — what was found, one line each, for grep and awk: a word, then key=value. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/render.h"
#include "analyzer/render/text.h"

/* "80.0GB/s", "410us", "85.0%" */
static struct ct_unit_text figure(const struct ct_report_expectation *e, double value)
{
	uint64_t whole = isnan(value) || value > 1e19 ? CT_UNKNOWN : (uint64_t)value;

	if (strcmp(e->unit, "pct") == 0)
		return ct_text_pct(value);
	return strcmp(e->unit, "ns") == 0 ? ct_text_ns(whole) : ct_text_Bps(whole);
}

static void write_check(struct ct_text *text, const struct ct_report_expectation *e)
{
	const char *limit = strcmp(e->metric, "latency") == 0 ? "most" : "least";
	char where[128] = "", err[CT_UNIT_TEXT + 16] = "";

	if (!isnan(e->err))
		snprintf(err, sizeof(err), " value_err=%s", figure(e, e->err).s);
	if (e->comm_hash)
		snprintf(where, sizeof(where), " comm=%016" PRIx64 " bytes=%s n=%s rows=%s",
			 e->comm_hash, ct_text_bytes(e->bytes_each).s,
			 ct_text_count(e->instances).s, ct_text_count(e->rows).s);
	ct_text_line(text, CT_COLOR_NONE,
		     "EXPECT result=%s rule=%u op=%s scope=%s metric=%s value=%s%s %s=%s%s%s%s",
		     ct_expect_result_name(e->result), e->rule, e->op ? e->op : "any", e->scope,
		     e->metric, figure(e, e->value).s, err, limit, figure(e, e->limit).s,
		     e->within_error ? " within_error=yes" : "", e->required ? " required=yes" : "",
		     where);
}

static void write_finding(struct ct_text *text, const struct ct_finding *f)
{
	char *pairs = NULL;
	size_t size;
	FILE *out = open_memstream(&pairs, &size);

	if (!out)
		return;
	ct_finding_write(f, out);
	if (fclose(out) == 0)
		ct_text_line(text, CT_COLOR_NONE, "%s %s%sseverity=%s confidence=%s",
			     ct_finding_name(f->kind), pairs, f->n_pairs ? " " : "",
			     ct_severity_name(f->severity), ct_confidence_name(f->confidence));
	free(pairs);
}

void ct_report_kv(const struct ct_report *report, const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);
	const struct ct_report_expect *all = &report->expect;

	text.unwrapped = 1;
	ct_text_line(&text, CT_COLOR_NONE, "VERDICT code=%s confidence=%s gain_max=%s",
		     ct_verdict_name(report->verdict.code),
		     ct_confidence_name(report->verdict.confidence),
		     ct_text_pct(report->verdict.gain_max_pct).s);
	for (size_t i = 0; i < report->n_findings; i++)
		write_finding(&text, &report->findings[i]);
	for (size_t i = 0; i < all->n; i++)
		write_check(&text, &all->items[i]);
	if (all->n)
		ct_text_line(&text, CT_COLOR_NONE,
			     "EXPECTED passed=%zu failed=%zu not_applicable=%zu", all->passed,
			     all->failed, all->not_applicable);
}
