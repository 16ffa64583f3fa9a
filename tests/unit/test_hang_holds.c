/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of every hang: renumbered and reordered ranks get the same blame; a missing file never
 * moves the blame to a victim; without a hang no rank is blamed; cost is proportional to size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "analyzer/base/table.h"
#include "tests/unit/hang_text.h"
#include "trace/format.h"
#include "trace/ops.h"

static const char *const files[] = { "scenarios.txt", "calls.txt", "more.txt", "edges.txt" };
#define FILES (sizeof(files) / sizeof(files[0]))
#define S 1000000000ull

static uint64_t random_state = 1;

static uint32_t below(uint32_t n)
{
	return (uint32_t)(ct_mix(++random_state) % n);
}

static struct ct_hang_result *judge(const struct ct_hang_case *c, struct ct_arena *a)
{
	struct ct_hang_result *result = NULL;

	assert_int_equal(ct_hang_diagnose(c, a, &result), 0);
	return result;
}

static struct ct_text_case *cases_of(const char *file, struct ct_arena *a)
{
	return ct_text_cases(ct_arena_printf(a, "%s/tests/unit/hang/%s", getenv("CT_ROOT"), file),
			     a);
}

typedef unsigned (*check_fn)(const struct ct_text_case *t, const struct ct_hang_case *c,
			     struct ct_arena *a);

/* Of all cases in both timings; stops where there was nothing to check. */
static void every_case(check_fn check)
{
	unsigned wrong = 0, cases = 0;

	for (size_t f = 0; f < FILES; f++) {
		struct ct_arena *a = ct_arena_new();

		for (struct ct_text_case *t = cases_of(files[f], a); t; t = t->next) {
			wrong += check(t, &t->c, a);
			wrong += check(t, ct_text_host_timing(&t->c, a), a);
			cases++;
		}
		ct_arena_free(a);
	}
	assert_true(cases > 100);
	assert_int_equal(wrong, 0);
}

/* ---- the answer does not depend on numbers and order ---- */

static void shuffle(uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = below(i), x = order[i - 1];

		order[i - 1] = order[j];
		order[j] = x;
	}
}

/* Ranks get other numbers and indices, communicators other indices; ops of a rank keep their order.
 */
static struct ct_hang_case *permuted(const struct ct_hang_case *c, uint32_t *rank_to,
				     struct ct_arena *a)
{
	struct ct_hang_case *p = ct_text_copy(c, a);
	uint32_t *comm_to = ct_arena_calloc(a, c->n_comms + 1u, sizeof(*comm_to)), n = 0;

	shuffle(rank_to, c->n_ranks);
	shuffle(comm_to, c->n_comms);
	for (uint32_t r = 0; r < c->n_ranks; r++) {
		p->ranks[rank_to[r]] = c->ranks[r];
		p->ranks[rank_to[r]].rank = (int)rank_to[r];
		if (c->ranks[r].error_comm < c->n_comms)
			p->ranks[rank_to[r]].error_comm = comm_to[c->ranks[r].error_comm];
	}
	for (uint32_t i = 0; i < c->n_comms; i++) {
		int *ranks = ct_arena_calloc(a, c->comms[i].n + 1u, sizeof(*ranks));

		p->comms[comm_to[i]] = c->comms[i];
		for (uint32_t k = 0; k < c->comms[i].n; k++)
			ranks[k] = c->comms[i].ranks[k] < 0 ? -1
							    : (int)rank_to[c->comms[i].ranks[k]];
		p->comms[comm_to[i]].ranks = ranks;
	}
	/* By new rank, so that ranks come in another order, too. */
	for (uint32_t to = 0; to < c->n_ranks; to++)
		for (uint32_t i = 0; i < c->n_ops; i++)
			if (rank_to[c->ops[i].rank] == to) {
				p->ops[n] = c->ops[i];
				p->ops[n].rank = to;
				p->ops[n++].comm = comm_to[c->ops[i].comm];
			}
	for (uint32_t i = 0; i < c->n_calls; i++) {
		struct ct_hang_call *call = &p->calls[c->n_calls - 1 - i];

		*call = c->calls[i];
		call->rank = rank_to[call->rank];
		if (call->comm < c->n_comms)
			call->comm = comm_to[call->comm];
	}
	return p;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A verdict in one line, with its ranks called anew. */
static const char *line_of(const struct ct_hang_verdict *v, const uint32_t *rank_to,
			   struct ct_arena *a)
{
	const int *lists[2] = { v->ranks, v->victims };
	uint32_t n[2] = { v->n_ranks, v->n_victims };
	const char *texts[2];

