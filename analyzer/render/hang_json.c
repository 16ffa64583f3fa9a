/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/hang.h"
#include "analyzer/render/hang_stacks.h"
#include "analyzer/render/json_value.h"
#include "trace/ops.h"

static json_t *comm_key(const struct ct_hang_case *c, uint32_t comm)
{
	return comm < c->n_comms ? ct_json_hex(c->comms[comm].key) : json_null();
}

static json_t *run_of(const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	json_t *o = json_object(), *missing = json_array();
	int failed = !o || !missing;

	for (uint32_t i = 0; i < c->n_ranks; i++) {
		if (c->ranks[i].life == CT_LIFE_NO_TRACE)
			ct_json_append(missing, ct_json_rank(c->ranks[i].rank), &failed);
	}
	ct_json_set(o, "dir", ct_json_text(run->dir), &failed);
	ct_json_set(o, "job", ct_json_text(run->job), &failed);
	ct_json_set(o, "attempt", json_integer(run->attempt), &failed);
	ct_json_set(o, "attempts", json_integer(run->attempts), &failed);
	ct_json_set(o, "begin_unix_ns", ct_json_u64(run->begin_unix_ns), &failed);
	ct_json_set(o, "last_sign_ns", ct_json_u64(run->last_sign_ns), &failed);
	ct_json_set(o, "torn_down_ns", ct_json_u64(run->torn_down_ns), &failed);
	ct_json_set(o, "hang_after_ns", ct_json_u64(run->hang_after_ns), &failed);
	ct_json_set(o, "ranks_expected",
		    run->ranks_expected ? json_integer(run->ranks_expected) : json_null(), &failed);
	ct_json_set(o, "ranks_seen", json_integer(run->ranks_seen), &failed);
	ct_json_set(o, "ranks_missing", missing, &failed);
	return ct_json_done(o, failed);
}

/* ---- verdicts ---- */

static json_t *evidence(const struct ct_hang_verdict *v)
{
	json_t *array = json_array();
	int failed = !array;

	for (uint32_t i = 0; i < v->n_facts; i++) {
		const struct ct_hang_fact *fact = &v->facts[i];
		json_t *o = json_object();

		failed |= !o;
		ct_json_set(o, "name", ct_json_text(fact->name), &failed);
		ct_json_set(o, "rank", ct_json_rank(fact->rank), &failed);
		ct_json_set(o, "value", ct_json_u64(fact->value), &failed);
		ct_json_set(o, "unit", ct_json_text(fact->unit), &failed);
		ct_json_set(o, "text", ct_json_text(fact->text), &failed);
		ct_json_append(array, ct_json_done(o, failed), &failed);
	}
	return ct_json_done(array, failed);
}

static json_t *divergence(const struct ct_hang_divergence *d)
{
	json_t *o;
	int failed;

	if (!d)
		return json_null();
	o = json_object();
	failed = !o;
	ct_json_set(o, "seq", ct_json_u64(d->seq), &failed);
	ct_json_set(o, "ranks", ct_json_ranks(d->ranks, d->n_ranks), &failed);
	ct_json_set(o, "site", ct_json_text(d->site), &failed);
	ct_json_set(o, "usual_site", ct_json_text(d->usual_site), &failed);
	ct_json_set(o, "more", d->more ? json_integer(d->more) : json_null(), &failed);
	return ct_json_done(o, failed);
}

static json_t *verdict(const struct ct_hang_run *run, const struct ct_hang_verdict *v)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_op *op = v->op < c->n_ops ? &c->ops[v->op] : NULL;
	const struct ct_hang_rank *rank = v->n_ranks ? ct_hang_rank_of(c, v->ranks[0]) : NULL;
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "code", ct_json_text(ct_hang_code_name(v->code)), &failed);
	ct_json_set(o, "ranks", ct_json_ranks(v->ranks, v->n_ranks), &failed);
	ct_json_set(o, "victims", ct_json_ranks(v->victims, v->n_victims), &failed);
	ct_json_set(o, "victims_count", json_integer(v->n_victims), &failed);
	ct_json_set(o, "comm", comm_key(c, v->comm), &failed);
	ct_json_set(o, "role", ct_json_text(v->comm < c->n_comms ? c->comms[v->comm].role : NULL),
		    &failed);
	ct_json_set(o, "op", ct_json_text(op ? ct_op_name(op->op) : NULL), &failed);
	ct_json_set(o, "call", ct_json_text(v->call), &failed);
	ct_json_set(o, "seq", ct_json_u64(v->seq), &failed);
	ct_json_set(o, "since_ns", ct_json_u64(v->since_ns), &failed);
	ct_json_set(o, "since_err_ns", ct_json_u64(v->since_err_ns), &failed);
	ct_json_set(o, "age_ns", ct_json_u64(v->age_ns), &failed);
	ct_json_set(o, "host", ct_json_text(rank ? rank->host : NULL), &failed);
	ct_json_set(o, "confidence", ct_json_text(ct_confidence_name(v->confidence)), &failed);
	ct_json_set(o, "confidence_why",
		    ct_json_texts((const char *const *)v->reasons, v->n_reasons), &failed);
	ct_json_set(o, "text", ct_json_text(v->sentence), &failed);
	ct_json_set(o, "evidence", evidence(v), &failed);
	ct_json_set(o, "divergence", divergence(v->divergence), &failed);
	ct_json_set(o, "stacks", ct_hang_stacks_json(run, v), &failed);
	ct_json_set(o, "advice", ct_json_text(v->advice), &failed);
	return ct_json_done(o, failed);
}

