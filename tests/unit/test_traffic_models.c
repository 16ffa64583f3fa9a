/* SPDX-License-Identifier: Apache-2.0 */
/* How bytes of collectives are laid on pairs of members: what holds for communicators of any size,
 * any root and any count.
 *
 * CT_SEED=N replays one case. */
#include "tests/unit/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/traffic/flow.h"
#include "tests/unit/seeds.h"
#include "trace/ops.h"

enum { MOST = 70 };

struct matrix {
	uint32_t n;
	uint64_t bytes[MOST][MOST], count[MOST][MOST];
	uint64_t exact, modelled;
};

static uint64_t seed, state_of_dice;

/* Of the latest case, which is the one that failed if one did. */
static int tell_seed(void **state)
{
	(void)state;
	print_message("             CT_SEED=%llu\n", (unsigned long long)seed);
	return 0;
}

static uint64_t dice(uint64_t sides)
{
	state_of_dice = state_of_dice * 6364136223846793005ull + 1442695040888963407ull;
	return (state_of_dice >> 33) % sides;
}

static int put(void *arg, uint32_t from, uint32_t to, struct ct_flow_sum sum, int exact)
{
	struct matrix *m = arg;

	assert_true(from < m->n && to < m->n);
	assert_int_not_equal(from, to);
	m->bytes[from][to] += sum.bytes;
	m->count[from][to] += sum.n;
	*(exact ? &m->exact : &m->modelled) += sum.bytes;
	return 0;
}

/* An operation that each of n members calls, member m with bytes[m]. */
struct call {
	unsigned op;
	uint32_t n;
	int32_t root;
	int varying;
	uint64_t times;
	uint64_t bytes[MOST];
};

static struct matrix lay(const struct call *call)
{
	struct ct_flow flows[MOST] = { 0 };
	const struct ct_flow *by_member[MOST];
	struct matrix m = { .n = call->n };

	for (uint32_t i = 0; i < call->n; i++) {
		const struct ct_flow_op op = { call->op,    call->root,	   call->bytes[i],
					       call->times, call->varying, 0 };
		struct ct_flow_pair pair;

		by_member[i] = &flows[i];
		switch (ct_flow_take(&flows[i], call->n, i, &op, &pair)) {
		case CT_FLOW_TAKEN:
			break;
		case CT_FLOW_IS_PAIR:
			put(&m, pair.from, pair.to,
			    (struct ct_flow_sum){ op.bytes * op.times, op.times }, 1);
			break;
		case CT_FLOW_UNKNOWN:
			fail_msg("%s: not known between whom", ct_op_name(call->op));
		}
	}
	assert_int_equal(ct_flows_lay(by_member, call->n, put, &m), 0);
	return m;
}

static uint64_t row(const struct matrix *m, uint32_t r)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < m->n; c++)
		sum += m->bytes[r][c];
	return sum;
}

static uint64_t column(const struct matrix *m, uint32_t c)
{
	uint64_t sum = 0;

	for (uint32_t r = 0; r < m->n; r++)
		sum += m->bytes[r][c];
	return sum;
}

static uint64_t total(const struct matrix *m)
{
	uint64_t sum = 0;

	for (uint32_t r = 0; r < m->n; r++)
		sum += row(m, r);
	return sum;
}

static struct call some(unsigned op, int varying)
{
	struct call call = { .op = op, .varying = varying };
	uint64_t bytes = 1 + dice(1ull << (1 + dice(30)));

	call.n = 2 + (uint32_t)dice(MOST - 1);
	call.root = (int32_t)dice(call.n);
	call.times = 1 + dice(1000);
	for (uint32_t m = 0; m < call.n; m++)
		call.bytes[m] = varying ? 1 + dice(1u << 20) : bytes;
	return call;
}

/* Run `check` on some hundred calls. */
static void with_random_calls(void (*check)(const struct call *), unsigned op, int varying)
{
	const char *only = getenv("CT_SEED");

	for (uint64_t i = 1; i <= SOME_SEEDS(150) && (i == 1 || !only); i++) {
		struct call call;

		seed = only ? strtoull(only, NULL, 10) : i;
		state_of_dice = seed * 0x9e3779b97f4a7c15ull;
		call = some(op, varying);
		check(&call);
	}
}

/* ---- each operation ---- */

static void is_all_reduced(const struct call *c)
{
	/* S of all calls together is split, not that of each */
	const unsigned __int128 whole = (unsigned __int128)2 * c->bytes[0] * c->times * (c->n - 1);
	const uint64_t each = (uint64_t)(whole / c->n);

	struct matrix laid = lay(c);

	assert_int_equal(laid.exact, 0);
	assert_int_equal(laid.modelled, total(&laid));
	for (uint32_t r = 0; r < c->n; r++) {
		assert_int_equal(row(&laid, r), each);
		for (uint32_t k = 0; k < c->n; k++) {
			int is_next = k == (r + 1) % c->n;

			assert_int_equal(laid.bytes[r][k], is_next ? each : 0);
		}
	}
	/* 2S(n-1), to the byte that each member's division leaves */
	assert_true(total(&laid) <= (uint64_t)whole);
	assert_true((uint64_t)whole - total(&laid) < c->n);
}

