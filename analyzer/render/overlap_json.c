/* SPDX-License-Identifier: Apache-2.0 */
/* Communication against computing: how much of the time, each rank's gaps, the stages of pipelines. */
#include "analyzer/render/json_value.h"

json_t *ct_json_exposed(const struct ct_report_exposed *e)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "of", ct_json_text(e->of_cycles ? "cycles" : "run"), &failed);
	ct_json_set(o, "share_pct", ct_json_double(e->share_pct), &failed);
	ct_json_set(o, "err_pct", ct_json_double(e->err_pct), &failed);
	ct_json_set(o, "wait_pct", ct_json_double(e->wait_pct), &failed);
	ct_json_set(o, "most_pct", ct_json_double(e->most_pct), &failed);
	ct_json_set(o, "transferring_pct", ct_json_double(e->transferring_pct), &failed);
	ct_json_set(o, "run_pct", ct_json_double(e->run_pct), &failed);
	return ct_json_done(o, failed);
}

static json_t *gaps(const struct ct_report_gaps *g)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "rank", ct_json_rank(g->rank), &failed);
	ct_json_set(o, "cycles", ct_json_u64(g->cycles), &failed);
	ct_json_set(o, "cycles_ns", ct_json_u64(g->cycles_ns), &failed);
	ct_json_set(o, "exposed_ns", ct_json_u64(g->exposed_ns), &failed);
	ct_json_set(o, "exposed_wait_ns", ct_json_u64(g->exposed_wait_ns), &failed);
	ct_json_set(o, "exposed_transfer_ns", ct_json_u64(g->exposed_transfer_ns), &failed);
	ct_json_set(o, "exposed_err_ns", ct_json_u64(g->exposed_err_ns), &failed);
	ct_json_set(o, "launch_ns", ct_json_u64(g->launch_ns), &failed);
	ct_json_set(o, "host_late_ns", ct_json_u64(g->host_late_ns), &failed);
	ct_json_set(o, "not_ready_ns", ct_json_u64(g->not_ready_ns), &failed);
	ct_json_set(o, "gaps_err_ns", ct_json_u64(g->gaps_err_ns), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_gaps(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_gaps; i++)
		ct_json_append(array, gaps(&report->gaps[i]), &failed);
	return ct_json_done(array, failed);
}

static json_t *stage(const struct ct_report_stage *s)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "comm", ct_json_hex(s->comm_key), &failed);
	ct_json_set(o, "rank", ct_json_rank(s->rank), &failed);
	ct_json_set(o, "stage", json_integer(s->stage), &failed);
	ct_json_set(o, "stages", json_integer(s->n_stages), &failed);
	ct_json_set(o, "microbatches", ct_json_double(s->microbatches), &failed);
	ct_json_set(o, "cycles", ct_json_u64(s->cycles), &failed);
	ct_json_set(o, "cycles_ns", ct_json_u64(s->cycles_ns), &failed);
	ct_json_set(o, "bubble_ns", ct_json_u64(s->bubble_ns), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(s->err_ns), &failed);
	ct_json_set(o, "ideal_ns", ct_json_u64(s->ideal_ns), &failed);
	ct_json_set(o, "at_most", json_boolean(s->at_most), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_stages(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_stages; i++)
		ct_json_append(array, stage(&report->stages[i]), &failed);
	return ct_json_done(array, failed);
}
