/* SPDX-License-Identifier: Apache-2.0 */
/* unit.weave — faults in op streams: each changes what it says, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/workload/workload.h"
#include "trace/ops.h"

enum { MAX_ACTIONS = 1 << 14, STEPS = 6 };

static char why[512];

/* The whole life of a rank. */
struct life {
	struct ct_action *at;
	size_t n;
};

static struct ct_workload *make(const char *workload, const char *fault_text)
{
	struct ct_workload_config config = {
		.name = workload, .ranks = 8, .nodes = 2, .steps = STEPS
	};
	struct ct_fault fault;

	why[0] = '\0';
	if (fault_text) {
		if (ct_fault_parse(fault_text, &fault, why, sizeof(why)))
			fail_msg("%s", why);
		config.faults = &fault;
		config.n_faults = 1;
	}
	return ct_workload_make(&config, why, sizeof(why));
}

/* Member by member into zeroed memory: what lies between the members may be anything, and actions
 * are compared whole. Whose fault it was is left out: its owner goes. */
static void keep(struct ct_action *to, const struct ct_action *from)
{
	const struct ct_workload_op *op = &from->op;

	memset(to, 0, sizeof(*to));
	to->kind = from->kind;
	to->stream = from->stream;
	to->event = from->event;
	to->comm = from->comm;
	to->parent = from->parent;
	to->colour = from->colour;
	to->order = from->order;
	to->ns = from->ns;
	to->step = from->step;
	to->factor = from->factor;
	to->op.op = op->op;
	to->op.dtype = op->dtype;
	to->op.redop = op->redop;
	to->op.in_place = op->in_place;
	to->op.comm = op->comm;
	to->op.peer = op->peer;
	to->op.count = op->count;
	to->op.index = op->index;
	to->op.key = op->key;
	to->op.slot = op->slot;
	to->op.bent = op->bent;
}

static struct life live(const char *workload, const char *fault, int rank)
{
	struct ct_workload *w = make(workload, fault);
	struct life life = { .at = calloc(MAX_ACTIONS, sizeof(*life.at)) };
	struct ct_workload_rank *it;
	const struct ct_action *action;

	if (!w)
		fail_msg("%s", why);
	it = ct_workload_open(w, rank);
	while (ct_workload_next(it, &action) > 0) {
		assert_true(life.n < MAX_ACTIONS);
		keep(&life.at[life.n++], action);
	}
	ct_workload_close(it);
	ct_workload_free(w);
	return life;
}

static size_t find(const struct life *life, enum ct_action_kind kind, size_t from)
{
	while (from < life->n && life->at[from].kind != kind)
		from++;
	return from;
}

static size_t find_op(const struct life *life, uint64_t index)
{
	for (size_t i = 0; i < life->n; i++) {
		if (life->at[i].kind == CT_ACTION_OP && life->at[i].op.index == index)
			return i;
	}
	return life->n;
}

static size_t count(const struct life *life, enum ct_action_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < life->n; i++)
		n += life->at[i].kind == kind;
	return n;
}

static int is_same(const struct life *a, const struct life *b)
{
	return a->n == b->n && memcmp(a->at, b->at, a->n * sizeof(*a->at)) == 0;
}

/* Whether b is a with the action at `index` put in. */
static int is_with(const struct life *a, const struct life *b, size_t index)
{
	return b->n == a->n + 1 && memcmp(a->at, b->at, index * sizeof(*a->at)) == 0 &&
	       memcmp(a->at + index, b->at + index + 1, (a->n - index) * sizeof(*a->at)) == 0;
}

static void other_ranks_see_nothing_of_a_ranks_fault(void **state)
{
	static const char *const faults[] = {
		"slow-rank:rank=2,pct=5",    "late-host:rank=2,ms=40",
		"missing:rank=2,op=20",	     "skip:rank=2,op=20",
		"extra:rank=2,op=20",	     "mismatch:rank=2,op=20,field=count",
		"kill:rank=2,op=20",	     "exit:rank=2,op=20",
		"block-stream:rank=2,op=20", "async-error:rank=2,op=20",
		"skip-init:rank=2",	     "host-stall:rank=2,call=finalize",
		"gpu-pause:rank=2,ms=3",     "abort-completes:rank=2,op=20",
		"starve-sm:rank=2,ms=3",     "unbatched-p2p:ranks=1+2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct life plain = live("megatron", NULL, 3);
		struct life other = live("megatron", faults[i], 3);
		struct life own = live("megatron", faults[i], 2);
		struct life own_plain = live("megatron", NULL, 2);

		assert_true(is_same(&plain, &other));
		assert_false(is_same(&own_plain, &own));
		free(plain.at);
		free(other.at);
		free(own.at);
		free(own_plain.at);
	}
}

