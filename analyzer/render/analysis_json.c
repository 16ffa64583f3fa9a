/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps over the whole run found out: cycles, links, clocks, scorecard. */
#include <math.h>

#include "analyzer/render/json_value.h"

static json_t *cycle(const struct ct_report_cycle *c)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "index", ct_json_u64(c->index), &failed);
	ct_json_set(o, "begin_ns", ct_json_u64(c->begin_at_ns), &failed);
	ct_json_set(o, "time_ns", ct_json_u64(c->time_ns), &failed);
	ct_json_set(o, "exposed_ns", ct_json_u64(c->exposed_ns), &failed);
	ct_json_set(o, "wait_ns", ct_json_u64(c->wait_ns), &failed);
	ct_json_set(o, "last_rank", ct_json_rank(c->last_rank), &failed);
	return ct_json_done(o, failed);
}

static json_t *anchor(const struct ct_report_cycles *c)
{
	json_t *o;
	int failed = 0;

	if (!c->anchor_comm_key)
		return json_null();
	o = json_object();
	ct_json_set(o, "comm", ct_json_hex(c->anchor_comm_key), &failed);
	ct_json_set(o, "op", ct_json_text(c->anchor_op), &failed);
	ct_json_set(o, "bytes", ct_json_u64(c->anchor_bytes), &failed);
	return ct_json_done(o, failed);
}

static json_t *recurring(const struct ct_report_recurring *r)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "comm", ct_json_hex(r->comm_key), &failed);
	ct_json_set(o, "op", ct_json_text(r->op_name), &failed);
	ct_json_set(o, "bytes", ct_json_u64(r->bytes), &failed);
	ct_json_set(o, "every", ct_json_u64(r->every), &failed);
	ct_json_set(o, "count", ct_json_u64(r->count), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_cycles(const struct ct_report_cycles *c)
{
	json_t *o = json_object(), *items = json_array(), *again = json_array();
	int found = c->anchor_comm_key != 0 || c->marker;
	int failed = !o || !items || !again;

	for (size_t i = 0; i < c->n_recurring; i++)
		ct_json_append(again, recurring(&c->recurring[i]), &failed);

	for (size_t i = 0; i < c->n_items; i++)
		ct_json_append(items, cycle(&c->items[i]), &failed);
	ct_json_set(o, "anchor", anchor(c), &failed);
	ct_json_set(o, "marker", ct_json_text(c->marker), &failed);
	ct_json_set(o, "count", ct_json_u64(found ? c->count : CT_UNKNOWN), &failed);
	ct_json_set(o, "time_p50_ns", ct_json_u64(found ? c->time_p50_ns : CT_UNKNOWN), &failed);
	ct_json_set(o, "time_p99_ns", ct_json_u64(found ? c->time_p99_ns : CT_UNKNOWN), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(found ? c->err_ns : CT_UNKNOWN), &failed);
	ct_json_set(o, "covered_pct", ct_json_double(found ? c->covered_pct : NAN), &failed);
	ct_json_set(o, "why", ct_json_text(found ? NULL : c->why), &failed);
	ct_json_set(o, "note", ct_json_text(c->note), &failed);
	ct_json_set(o, "recurring", again, &failed);
	ct_json_set(o, "items", items, &failed);
	return ct_json_done(o, failed);
}

static json_t *link_row(const struct ct_report_link *l)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "scope", ct_json_text(l->scope), &failed);
	ct_json_set(o, "src", ct_json_rank(l->src), &failed);
	ct_json_set(o, "dst", ct_json_rank(l->dst), &failed);
	ct_json_set(o, "host", ct_json_text(l->host), &failed);
	ct_json_set(o, "comm", ct_json_hex(l->comm_key), &failed);
	ct_json_set(o, "op", ct_json_text(l->op_name), &failed);
	ct_json_set(o, "alpha_ns", ct_json_u64(l->alpha_ns), &failed);
	ct_json_set(o, "alpha_err_ns", ct_json_u64(l->alpha_err_ns), &failed);
	ct_json_set(o, "beta_Bps", ct_json_u64(l->beta_Bps), &failed);
	ct_json_set(o, "beta_err_Bps", ct_json_u64(l->beta_err_Bps), &failed);
	ct_json_set(o, "expected_Bps", ct_json_u64(l->expected_Bps), &failed);
	ct_json_set(o, "samples", ct_json_u64(l->samples), &failed);
	ct_json_set(o, "efficiency_ratio", ct_json_double(l->efficiency_ratio), &failed);
	ct_json_set(o, "slow", json_boolean(l->slow), &failed);
	ct_json_set(o, "ambiguous", json_boolean(l->ambiguous), &failed);
	ct_json_set(o, "suspects", ct_json_ranks(l->suspects, l->n_suspects), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_links(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_links; i++)
		ct_json_append(array, link_row(&report->links[i]), &failed);
	return ct_json_done(array, failed);
}

json_t *ct_json_clocks(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_clocks; i++) {
		const struct ct_report_clock *c = &report->clocks[i];
		json_t *o = json_object();

		ct_json_set(o, "host", ct_json_text(c->host), &failed);
		ct_json_set(o, "ref_host", ct_json_text(c->ref_host), &failed);
		ct_json_set(o, "offset_ns",
			    c->has_offset ? json_integer(c->offset_ns) : json_null(), &failed);
		ct_json_set(o, "drift_ppb", ct_json_double(c->drift_ppb), &failed);
		ct_json_set(o, "err_ns", ct_json_u64(c->err_ns), &failed);
		ct_json_set(o, "quality", ct_json_text(c->quality), &failed);
		ct_json_set(o, "selftest_ns", ct_json_u64(c->selftest_ns), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

json_t *ct_json_score(const struct ct_report_score *score)
{
	json_t *o = json_object(), *parts = json_array();
	int failed = !o || !parts;

	for (size_t i = 0; i < score->n_parts; i++) {
		json_t *part = json_object();

		ct_json_set(part, "name", ct_json_text(score->parts[i].name), &failed);
		ct_json_set(part, "weight_pct", ct_json_double(score->parts[i].weight_pct),
			    &failed);
		ct_json_set(part, "score", ct_json_double(score->parts[i].score), &failed);
		ct_json_set(part, "from", ct_json_text(score->parts[i].from), &failed);
		ct_json_append(parts, part, &failed);
	}
	ct_json_set(o, "total", ct_json_double(score->n_parts ? score->total : NAN), &failed);
	ct_json_set(o, "grade", ct_json_text(score->grade ? score->grade : "n/a"), &failed);
	ct_json_set(o, "why", ct_json_text(score->why), &failed);
	ct_json_set(o, "parts", parts, &failed);
	return ct_json_done(o, failed);
}
