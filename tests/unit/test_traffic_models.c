/* SPDX-License-Identifier: Apache-2.0 */
/* How bytes of collectives are laid on pairs of members: what holds for communicators of any size, any root and any count.
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

static const enum ct_traffic_model models[] = { CT_TRAFFIC_RING, CT_TRAFFIC_UNIFORM,
						CT_TRAFFIC_TREE };
#define EACH_MODEL(m) (size_t m = 0; (m) < 3; (m)++)

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

static struct matrix lay(const struct call *call, enum ct_traffic_model model)
{
	struct ct_flow flows[MOST] = { 0 };
	const struct ct_flow *by_member[MOST];
	struct matrix m = { .n = call->n };

	for (uint32_t i = 0; i < call->n; i++) {
		const struct ct_flow_op op = { call->op,    call->root,	   call->bytes[i],
					       call->times, call->varying, 0 };
		struct ct_flow_pair pair;

		by_member[i] = &flows[i];
		switch (ct_flow_take(&flows[i], model, call->n, i, &op, &pair)) {
		case CT_FLOW_TAKEN:
			break;
		case CT_FLOW_IS_PAIR:
			put(&m, pair.from, pair.to,
			    (struct ct_flow_sum){ op.bytes * op.times, op.times }, pair.exact);
			break;
		case CT_FLOW_UNKNOWN:
			fail_msg("%s: not known between whom", ct_op_name(call->op));
		}
	}
	assert_int_equal(ct_flows_lay(by_member, call->n, model, put, &m), 0);
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

	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			assert_int_equal(laid.exact, 0);
			assert_int_equal(laid.modelled, total(&laid));
			for (uint32_t r = 0; r < c->n; r++) {
				if (models[m] == CT_TRAFFIC_TREE)
					break;
				assert_int_equal(row(&laid, r), each);
				for (uint32_t k = 0; k < c->n; k++) {
					uint64_t even = each / (c->n - 1), got = laid.bytes[r][k];
					int is_next = k == (r + 1) % c->n;

					if (models[m] == CT_TRAFFIC_RING)
						assert_int_equal(got, is_next ? each : 0);
					else if (k != r)
						assert_true(got == even || got == even + 1);
				}
			}
			/* 2S(n-1), to the byte that each member's division leaves */
			assert_true(total(&laid) <= (uint64_t)whole);
			assert_true((uint64_t)whole - total(&laid) < c->n);
			if (models[m] == CT_TRAFFIC_TREE)
				assert_int_equal(total(&laid), (uint64_t)whole);
		}
}

static void an_all_reduce_sends_as_much_in_every_model(void **state)
{
	(void)state;
	with_random_calls(is_all_reduced, CT_OP_AllReduce, 0);
}

static void is_shared(const struct call *c)
{
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			assert_int_equal(laid.exact, 0);
			for (uint32_t r = 0; r < c->n; r++) {
				assert_int_equal(row(&laid, r),
						 c->bytes[0] * c->times * (c->n - 1));
				assert_int_equal(column(&laid, r), row(&laid, r));
				assert_int_equal(laid.count[r][(r + 1) % c->n], c->times);
				if (models[m] == CT_TRAFFIC_UNIFORM)
					assert_int_equal(laid.bytes[r][(r + c->n - 1) % c->n],
							 c->bytes[0] * c->times);
			}
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
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			/* every rank gets all shares but its own */
			for (uint32_t r = 0; r < c->n; r++)
				assert_int_equal(column(&laid, r),
						 all_shares(c) - c->bytes[r] * c->times);
			assert_int_equal(total(&laid), all_shares(c) * (c->n - 1));
			for (uint32_t r = 0; r < c->n && models[m] == CT_TRAFFIC_UNIFORM; r++)
				assert_int_equal(row(&laid, r),
						 c->bytes[r] * c->times * (c->n - 1));
		}
}

static void is_scattered(const struct call *c)
{
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			/* every rank gives away its part of all shares but its own */
			for (uint32_t r = 0; r < c->n; r++)
				assert_int_equal(row(&laid, r),
						 all_shares(c) - c->bytes[r] * c->times);
			for (uint32_t r = 0; r < c->n && models[m] == CT_TRAFFIC_UNIFORM; r++)
				assert_int_equal(column(&laid, r),
						 c->bytes[r] * c->times * (c->n - 1));
		}
}

