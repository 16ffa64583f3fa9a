/* SPDX-License-Identifier: Apache-2.0 */
/* What lies between the operations of a step, on logs written by hand: gaps by their cause, stalls
 * by step. All expected figures are worked out in the tests. */
#include "tests/unit/log_parts.h"

#include <stdlib.h>

#include "analyzer/match/groups.h"
#include "analyzer/overlap/gaps.h"
#include "analyzer/overlap/per_step.h"

/* ---- gaps ---- */

static void a_gap_is_split_by_when_the_host_called(void **state)
{
	struct ct_gap_sum s = { 0 };

	(void)state;
	ct_gap_split(1000 * US, 1029 * US, 900 * US, 5, &s); /* no longer than a launch takes */
	assert_int_equal(s.idle_launch_ns, 29 * US);
	ct_gap_split(2000 * US, 2100 * US, 1500 * US, 5, &s); /* was on the stream long since */
	assert_int_equal(s.idle_host_bound_ns, 0);
	assert_int_equal(s.idle_waiting_for_compute_ns, 100 * US);
	ct_gap_split(3000 * US, 3100 * US, 3052 * US, 5,
		     &s); /* called 52 us after, on it by 60 us */
	assert_int_equal(s.idle_host_bound_ns, 60 * US);
	assert_int_equal(s.idle_waiting_for_compute_ns, 140 * US);
	ct_gap_split(4000 * US, 4100 * US, 4095 * US, 5, &s); /* no more than the gap */
	assert_int_equal(s.idle_host_bound_ns, 160 * US);
	assert_int_equal(s.idle_waiting_for_compute_ns, 140 * US);
	ct_gap_split(5000 * US, 4999 * US, 4000 * US, 5, &s); /* back to back */
	assert_int_equal(s.idle_launch_ns, 29 * US);
	assert_int_equal(s.pairs, 5);
	assert_int_equal(s.err_ns, 20); /* what was not a gap has none */
}

static const struct ct_cut two_cuts[] = { { 1 * MS, 11 * MS }, { 11 * MS, 21 * MS } };
static const struct ct_cuts two = { two_cuts, 2 };

static void find_gaps(struct ct_instance_log *log, struct ct_stream_gaps *gaps)
{
	uint32_t *step_of;

	*gaps = (struct ct_stream_gaps){ 0 };
	assert_int_equal(ct_instance_log_close(log, SLOTS), CT_OK);
	step_of = ct_cuts_of_log(&two, log);
	assert_non_null(step_of);
	assert_int_equal(ct_stream_gaps_find(log, &two, step_of, gaps), CT_OK);
	free(step_of);
}

static void gaps_are_those_of_one_stream_within_one_step(void **state)
{
	struct ct_stream_gaps gaps;
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 0);
	both(&log, &world, 0, 1, 1 * MS, 2 * MS, 3 * MS);
	both(&log, &other, 0, 2, 1 * MS, 3100 * US, 3200 * US); /* on another stream */
	both(&log, &world, 1, 1, 1 * MS, 4 * MS, 5 * MS);	/* 1 ms, not ready */
	both(&log, &world, 2, 1, 6 * MS, 7 * MS, 8 * MS);	/* 2 ms, 1.008 of it late */
	both(&log, &world, 3, 1, 1 * MS, 15 * MS, 16 * MS);    /* the next step's: not within one */
	both(&log, &world, 4, 1, 1 * MS, 16010 * US, 17 * MS); /* 10 us */
	find_gaps(&log, &gaps);
	for (int s = 0; s < 2; s++) {
		const struct ct_gap_rank *r = &gaps.ranks[s];

		/* of all streams: of the first gap, the 0.1 ms of the other one are none */
		assert_int_equal(r->sum.pairs, 4);
		assert_int_equal(r->sum.idle_waiting_for_compute_ns, 900 * US + 992 * US);
		assert_int_equal(r->sum.idle_host_bound_ns, 1008 * US);
		assert_int_equal(r->sum.idle_launch_ns, 10 * US);
		assert_int_equal(r->sum.err_ns, 4 * 2 * 1000);
		assert_int_equal(r->steps, 2);
		assert_int_equal(r->step_ns, 20 * MS);
	}
	assert_int_equal(gaps.n_classes, 1);
	assert_ptr_equal(gaps.classes[0].comm, &world);
	assert_int_equal(gaps.classes[0].size_range, 1 << 20);
	assert_int_equal(gaps.classes[0].sum.pairs, 2 * 3);
	assert_int_equal(gaps.classes[0].sum.idle_host_bound_ns, 2 * 1008 * US);
	assert_int_equal(gaps.classes[0].sum.idle_waiting_for_compute_ns, 2 * (1 * MS + 992 * US));
	ct_stream_gaps_fini(&gaps);
	ct_instance_log_fini(&log);
}

