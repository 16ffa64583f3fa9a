/* SPDX-License-Identifier: Apache-2.0 */
/* What did not end as it should: processes, operations; and what the report leaves out. */
#include "analyzer/render/json_value.h"

static json_t *ended(const struct ct_report_process *p, int maybe_first)
{
	const struct ct_end *how = &p->how;
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "rank", ct_json_rank(p->rank), &failed);
	ct_json_set(o, "ranks", ct_json_ranks(p->ranks, p->n_ranks), &failed);
	ct_json_set(o, "host", ct_json_text(p->host), &failed);
	ct_json_set(o, "pid", json_integer(p->pid), &failed);
	ct_json_set(o, "end", ct_json_text(p->end), &failed);
	ct_json_set(o, "exit_code",
		    how->exit_code >= 0 ? json_integer(how->exit_code) : json_null(), &failed);
	ct_json_set(o, "signal", how->signal ? json_integer(how->signal) : json_null(), &failed);
	ct_json_set(o, "for_memory", how->for_memory ? json_true() : json_null(), &failed);
	ct_json_set(o, "sent_signal", how->kill_ns ? json_integer(how->kill_signal) : json_null(),
		    &failed);
	ct_json_set(o, "sent_by_pid", how->kill_ns ? json_integer(how->kill_by) : json_null(),
		    &failed);
	ct_json_set(o, "after_ns", ct_json_u64(p->ended_after_at_ns), &failed);
	ct_json_set(o, "before_ns", ct_json_u64(p->ended_before_at_ns), &failed);
	ct_json_set(o, "sign_of_life_ns", ct_json_u64(p->last_heartbeat_at_ns), &failed);
	ct_json_set(o, "maybe_first", json_boolean(maybe_first), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_ended(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_ended; i++)
		ct_json_append(array,
			       ended(&report->processes[report->ended[i]],
				     i < report->n_ended_first),
			       &failed);
	return ct_json_done(array, failed);
}

static const char *direction(enum ct_report_message message)
{
	switch (message) {
	case CT_MESSAGE_TO:
		return "to";
	case CT_MESSAGE_FROM:
		return "from";
	case CT_MESSAGE_NONE:
		break;
	}
	return NULL;
}

static json_t *inflight(const struct ct_report_inflight *op)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "rank", ct_json_rank(op->rank), &failed);
	ct_json_set(o, "op", ct_json_text(op->op_name), &failed);
	ct_json_set(o, "call", ct_json_text(op->call), &failed);
	ct_json_set(o, "comm", ct_json_hex(op->comm_key), &failed);
	ct_json_set(o, "seq", op->op_name ? ct_json_u64(op->seq) : json_null(), &failed);
	ct_json_set(o, "direction", ct_json_text(direction(op->message)), &failed);
	ct_json_set(o, "peer", ct_json_rank(op->peer), &failed);
	ct_json_set(o, "launched", json_boolean(op->launched), &failed);
	ct_json_set(o, "since_ns", ct_json_u64(op->since_at_ns), &failed);
	ct_json_set(o, "age_ns", ct_json_u64(op->age_ns), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_inflight(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_inflight; i++)
		ct_json_append(array, inflight(&report->inflight[i]), &failed);
	return ct_json_done(array, failed);
}

json_t *ct_json_omitted(const struct ct_report *report)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "findings", ct_json_u64(report->findings_left_out), &failed);
	ct_json_set(o, "links", ct_json_u64(report->links_left_out), &failed);
	return ct_json_done(o, failed);
}
