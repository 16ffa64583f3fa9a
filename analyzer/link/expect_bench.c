/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark of the same machines reached, as rules. */
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/link/expect_private.h"

static enum ct_expect_scope scope_of(const struct ct_report *bench, const struct ct_report_op *op)
{
	for (size_t i = 0; i < bench->n_comms; i++)
		if (bench->comms[i].hash == op->comm_hash)
			return bench->comms[i].n_hosts > 1 ? CT_EXPECT_CROSS : CT_EXPECT_HOST;
	return CT_EXPECT_ANY;
}

/* The same operation of the same sizes on another communicator: the better one counts. */
static struct ct_expect_rule *rule_like(struct ct_expect *e, const struct ct_expect_rule *rule)
{
	for (size_t i = 0; i < e->n; i++) {
		struct ct_expect_rule *other = &e->rules[i];

		if (other->is_bench && other->op == rule->op && other->scope == rule->scope &&
		    other->backend == rule->backend && other->min_bytes == rule->min_bytes)
			return other;
	}
	return NULL;
}

int ct_expect_add_bench(struct ct_expect *e, const struct ct_report *bench)
{
	struct ct_expect_rule *grown = reallocarray(e->rules, e->n + bench->n_ops + 1,
						    sizeof(*grown));

	if (!grown)
		return CT_NOMEM;
	e->rules = grown;
	for (size_t i = 0; i < bench->n_ops; i++) {
		const struct ct_report_op *op = &bench->ops[i];
		struct ct_expect_rule rule = {
			.number = e->n + 1,
			.name = "benchmark",
			.is_bench = 1,
			.op = op->op,
			.backend = op->backend,
			.scope = scope_of(bench, op),
			.min_bytes = op->size_range,
			.max_bytes = 2 * op->size_range - 1,
			.min_op_count = CT_FEW_SAMPLES,
			.has[CT_EXPECT_BUSBW] = 1,
			.limits[CT_EXPECT_BUSBW] = CT_SLOW_LINK * (double)op->busbw_p50_Bps / 1e9,
			.source = "70 % of what the benchmark reached",
			.not_for = "transfers beside compute, which shares memory and SMs with "
				   "them",
		};
		struct ct_expect_rule *like;

		if (!op->op_name || op->group || op->instances < CT_FEW_SAMPLES ||
		    op->size_range == CT_UNKNOWN || op->size_range < CT_LARGE_BYTES ||
		    op->busbw_p50_Bps == CT_UNKNOWN || !op->busbw_p50_Bps ||
		    rule.scope == CT_EXPECT_ANY)
			continue;
		like = rule_like(e, &rule);
		if (!like)
			e->rules[e->n++] = rule;
		else if (like->limits[CT_EXPECT_BUSBW] < rule.limits[CT_EXPECT_BUSBW])
			like->limits[CT_EXPECT_BUSBW] = rule.limits[CT_EXPECT_BUSBW];
	}
	return CT_OK;
}
