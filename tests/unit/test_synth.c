/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that never ran: when each operation begins and ends, held against sums done by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/synth/play_private.h"
#include "trace/ops.h"

#define MS 1000000ull
#define LAUNCHES 4096
#define RANKS 8

/* ---- one play, with all it shows ---- */

struct told {
	struct ct_play_launch launch;
	unsigned op;
	int peer;
};

static struct {
	struct told at[RANKS][LAUNCHES];
	unsigned n[RANKS], open[RANKS];
	enum ct_play_end end[RANKS];
	uint64_t end_ns[RANKS];
	struct ct_play_sums sums;
} played;

static int keep_launch(void *arg, int rank, const struct ct_play_launch *l)
{
	struct told *told = &played.at[rank][played.n[rank]++];

	(void)arg;
	assert_true(played.n[rank] <= LAUNCHES);
	told->launch = *l;
	told->op = l->first->op;
	told->peer = l->first->peer;
	return 0;
}

/* Each of a step's seven operations is waited for, in order: by the computing stream, and by the
 * CPU at the step's end. */
static int check_wait(void *arg, int rank, const struct ct_play_wait *w)
{
	uint32_t *last = (uint32_t *)arg + 2 * rank;

	assert_true(w->end_ns >= w->begin_ns);
	if (w->is_host) {
		assert_int_equal(w->after, last[1]);
		assert_int_equal(w->launch, last[1] + 7);
		last[1] = w->launch;
	} else {
		assert_int_equal(w->waiter, CT_STREAM_COMPUTE);
		assert_int_equal(w->via, CT_STREAM_COMMS);
		assert_int_equal(w->after, last[0]);
		assert_int_equal(w->launch, last[0] + 1);
		last[0] = w->launch;
	}
	return 0;
}

static int count_open(void *arg, int rank, const struct ct_play_launch *l)
{
	(void)arg;
	(void)l;
	played.open[rank]++;
	return 0;
}

static int keep_end(void *arg, int rank, enum ct_play_end end, int code, uint64_t at_ns)
{
	(void)arg;
	(void)code;
	played.end[rank] = end;
	played.end_ns[rank] = at_ns;
	return 0;
}

static const struct ct_play_sink sink = { .launch = keep_launch,
					  .open = count_open,
					  .end = keep_end };

/* A transfer takes 10 us, and a byte 1 ns within a node, 4 ns between nodes; nothing is random. */
static struct ct_play_world plain(void)
{
	return (struct ct_play_world){
		.alpha_ns = 10000, .node_Bps = 1e9, .net_Bps = 25e7, .death_to_kill_s = 1
	};
}

static struct ct_workload *make(struct ct_workload_config config, const char *fault)
{
	static struct ct_fault parsed;
	struct ct_workload *w;
	char why[256];

	if (fault) {
		if (ct_fault_parse(fault, &parsed, why, sizeof(why)))
			fail_msg("%s", why);
		config.faults = &parsed;
		config.n_faults = 1;
	}
	config.scale = 1;
	config.seed = 7;
	w = ct_workload_make(&config, why, sizeof(why));
	if (!w)
		fail_msg("%s", why);
	return w;
}

static void play(struct ct_workload *w, struct ct_play_world world)
{
	memset(&played, 0, sizeof(played));
	assert_int_equal(ct_play(w, &world, &sink, &played.sums), 0);
}

static void done(struct ct_workload *w)
{
	ct_play_sums_free(&played.sums);
	ct_workload_free(w);
}

/* ---- by hand ---- */

/* 65536 elements of 2 bytes from each of two to the other, half of them twice: 131072 ns. */
#define REDUCE_NS (10000 + 131072)

