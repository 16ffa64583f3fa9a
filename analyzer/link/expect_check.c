/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "analyzer/link/expect_private.h"
#include "analyzer/model/comm_spec.h"
#include "trace/ops.h"

/* fact: cells of the histograms that percentiles come from (docs/dev/algorithms/matching.md,
 * Matching). */
#define CELL (1.0 / 64)

/* How a metric is printed, and the factor from the file's unit to the report's. */
static const struct metric {
	const char *name, *unit;
	double scale;
	int is_least; /* the limit is a least one */
} metrics[CT_EXPECT_METRICS] = {
	[CT_EXPECT_BUSBW] = { "busbw", "Bps", 1e9, 1 },
	[CT_EXPECT_ALGBW] = { "algbw", "Bps", 1e9, 1 },
	[CT_EXPECT_LATENCY] = { "latency", "ns", 1e3, 0 },
	[CT_EXPECT_UTILIZATION] = { "utilization", "pct", 1, 1 },
};

const char *ct_expect_result_name(enum ct_expect_result result)
{
	static const char *const names[] = { "pass", "fail", "n/a" };

	return names[result];
}

struct check {
	struct ct_report *report;
	struct ct_table comms; /* key -> struct ct_report_comm */
};

static const struct ct_report_comm *comm_of(const struct check *c, const struct ct_report_op *op)
{
	return ct_table_get(&c->comms, op->comm_hash);
}

static int is_about(const struct check *c, const struct ct_expect_rule *rule,
		    const struct ct_report_op *op)
{
	const struct ct_report_comm *comm = comm_of(c, op);
	uint32_t hosts = comm ? comm->n_hosts : 0;

	if (!op->op_name || (rule->op && op->op != rule->op) ||
	    (rule->backend && op->backend != rule->backend) ||
	    (rule->comm && !ct_comm_spec_fits(rule->comm, op->comm_name, op->comm_hash)))
		return 0;
	if ((rule->scope == CT_EXPECT_HOST && hosts != 1) ||
	    (rule->scope == CT_EXPECT_CROSS && hosts < 2) ||
	    (rule->via && !(comm && comm->peak.via && strcmp(rule->via, comm->peak.via) == 0)))
		return 0;
	return op->bytes_each >= rule->min_bytes && op->bytes_each <= rule->max_bytes &&
	       op->instances >= rule->min_op_count;
}

static double known(uint64_t value)
{
	return value == CT_UNKNOWN ? NAN : (double)value;
}

/* What a row has of a metric. NAN, and *why: not known. */
static double value_of(const struct check *c, const struct ct_expect_rule *rule,
		       const struct ct_report_op *op, int metric, double *err, const char **why)
{
	const struct ct_report_comm *comm = comm_of(c, op);
	double latency = known(op->transfer_p50_ns), value = NAN;
	double share = known(op->time_err_ns) / latency + CELL;

	*why = "its operations have no times";
	switch (metric) {
	case CT_EXPECT_BUSBW:
		value = known(op->busbw_p50_Bps);
		break;
	case CT_EXPECT_ALGBW:
		value = known(op->algbw_p50_Bps);
		break;
	case CT_EXPECT_LATENCY:
		value = latency;
		break;
	default:
		if (!isnan(latency))
			*why = rule->declared
				       ? "no file declares the peak of its network or GPUs"
				       : "the peak of its network or GPUs does not follow from the "
					 "start records";
		if (comm && comm->peak.Bps > 0 && (comm->peak.is_declared || !rule->declared))
			value = 100 * known(op->busbw_p50_Bps) / comm->peak.Bps;
	}
	/* an operation that moves no data has no bandwidth */
	if (value <= 0 || isnan(share))
		value = NAN;
	*err = isnan(value) ? NAN : value * share;
	return value;
}

static void decide(struct ct_report_expectation *e, const struct ct_report_op *op,
		   enum ct_expect_result result, double value, double err, const char *why)
{
	e->result = result;
	e->value = value;
	e->err = err;
	e->why = why;
	e->comm_hash = op->comm_hash;
	e->comm_name = op->comm_name;
	e->bytes_each = op->bytes_each;
	e->instances = op->instances;
}

/* How far on the right side of the limit, as a share of it. */
static double spare(const struct ct_report_expectation *e, const struct metric *m, double value)
{
	return m->is_least ? value / e->limit - 1 : 1 - value / e->limit;
}

/* The deciding row: a miss, then an undecided one, then a pass; unknown rows last. */
static int weight(enum ct_expect_result result, double value)
{
	return result == CT_EXPECT_FAIL ? 3 : result == CT_EXPECT_PASS ? 1 : isnan(value) ? 0 : 2;
}