static void an_all_reduce_goes_round_the_ring(void **state)
{
	(void)state;
	with_random_calls(is_all_reduced, CT_OP_AllReduce, 0);
}

static void is_shared(const struct call *c)
{
	struct matrix laid = lay(c);

	assert_int_equal(laid.exact, 0);
	for (uint32_t r = 0; r < c->n; r++) {
		assert_int_equal(row(&laid, r), c->bytes[0] * c->times * (c->n - 1));
		assert_int_equal(column(&laid, r), row(&laid, r));
		assert_int_equal(laid.count[r][(r + 1) % c->n], c->times);
	}
}

static void shares_are_sent_on_to_all_but_their_owner(void **state)
{
	(void)state;
	with_random_calls(is_shared, CT_OP_AllGather, 0);
	with_random_calls(is_shared, CT_OP_ReduceScatter, 0);
}

static uint64_t all_shares(const struct call *c)
{
	uint64_t sum = 0;

	for (uint32_t m = 0; m < c->n; m++)
		sum += c->bytes[m] * c->times;
	return sum;
}

static void is_gathered(const struct call *c)
{
	struct matrix laid = lay(c);

	/* every rank gets all shares but its own */
	for (uint32_t r = 0; r < c->n; r++)
		assert_int_equal(column(&laid, r), all_shares(c) - c->bytes[r] * c->times);
	assert_int_equal(total(&laid), all_shares(c) * (c->n - 1));
}

static void is_scattered(const struct call *c)
{
	struct matrix laid = lay(c);

	/* every rank gives away its part of all shares but its own */
	for (uint32_t r = 0; r < c->n; r++)
		assert_int_equal(row(&laid, r), all_shares(c) - c->bytes[r] * c->times);
}

static void shares_that_differ_are_sent_to_the_byte(void **state)
{
	(void)state;
	with_random_calls(is_gathered, CT_OP_AllGather, 1);
	with_random_calls(is_scattered, CT_OP_ReduceScatter, 1);
}

static void is_exact(const struct call *c)
{
	struct matrix laid = lay(c);

	assert_int_equal(laid.modelled, 0);
	for (uint32_t r = 0; r < c->n; r++) {
		for (uint32_t k = 0; k < c->n; k++) {
			int is = r != k;

			is &= c->op != CT_OP_Gather || k == (uint32_t)c->root;
			is &= c->op != CT_OP_Scatter || r == (uint32_t)c->root;
			assert_int_equal(laid.count[r][k], is ? c->times : 0);
			assert_int_equal(laid.bytes[r][k],
					 is ? c->times * c->bytes[c->op == CT_OP_Scatter ? k : r]
					    : 0);
		}
	}
}

static void what_an_operation_says_itself_is_exact(void **state)
{
	(void)state;
	with_random_calls(is_exact, CT_OP_AllToAll, 0);
	with_random_calls(is_exact, CT_OP_Gather, 0);
	with_random_calls(is_exact, CT_OP_Gather, 1);
	with_random_calls(is_exact, CT_OP_Scatter, 0);
	with_random_calls(is_exact, CT_OP_Scatter, 1);
}

static void is_even(const struct call *c)
{
	struct matrix laid = lay(c);

	assert_int_equal(laid.exact, 0);
	for (uint32_t r = 0; r < c->n; r++) {
		uint64_t others = c->bytes[r] * c->times * (c->n - 1) / c->n;

		assert_int_equal(row(&laid, r), others);
		for (uint32_t k = 0; k < c->n; k++)
			assert_true(k == r || laid.bytes[r][k] - others / (c->n - 1) <= 1);
	}
}

static void an_all_to_all_of_which_only_the_sum_is_known_is_a_model(void **state)
{
	(void)state;
	with_random_calls(is_even, CT_OP_AllToAll, 1);
}

static void is_rooted(const struct call *c)
{
	const uint64_t bytes = c->bytes[0] * c->times;
	const uint32_t root = (uint32_t)c->root;
	const int from = c->op == CT_OP_Broadcast;

	struct matrix laid = lay(c);

	assert_int_equal(laid.exact, 0);
	assert_int_equal(total(&laid), bytes * (c->n - 1));
	for (uint32_t r = 0; r < c->n; r++) {
		assert_int_equal(from ? column(&laid, r) : row(&laid, r), r == root ? 0 : bytes);
		assert_int_equal(row(&laid, r), laid.bytes[r][(r + 1) % c->n]);
	}
}

static void a_broadcast_comes_from_its_root_and_a_reduce_goes_there(void **state)
{
	(void)state;
	with_random_calls(is_rooted, CT_OP_Broadcast, 0);
	with_random_calls(is_rooted, CT_OP_Reduce, 0);
}

