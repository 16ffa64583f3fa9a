/* SPDX-License-Identifier: Apache-2.0 */
/* unit.workload — op streams: what one rank does must be what the others expect of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/workload/workload.h"
#include "trace/ops.h"

enum {
	MAX_RANKS = 64,
	MAX_COMMS = 300,
	MAX_STREAMS = MAX_COMMS + CT_STREAM_COMMS,
	MAX_EVENTS = 600
};

static char why[512];

static const struct ct_workload_config shapes[] = {
	{ .name = "ddp", .ranks = 1 },
	{ .name = "ddp", .ranks = 7 },
	{ .name = "megatron", .ranks = 1 },
	{ .name = "megatron", .ranks = 8 },
	{ .name = "megatron", .ranks = 24, .tp = 2, .pp = 4, .dp = 3 },
	{ .name = "megatron", .ranks = 6, .pp = 6 },
	{ .name = "megatron", .ranks = 64, .tp = 8, .pp = 4 },
	{ .name = "fsdp", .ranks = 1 },
	{ .name = "fsdp", .ranks = 8 },
	{ .name = "moe", .ranks = 1 },
	{ .name = "moe", .ranks = 8 },
	{ .name = "moe", .ranks = 12, .dp = 3 },
	{ .name = "moe", .ranks = 64 },
	{ .name = "decode", .ranks = 1 },
	{ .name = "decode", .ranks = 8 },
	{ .name = "decode", .ranks = 16, .tp = 4 },
};

static struct ct_workload *make(struct ct_workload_config config, uint64_t steps,
				const char *fault_text)
{
	struct ct_fault fault;
	struct ct_workload *w;

	why[0] = '\0';
	config.steps = steps;
	if (fault_text) {
		assert_int_equal(ct_fault_parse(fault_text, &fault, why, sizeof(why)), 0);
		config.faults = &fault;
		config.n_faults = 1;
	}
	w = ct_workload_make(&config, why, sizeof(why));
	if (!w)
		fail_msg("%s: %s", config.name, why);
	return w;
}

static void each_action(const struct ct_workload *w, int rank,
			void (*look)(void *arg, const struct ct_action *action), void *arg)
{
	struct ct_workload_rank *it = ct_workload_open(w, rank);
	const struct ct_action *action;
	int more;

	assert_non_null(it);
	while ((more = ct_workload_next(it, &action)) > 0)
		look(arg, action);
	assert_int_equal(more, 0);
	ct_workload_close(it);
}

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0x100000001b3;
	return h ^ (h >> 29);
}

static uint64_t mix_op(uint64_t h, const struct ct_workload_op *op)
{
	h = mix(h, op->op);
	h = mix(h, op->dtype);
	h = mix(h, op->redop);
	h = mix(h, op->count);
	h = mix(h, (uint64_t)op->peer);
	return mix(h, op->key);
}

/* What all ranks did, as hashes over the order of ops. */
static struct {
	const struct ct_workload *w;
	int rank;
	uint64_t collectives[MAX_COMMS][MAX_RANKS];
	uint64_t n_collectives[MAX_COMMS][MAX_RANKS];
	uint64_t sent[MAX_RANKS][MAX_RANKS], received[MAX_RANKS][MAX_RANKS];
	uint64_t splits[MAX_RANKS];
	uint64_t transfers;
} all;

static void note(void *arg, const struct ct_action *action)
{
	struct ct_workload_op op = action->op;

	(void)arg;
	if (action->kind == CT_ACTION_SPLIT)
		all.splits[all.rank]++;
	if (action->kind != CT_ACTION_OP)
		return;
	assert_true(ct_workload_peer(all.w, op.comm, all.rank) >= 0);
	assert_true(op.count > 0);
	if (op.op == CT_OP_Send || op.op == CT_OP_Recv) {
		const int peer = ct_workload_member(all.w, op.comm, op.peer);
		uint64_t *way = op.op == CT_OP_Send ? &all.sent[all.rank][peer]
						    : &all.received[peer][all.rank];

		assert_true(op.peer < ct_workload_comm(all.w, op.comm)->n);
		op.op = 0;
		op.peer = op.comm;
		*way = mix_op(*way, &op);
		all.transfers++;
	} else {
		all.collectives[op.comm][all.rank] = mix_op(all.collectives[op.comm][all.rank],
							    &op);
		all.n_collectives[op.comm][all.rank]++;
	}
}