/* ---- the rest ---- */

static json_t *not_stalled(const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_result *r = run->result;
	json_t *array = json_array();
	int failed = !array;

	for (uint32_t i = 0; i < r->n_not_stalled; i++) {
		const struct ct_hang_slow *slow = &r->not_stalled[i];
		const struct ct_hang_op *op = &c->ops[slow->op];
		json_t *o = json_object();

		failed |= !o;
		ct_json_set(o, "rank", ct_json_rank(c->ranks[op->rank].rank), &failed);
		ct_json_set(o, "comm", comm_key(c, op->comm), &failed);
		ct_json_set(o, "op", ct_json_text(ct_op_name(op->op)), &failed);
		ct_json_set(o, "call", ct_json_text(op->call), &failed);
		ct_json_set(o, "seq", ct_json_u64(op->seq), &failed);
		ct_json_set(o, "state", ct_json_text(ct_op_state_name(op->state)), &failed);
		ct_json_set(o, "age_ns", ct_json_u64(slow->age_ns), &failed);
		ct_json_append(array, ct_json_done(o, failed), &failed);
	}
	return ct_json_done(array, failed);
}

static json_t *missing_data(const struct ct_hang_run *run)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < run->n_missing_data; i++) {
		json_t *o = json_object();

		failed |= !o;
		ct_json_set(o, "rank", json_null(), &failed);
		ct_json_set(o, "text", ct_json_text(run->missing_data[i]), &failed);
		ct_json_append(array, ct_json_done(o, failed), &failed);
	}
	for (uint32_t i = 0; i < run->result->n_missing; i++) {
		json_t *o = json_object();

		failed |= !o;
		ct_json_set(o, "rank", ct_json_rank(run->result->missing[i].rank), &failed);
		ct_json_set(o, "text", ct_json_text(run->result->missing[i].text), &failed);
		ct_json_append(array, ct_json_done(o, failed), &failed);
	}
	return ct_json_done(array, failed);
}

static const char *life_name(enum ct_hang_life life)
{
	switch (life) {
	case CT_LIFE_ALIVE:
		return "alive";
	case CT_LIFE_DEAD:
		return "dead";
	case CT_LIFE_EXITED:
		return "exited";
	case CT_LIFE_NO_TRACE:
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
			if (verdict->ranks[i] == rank && verdict->code == CT_HANG_IS_HOST_MISSING)
				return 1;
		}
	}
	return 0;
}

static json_t *rank_of(const struct ct_hang_run *run, const struct ct_hang_rank *r)
{
	const struct ct_hang_case *c = &run->hang_case;
	const struct ct_hang_op *op = ct_hang_last_op(c, r->rank);
	json_t *o = json_object(), *last;
	const char *state = op ? ct_op_state_name(op->state) : "unknown";
	int failed = !o;

	if (never_entered(run, r->rank))
		state = "not_entered";
	last = op ? json_object() : json_null();
	failed |= !last;
	if (op) {
		ct_json_set(last, "comm", comm_key(c, op->comm), &failed);
		ct_json_set(last, "op", ct_json_text(ct_op_name(op->op)), &failed);
		ct_json_set(last, "seq", ct_json_u64(op->seq), &failed);
	}
	ct_json_set(o, "rank", ct_json_rank(r->rank), &failed);
	ct_json_set(o, "host", ct_json_text(r->host), &failed);
	ct_json_set(o, "life", ct_json_text(life_name(r->life)), &failed);
	ct_json_set(o, "how_ended", ct_json_text(r->how_ended), &failed);
	ct_json_set(o, "state", ct_json_text(state), &failed);
	ct_json_set(o, "last", last, &failed);
	ct_json_set(o, "last_sign_ns", ct_json_u64(r->last_sign_ns), &failed);
	ct_json_set(o, "heartbeat_age_ns", ct_json_u64(r->heartbeat_age_ns), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(r->err_ns), &failed);
	return ct_json_done(o, failed);
}

static json_t *verdicts_of(const struct ct_hang_run *run)
{
	json_t *array = json_array();
	int failed = !array;

	for (uint32_t i = 0; i < run->result->n_verdicts; i++)
		ct_json_append(array, verdict(run, &run->result->verdicts[i]), &failed);
	return ct_json_done(array, failed);
}

json_t *ct_hang_verdicts_json(const struct ct_hang_run *run)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "state", json_string(ct_job_state_word(run->state)), &failed);
	ct_json_set(o, "verdicts", verdicts_of(run), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_hang_json(const struct ct_hang_run *run)
{
	const struct ct_hang_case *c = &run->hang_case;
	json_t *o = json_object(), *ranks = json_array();
	int failed = !o || !ranks;

	for (uint32_t i = 0; i < c->n_ranks; i++)
		ct_json_append(ranks, rank_of(run, &c->ranks[i]), &failed);
	ct_json_set(o, "schema", json_string("commtrace.hang/1"), &failed);
	ct_json_set(o, "run", run_of(run), &failed);
	ct_json_set(o, "state", json_string(ct_job_state_word(run->state)), &failed);
	ct_json_set(o, "verdicts", verdicts_of(run), &failed);
	ct_json_set(o, "order", ct_hang_check_json(run), &failed);
	ct_json_set(o, "messages", ct_hang_messages_json(run), &failed);
	ct_json_set(o, "not_stalled", not_stalled(run), &failed);
	ct_json_set(o, "missing_data", missing_data(run), &failed);
	ct_json_set(o, "ranks", ranks, &failed);
	return ct_json_done(o, failed);
}