	for (int k = 0; k < 2; k++) {
		int *anew = ct_arena_calloc(a, n[k] + 1u, sizeof(*anew));

		for (uint32_t i = 0; i < n[k]; i++)
			anew[i] = rank_to ? (int)rank_to[lists[k][i]] : lists[k][i];
		qsort(anew, n[k], sizeof(*anew), by_number);
		texts[k] = ct_text_list(anew, n[k], a);
	}
	return ct_arena_printf(a, "%s %s %s %s", ct_hang_code_name(v->code), texts[0], texts[1],
			       ct_confidence_name(v->confidence));
}

static unsigned is_the_same_permuted(const struct ct_text_case *t, const struct ct_hang_case *c,
				     struct ct_arena *a)
{
	uint32_t *rank_to = ct_arena_calloc(a, c->n_ranks + 1u, sizeof(*rank_to));
	struct ct_hang_case *p = permuted(c, rank_to, a);
	struct ct_hang_result *one = judge(c, a), *other = judge(p, a);
	uint32_t found = 0;

	for (uint32_t i = 0; i < one->n_verdicts; i++)
		for (uint32_t j = 0; j < other->n_verdicts; j++)
			if (!strcmp(line_of(&one->verdicts[i], rank_to, a),
				    line_of(&other->verdicts[j], NULL, a))) {
				found++;
				break;
			}
	if (one->n_verdicts == other->n_verdicts && found == one->n_verdicts)
		return 0;
	fprintf(stderr, "%s:%u: %s: seed %llu:\n%sbecomes\n%s", t->file, t->line, t->name,
		(unsigned long long)random_state, ct_text_verdicts(one, a),
		ct_text_verdicts(other, a));
	return 1;
}

static void numbers_and_order_of_ranks_and_comms_do_not_matter(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		every_case(is_the_same_permuted);
}

/* ---- a file that is gone ---- */

static int is_among(int rank, const int *ranks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ranks[i] == rank)
			return 1;
	return 0;
}

/* Nothing of it is there: no ops, calls, errors, ends. */
static struct ct_hang_case *without(const struct ct_hang_case *c, uint32_t rank, struct ct_arena *a)
{
	struct ct_hang_case *p = ct_text_copy(c, a);

	p->n_ops = p->n_calls = 0;
	for (uint32_t i = 0; i < c->n_ops; i++)
		if (c->ops[i].rank != rank)
			p->ops[p->n_ops++] = c->ops[i];
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (c->calls[i].rank != rank)
			p->calls[p->n_calls++] = c->calls[i];
	p->ranks[rank] = (struct ct_hang_rank){ .rank = c->ranks[rank].rank,
						.process = CT_PROCESS_NO_TRACE,
						.last_heartbeat_ns = CT_UNKNOWN,
						.heartbeat_age_ns = CT_UNKNOWN,
						.ended_ns = CT_UNKNOWN,
						.error_ns = CT_UNKNOWN,
						.records_until_ns = CT_UNKNOWN,
						.cpu_ns = CT_UNKNOWN };
	return p;
}

/* Does the verdict blame the ranks that it names? That a process died is on record, and low
 * confidence says that the reason may be where nothing is. */
static int blames(const struct ct_hang_verdict *v)
{
	if (v->code == CT_HANG_IS_DEAD_RANK && v->confidence == CT_CONFIDENCE_LOW)
		return 0;
	return v->code != CT_HANG_IS_NO_TRACE && v->code != CT_HANG_IS_UNKNOWN &&
	       v->code != CT_HANG_IS_GRAPH_REPLAY;
}

static unsigned never_blames_a_victim(const struct ct_text_case *t, const struct ct_hang_case *c,
				      struct ct_arena *a)
{
	struct ct_hang_result *whole = judge(c, a);
	unsigned wrong = 0;

	for (uint32_t r = 0; r < c->n_ranks; r++) {
		struct ct_hang_result *rest = judge(without(c, r, a), a);

		for (uint32_t i = 0; i < rest->n_verdicts; i++) {
			const struct ct_hang_verdict *v = &rest->verdicts[i];
			int bad = 0;

			for (uint32_t k = 0; blames(v) && k < v->n_ranks; k++) {
				int named = 0;

				for (uint32_t w = 0; w < whole->n_verdicts; w++)
					named |= is_among(v->ranks[k], whole->verdicts[w].ranks,
							  whole->verdicts[w].n_ranks);
				bad |= !named;
			}
			if (!bad)
				continue;
			fprintf(stderr, "%s:%u: %s: without rank %u:\n%sbecomes\n%s", t->file,
				t->line, t->name, r, ct_text_verdicts(whole, a),
				ct_text_verdicts(rest, a));
			wrong++;
		}
	}
	return wrong;
}

