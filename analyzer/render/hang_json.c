/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "trace/ops.h"

static json_t *comm_hash(const struct ct_hang_case *c, uint32_t comm)
{
	return comm < c->n_comms ? ct_json_hex(c->comms[comm].hash) : json_null();
}

static json_t *run_of(const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	json_t *missing = json_array();
	int failed = !missing;

	for (uint32_t i = 0; i < c->n_ranks; i++) {
		if (c->ranks[i].process == CT_PROCESS_NO_TRACE)
			ct_json_append(missing, ct_json_rank(c->ranks[i].rank), &failed);
	}
	return CT_JSON({ "dir", ct_json_text(run->dir) }, { "job", ct_json_text(run->job) },
		       { "restart", json_integer(run->restart) },
		       { "starts", json_integer(run->starts) },
		       { "begin_unix_ns", ct_json_u64(run->begin_unix_ns) },
		       { "last_heartbeat_ns", ct_json_u64(run->last_heartbeat_ns) },
		       { "torn_down_ns", ct_json_u64(run->torn_down_ns) },
		       { "hang_after_ns", ct_json_u64(run->hang_after_ns) },
		       { "cpu_wait_ns", ct_json_u64(run->late_ns) },
		       { "stalled_after_ns", ct_json_u64(run->limit_ns) },
		       { "file_bytes", ct_json_u64(run->file_bytes) },
		       { "read_bytes", ct_json_u64(run->read_bytes) },
		       { "most_read_bytes", ct_json_u64(run->most_read_bytes) },
		       { "ranks_expected",
			 run->ranks_expected ? json_integer(run->ranks_expected) : json_null() },
		       { "ranks_seen", json_integer(run->ranks_seen) },
		       { "ranks_missing", ct_json_done(missing, failed) });
}

/* ---- verdicts ---- */

static json_t *fact_of(const struct ct_hang_fact *fact)
{
	return CT_JSON({ "name", ct_json_text(fact->name) }, { "rank", ct_json_rank(fact->rank) },
		       { "value", ct_json_u64(fact->value) }, { "unit", ct_json_text(fact->unit) },
		       { "text", ct_json_text(fact->text) });
}

static json_t *divergence(const struct ct_hang_divergence *d)
{
	if (!d)
		return json_null();
	return CT_JSON({ "seq", ct_json_u64(d->seq) },
		       { "ranks", ct_json_ranks(d->ranks, d->n_ranks) },
		       { "site", ct_json_text(d->site) },
		       { "usual_site", ct_json_text(d->usual_site) },
		       { "more", d->more ? json_integer(d->more) : json_null() });
}

static json_t *verdict(const struct ct_hang_run *run, const struct ct_hang_verdict *v)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_op *op = v->op < c->n_ops ? &c->ops[v->op] : NULL;
	const struct ct_hang_rank *rank = v->n_ranks ? ct_hang_rank_of(c, v->ranks[0]) : NULL;

	return CT_JSON(
		{ "code", ct_json_text(ct_hang_code_name(v->code)) },
		{ "ranks", ct_json_ranks(v->ranks, v->n_ranks) },
		{ "victims", ct_json_ranks(v->victims, v->n_victims) },
		{ "victims_count", json_integer(v->n_victims) }, { "comm", comm_hash(c, v->comm) },
		{ "role", ct_json_text(v->comm < c->n_comms ? c->comms[v->comm].role : NULL) },
		{ "op", ct_json_text(op ? ct_op_name(op->op) : NULL) },
		{ "call", ct_json_text(v->call) }, { "seq", ct_json_u64(v->seq) },
		{ "since_ns", ct_json_u64(v->since_ns) },
		{ "since_err_ns", ct_json_u64(v->since_err_ns) },
		{ "age_ns", ct_json_u64(v->age_ns) },
		{ "host", ct_json_text(rank ? rank->host : NULL) },
		{ "confidence", ct_json_text(ct_confidence_name(v->confidence)) },
		{ "confidence_why", ct_json_texts((const char *const *)v->reasons, v->n_reasons) },
		{ "text", ct_json_text(v->headline) }, { "cause", ct_json_text(v->cause) },
		{ "notes", ct_json_texts(v->notes, v->n_notes) },
		{ "evidence", CT_JSON_ARRAY(i, v->n_facts, fact_of(&v->facts[i])) },
		{ "divergence", divergence(v->divergence) },
		{ "stacks", ct_hang_stacks_json(run, v) }, { "advice", ct_json_text(v->advice) },
		{ "command", ct_json_text(v->command) });
}