static void note_all(const struct ct_workload *w)
{
	memset(&all, 0, sizeof(all));
	all.w = w;
	assert_true(ct_workload_n_comms(w) <= MAX_COMMS);
	for (all.rank = 0; all.rank < ct_workload_config(w)->ranks; all.rank++)
		each_action(w, all.rank, note, NULL);
}

static void members_of_a_communicator_issue_the_same_collectives(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct ct_workload *w = make(shapes[i], 3, NULL);

		note_all(w);
		for (int comm = 0; comm < ct_workload_n_comms(w); comm++) {
			const int first = ct_workload_member(w, comm, 0);

			for (int p = 0; p < ct_workload_comm(w, comm)->n; p++) {
				const int rank = ct_workload_member(w, comm, p);

				assert_int_equal(ct_workload_peer(w, comm, rank), p);
				assert_int_equal(all.n_collectives[comm][rank],
						 all.n_collectives[comm][first]);
				assert_int_equal(all.collectives[comm][rank],
						 all.collectives[comm][first]);
			}
		}
		for (int rank = 0; rank < shapes[i].ranks; rank++)
			assert_int_equal(all.splits[rank], all.splits[0]);
		assert_true(all.n_collectives[0][0] + all.n_collectives[1][0] > 0);
		ct_workload_free(w);
	}
}

static void every_send_has_its_receive_in_the_same_order(void **state)
{
	uint64_t transfers = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct ct_workload *w = make(shapes[i], 5, NULL);

		note_all(w);
		for (int a = 0; a < shapes[i].ranks; a++) {
			for (int b = 0; b < shapes[i].ranks; b++)
				assert_int_equal(all.sent[a][b], all.received[a][b]);
		}
		transfers += all.transfers;
		ct_workload_free(w);
	}
	assert_true(transfers > 1000);
}

/* What of each stream's queue is known to be over where a stream or an event stands. */
struct known {
	uint32_t of[MAX_STREAMS];
};

static struct {
	struct known stream[MAX_STREAMS], event[MAX_EVENTS];
	uint8_t recorded[MAX_EVENTS];
	struct {
		int stream;
		uint32_t number;
	} op[MAX_EVENTS]; /* by slot */
	int streams, depth;
	uint64_t steps;
} order;

static void join(struct known *to, const struct known *from)
{
	for (int i = 0; i < order.streams; i++)
		to->of[i] = to->of[i] > from->of[i] ? to->of[i] : from->of[i];
}

static void follow(void *arg, const struct ct_action *action)
{
	struct known *here = &order.stream[action->stream];
	int at = action->event;

	(void)arg;
	assert_true(action->stream < order.streams);
	switch (action->kind) {
	case CT_ACTION_RECORD:
		assert_true(at < MAX_EVENTS);
		order.event[at] = *here;
		order.recorded[at] = 1;
		break;
	case CT_ACTION_WAIT:
		assert_true(at < MAX_EVENTS && order.recorded[at]);
		join(here, &order.event[at]);
		break;
	case CT_ACTION_OP:
		here->of[action->stream]++;
		order.op[action->op.slot].stream = action->stream;
		order.op[action->op.slot].number = here->of[action->stream];
		break;
	case CT_ACTION_CONSUME:
		/* What is read has come. */
		at = (int)action->op.slot;
		assert_true(here->of[order.op[at].stream] >= order.op[at].number);
		here->of[action->stream]++;
		break;
	case CT_ACTION_PRODUCE:
		assert_true(action->op.slot < MAX_EVENTS);
		here->of[action->stream]++;
		break;
	case CT_ACTION_GROUP_BEGIN:
		assert_int_equal(order.depth++, 0);
		break;
	case CT_ACTION_GROUP_END:
		assert_int_equal(--order.depth, 0);
		break;
	case CT_ACTION_STEP_END:
		/* The computing stream knows that all is over: buffers may be used again. */
		assert_int_equal(order.depth, 0);
		for (int i = 0; i < order.streams; i++) {
			if (i != CT_STREAM_COPY)
				assert_int_equal(order.stream[CT_STREAM_COMPUTE].of[i],
						 order.stream[i].of[i]);
		}
		order.steps++;
		break;
	default:
		break;
	}
}