static void a_collective_begins_when_the_last_one_is_there(void **state)
{
	struct ct_workload *w = make(
		(struct ct_workload_config){ .name = "decode", .ranks = 2, .tp = 2, .steps = 2 },
		NULL);

	(void)state;
	play(w, plain());
	/* 32 of a step's layers and the one behind them, two steps */
	assert_int_equal(played.n[0], 66);
	assert_int_equal(played.n[1], 66);
	for (unsigned i = 0; i < 66; i++) {
		const struct ct_play_launch *a = &played.at[0][i].launch,
					    *b = &played.at[1][i].launch;
		uint64_t last = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;

		assert_int_equal(a->end_ns, b->end_ns);
		assert_int_equal(a->wait_ns, last - a->start_ns);
		assert_int_equal(b->wait_ns, last - b->start_ns);
		if (i % 33 < 32)
			assert_int_equal(a->end_ns, last + REDUCE_NS);
		/* 8 x 131072 words, and what is gathered of each is one more than half */
		else
			assert_int_equal(a->end_ns, last + 10000 + 4 * (8 * 131072 / 2 + 1));
	}
	done(w);
}

/* What each rank computes, as the workload says. */
static void a_stream_does_its_work_in_order(void **state)
{
	struct ct_workload *w = make(
		(struct ct_workload_config){ .name = "decode", .ranks = 2, .tp = 2, .steps = 1 },
		NULL);
	uint64_t kernels[40];

	(void)state;
	play(w, plain());
	for (int rank = 0; rank < 2; rank++) {
		struct ct_workload_rank *it = ct_workload_open(w, rank);
		const struct ct_action *action;
		unsigned n = 0;

		while (ct_workload_next(it, &action) > 0) {
			if (action->kind == CT_ACTION_COMPUTE)
				kernels[n++] = action->ns;
		}
		assert_int_equal(n, 33);
		for (unsigned i = 1; i < n; i++)
			assert_int_equal(played.at[rank][i].launch.reached_ns,
					 played.at[rank][i - 1].launch.end_ns + kernels[i]);
		ct_workload_close(it);
	}
	done(w);
}

/* Ranks 0 and 1 are a tensor group, so are 2 and 3: only the first pair's ring has the link. From
 * step 1 on. */
static void a_slow_link_slows_what_crosses_it(void **state)
{
	struct ct_workload *w = make(
		(struct ct_workload_config){
			.name = "decode", .ranks = 4, .tp = 2, .dp = 2, .steps = 2 },
		"slow-link:src=1,dst=0,factor=0.5,from=1");

	(void)state;
	play(w, plain());
	for (int rank = 0; rank < 4; rank++) {
		for (unsigned i = 0; i < played.n[rank]; i++) {
			const struct told *t = &played.at[rank][i];
			const int slow = rank < 2 && i >= 34;

			/* The first of a step is between copies of the model. */
			if (i % 34 == 0 || i % 34 == 33)
				continue;
			assert_int_equal(t->launch.end_ns - t->launch.start_ns - t->launch.wait_ns,
					 slow ? 10000 + 2 * 131072 : REDUCE_NS);
		}
	}
	done(w);
}

/* The second stage waits for the first one's activations, which cross nodes: 4 ns for each of 2048
 * x 4096 x 2 bytes. */
static void a_rank_that_receives_waits_for_who_sends(void **state)
{
	struct ct_workload *w = make((struct ct_workload_config){ .name = "megatron",
								  .ranks = 2,
								  .nodes = 2,
								  .tp = 1,
								  .pp = 2,
								  .dp = 1,
								  .steps = 1 },
				     NULL);
	const struct told *send, *receive;

	(void)state;
	play(w, plain());
	send = &played.at[0][0];
	receive = &played.at[1][0];
	assert_int_equal(send->op, CT_OP_Send);
	assert_int_equal(receive->op, CT_OP_Recv);
	assert_true(send->launch.start_ns > receive->launch.start_ns);
	assert_int_equal(receive->launch.wait_ns, send->launch.start_ns - receive->launch.start_ns);
	assert_int_equal(send->launch.wait_ns, 0);
	assert_int_equal(send->launch.end_ns, send->launch.start_ns + 10000 + 4 * 16777216);
	assert_int_equal(receive->launch.end_ns, send->launch.end_ns);
	done(w);
}