/* Faults that put one action before the op: its kind stands right there. */
static void one_action_is_before_the_op(void **state)
{
	static const struct {
		const char *fault;
		enum ct_action_kind kind;
	} all[] = {
		{ "missing:rank=2,op=20", CT_ACTION_STOP },
		{ "kill:rank=2,op=20", CT_ACTION_KILL },
		{ "exit:rank=2,op=20", CT_ACTION_EXIT },
		{ "block-stream:rank=2,op=20", CT_ACTION_BLOCK },
		{ "async-error:rank=2,op=20", CT_ACTION_FAIL },
		{ "abort-completes:rank=2,op=20", CT_ACTION_HANG },
		{ "transport-stall:rank=2,op=20", CT_ACTION_HANG },
		{ "never-ends:rank=2,op=20", CT_ACTION_LINGER },
		{ "stray-split:rank=2,op=20", CT_ACTION_SPLIT },
		{ "host-stall:rank=2,call=groupend,op=20", CT_ACTION_STALL_CALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct life plain = live("ddp", NULL, 2), woven = live("ddp", all[i].fault, 2);
		size_t at = find_op(&plain, 20);

		assert_true(is_with(&plain, &woven, at));
		assert_int_equal(woven.at[at].kind, all[i].kind);
		if (all[i].kind == CT_ACTION_BLOCK)
			assert_int_equal(woven.at[at].stream, plain.at[at].stream);
		if (all[i].kind == CT_ACTION_FAIL)
			assert_int_equal(woven.at[at].comm, plain.at[at].comm);
		free(plain.at);
		free(woven.at);
	}
}

static void a_rank_stops_before_the_group_of_its_op(void **state)
{
	struct life plain = live("moe", NULL, 2), woven;
	char fault[64];
	size_t group = find(&plain, CT_ACTION_GROUP_BEGIN, 0), op;

	(void)state;
	while (plain.at[group + 1].kind != CT_ACTION_OP)
		group = find(&plain, CT_ACTION_GROUP_BEGIN, group + 1);
	op = group + 3;
	assert_int_equal(plain.at[op].kind, CT_ACTION_OP);
	snprintf(fault, sizeof(fault), "missing:rank=2,op=%d", (int)plain.at[op].op.index);
	woven = live("moe", fault, 2);
	assert_true(is_with(&plain, &woven, group));
	free(woven.at);

	/* A killed one gets as far as the op itself. */
	snprintf(fault, sizeof(fault), "kill:rank=2,op=%d", (int)plain.at[op].op.index);
	woven = live("moe", fault, 2);
	assert_true(is_with(&plain, &woven, op));
	free(woven.at);
	free(plain.at);
}

static void skip_and_extra_change_the_number_of_ops_by_one(void **state)
{
	struct life plain = live("ddp", NULL, 2), skipped = live("ddp", "skip:rank=2,op=20", 2),
		    twice = live("ddp", "extra:rank=2,op=20", 2);
	size_t at = find_op(&plain, 20);

	(void)state;
	assert_true(is_with(&skipped, &plain, at));
	assert_true(is_with(&plain, &twice, at));
	assert_memory_equal(&twice.at[at], &twice.at[at + 1], sizeof(twice.at[at]));
	free(plain.at);
	free(skipped.at);
	free(twice.at);
}

static void skip_send_leaves_out_the_first_send_to_that_peer(void **state)
{
	/* Rank 0 is the first stage of ranks 0 and 4. */
	struct life plain = live("megatron", NULL, 0),
		    woven = live("megatron", "skip-send:rank=0,peer=4,op=9", 0);
	size_t at = 0;

	(void)state;
	while (memcmp(&woven.at[at], &plain.at[at], sizeof(*plain.at)) == 0)
		at++;
	assert_true(is_with(&woven, &plain, at));
	assert_int_equal(plain.at[at].op.op, CT_OP_Send);
	assert_true(plain.at[at].op.index >= 9);
	free(plain.at);
	free(woven.at);
	assert_null(make("megatron", "skip-send:rank=0,peer=1,op=9"));
	assert_non_null(strstr(why, "fault skip-send would never happen"));
}

static void a_mismatch_is_in_one_field_only(void **state)
{
	/* Ops 14 and 16 of ddp: a broadcast and an all-reduce of the third step. */
	struct life plain = live("ddp", NULL, 2);
	const struct ct_workload_op *all_reduce = &plain.at[find_op(&plain, 16)].op;
	const struct ct_workload_op *broadcast = &plain.at[find_op(&plain, 14)].op;
	static const char *const faults[] = {
		"mismatch:rank=2,op=16,field=op",    "mismatch:rank=2,op=16,field=count",
		"mismatch:rank=2,op=16,field=dtype", "mismatch:rank=2,op=16,field=redop",
		"mismatch:rank=2,op=14,field=root",
	};

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct life woven = live("ddp", faults[i], 2);
		const struct ct_workload_op *was = i == 4 ? broadcast : all_reduce;
		const struct ct_workload_op *is = &woven.at[find_op(&woven, was->index)].op;

		assert_int_equal(woven.n, plain.n);
		assert_int_equal(is->bent, 1);
		assert_int_equal(is->op != was->op, i == 0);
		assert_int_equal(is->count != was->count, i == 1);
		assert_int_equal(is->dtype != was->dtype, i == 2);
		assert_int_equal(is->redop != was->redop, i == 0 || i == 3);
		assert_int_equal(is->peer != was->peer, i == 0 || i == 4);
		free(woven.at);
	}
	assert_null(make("ddp", "mismatch:rank=2,op=16,field=root"));
	assert_non_null(strstr(why, "fault mismatch would never happen"));
	free(plain.at);
}