static void shares_that_differ_are_sent_to_the_byte(void **state)
{
	(void)state;
	with_random_calls(is_gathered, CT_OP_AllGather, 1);
	with_random_calls(is_scattered, CT_OP_ReduceScatter, 1);
}

static void is_exact(const struct call *c)
{
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			assert_int_equal(laid.modelled, 0);
			for (uint32_t r = 0; r < c->n; r++) {
				for (uint32_t k = 0; k < c->n; k++) {
					int is = r != k;

					is &= c->op != CT_OP_Gather || k == (uint32_t)c->root;
					is &= c->op != CT_OP_Scatter || r == (uint32_t)c->root;
					assert_int_equal(laid.count[r][k], is ? c->times : 0);
					assert_int_equal(
						laid.bytes[r][k],
						is ? c->times * c->bytes[c->op == CT_OP_Scatter ? k
												: r]
						   : 0);
				}
			}
		}
}

static void what_an_operation_says_itself_is_exact_in_every_model(void **state)
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
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			assert_int_equal(laid.exact, 0);
			for (uint32_t r = 0; r < c->n; r++) {
				uint64_t others = c->bytes[r] * c->times * (c->n - 1) / c->n;

				assert_int_equal(row(&laid, r), others);
				for (uint32_t k = 0; k < c->n; k++)
					assert_true(k == r ||
						    laid.bytes[r][k] - others / (c->n - 1) <= 1);
			}
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

	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			assert_int_equal(laid.exact, 0);
			assert_int_equal(total(&laid), bytes * (c->n - 1));
			for (uint32_t r = 0; r < c->n; r++) {
				assert_int_equal(from ? column(&laid, r) : row(&laid, r),
						 r == root ? 0 : bytes);
				if (models[m] == CT_TRAFFIC_UNIFORM)
					assert_int_equal(from ? laid.bytes[root][r]
							      : laid.bytes[r][root],
							 r == root ? 0 : bytes);
				else
					assert_int_equal(row(&laid, r),
							 laid.bytes[r][(r + 1) % c->n]);
			}
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
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(c, models[m]);

			for (uint32_t r = 0; r < c->n; r++) {
				assert_int_equal(row(&laid, r),
						 r + 1 < c->n ? c->bytes[0] * c->times : 0);
				assert_int_equal(column(&laid, r), r ? c->bytes[0] * c->times : 0);
			}
		}
}

static void a_prefix_goes_from_the_first_to_the_last(void **state)
{
	(void)state;
	with_random_calls(is_a_chain, CT_OP_Scan, 0);
	with_random_calls(is_a_chain, CT_OP_Exscan, 0);
}

/* ---- the trees ---- */

static uint32_t find(uint32_t *leader, uint32_t r)
{
	return leader[r] == r ? r : (leader[r] = find(leader, leader[r]));
}

/* The pairs of `m` that have bytes are the edges of one tree over all members, both ways. Returns the largest degree. */
static uint32_t assert_spans(const struct matrix *m)
{
	uint32_t leader[MOST], edges = 0, most = 0;

	for (uint32_t r = 0; r < m->n; r++)
		leader[r] = r;
	for (uint32_t r = 0; r < m->n; r++) {
		uint32_t degree = 0;

		for (uint32_t k = 0; k < m->n; k++) {
			assert_int_equal(m->bytes[r][k], m->bytes[k][r]);
			if (!m->bytes[r][k])
				continue;
			degree++;
			if (k < r)
				continue;
			edges++;
			/* no circle */
			assert_int_not_equal(find(leader, r), find(leader, k));
			leader[find(leader, r)] = find(leader, k);
		}
		most = degree > most ? degree : most;
	}
	assert_int_equal(edges, m->n - 1);
	return most;
}

static uint32_t degree_of(const struct matrix *m, uint32_t r)
{
	uint32_t degree = 0;

	for (uint32_t k = 0; k < m->n; k++)
		degree += m->bytes[r][k] != 0;
	return degree;
}