static void a_file_that_is_gone_never_moves_the_blame(void **state)
{
	(void)state;
	every_case(never_blames_a_victim);
}

/* ---- no rank is blamed without a hang ---- */

#define STEPS 40u

/* Every rank has come a different way through the same program of ops over rows and columns of a
 * grid, and none has waited for long. */
static void healthy_prefix(struct ct_hang_case *c, struct ct_arena *a)
{
	uint32_t rows = 1 + below(4), columns = 1 + below(4), n = rows * columns;

	*c = (struct ct_hang_case){ .n_ranks = n, .n_comms = rows + columns + 1 };
	c->ranks = ct_arena_calloc(a, n, sizeof(*c->ranks));
	c->comms = ct_arena_calloc(a, c->n_comms, sizeof(*c->comms));
	c->ops = ct_arena_calloc(a, (size_t)n * STEPS, sizeof(*c->ops));
	for (uint32_t i = 0; i < c->n_comms; i++) {
		int *ranks = ct_arena_calloc(a, n, sizeof(*ranks));
		struct ct_hang_comm *comm = &c->comms[i];

		comm->hash = i + 1;
		comm->ranks = ranks;
		for (uint32_t r = 0; r < n; r++)
			if (i == rows + columns ||
			    (i < rows ? r / columns == i : r % columns == i - rows))
				ranks[comm->n++] = (int)r;
	}
	for (uint32_t r = 0; r < n; r++) {
		uint32_t steps = below(STEPS), overlap = below(3);
		uint64_t seqs[3] = { 0 };

		c->ranks[r] = (struct ct_hang_rank){ .rank = (int)r,
						     .last_heartbeat_ns = 100 * S - below(1000),
						     .error_comm = UINT32_MAX,
						     .error_ns = CT_UNKNOWN,
						     .ended_ns = CT_UNKNOWN,
						     .records_until_ns = 100 * S,
						     .cpu_ns = CT_UNKNOWN,
						     .starts_known = (int)below(2) };
		for (uint32_t s = 0; s < steps; s++) {
			uint32_t kind = s % 3;
			struct ct_hang_op *op = &c->ops[c->n_ops++];

			*op = (struct ct_hang_op){ .rank = r,
						   .seq = seqs[kind]++,
						   .op = CT_OP_AllReduce,
						   .dtype = CT_DTYPE_float32,
						   .redop = CT_REDOP_sum,
						   .count = 8,
						   .bytes = 32,
						   .peer = -1,
						   .stream = kind + 1,
						   .thread = 1 };
			op->comm = kind == 0   ? r / columns
				   : kind == 1 ? rows + r % columns
					       : rows + columns;
			op->enter_ns = 100 * S - (steps - s) * 1000000ull;
			op->state = s + overlap >= steps
					    ? (below(2) ? CT_STATE_STARTED : CT_STATE_RETURNED)
					    : CT_STATE_FINISHED;
		}
	}
}

static void healthy_jobs_blame_no_one(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct ct_arena *a = ct_arena_new();
		struct ct_hang_case c;

		healthy_prefix(&c, a);
		assert_int_equal(judge(&c, a)->n_verdicts, 0);
		ct_arena_free(a);
	}
}

/* ---- large jobs ---- */

/* Tensor groups of 8, pipelines, data parallel groups; one rank never comes to its tensor group's
 * op, so that all stand. */