static uint64_t compute_of(const struct life *life, uint64_t step)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < life->n; i++) {
		if (life->at[i].kind == CT_ACTION_COMPUTE && life->at[i].step == step)
			ns += life->at[i].ns;
	}
	return ns;
}

static void a_slow_rank_computes_longer_in_its_steps(void **state)
{
	struct life plain = live("fsdp", NULL, 5),
		    part = live("fsdp", "slow-rank:rank=5,pct=10,from=2,to=3", 5),
		    fixed = live("fsdp", "slow-rank:rank=5,ms=20,from=2,to=3", 5),
		    host = live("fsdp", "slow-host:host=1,ms=20,from=2,to=3", 5),
		    other_host = live("fsdp", "slow-host:host=0,ms=20,from=2,to=3", 5);

	(void)state;
	for (uint64_t step = 0; step < STEPS; step++) {
		const uint64_t ns = compute_of(&plain, step);
		const int slow = step == 2 || step == 3;

		assert_in_range(compute_of(&part, step), ns + (slow ? ns / 10 - 100 : 0),
				ns + (slow ? ns / 10 : 0));
		assert_int_equal(compute_of(&fixed, step), ns + (slow ? 20000000u : 0));
		assert_int_equal(compute_of(&host, step), ns + (slow ? 20000000u : 0));
	}
	assert_true(is_same(&plain, &other_host));
	free(plain.at);
	free(part.at);
	free(fixed.at);
	free(host.at);
	free(other_host.at);
}

/* The steps in which the fault's own action stands, as bits. */
static unsigned steps_of(const char *fault, int rank, enum ct_action_kind kind)
{
	struct life life = live("ddp", fault, rank);
	unsigned steps = 0;

	for (size_t i = 1; i < life.n; i++) {
		if (life.at[i].kind == kind && life.at[i - 1].kind == CT_ACTION_STEP_BEGIN)
			steps |= 1u << life.at[i].step;
	}
	free(life.at);
	return steps;
}

static void steps_are_those_that_were_asked_for(void **state)
{
	unsigned rotating = 0;

	(void)state;
	assert_int_equal(steps_of("late-host:rank=1,ms=4", 1, CT_ACTION_HOST), 077);
	assert_int_equal(steps_of("late-host:rank=1,ms=4,from=4", 1, CT_ACTION_HOST), 060);
	assert_int_equal(steps_of("pause:rank=1,every=3,ms=4", 1, CT_ACTION_HOST), 044);
	assert_int_equal(steps_of("pause:rank=1,every=2,ms=4,from=1,to=3", 1, CT_ACTION_HOST), 04);
	assert_int_equal(steps_of("starve-sm:rank=1,ms=4,to=1", 1, CT_ACTION_STARVE), 03);
	assert_int_equal(steps_of("gpu-pause:rank=1,ms=4", 1, CT_ACTION_PAUSE_GPU), 02);
	assert_int_equal(steps_of("gpu-pause:rank=1,ms=4,from=3", 1, CT_ACTION_PAUSE_GPU), 010);
	assert_int_equal(steps_of("driver-lock:rank=1,s=4", 1, CT_ACTION_LOCK), 02);
	assert_int_equal(steps_of("driver-lock:rank=1,s=4", 2, CT_ACTION_LOCK), 0);
	assert_int_equal(steps_of("slow-write:rank=1,s=4,from=3", 1, CT_ACTION_HANG_DISK), 010);
	/* Every rank says it, and takes it back. */
	for (int rank = 0; rank < 8; rank++) {
		unsigned turns;

		assert_int_equal(steps_of("slow-link:src=0,dst=1,factor=0.5,from=2,to=3", rank,
					  CT_ACTION_SLOW_LINK),
				 024);
		turns = steps_of("rotating:every=2,ms=4", rank, CT_ACTION_HOST);
		assert_int_equal(rotating & turns, 0);
		rotating |= turns;
	}
	assert_int_equal(rotating, 052);
}