/* ---- the rest ---- */

static json_t *slow_of(const struct ct_hang_case *c, const struct ct_hang_slow *slow)
{
	const struct ct_hang_op *op = &c->ops[slow->op];

	return CT_JSON({ "rank", ct_json_rank(c->ranks[op->rank].rank) },
		       { "comm", comm_hash(c, op->comm) },
		       { "op", ct_json_text(ct_op_name(op->op)) },
		       { "call", ct_json_text(op->call) }, { "seq", ct_json_u64(op->seq) },
		       { "state", ct_json_text(ct_op_state_name(op->state)) },
		       { "age_ns", ct_json_u64(slow->age_ns) });
}

static json_t *missing_data(const struct ct_hang_run *run)
{
	const struct ct_hang_result *r = run->result;
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < run->n_missing_data; i++)
		ct_json_append(array,
			       CT_JSON({ "rank", json_null() },
				       { "text", ct_json_text(run->missing_data[i]) }),
			       &failed);
	for (uint32_t i = 0; i < r->n_missing; i++)
		ct_json_append(array,
			       CT_JSON({ "rank", ct_json_rank(r->missing[i].rank) },
				       { "text", ct_json_text(r->missing[i].text) }),
			       &failed);
	return ct_json_done(array, failed);
}

static const char *process_name(enum ct_process_state process)
{
	switch (process) {
	case CT_PROCESS_ALIVE:
		return "alive";
	case CT_PROCESS_DEAD:
		return "dead";
	case CT_PROCESS_EXITED:
		return "exited";
	case CT_PROCESS_NO_TRACE:
		break;
	}
	return "no_trace";
}

/* Is it the rank that others wait for in an operation that it never came to? */
static int never_entered(const struct ct_hang_run *run, int rank)
{
	for (uint32_t v = 0; v < run->result->n_verdicts; v++) {
		const struct ct_hang_verdict *verdict = &run->result->verdicts[v];

		for (uint32_t i = 0; i < verdict->n_ranks; i++) {
			if (verdict->ranks[i] == rank && verdict->code == CT_HANG_IS_NEVER_ENTERED)
				return 1;
		}
	}
	return 0;
}

static json_t *rank_of(const struct ct_hang_run *run, const struct ct_hang_rank *r)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_op *op = ct_hang_last_op(c, r->rank);
	const char *state = op ? ct_op_state_name(op->state) : "unknown";
	json_t *last = json_null();

	if (never_entered(run, r->rank))
		state = "not_entered";
	if (op)
		last = CT_JSON({ "comm", comm_hash(c, op->comm) },
			       { "op", ct_json_text(ct_op_name(op->op)) },
			       { "seq", ct_json_u64(op->seq) });
	return CT_JSON({ "rank", ct_json_rank(r->rank) }, { "host", ct_json_text(r->host) },
		       { "process", ct_json_text(process_name(r->process)) },
		       { "how_ended", ct_json_text(r->how_ended) },
		       { "state", ct_json_text(state) }, { "last", last },
		       { "last_heartbeat_ns", ct_json_u64(r->last_heartbeat_ns) },
		       { "heartbeat_age_ns", ct_json_u64(r->heartbeat_age_ns) },
		       { "err_ns", ct_json_u64(r->err_ns) });
}

json_t *ct_hang_rank_json(const struct ct_hang_run *run, int rank)
{
	const struct ct_hang_rank *r = ct_hang_rank_of(&run->hang_case, rank);

	return r ? rank_of(run, r) : json_null();
}

static json_t *verdicts_of(const struct ct_hang_run *run)
{
	return CT_JSON_ARRAY(i, run->result->n_verdicts, verdict(run, &run->result->verdicts[i]));
}

json_t *ct_hang_verdicts_json(const struct ct_hang_run *run)
{
	return CT_JSON({ "state", json_string(ct_job_state_word(run->state)) },
		       { "verdicts", verdicts_of(run) });
}

json_t *ct_hang_json(const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_result *r = run->result;

	return CT_JSON({ "schema", json_string("commtrace.hang/1") }, { "run", run_of(run) },
		       { "state", json_string(ct_job_state_word(run->state)) },
		       { "verdicts", verdicts_of(run) },
		       { "not_stalled",
			 CT_JSON_ARRAY(i, r->n_not_stalled, slow_of(c, &r->not_stalled[i])) },
		       { "missing_data", missing_data(run) },
		       { "ranks", CT_JSON_ARRAY(i, c->n_ranks, rank_of(run, &c->ranks[i])) });
}