/* A step has 25 ms of computing: at its end the CPU waits, unless it may be 100 ms ahead. */
static void a_cpu_is_as_far_ahead_as_it_may_be(void **state)
{
	const struct ct_workload_config config = { .name = "ddp", .ranks = 2, .steps = 20 };
	uint64_t most[2] = { 0 };

	(void)state;
	for (int ahead = 0; ahead < 2; ahead++) {
		struct ct_workload *w = make(config, ahead ? "run-ahead:ms=100" : NULL);

		play(w, ct_play_world());
		for (unsigned i = 0; i < played.n[0]; i++) {
			const struct ct_play_launch *l = &played.at[0][i].launch;
			const uint64_t lead = l->reached_ns - l->issued_ns;

			most[ahead] = lead > most[ahead] ? lead : most[ahead];
		}
		done(w);
	}
	assert_in_range(most[0], 10 * MS, 30 * MS);
	assert_in_range(most[1], 95 * MS, 105 * MS);
}

static void a_wait_reports_how_far_one_had_come(void **state)
{
	struct ct_workload *w = make(
		(struct ct_workload_config){ .name = "ddp", .ranks = 2, .steps = 5 }, NULL);
	uint32_t last[2][2] = { { 0 } };
	const struct ct_play_sink waits = { .arg = last, .wait = check_wait };
	const struct ct_play_world world = plain();

	(void)state;
	assert_int_equal(ct_play(w, &world, &waits, &played.sums), 0);
	for (int rank = 0; rank < 2; rank++) {
		assert_int_equal(last[rank][0], 35);
		assert_int_equal(last[rank][1], 35);
	}
	done(w);
}

/* A kernel that finds no SMs: the stream has reached it, and all ranks wait. */
static void a_starved_kernel_begins_late(void **state)
{
	struct ct_workload *w = make(
		(struct ct_workload_config){ .name = "decode", .ranks = 2, .tp = 2, .steps = 2 },
		"starve-sm:rank=1,ms=5,from=1");
	const struct ct_play_launch *one, *other;

	(void)state;
	play(w, plain());
	one = &played.at[1][33].launch;
	other = &played.at[0][33].launch;
	assert_in_range(one->start_ns - one->reached_ns, 3 * MS, 5 * MS);
	assert_int_equal(one->wait_ns, 0);
	assert_true(other->wait_ns > 3 * MS);
	assert_int_equal(played.at[1][32].launch.start_ns, played.at[1][32].launch.reached_ns);
	done(w);
}

static void spans_of_a_gpu_are_left_out_of_its_work(void **state)
{
	struct spans spans = { .n = 0 };
	struct cover cover = { .n = 0 };

	(void)state;
	ct_play_span_add(&spans, 100, 50);
	ct_play_span_add(&spans, 200, 100);
	assert_int_equal(ct_play_span_leave(&spans, 99), 99);
	assert_int_equal(ct_play_span_leave(&spans, 100), 150);
	assert_int_equal(ct_play_span_leave(&spans, 150), 150);
	assert_int_equal(ct_play_span_work(&spans, 0, 50), 50);
	assert_int_equal(ct_play_span_work(&spans, 60, 50), 160);
	assert_int_equal(ct_play_span_work(&spans, 120, 20), 170);
	assert_int_equal(ct_play_span_work(&spans, 60, 150), 360);
	ct_play_cover_add(&cover, 10, 20);
	ct_play_cover_add(&cover, 30, 40);
	ct_play_cover_add(&cover, 40, 45);
	ct_play_cover_add(&cover, 5, 12);
	ct_play_cover_add(&cover, 25, 28);
	assert_int_equal(ct_play_cover_sum(&cover), 15 + 15 + 3);
	for (uint64_t i = 0; i < 1000; i++)
		ct_play_cover_add(&cover, 100 + 10 * i, 107 + 10 * i);
	ct_play_cover_add(&cover, 10090, 10102);
	assert_int_equal(ct_play_cover_sum(&cover), 33 + 7000 + 5);
}