static void a_large_job_names_the_one(void **state)
{
	enum { RANKS = 4096, TP = 8, DP = 16 };
	const uint32_t stuck = 1234;
	struct ct_arena *a = ct_arena_new();
	struct ct_hang_case c = { .n_ranks = RANKS, .n_comms = RANKS / TP + RANKS / DP + 1 };
	struct ct_hang_result *result;

	(void)state;
	c.ranks = ct_arena_calloc(a, RANKS, sizeof(*c.ranks));
	c.comms = ct_arena_calloc(a, c.n_comms, sizeof(*c.comms));
	c.ops = ct_arena_calloc(a, (size_t)RANKS * 24, sizeof(*c.ops));
	for (uint32_t i = 0; i < c.n_comms; i++) {
		int is_tp = i < RANKS / TP, is_world = i + 1 == c.n_comms;
		int n = is_world ? RANKS : is_tp ? TP : DP;
		int *ranks = ct_arena_calloc(a, (size_t)n, sizeof(*ranks));

		for (int k = 0; k < n; k++)
			ranks[k] = is_world ? k
				   : is_tp  ? (int)i * TP + k
					    : ((int)i - RANKS / TP) / TP * TP * DP +
						     ((int)i - RANKS / TP) % TP + k * TP;
		c.comms[i] = (struct ct_hang_comm){ .hash = i + 1,
						    .n = (uint32_t)n,
						    .ranks = ranks };
	}
	for (uint32_t r = 0; r < RANKS; r++) {
		uint32_t tp = r / TP, dp = RANKS / TP + r / (TP * DP) * TP + r % TP;
		uint32_t world = c.n_comms - 1;

		c.ranks[r] = (struct ct_hang_rank){ .rank = (int)r,
						    .last_heartbeat_ns = 100 * S,
						    .error_comm = UINT32_MAX,
						    .error_ns = CT_UNKNOWN,
						    .ended_ns = CT_UNKNOWN,
						    .records_until_ns = 100 * S,
						    .cpu_ns = CT_UNKNOWN,
						    .starts_known = 1 };
		/* Of the last step: tensor group, data parallel group, all. Who is held up has not
		 * issued what comes after. */
		for (uint32_t s = 0; s < 24; s++) {
			int tp_waits = tp == stuck / TP;
			int dp_waits = r / (TP * DP) == stuck / (TP * DP);
			struct ct_hang_op op = { .rank = r,
						 .comm = s < 22	   ? tp
							 : s == 22 ? dp
								   : world,
						 .seq = s < 22 ? s : 0,
						 .op = CT_OP_AllReduce,
						 .count = 8,
						 .bytes = 32,
						 .dtype = CT_DTYPE_float32,
						 .redop = CT_REDOP_sum,
						 .peer = -1,
						 .stream = 1,
						 .thread = 1,
						 .enter_ns = 38 * S + s,
						 .state = CT_STATE_FINISHED };

			if (s == 21 && r == stuck)
				break;
			if ((s == 21 && tp_waits) || (s == 22 && dp_waits) || s == 23) {
				op.state = CT_STATE_STARTED;
				op.stalled = 1;
			}
			c.ops[c.n_ops++] = op;
			if (op.stalled)
				break;
		}
	}
	result = judge(&c, a);
	assert_int_equal(result->n_verdicts, 1);
	assert_int_equal(result->verdicts[0].code, CT_HANG_IS_NEVER_ENTERED);
	assert_int_equal(result->verdicts[0].n_ranks, 1);
	assert_int_equal(result->verdicts[0].ranks[0], stuck);
	assert_int_equal(result->verdicts[0].n_victims, RANKS - 1);
	assert_true(strlen(result->verdicts[0].headline) <= 74);
	ct_arena_free(a);
}

/* ---- what makes no sense ---- */

/* Indices that lead nowhere, numbers twice, communicators of one. */
static void nonsense_is_no_crash(void **state)
{
	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct ct_arena *a = ct_arena_new();
		struct ct_hang_case c;

		healthy_prefix(&c, a);
		c.calls = ct_arena_calloc(a, 9, sizeof(*c.calls));
		for (uint32_t k = 0; k < c.n_ops; k++) {
			struct ct_hang_op *op = &c.ops[k];

			op->stalled = (uint8_t)below(3);
			op->op = (uint8_t)below(25);
			op->rank = below(20) ? op->rank : below(300);
			op->comm = below(10) ? op->comm : below(2) ? UINT32_MAX : below(20);
			op->peer = (int32_t)below(20) - 2;
			op->tag = below(3) ? 0 : CT_TAG_ANY;
			op->state = (enum ct_op_state)below(8);
			op->launch = below(4);
			op->by_host = (uint8_t)below(2);
			op->graph = !below(20);
			op->seq = below(4);
			op->enter_ns = below(9) ? op->enter_ns : CT_UNKNOWN;
		}
		for (uint32_t k = 0; k < 8; k++) {
			struct ct_hang_call *call = &c.calls[c.n_calls++];

			call->rank = below(20);
			call->kind = (enum ct_host_call)below(9);
			call->comm = below(3) ? below(9) : UINT32_MAX;
			call->returned = !below(4);
			call->stalled = (uint8_t)below(3);
		}
		for (uint32_t r = 0; r < c.n_ranks; r++) {
			c.ranks[r].process = (enum ct_process_state)below(4);
			c.ranks[r].error = below(4) ? NULL : "an error";
			c.ranks[r].error_comm = below(12);
			c.ranks[r].rank = below(9) ? c.ranks[r].rank : 3;
		}
		judge(&c, a);
		ct_arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_order_of_ranks_and_comms_do_not_matter),
		cmocka_unit_test(a_file_that_is_gone_never_moves_the_blame),
		cmocka_unit_test(healthy_jobs_blame_no_one),
		cmocka_unit_test(a_large_job_names_the_one),
		cmocka_unit_test(nonsense_is_no_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