/* One more row: does it decide? */
static void hold(const struct check *c, const struct ct_expect_rule *rule,
		 const struct ct_report_op *op, int metric, struct ct_report_expectation *e)
{
	const struct metric *m = &metrics[metric];
	enum ct_expect_result result = CT_EXPECT_PASS;
	const char *why;
	double err, value = value_of(c, rule, op, metric, &err, &why);
	int more;

	if (isnan(value)) {
		result = CT_EXPECT_NA;
	} else if (spare(e, m, value) < 0) {
		int missed = spare(e, m, m->is_least ? value + err : value - err) < 0;

		result = missed ? CT_EXPECT_FAIL : CT_EXPECT_NA;
		why = missed ? NULL : "it misses the limit by less than its error";
	} else {
		why = NULL;
	}
	more = weight(result, value) - weight(e->result, e->value);
	if (!e->rows++ || more > 0 || (!more && spare(e, m, value) < spare(e, m, e->value)))
		decide(e, op, result, value, err, why);
}

/* Why no row is about the rule. NULL: out of memory. */
static const char *why_nothing(const struct check *c, const struct ct_expect_rule *rule)
{
	int is_there = !rule->comm;

	for (size_t i = 0; i < c->report->n_comms && !is_there; i++)
		is_there = ct_comm_spec_fits(rule->comm, c->report->comms[i].name,
					     c->report->comms[i].hash);
	if (is_there)
		return "the run has no such operations";
	return ct_arena_printf(c->report->memory, "the run has no communicator \"%s\"", rule->comm);
}

static int check_limit(const struct check *c, const struct ct_expect_rule *rule, int metric,
		       struct ct_report_expectation *e)
{
	const struct metric *m = &metrics[metric];

	*e = (struct ct_report_expectation){
		.rule = (uint32_t)rule->number,
		.op = rule->op ? ct_op_name(rule->op) : NULL,
		.scope = ct_expect_scope_name(rule->scope),
		.metric = m->name,
		.unit = m->unit,
		.result = CT_EXPECT_NA,
		.value = NAN,
		.err = NAN,
		.limit = rule->limits[metric] * m->scale,
		.required = rule->required,
		.bytes_each = CT_UNKNOWN,
		.instances = CT_UNKNOWN,
		.why = why_nothing(c, rule),
	};
	if (!e->why)
		return CT_NOMEM;
	for (size_t i = 0; i < c->report->n_ops; i++)
		if (is_about(c, rule, &c->report->ops[i]))
			hold(c, rule, &c->report->ops[i], metric, e);
	e->within_error = e->result == CT_EXPECT_NA && !isnan(e->value);
	if (e->result != CT_EXPECT_NA || !rule->required)
		return CT_OK;
	e->result = CT_EXPECT_FAIL;
	e->why = ct_arena_printf(c->report->memory, "required, and %s", e->why);
	return e->why ? CT_OK : CT_NOMEM;
}

/* The rule's text lives only as long as the file. */
static const char *copy(const struct check *c, const char *text)
{
	return text ? ct_arena_text(c->report->memory, text, strlen(text)) : NULL;
}

static int fill(const struct check *c, const struct ct_expect *expect, size_t n)
{
	struct ct_report_expect *out = &c->report->expect;

	*out = (struct ct_report_expect){ 0 };
	out->items = ct_arena_calloc(c->report->memory, n, sizeof(*out->items));
	if (!out->items)
		return CT_NOMEM;
	for (size_t r = 0; r < expect->n; r++) {
		const struct ct_expect_rule *rule = &expect->rules[r];

		for (int m = 0; m < CT_EXPECT_METRICS; m++) {
			struct ct_report_expectation *e = &out->items[out->n];

			if (!rule->has[m])
				continue;
			if (check_limit(c, rule, m, e) != CT_OK)
				return CT_NOMEM;
			e->name = copy(c, rule->name);
			e->source = copy(c, rule->source);
			e->not_for = copy(c, rule->not_for);
			out->n++;
			out->passed += e->result == CT_EXPECT_PASS;
			out->failed += e->result == CT_EXPECT_FAIL;
			out->not_applicable += e->result == CT_EXPECT_NA;
		}
	}
	return CT_OK;
}

int ct_expect_check(const struct ct_expect *expect, struct ct_report *report)
{
	struct check c = { .report = report };
	size_t n = 0;
	int st = CT_OK;

	if (!expect->n)
		return CT_OK;
	for (size_t i = 0; st == CT_OK && i < report->n_comms; i++)
		st = ct_table_put(&c.comms, report->comms[i].hash, &report->comms[i]);
	for (size_t r = 0; r < expect->n; r++)
		for (int m = 0; m < CT_EXPECT_METRICS; m++)
			n += expect->rules[r].has[m] != 0;
	st = st ?: fill(&c, expect, n);
	ct_table_fini(&c.comms);
	return st == CT_OK && ct_arena_failed(report->memory) ? CT_NOMEM : st;
}