/* While a long one runs on one stream, a short one on another ends: the rank does not stand idle
 * yet. */
static void a_rank_is_idle_when_all_its_streams_do(void **state)
{
	struct ct_stream_gaps gaps;
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 0);
	both(&log, &world, 0, 1, 1 * MS, 2 * MS, 6 * MS);
	both(&log, &other, 0, 2, 1 * MS, 3 * MS, 4 * MS);
	both(&log, &world, 1, 1, 1 * MS, 7 * MS, 8 * MS);
	both(&log, &other, 1, 2, 1 * MS, 9 * MS, 10 * MS);
	find_gaps(&log, &gaps);
	assert_int_equal(gaps.ranks[0].sum.idle_waiting_for_compute_ns, 2 * MS);
	assert_int_equal(gaps.n_classes, 2);
	assert_int_equal(gaps.classes[0].sum.idle_waiting_for_compute_ns, 2 * 1 * MS);
	assert_int_equal(gaps.classes[1].sum.idle_waiting_for_compute_ns, 2 * 5 * MS);
	ct_stream_gaps_fini(&gaps);
	ct_instance_log_fini(&log);
}

/* Cut at the end of an operation: what follows belongs to the next step, though one member was
 * there before the cut. */
static void an_operation_belongs_to_where_its_last_member_came(void **state)
{
	const struct part parts[2] = { { .slot = 0, .start = 10900 * US, .end = 12 * MS },
				       { .slot = 1, .start = 11100 * US, .end = 12 * MS } };
	const struct part untimed[2] = { { .slot = 0, .enter = 3 * MS },
					 { .slot = 1, .enter = 2 * MS } };
	const struct part after[1] = { { .slot = 0, .start = 22 * MS, .end = 23 * MS } };
	struct ct_instance_log log;
	uint32_t *step_of;

	(void)state;
	ct_instance_log_init(&log, 0);
	put(&log, &world, CT_OP_AllReduce, 0, 64, -1, -1, parts, 2);
	put(&log, &world, CT_OP_AllReduce, 1, 64, -1, -1, untimed, 2);
	put(&log, &world, CT_OP_AllReduce, 2, 64, -1, -1, after, 1);
	step_of = ct_cuts_of_log(&two, &log);
	assert_non_null(step_of);
	assert_int_equal(step_of[0], 1);
	assert_int_equal(step_of[1], 0);
	assert_int_equal(step_of[2], CT_NO_STEP);
	free(step_of);
	ct_instance_log_fini(&log);
}

static void time_is_spread_over_the_steps_that_it_lies_in(void **state)
{
	struct {
		int other;
		uint64_t ns;
	} sums[2] = { { 1, 5 }, { 2, 7 } };
	uint32_t near = 0;

	(void)state;
	/* steps from 1 to 11 and from 11 to 21 ms */
	assert_int_equal(ct_cuts_spread(&two, &near, 0, 3 * MS, &sums[0].ns, sizeof(sums[0])),
			 2 * MS);
	assert_int_equal(ct_cuts_spread(&two, &near, 10 * MS, 30 * MS, &sums[0].ns,
					sizeof(sums[0])),
			 11 * MS);
	assert_int_equal(
		ct_cuts_spread(&two, &near, 21 * MS, 30 * MS, &sums[0].ns, sizeof(sums[0])), 0);
	assert_int_equal(ct_cuts_spread(&two, &near, 5 * MS, 6 * MS, NULL, 0), 1 * MS);
	/* wherever it looks first */
	for (uint32_t first = 0; first < 4; first++) {
		near = first;
		assert_int_equal(ct_cuts_spread(&two, &near, 5 * MS, 12 * MS, NULL, 0), 7 * MS);
		assert_int_equal(near, 0);
		near = first;
		assert_int_equal(ct_cuts_spread(&two, &near, 12 * MS, 13 * MS, NULL, 0), 1 * MS);
		assert_int_equal(near, 1);
	}
	assert_int_equal(sums[0].ns, 3 * MS + 5);
	assert_int_equal(sums[1].ns, 10 * MS + 7);
	assert_true(sums[0].other == 1 && sums[1].other == 2);
}