/* Of one byte the first tree has all, of two each has one. */
static void both_trees_span_all_members_and_whoever_is_inside_of_one_is_a_leaf_of_the_other(
	void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MOST; n++) {
		struct call call = { .op = CT_OP_AllReduce, .n = n, .times = 1 };
		struct matrix first, second;
		uint32_t inside_of_both = 0;

		for (uint32_t m = 0; m < n; m++)
			call.bytes[m] = 1;
		first = lay(&call, CT_TRAFFIC_TREE);
		for (uint32_t m = 0; m < n; m++)
			call.bytes[m] = 2;
		second = lay(&call, CT_TRAFFIC_TREE);
		for (uint32_t k = 0; k < n * n; k++)
			second.bytes[k / n][k % n] -= first.bytes[k / n][k % n];
		assert_true(assert_spans(&first) <= 3);
		assert_true(assert_spans(&second) <= 3);
		for (uint32_t m = 0; m < n; m++)
			inside_of_both += degree_of(&first, m) > 1 && degree_of(&second, m) > 1;
		/* where n is odd, one of them may be in the middle of both */
		assert_true(inside_of_both <= n % 2);
	}
}

/* ---- sums ---- */

static void members_without_records_send_nothing(void **state)
{
	struct ct_flow flow = { 0 };
	const struct ct_flow *by_member[3] = { NULL, &flow, NULL };
	const struct ct_flow_op op = { .op = CT_OP_AllReduce, .root = -1, .bytes = 300, .times = 1 };
	struct ct_flow_pair pair;

	(void)state;
	assert_int_equal(ct_flow_take(&flow, CT_TRAFFIC_RING, 3, 1, &op, &pair), CT_FLOW_TAKEN);
	for
		EACH_MODEL(m)
		{
			struct matrix laid = { .n = 3 };

			ct_flows_lay(by_member, 3, models[m], put, &laid);
			assert_int_equal(row(&laid, 0) + row(&laid, 2), 0);
			assert_true(row(&laid, 1) > 0);
		}
}

static void sums_stay_at_the_largest_number_that_json_has(void **state)
{
	struct call call = { .op = CT_OP_AllReduce, .n = 3, .times = 1000 };

	(void)state;
	for (uint32_t m = 0; m < 3; m++)
		call.bytes[m] = UINT64_MAX / 2;
	for
		EACH_MODEL(m)
		{
			struct matrix laid = lay(&call, models[m]);

			for (uint32_t k = 0; k < 9; k++)
				assert_true(laid.bytes[k / 3][k % 3] <= INT64_MAX);
			assert_true(row(&laid, 1) > INT64_MAX / 4);
		}
}

static void what_nobody_knows_is_not_laid(void **state)
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

		for
			EACH_MODEL(m)
		assert_int_equal(ct_flow_take(&flow, models[m], 4, 0, &op, &pair), CT_FLOW_UNKNOWN);
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

		assert_int_equal(ct_flow_take(&flow, CT_TRAFFIC_RING, 4, 1, &op, &pair),
				 CT_FLOW_IS_PAIR);
		assert_true(pair.from == known[i].from && pair.to == known[i].to && pair.exact);
		op.root = 1; /* itself */
		assert_int_equal(ct_flow_take(&flow, CT_TRAFFIC_RING, 4, 1, &op, &pair),
				 CT_FLOW_TAKEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_all_reduce_sends_as_much_in_every_model, tell_seed),
		cmocka_unit_test_teardown(shares_are_sent_on_to_all_but_their_owner, tell_seed),
		cmocka_unit_test_teardown(shares_that_differ_are_sent_to_the_byte, tell_seed),
		cmocka_unit_test_teardown(what_an_operation_says_itself_is_exact_in_every_model,
					  tell_seed),
		cmocka_unit_test_teardown(an_all_to_all_of_which_only_the_sum_is_known_is_a_model,
					  tell_seed),
		cmocka_unit_test_teardown(a_broadcast_comes_from_its_root_and_a_reduce_goes_there,
					  tell_seed),
		cmocka_unit_test_teardown(a_prefix_goes_from_the_first_to_the_last, tell_seed),
		cmocka_unit_test(
			both_trees_span_all_members_and_whoever_is_inside_of_one_is_a_leaf_of_the_other),
		cmocka_unit_test(members_without_records_send_nothing),
		cmocka_unit_test(sums_stay_at_the_largest_number_that_json_has),
		cmocka_unit_test(what_nobody_knows_is_not_laid),
		cmocka_unit_test(messages_go_to_their_peer_and_gets_come_from_it),
	};

	return cmocka_run_group_tests_name("traffic_models", tests, NULL, NULL);
}