static void order_inversion_turns_two_ops_round(void **state)
{
	struct life a = live("ddp", "order-inversion:ranks=6+3", 6),
		    b = live("ddp", "order-inversion:ranks=6+3", 3),
		    c = live("ddp", "order-inversion:ranks=6+3", 0), plain = live("ddp", NULL, 0);
	int comms[2][2], n[2] = { 0, 0 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		const struct life *life = k == 0 ? &a : &b;

		for (size_t i = 0; i < life->n; i++) {
			if (life->at[i].kind != CT_ACTION_OP || life->at[i].op.index != UINT64_MAX)
				continue;
			assert_int_equal(life->at[i].stream, CT_STREAM_COMPUTE);
			assert_in_range(n[k], 0, 1);
			comms[k][n[k]++] = life->at[i].comm;
		}
		assert_int_equal(n[k], 2);
		assert_int_equal(count(life, CT_ACTION_FINALIZE), 3);
	}
	assert_int_equal(comms[0][0], comms[1][1]);
	assert_int_equal(comms[0][1], comms[1][0]);
	assert_int_not_equal(comms[0][0], comms[0][1]);
	/* Who is not concerned takes part in the splits all the same. */
	assert_int_equal(count(&c, CT_ACTION_SPLIT), count(&plain, CT_ACTION_SPLIT) + 2);
	assert_int_equal(count(&c, CT_ACTION_OP), count(&plain, CT_ACTION_OP));
	free(a.at);
	free(b.at);
	free(c.at);
	free(plain.at);
}

static void host_inversion_makes_two_communicators_in_opposite_order(void **state)
{
	struct life a = live("ddp", "host-inversion:ranks=6+3", 6),
		    b = live("ddp", "host-inversion:ranks=6+3", 3);
	size_t at = find(&a, CT_ACTION_INIT, 1), bt = find(&b, CT_ACTION_INIT, 1);

	(void)state;
	assert_int_equal(a.at[at + 1].kind, CT_ACTION_INIT);
	assert_int_equal(a.at[at].comm, b.at[bt + 1].comm);
	assert_int_equal(a.at[at + 1].comm, b.at[bt].comm);
	assert_int_not_equal(a.at[at].comm, b.at[bt].comm);
	free(a.at);
	free(b.at);
}

static void a_fault_that_would_never_happen_is_refused(void **state)
{
	static const char *const never[] = {
		"missing:rank=2,op=42",		"kill:rank=2,op=999999",
		"pause:rank=1,every=7,ms=4",	"skip-send:rank=0,peer=1,op=0",
		"host-stall:rank=2,call=split",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		assert_null(make("ddp", never[i]));
		if (!strstr(why, "would never happen in this workload"))
			fail_msg("%s: says \"%s\"", never[i], why);
	}
}

static void run_ahead_is_reported_to_whoever_asks(void **state)
{
	struct ct_workload *w = make("ddp", "run-ahead:ms=24");

	(void)state;
	assert_int_equal(ct_workload_run_ahead_ns(w), 24000000);
	ct_workload_free(w);
	w = make("ddp", NULL);
	assert_int_equal(ct_workload_run_ahead_ns(w), 0);
	ct_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_ranks_see_nothing_of_a_ranks_fault),
		cmocka_unit_test(one_action_is_before_the_op),
		cmocka_unit_test(a_rank_stops_before_the_group_of_its_op),
		cmocka_unit_test(skip_and_extra_change_the_number_of_ops_by_one),
		cmocka_unit_test(skip_send_leaves_out_the_first_send_to_that_peer),
		cmocka_unit_test(a_mismatch_is_in_one_field_only),
		cmocka_unit_test(a_slow_rank_computes_longer_in_its_steps),
		cmocka_unit_test(steps_are_those_that_were_asked_for),
		cmocka_unit_test(order_inversion_turns_two_ops_round),
		cmocka_unit_test(host_inversion_makes_two_communicators_in_opposite_order),
		cmocka_unit_test(a_fault_that_would_never_happen_is_refused),
		cmocka_unit_test(run_ahead_is_reported_to_whoever_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