static void what_the_host_times_or_is_not_on_record_makes_no_gap(void **state)
{
	struct part by_host = {
		.slot = 0, .start = 2 * MS, .end = 3 * MS, .stream = 1, .by_host = 1
	};
	struct part untimed = { .slot = 1, .enter = 2 * MS, .stream = 1 };
	struct ct_stream_gaps gaps;
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 0);
	for (uint64_t k = 0; k < 5; k++) {
		const struct part parts[2] = { by_host, untimed };

		put(&log, &world, CT_OP_AllReduce, k, 64, -1, -1, parts, 2);
		by_host.start += MS + 100 * US;
		by_host.end += MS + 100 * US;
	}
	/* number 1 is missing between these */
	both(&log, &other, 0, 7, 1 * MS, 2 * MS, 3 * MS);
	both(&log, &other, 2, 7, 1 * MS, 5 * MS, 6 * MS);
	both(&log, &other, 3, 7, 1 * MS, 7 * MS, 8 * MS);
	find_gaps(&log, &gaps);
	assert_int_equal(gaps.ranks[0].sum.pairs, 1);
	assert_int_equal(gaps.ranks[0].sum.idle_waiting_for_compute_ns, 1 * MS);
	assert_int_equal(gaps.ranks[1].sum.pairs, 1);
	assert_int_equal(gaps.ranks[5].steps, 0);
	ct_stream_gaps_fini(&gaps);
	ct_instance_log_fini(&log);
}

/* A group is called when it ends: the host was late for its last call, not for its first. And it is
 * one launch. */
static void a_group_is_called_when_its_last_call_is(void **state)
{
	struct ct_group group = { 0 };
	struct part in_group = { .slot = 0,
				 .enter = 1 * MS,
				 .start = 6 * MS,
				 .end = 7 * MS,
				 .stream = 1,
				 .group = &group };
	struct ct_stream_gaps gaps;
	struct ct_instance_log log;

	(void)state;
	group.id = 9;
	ct_instance_log_init(&log, 0);
	both(&log, &world, 0, 1, 1 * MS, 2 * MS, 3 * MS);
	for (uint64_t k = 0; k < 3; k++) {
		in_group.enter = 1 * MS + k * 2 * MS;
		put(&log, &world, CT_OP_AllReduce, 1 + k, 64, -1, -1, &in_group, 1);
	}
	find_gaps(&log, &gaps);
	assert_int_equal(gaps.ranks[0].sum.pairs, 1);
	assert_int_equal(gaps.ranks[0].sum.idle_host_bound_ns, 2008 * US);
	assert_int_equal(gaps.ranks[0].sum.idle_waiting_for_compute_ns, 992 * US);
	ct_stream_gaps_fini(&gaps);
	ct_instance_log_fini(&log);
}

/* ---- stalls by step ---- */

