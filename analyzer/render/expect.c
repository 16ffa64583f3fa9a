/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/expect.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/json_value.h"

#define HANGING 8u /* columns before what of a line does not fit */

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
	ct_text_wrap(text, colors[e->result], HANGING,
		     "EXPECT result=%s rule=%u op=%s scope=%s metric=%s value=%s%s %s=%s%s%s%s",
		     ct_expect_result_name(e->result), e->rule, e->op ? e->op : "any", e->scope,
		     e->metric, figure(e, e->value).s, err, limit, figure(e, e->limit).s,
		     e->within_error ? " within_error=yes" : "", e->required ? " required=yes" : "",
		     where);
	if (e->why || e->name)
		ct_text_wrap(text, CT_COLOR_NONE, HANGING, "    %s%s%s", e->name ? e->name : "",
			     e->name && e->why ? ": " : "", e->why ? e->why : "");
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
	ct_text_line(text, CT_COLOR_NONE, "%s", "");
}

static json_t *expectation(const struct ct_report_expectation *e)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "rule", json_integer(e->rule), &failed);
	ct_json_set(o, "name", ct_json_text(e->name), &failed);
	ct_json_set(o, "op", ct_json_text(e->op), &failed);
	ct_json_set(o, "scope", ct_json_text(e->scope), &failed);
	ct_json_set(o, "metric", ct_json_text(e->metric), &failed);
	ct_json_set(o, "result", ct_json_text(ct_expect_result_name(e->result)), &failed);
	ct_json_set(o, "value", ct_json_double(e->value), &failed);
	ct_json_set(o, "err", ct_json_double(e->err), &failed);
	ct_json_set(o, "limit", ct_json_double(e->limit), &failed);
	ct_json_set(o, "unit", ct_json_text(e->unit), &failed);
	ct_json_set(o, "comm", ct_json_hex(e->comm_key), &failed);
	ct_json_set(o, "bytes", ct_json_u64(e->bytes_each), &failed);
	ct_json_set(o, "instances", ct_json_u64(e->instances), &failed);
	ct_json_set(o, "rows", ct_json_u64(e->rows), &failed);
	ct_json_set(o, "why", ct_json_text(e->why), &failed);
	ct_json_set(o, "required", json_boolean(e->required), &failed);
	ct_json_set(o, "within_error", json_boolean(e->within_error), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_expect(const struct ct_report *report)
{
	const struct ct_report_expect *from = &report->expect;
	json_t *o, *results;
	int failed;

	if (!from->items)
		return json_null();
	o = json_object();
	results = json_array();
	failed = !o || !results;
	for (size_t i = 0; i < from->n; i++)
		ct_json_append(results, expectation(&from->items[i]), &failed);
	ct_json_set(o, "passed", ct_json_u64(from->passed), &failed);
	ct_json_set(o, "failed", ct_json_u64(from->failed), &failed);
	ct_json_set(o, "not_applicable", ct_json_u64(from->not_applicable), &failed);
	ct_json_set(o, "results", results, &failed);
	return ct_json_done(o, failed);
}