static void data_is_read_when_it_has_come_and_a_step_ends_when_all_has(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct ct_workload *w = make(shapes[i], 3, NULL);

		for (int rank = 0; rank < shapes[i].ranks; rank += 3) {
			memset(&order, 0, sizeof(order));
			order.streams = CT_STREAM_COMMS + ct_workload_n_comms(w);
			each_action(w, rank, follow, NULL);
			assert_int_equal(order.steps, 3);
		}
		ct_workload_free(w);
	}
}

struct keys {
	uint64_t at[4096];
	size_t n;
};

static void collect_key(void *arg, const struct ct_action *action)
{
	struct keys *keys = arg;

	if (action->kind != CT_ACTION_OP)
		return;
	assert_true(keys->n < sizeof(keys->at) / sizeof(keys->at[0]));
	/* What a rank sends to itself is one message. */
	keys->at[keys->n++] = action->op.key ^ (action->op.op == CT_OP_Recv);
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void no_two_ops_of_a_rank_have_the_same_key(void **state)
{
	static struct keys keys;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct ct_workload *w = make(shapes[i], 5, NULL);

		keys.n = 0;
		each_action(w, shapes[i].ranks / 2, collect_key, &keys);
		qsort(keys.at, keys.n, sizeof(keys.at[0]), compare_keys);
		for (size_t k = 1; k < keys.n; k++)
			assert_int_not_equal(keys.at[k - 1], keys.at[k]);
		ct_workload_free(w);
	}
}

static void hash_action(void *arg, const struct ct_action *action)
{
	uint64_t *h = arg;

	*h = mix(mix(mix(*h, action->kind), (uint64_t)action->stream), action->ns);
	*h = mix(mix(*h, (uint64_t)action->event), (uint64_t)action->comm);
	*h = mix(mix_op(*h, &action->op), action->op.slot);
}

static uint64_t hash_of(const char *name, uint64_t seed)
{
	struct ct_workload *w = make(
		(struct ct_workload_config){ .name = name, .ranks = 8, .seed = seed }, 4, NULL);
	uint64_t h = 0;

	for (int rank = 0; rank < 8; rank++)
		each_action(w, rank, hash_action, &h);
	ct_workload_free(w);
	return h;
}

static void a_seed_says_all(void **state)
{
	const char *name;

	(void)state;
	for (unsigned i = 0; ct_workload_help(i, &name); i++) {
		assert_int_equal(hash_of(name, 1), hash_of(name, 1));
		assert_int_not_equal(hash_of(name, 1), hash_of(name, 2));
	}
}

struct list {
	uint64_t counts[64];
	unsigned ops[64], n;
	uint64_t compute_ns;
};

static void collect(void *arg, const struct ct_action *action)
{
	struct list *list = arg;

	if (action->kind == CT_ACTION_COMPUTE)
		list->compute_ns += action->ns;
	if (action->kind != CT_ACTION_OP)
		return;
	list->ops[list->n] = action->op.op;
	list->counts[list->n++] = action->op.count;
}