static void exposed_time_is_summed_by_step_and_split_by_peer(void **state)
{
	const uint8_t told[SLOTS] = { 1, 1 };
	struct ct_exposed_sums sums = { 0 };
	struct ct_exposures stalls;
	struct ct_instance_log log;
	/* rank 1 comes 2 ms after rank 0 */
	const struct part late[2] = {
		{ .slot = 0, .enter = 1 * MS, .start = 3 * MS, .end = 8 * MS, .wait = 2 * MS },
		{ .slot = 1, .enter = 1 * MS, .start = 5 * MS, .end = 8 * MS, .wait = 0 },
	};
	/* the waits of this one are unknown; it reaches into the next step by 1 ms */
	const struct part vague[2] = {
		{ .slot = 0, .enter = 1 * MS, .start = 9 * MS, .end = 12 * MS, .wait = UINT64_MAX },
		{ .slot = 1, .enter = 1 * MS, .start = 9 * MS, .end = 12 * MS, .wait = UINT64_MAX },
	};

	(void)state;
	ct_instance_log_init(&log, 0);
	ct_exposures_init(&stalls, &log.sample, 0);
	put(&log, &world, CT_OP_AllReduce, 0, 64, -1, -1, late, 2);
	put(&log, &world, CT_OP_AllReduce, 1, 64, -1, -1, vague, 2);
	stall(&stalls, 0, 0, 3 * MS, 4 * MS, 8 * MS,
	      1); /* from 4 to 5 for rank 1, then the transfer */
	stall(&stalls, 0, 1, 3 * MS, 6 * MS, 8 * MS, 1); /* the same time once more */
	stall(&stalls, 0, 0, 9 * MS, 9500 * US, 12 * MS, 1);
	stall(&stalls, 1, 0, 5 * MS, 7 * MS, 8 * MS, 1);
	stall(&stalls, 1, 0, 9 * MS, 11 * MS, 12 * MS, 1);
	assert_int_equal(ct_instance_log_close(&log, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	assert_int_equal(ct_exposed_sum(&log, &stalls, &two, told, 2, &sums), CT_OK);
	assert_int_equal(sums.ranks[0].exposed_ns, 4 * MS + 2500 * US);
	assert_int_equal(sums.ranks[0].wait_ns, 1 * MS);
	assert_int_equal(sums.ranks[0].transfer_ns, 3 * MS);
	assert_int_equal(sums.ranks[0].unclear_ns, 2500 * US);
	assert_int_equal(sums.ranks[0].comm_ns, 8 * MS);
	assert_int_equal(sums.ranks[0].steps, 2);
	assert_int_equal(sums.ranks[0].err_ns, 200);
	assert_int_equal(sums.ranks[1].exposed_ns, 2 * MS);
	assert_int_equal(sums.ranks[1].wait_ns, 0);
	assert_int_equal(sums.ranks[1].transfer_ns, 1 * MS);
	/* first step 4 + 1.5 against 1, second 1 against 1 */
	assert_int_equal(sums.steps[0].exposed_ns, 5500 * US);
	assert_int_equal(sums.steps[1].exposed_ns, 1 * MS);
	/* waits of which a quarter of the time is vague are not reported */
	assert_true(sums.steps[0].wait_ns == UINT64_MAX);
	assert_int_equal(sums.comms[0].exposed_ns, 8500 * US);
	assert_int_equal(sums.comms[0].wait_ns, 1 * MS);
	assert_int_equal(sums.comms[1].exposed_ns, 0);
	ct_exposed_fini(&sums);
	ct_exposures_fini(&stalls);
	ct_instance_log_fini(&log);
}

/* Half of each second rank 0 waits; of seven seconds of thirty nothing is timed. */
static void seconds_that_are_left_out_are_no_time_of_the_run(void **state)
{
	const uint8_t told[SLOTS] = { 1, 1 };
	const uint64_t s = 1000 * MS;
	struct ct_cut run = { 0, 30 * s };
	struct ct_exposed_sums sums = { 0 };
	struct ct_exposures stalls;
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 0);
	ct_exposures_init(&stalls, &log.sample, 0);
	for (uint64_t k = 0; k < 30; k++) {
		int timed = k < 10 || k >= 17;
		uint64_t at = k * s + 1 * MS;
		struct part parts[2] = { { .slot = 0, .enter = at }, { .slot = 1, .enter = at } };

		for (int r = 0; r < 2 && timed; r++) {
			parts[r].start = at + 1 * MS;
			parts[r].end = at + s / 2 + 1 * MS;
		}
		put(&log, &world, CT_OP_AllReduce, k, 64, -1, -1, parts, 2);
		if (timed)
			stall(&stalls, 0, 0, parts[0].start, parts[0].start, parts[0].end, 1);
	}
	assert_int_equal(ct_instance_log_close(&log, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	assert_int_equal(
		ct_exposed_sum(&log, &stalls, &(struct ct_cuts){ &run, 1 }, told, 2, &sums), CT_OK);
	assert_int_equal(sums.ranks[0].steps, 1);
	assert_int_equal(sums.ranks[0].step_ns, 23 * s);
	assert_int_equal(sums.ranks[0].exposed_ns, 23 * s / 2);
	ct_exposed_fini(&sums);
	ct_exposures_fini(&stalls);
	ct_instance_log_fini(&log);
}

static void a_step_of_which_a_part_is_not_known_is_not_reported(void **state)
{
	const uint8_t told[SLOTS] = { 1, 1 };
	struct ct_exposed_sums sums = { 0 };
	struct ct_exposures stalls;
	struct ct_instance_log log;
	const struct part late[2] = {
		{ .slot = 0, .start = 2 * MS, .end = 4 * MS, .wait = 1 * MS },
		{ .slot = 1, .start = 3 * MS, .end = 4 * MS },
	};

	(void)state;
	ct_instance_log_init(&log, 0);
	ct_exposures_init(&stalls, &log.sample, 0);
	/* one waits 1 ms for the other: 0.5 in the mean */
	put(&log, &world, CT_OP_AllReduce, 0, 64, -1, -1, late, 2);
	both(&log, &world, 1, 1, 1 * MS, 12 * MS, 14 * MS);
	stall(&stalls, 0, 0, 2 * MS, 3 * MS, 4 * MS, 1);
	stall(&stalls, 0, 0, 12 * MS, 13 * MS, 14 * MS, 1);
	stall(&stalls, 0, 0, 16 * MS, 17 * MS, 18 * MS, 1); /* for what is not on the log */
	stall(&stalls, 1, 0, 3 * MS, 3 * MS, 4 * MS, 0);    /* who waited for it is not known */
	assert_int_equal(ct_instance_log_close(&log, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	assert_int_equal(ct_exposed_sum(&log, &stalls, &two, told, 2, &sums), CT_OK);
	assert_true(sums.steps[0].exposed_ns == UINT64_MAX);
	assert_int_equal(sums.steps[1].exposed_ns, 2 * MS);
	assert_int_equal(sums.ranks[0].unclear_ns, 1 * MS);
	assert_int_equal(sums.steps[0].wait_ns, 500 * US);
	assert_int_equal(sums.ranks[0].steps, 2);
	assert_int_equal(sums.ranks[1].steps, 1);
	ct_exposed_fini(&sums);
	ct_exposures_fini(&stalls);
	ct_instance_log_fini(&log);
}

static void stalls_stay_within_their_memory_and_are_forgotten_by_stretches(void **state)
{
	struct ct_sample sample = CT_SAMPLE_ALL;
	struct ct_exposures stalls;
	uint32_t kept = 0;

	(void)state;
	ct_exposures_init(&stalls, &sample, 1000);
	for (uint64_t k = 0; k < 20000; k++)
		stall(&stalls, k % 3, 0, k * MS, k * MS, k * MS + US, 1);
	assert_int_equal(ct_exposures_close(&stalls, 3), CT_OK);
	assert_in_range(stalls.n, 300, 1000);
	assert_int_equal(stalls.seen, 20000);
	assert_int_equal(stalls.slot_first[3], stalls.n);
	for (uint64_t k = 0; k < 20000; k++)
		kept += ct_exposures_keep(&stalls, k * MS, k * MS + US) != 0;
	assert_int_equal(kept, stalls.n);
	for (uint32_t s = 0; s < 3; s++)
		for (uint32_t i = stalls.slot_first[s]; i < stalls.slot_first[s + 1]; i++)
			assert_int_equal(stalls.all[i].slot, s);
	ct_exposures_fini(&stalls);
}

/* Both keep the same stretches of the run, whichever runs out of space first. */
static void stalls_and_operations_are_kept_of_the_same_stretches(void **state)
{
	static const uint32_t most[][2] = { { 300, 3000 }, { 3000, 300 } };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ct_exposures stalls;
		struct ct_instance_log log;

		ct_instance_log_init(&log, most[k][0]);
		ct_exposures_init(&stalls, &log.sample, most[k][1]);
		for (uint64_t i = 0; i < 2000; i++) {
			uint64_t at = (i + 1) * MS;
			const struct part part = { .enter = at, .start = at, .end = at + US };

			put(&log, &world, CT_OP_AllReduce, i, 1 << 20, -1, -1, &part, 1);
			stall(&stalls, 0, 0, at, at, at + US, 1);
		}
		assert_int_equal(ct_instance_log_close(&log, 1), CT_OK);
		assert_int_equal(ct_exposures_close(&stalls, 1), CT_OK);
		assert_in_range(stalls.n, 100, 300);
		assert_int_equal(stalls.n, log.n_parts);
		for (uint32_t i = 0; i < stalls.n; i++)
			assert_int_equal(stalls.all[i].begin_ns, log.parts[i].start_ns);
		ct_exposures_fini(&stalls);
		ct_instance_log_fini(&log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stalls_and_operations_are_kept_of_the_same_stretches),
		cmocka_unit_test(a_gap_is_split_by_when_the_host_called),
		cmocka_unit_test(gaps_are_those_of_one_stream_within_one_step),
		cmocka_unit_test(a_rank_is_idle_when_all_its_streams_do),
		cmocka_unit_test(an_operation_belongs_to_where_its_last_member_came),
		cmocka_unit_test(time_is_spread_over_the_steps_that_it_lies_in),
		cmocka_unit_test(what_the_host_times_or_is_not_on_record_makes_no_gap),
		cmocka_unit_test(a_group_is_called_when_its_last_call_is),
		cmocka_unit_test(exposed_time_is_summed_by_step_and_split_by_peer),
		cmocka_unit_test(seconds_that_are_left_out_are_no_time_of_the_run),
		cmocka_unit_test(a_step_of_which_a_part_is_not_known_is_not_reported),
		cmocka_unit_test(stalls_stay_within_their_memory_and_are_forgotten_by_stretches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
