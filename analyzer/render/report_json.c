/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analyzer/render/deep_link.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/render.h"
#include "trace/ops.h"

static json_t *verdict(const struct ct_report_verdict *v)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "code", ct_json_text(ct_verdict_name(v->code)), &failed);
	ct_json_set(o, "text", ct_json_text(v->text), &failed);
	ct_json_set(o, "confidence", ct_json_text(ct_confidence_name(v->confidence)), &failed);
	ct_json_set(o, "gain_max_pct", ct_json_double(v->gain_max_pct), &failed);
	return ct_json_done(o, failed);
}

static json_t *evidence(const struct ct_finding *f)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < f->n_evidence; i++) {
		const struct ct_evidence *e = &f->evidence[i];
		json_t *o = json_object();

		ct_json_set(o, "name", ct_json_text(e->name), &failed);
		ct_json_set(o, "value", ct_json_double(e->value), &failed);
		ct_json_set(o, "unit", ct_json_text(e->unit), &failed);
		ct_json_set(o, "err", ct_json_double(e->err), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

/* Where it is seen in what `commtrace open` serves. */
static json_t *timeline(const struct ct_report *report, const struct ct_finding *f)
{
	struct ct_deep_range range = ct_deep_range(report, f);
	struct ct_arena *memory;
	const char *link;
	json_t *value;

	if (range.from_ns == CT_UNKNOWN)
		return json_null();
	memory = ct_arena_new();
	link = memory ? ct_deep_link(memory, CT_DEEP_LINK_PORT, range, f) : NULL;
	value = link ? json_string(link) : NULL;
	ct_arena_free(memory);
	return value;
}

static json_t *finding(const struct ct_report *report, const struct ct_finding *f)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "id", json_integer(f->id), &failed);
	ct_json_set(o, "kind", ct_json_text(ct_finding_name(f->kind)), &failed);
	ct_json_set(o, "severity", ct_json_text(ct_severity_name(f->severity)), &failed);
	ct_json_set(o, "ranks", ct_json_ranks(f->ranks, f->n_ranks), &failed);
	ct_json_set(o, "hosts", ct_json_texts(f->hosts, f->n_hosts), &failed);
	ct_json_set(o, "comm", ct_json_hex(f->comm_key), &failed);
	ct_json_set(o, "op", ct_json_text(f->op_name), &failed);
	ct_json_set(o, "cycle_first", ct_json_u64(f->cycle_first), &failed);
	ct_json_set(o, "cycle_last", ct_json_u64(f->cycle_last), &failed);
	ct_json_set(o, "begin_ns", ct_json_u64(f->begin_at_ns), &failed);
	ct_json_set(o, "end_ns", ct_json_u64(f->end_at_ns), &failed);
	ct_json_set(o, "loss_ns", ct_json_u64(f->loss_ns), &failed);
	ct_json_set(o, "loss_err_ns", ct_json_u64(f->loss_err_ns), &failed);
	ct_json_set(o, "loss_pct", ct_json_double(f->loss_pct), &failed);
	ct_json_set(o, "gpu_seconds", ct_json_double(f->gpu_seconds), &failed);
	ct_json_set(o, "cause", ct_json_text(f->cause), &failed);
	ct_json_set(o, "confidence", ct_json_text(ct_confidence_name(f->confidence)), &failed);
	ct_json_set(o, "evidence", evidence(f), &failed);
	ct_json_set(o, "advice", ct_json_text(f->advice), &failed);
	ct_json_set(o, "command", ct_json_text(f->command), &failed);
	ct_json_set(o, "timeline", timeline(report, f), &failed);
	return ct_json_done(o, failed);
}

static json_t *rank(const struct ct_report_rank *r)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "rank", ct_json_rank(r->rank), &failed);
	ct_json_set(o, "host", ct_json_text(r->host), &failed);
	ct_json_set(o, "pid", json_integer(r->pid), &failed);
	ct_json_set(o, "device", r->device >= 0 ? json_integer(r->device) : json_null(), &failed);
	ct_json_set(o, "ops", ct_json_u64(r->ops), &failed);
	ct_json_set(o, "bytes", ct_json_u64(r->bytes), &failed);
	ct_json_set(o, "wait_ns", ct_json_u64(r->wait_ns), &failed);
	ct_json_set(o, "lateness_ns", ct_json_u64(r->lateness_ns), &failed);
	ct_json_set(o, "last_count", ct_json_u64(r->last_count), &failed);
	ct_json_set(o, "exposed_ns", ct_json_u64(r->exposed_ns), &failed);
	ct_json_set(o, "exposed_err_ns", ct_json_u64(r->exposed_err_ns), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(r->err_ns), &failed);
	ct_json_set(o, "lost_records", ct_json_u64(r->lost_records), &failed);
	ct_json_set(o, "timing", ct_json_text(ct_timing_name(r->timing)), &failed);
	ct_json_set(o, "timed_ratio", ct_json_double(r->timed_ratio), &failed);
	ct_json_set(o, "complete", json_boolean(r->complete), &failed);
	return ct_json_done(o, failed);
}