static void ddp_unscaled_has_the_sizes_of_real_traces(void **state)
{
	static const uint64_t real[] = { 53120, 53, 2049000, 7875584, 6563840, 6637568, 2431040 };
	struct ct_workload *w = make(
		(struct ct_workload_config){ .name = "ddp", .ranks = 2, .scale = 1 }, 1, NULL);
	struct list list = { 0 };

	(void)state;
	each_action(w, 0, collect, &list);
	assert_int_equal(list.n, 7);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(list.counts[i], real[i]);
		assert_int_equal(list.ops[i], i < 2 ? CT_OP_Broadcast : CT_OP_AllReduce);
	}
	/* Computing is the step, give or take the noise. */
	assert_true(list.compute_ns > 24 * 1000 * 1000 && list.compute_ns < 26 * 1000 * 1000);
	ct_workload_free(w);
}

static void moe_sends_uneven_counts_and_sometimes_nothing(void **state)
{
	const struct ct_workload_config config = { .name = "moe", .ranks = 8 };
	struct ct_workload *w = make(config, 30, NULL);
	struct ct_workload_rank *it = ct_workload_open(w, 3);
	const struct ct_action *action;
	unsigned empty = 0, groups = 0, in_group = 0, different = 0;
	uint64_t last = 0;

	(void)state;
	while (ct_workload_next(it, &action) > 0) {
		if (action->kind == CT_ACTION_GROUP_BEGIN)
			in_group = 0;
		if (action->kind == CT_ACTION_OP && action->op.op == CT_OP_Send) {
			in_group++;
			different += action->op.count != last;
			last = action->op.count;
		}
		if (action->kind == CT_ACTION_GROUP_END) {
			empty += in_group == 0;
			groups++;
		}
	}
	assert_int_equal(groups, 30 * 12);
	assert_true(empty > 0 && empty < groups / 4);
	assert_true(different > 8 * groups / 2);
	ct_workload_close(it);
	ct_workload_free(w);
}

static void impossible_shapes_are_refused_in_words(void **state)
{
	static const struct {
		struct ct_workload_config config;
		const char *because;
	} bad[] = {
		{ { .name = "dpd", .ranks = 8, .steps = 1 },
		  "no workload 'dpd'; there are ddp, megatron, fsdp, moe, decode" },
		{ { .name = "ddp", .ranks = 8, .steps = 1, .tp = 2 },
		  "the ddp workload has no tp to choose" },
		{ { .name = "megatron", .ranks = 8, .steps = 1, .tp = 3 }, "is not 8 ranks" },
		{ { .name = "megatron", .ranks = 8, .steps = 1, .tp = 2, .pp = 2, .dp = 4 },
		  "2 x 2 x 4 (tensor x pipeline x data) is not 8 ranks" },
		{ { .name = "moe", .ranks = 8, .steps = 1, .dp = 3 }, "is not 8 ranks" },
		{ { .name = "ddp", .ranks = 8, .nodes = 3, .steps = 1 },
		  "8 ranks cannot be spread over 3 nodes evenly" },
		{ { .name = "ddp", .ranks = 8 }, "no steps" },
		{ { .name = "ddp", .ranks = 0, .steps = 1 }, "0 ranks" },
		{ { .name = "ddp", .ranks = 2, .steps = 1, .tp = -1 }, "tp is less than 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(ct_workload_make(&bad[i].config, why, sizeof(why)));
		if (!strstr(why, bad[i].because))
			fail_msg("says \"%s\", not \"%s\"", why, bad[i].because);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_a_communicator_issue_the_same_collectives),
		cmocka_unit_test(every_send_has_its_receive_in_the_same_order),
		cmocka_unit_test(data_is_read_when_it_has_come_and_a_step_ends_when_all_has),
		cmocka_unit_test(no_two_ops_of_a_rank_have_the_same_key),
		cmocka_unit_test(a_seed_says_all),
		cmocka_unit_test(ddp_unscaled_has_the_sizes_of_real_traces),
		cmocka_unit_test(moe_sends_uneven_counts_and_sometimes_nothing),
		cmocka_unit_test(impossible_shapes_are_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