static void is_a_chain(const struct call *c)
{
	struct matrix laid = lay(c);

	for (uint32_t r = 0; r < c->n; r++) {
		assert_int_equal(row(&laid, r), r + 1 < c->n ? c->bytes[0] * c->times : 0);
		assert_int_equal(column(&laid, r), r ? c->bytes[0] * c->times : 0);
	}
}

static void a_prefix_goes_from_the_first_to_the_last(void **state)
{
	(void)state;
	with_random_calls(is_a_chain, CT_OP_Scan, 0);
	with_random_calls(is_a_chain, CT_OP_Exscan, 0);
}

/* ---- sums ---- */

static void members_without_records_send_nothing(void **state)
{
	struct ct_flow flow = { 0 };
	const struct ct_flow *by_member[3] = { NULL, &flow, NULL };
	const struct ct_flow_op op = { .op = CT_OP_AllReduce, .root = -1, .bytes = 300, .times = 1 };
	struct ct_flow_pair pair;

	(void)state;
	assert_int_equal(ct_flow_take(&flow, 3, 1, &op, &pair), CT_FLOW_TAKEN);
	struct matrix laid = { .n = 3 };

	ct_flows_lay(by_member, 3, put, &laid);
	assert_int_equal(row(&laid, 0) + row(&laid, 2), 0);
	assert_true(row(&laid, 1) > 0);
}

static void sums_stay_at_the_largest_number_that_json_has(void **state)
{
	struct call call = { .op = CT_OP_AllReduce, .n = 3, .times = 1000 };

	(void)state;
	for (uint32_t m = 0; m < 3; m++)
		call.bytes[m] = UINT64_MAX / 2;
	struct matrix laid = lay(&call);

	for (uint32_t k = 0; k < 9; k++)
		assert_true(laid.bytes[k / 3][k % 3] <= INT64_MAX);
	assert_true(row(&laid, 1) > INT64_MAX / 4);
}

static void what_no_one_knows_is_not_laid(void **state)
{
	static const struct {
		unsigned op;
		int32_t root;
	} unknown[] = { { CT_OP_Send, -1 },  { CT_OP_Send, 4 },	   { CT_OP_Broadcast, -1 },
			{ CT_OP_Reduce, 4 }, { CT_OP_Gather, -1 }, { CT_OP_NeighborAllGather, -1 },
			{ 200, 0 } };
	struct ct_flow flow = { 0 };
	struct ct_flow_pair pair;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct ct_flow_op op = { unknown[i].op, unknown[i].root, 8, 1, 0, 0 };

		assert_int_equal(ct_flow_take(&flow, 4, 0, &op, &pair), CT_FLOW_UNKNOWN);
	}
	for (int s = 0; s < CT_FLOW_SHAPES; s++)
		assert_int_equal(flow.sums[s].bytes + flow.sums[s].n, 0);
}

static void messages_go_to_their_peer_and_gets_come_from_it(void **state)
{
	static const struct {
		unsigned op;
		uint32_t from, to;
	} known[] = { { CT_OP_Send, 1, 3 },
		      { CT_OP_Put, 1, 3 },
		      { CT_OP_Accumulate, 1, 3 },
		      { CT_OP_Get, 3, 1 } };
	struct ct_flow flow = { 0 };
	struct ct_flow_pair pair;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct ct_flow_op op = { known[i].op, 3, 8, 1, 0, 0 };

		assert_int_equal(ct_flow_take(&flow, 4, 1, &op, &pair), CT_FLOW_IS_PAIR);
		assert_true(pair.from == known[i].from && pair.to == known[i].to);
		op.root = 1; /* itself */
		assert_int_equal(ct_flow_take(&flow, 4, 1, &op, &pair), CT_FLOW_TAKEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_all_reduce_goes_round_the_ring, tell_seed),
		cmocka_unit_test_teardown(shares_are_sent_on_to_all_but_their_owner, tell_seed),
		cmocka_unit_test_teardown(shares_that_differ_are_sent_to_the_byte, tell_seed),
		cmocka_unit_test_teardown(what_an_operation_says_itself_is_exact, tell_seed),
		cmocka_unit_test_teardown(an_all_to_all_of_which_only_the_sum_is_known_is_a_model,
					  tell_seed),
		cmocka_unit_test_teardown(a_broadcast_comes_from_its_root_and_a_reduce_goes_there,
					  tell_seed),
		cmocka_unit_test_teardown(a_prefix_goes_from_the_first_to_the_last, tell_seed),
		cmocka_unit_test(members_without_records_send_nothing),
		cmocka_unit_test(sums_stay_at_the_largest_number_that_json_has),
		cmocka_unit_test(what_no_one_knows_is_not_laid),
		cmocka_unit_test(messages_go_to_their_peer_and_gets_come_from_it),
	};

	return cmocka_run_group_tests_name("traffic_models", tests, NULL, NULL);
}