static json_t *op(const struct ct_report_op *from)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "comm", ct_json_hex(from->comm_key), &failed);
	ct_json_set(o, "backend", ct_json_text(ct_backend_name(from->backend)), &failed);
	ct_json_set(o, "op", ct_json_text(from->op_name), &failed);
	ct_json_set(o, "group", ct_json_text(from->group), &failed);
	ct_json_set(o, "dtype", ct_json_text(ct_dtype_name(from->dtype)), &failed);
	ct_json_set(o, "bytes_class", ct_json_u64(from->bytes_class), &failed);
	ct_json_set(o, "instances", ct_json_u64(from->instances), &failed);
	ct_json_set(o, "bytes", ct_json_u64(from->bytes), &failed);
	ct_json_set(o, "span_p50_ns", ct_json_u64(from->span_p50_ns), &failed);
	ct_json_set(o, "span_p99_ns", ct_json_u64(from->span_p99_ns), &failed);
	ct_json_set(o, "transfer_p50_ns", ct_json_u64(from->transfer_p50_ns), &failed);
	ct_json_set(o, "transfer_p99_ns", ct_json_u64(from->transfer_p99_ns), &failed);
	ct_json_set(o, "wait_ns", ct_json_u64(from->wait_ns), &failed);
	ct_json_set(o, "transfer_ns", ct_json_u64(from->transfer_ns), &failed);
	ct_json_set(o, "algbw_p50_Bps", ct_json_u64(from->algbw_p50_Bps), &failed);
	ct_json_set(o, "busbw_p50_Bps", ct_json_u64(from->busbw_p50_Bps), &failed);
	ct_json_set(o, "time_err_ns", ct_json_u64(from->time_err_ns), &failed);
	ct_json_set(o, "exposed_ns", ct_json_u64(from->exposed_ns), &failed);
	ct_json_set(o, "exposed_err_ns", ct_json_u64(from->exposed_err_ns), &failed);
	ct_json_set(o, "gap_ns", ct_json_u64(from->gap_ns), &failed);
	ct_json_set(o, "gap_host_late_ns", ct_json_u64(from->gap_host_late_ns), &failed);
	ct_json_set(o, "gap_not_ready_ns", ct_json_u64(from->gap_not_ready_ns), &failed);
	ct_json_set(o, "gap_err_ns", ct_json_u64(from->gap_err_ns), &failed);
	ct_json_set(o, "late_or_slow", ct_json_u64(from->late_or_slow), &failed);
	return ct_json_done(o, failed);
}

static json_t *overlap(const struct ct_report_overlap *from)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "rank", ct_json_rank(from->rank), &failed);
	ct_json_set(o, "comm", ct_json_hex(from->comm_key), &failed);
	ct_json_set(o, "launches", ct_json_u64(from->launches), &failed);
	ct_json_set(o, "measured", ct_json_u64(from->measured), &failed);
	ct_json_set(o, "comm_ns", ct_json_u64(from->comm_ns), &failed);
	ct_json_set(o, "hidden_ns", ct_json_u64(from->hidden_ns), &failed);
	ct_json_set(o, "exposed_ns", ct_json_u64(from->exposed_ns), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(from->err_ns), &failed);
	ct_json_set(o, "overlap_ratio", ct_json_double(from->overlap_ratio), &failed);
	ct_json_set(o, "method", ct_json_text(from->method), &failed);
	return ct_json_done(o, failed);
}

static json_t *overlaps(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_overlap; i++)
		ct_json_append(array, overlap(&report->overlap[i]), &failed);
	return ct_json_done(array, failed);
}

json_t *ct_report_json(const struct ct_report *report)
{
	json_t *o = json_object();
	json_t *findings = json_array(), *ranks = json_array(), *ops = json_array();
	int failed = !o || !findings || !ranks || !ops;

	for (size_t i = 0; i < report->n_findings; i++)
		ct_json_append(findings, finding(report, &report->findings[i]), &failed);
	for (size_t i = 0; i < report->n_ranks; i++)
		ct_json_append(ranks, rank(&report->ranks[i]), &failed);
	for (size_t i = 0; i < report->n_ops; i++)
		ct_json_append(ops, op(&report->ops[i]), &failed);
	ct_json_set(o, "schema", json_string("commtrace.report/1"), &failed);
	ct_json_set(o, "run", ct_json_run(report), &failed);
	ct_json_set(o, "verdict", verdict(&report->verdict), &failed);
	ct_json_set(o, "hang", report->hang ? ct_hang_verdicts_json(report->hang) : json_null(),
		    &failed);
	ct_json_set(o, "findings", findings, &failed);
	ct_json_set(o, "ranks", ranks, &failed);
	ct_json_set(o, "comms", ct_json_comms(report), &failed);
	ct_json_set(o, "ops", ops, &failed);
	ct_json_set(o, "cycles", ct_json_cycles(&report->cycles), &failed);
	ct_json_set(o, "overlap", overlaps(report), &failed);
	ct_json_set(o, "exposed", ct_json_exposed(&report->exposed), &failed);
	ct_json_set(o, "gaps", ct_json_gaps(report), &failed);
	ct_json_set(o, "stages", ct_json_stages(report), &failed);
	ct_json_set(o, "links", ct_json_links(report), &failed);
	ct_json_set(o, "traffic", ct_json_traffic(&report->traffic), &failed);
	ct_json_set(o, "heat", ct_json_heat(report), &failed);
	ct_json_set(o, "histogram", ct_json_histogram(report), &failed);
	ct_json_set(o, "curves", ct_json_curves(report), &failed);
	ct_json_set(o, "clocks", ct_json_clocks(report), &failed);
	ct_json_set(o, "losses", ct_json_losses(report), &failed);
	ct_json_set(o, "scorecard", ct_json_score(&report->score), &failed);
	ct_json_set(o, "cost", ct_json_costs(report), &failed);
	ct_json_set(o, "expect", ct_json_expect(report), &failed);
	ct_json_set(o, "ended", ct_json_ended(report), &failed);
	ct_json_set(o, "inflight", ct_json_inflight(report), &failed);
	ct_json_set(o, "invisible", ct_json_invisible(report), &failed);
	ct_json_set(o, "omitted", ct_json_omitted(report), &failed);
	return ct_json_done(o, failed);
}