/* ---- faults that end or hang a job ---- */

static void a_hung_job_leaves_work_open(void **state)
{
	static const struct {
		const char *fault;
		enum ct_play_end end; /* of rank 1 */
	} cases[] = {
		{ "missing:rank=1,op=20", CT_PLAY_STUCK },
		{ "kill:rank=1,op=20", CT_PLAY_DIED },
		{ "kill:rank=1,ms=200", CT_PLAY_DIED },
		{ "exit:rank=1,op=20,code=3", CT_PLAY_EXITED },
		{ "async-error:rank=1,op=20", CT_PLAY_EXITED },
		{ "block-stream:rank=1,op=20", CT_PLAY_STUCK },
		{ "skip:rank=1,op=20", CT_PLAY_STUCK },
		{ "extra:rank=1,op=20", CT_PLAY_STUCK },
		{ "mismatch:rank=1,op=20,field=op", CT_PLAY_STUCK },
		{ "mismatch:rank=1,op=20,field=count", CT_PLAY_STUCK },
		{ "order-inversion:ranks=0+1", CT_PLAY_STUCK },
		{ "unbatched-p2p:ranks=0+1", CT_PLAY_STUCK },
		{ "transport-stall:rank=1,op=20", CT_PLAY_STUCK },
		{ "never-ends:rank=1,op=20", CT_PLAY_STUCK },
		{ "stray-split:rank=1,op=20", CT_PLAY_STUCK },
		{ "host-inversion:ranks=0+1", CT_PLAY_STUCK },
		{ "skip-init:rank=1", CT_PLAY_STUCK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ct_workload *w = make(
			(struct ct_workload_config){ .name = "ddp", .ranks = 4, .steps = 20 },
			cases[i].fault);
		unsigned open = 0;

		play(w, plain());
		assert_int_equal(played.sums.is_stuck, 1);
		assert_int_equal(played.end[1], cases[i].end);
		assert_int_equal(played.end[2], CT_PLAY_STUCK);
		for (int r = 0; r < 4; r++)
			open += played.open[r];
		/* Who is not there holds up all others, who wait on their GPUs or, for a
		 * communicator, in a call. */
		assert_int_equal(open > 0, strstr(cases[i].fault, "init:") == NULL);
		if (cases[i].end == CT_PLAY_DIED)
			assert_int_equal(played.sums.kill_ns, played.end_ns[1] + 1000 * MS);
		else
			assert_int_equal(played.sums.kill_ns, 0);
		done(w);
	}
}

static void contradicting_calls_go_on_if_they_may(void **state)
{
	static const char *const faults[] = { "skip:rank=1,op=20", "extra:rank=1,op=20",
					      "mismatch:rank=1,op=20,field=op",
					      "mismatch:rank=1,op=21,field=count" };

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct ct_workload *w = make(
			(struct ct_workload_config){ .name = "ddp", .ranks = 4, .steps = 20 },
			faults[i]);
		struct ct_play_world world = plain();

		world.mismatch_goes_on = 1;
		play(w, world);
		assert_int_equal(played.sums.is_stuck, 0);
		for (int r = 0; r < 4; r++)
			assert_int_equal(played.n[r],
					 140 + (r == 1) * (i == 1) - (r == 1) * (i == 0));
		done(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_collective_begins_when_the_last_one_is_there),
		cmocka_unit_test(a_stream_does_its_work_in_order),
		cmocka_unit_test(a_slow_link_slows_what_crosses_it),
		cmocka_unit_test(a_rank_that_receives_waits_for_who_sends),
		cmocka_unit_test(a_cpu_is_as_far_ahead_as_it_may_be),
		cmocka_unit_test(a_wait_reports_how_far_one_had_come),
		cmocka_unit_test(a_starved_kernel_begins_late),
		cmocka_unit_test(spans_of_a_gpu_are_left_out_of_its_work),
		cmocka_unit_test(a_hung_job_leaves_work_open),
		cmocka_unit_test(contradicting_calls_go_on_if_they_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
