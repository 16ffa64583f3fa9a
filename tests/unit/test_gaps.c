/* SPDX-License-Identifier: Apache-2.0 */
/* What lies between the operations of a cycle, on tapes written by hand: gaps by their cause, stalls by cycle, gradient
 * buckets, the bubble of a pipeline. All expected figures are worked out in the tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analyzer/match/groups.h"
#include "analyzer/overlap/bubbles.h"
#include "analyzer/overlap/buckets.h"
#include "analyzer/overlap/gaps.h"
#include "analyzer/overlap/per_cycle.h"
#include "trace/ops.h"
#include "trace/status.h"

#define US 1000ull
#define MS (1000 * US)
enum { SEATS = 8 };

static const uint32_t host_of[SEATS];
static const uint64_t shift[1];
static struct ct_comm world = { .index = 0, .nranks = 2 }, other = { .index = 1, .nranks = 2 };
static struct ct_comm pipe4 = { .index = 2, .nranks = 4 };

/* One member as the tests write it. */
struct part {
	uint32_t seat;
	uint64_t enter, start, end, wait;
	uint32_t stream, err;
	struct ct_group *group;
	int by_host;
};

/* An operation on `n` members. src < 0: a collective. */
static void put(struct ct_tape *tape, struct ct_comm *comm, unsigned op, uint64_t seq,
		uint64_t bytes, int src, int dst, const struct part *parts, uint32_t n)
{
	struct ct_member members[SEATS] = { 0 };
	uint64_t waits[SEATS], shortest = UINT64_MAX;
	struct ct_instance i = {
		.comm = comm, .seq = seq, .src = src, .dst = dst, .n = n, .members = members
	};
	struct ct_waits w = { .judged = CT_JUDGED_WAITS, .wait_ns = waits };

	for (uint32_t m = 0; m < n; m++) {
		const struct part *p = &parts[m];

		members[m] = (struct ct_member){
			.enter_ns = p->enter,
			.start_ns = p->start,
			.end_ns = p->end,
			.bytes = bytes,
			.seat = p->seat,
			.index = src < 0 ? m : (int)p->seat == dst,
			.op = (uint8_t)op,
			.dtype = CT_DTYPE_float32,
			.stream = p->stream,
			.on_gpu = (uint8_t)!p->by_host,
			.start_err_ns = p->err,
			.end_err_ns = p->err,
			.group = p->group,
			.free_ns = UINT64_MAX,
		};
		waits[m] = p->wait;
		shortest = p->end - p->start < shortest ? p->end - p->start : shortest;
	}
	w.transfer_ns = shortest;
	assert_int_equal(ct_tape_add(tape, &i, &w, host_of, shift), CT_OK);
}

/* ---- gaps ---- */

static void a_gap_is_split_by_when_the_host_called(void **state)
{
	struct ct_gap_sum s = { 0 };

	(void)state;
	ct_gap_split(1000 * US, 1029 * US, 900 * US, 5, &s); /* no longer than a launch takes */
	assert_int_equal(s.launch_ns, 29 * US);
	ct_gap_split(2000 * US, 2100 * US, 1500 * US, 5, &s); /* was on the stream long since */
	assert_int_equal(s.host_late_ns, 0);
	assert_int_equal(s.not_ready_ns, 100 * US);
	ct_gap_split(3000 * US, 3100 * US, 3052 * US, 5,
		     &s); /* called 52 us after, on it by 60 us */
	assert_int_equal(s.host_late_ns, 60 * US);
	assert_int_equal(s.not_ready_ns, 140 * US);
	ct_gap_split(4000 * US, 4100 * US, 4095 * US, 5, &s); /* no more than the gap */
	assert_int_equal(s.host_late_ns, 160 * US);
	assert_int_equal(s.not_ready_ns, 140 * US);
	ct_gap_split(5000 * US, 4999 * US, 4000 * US, 5, &s); /* back to back */
	assert_int_equal(s.launch_ns, 29 * US);
	assert_int_equal(s.pairs, 5);
	assert_int_equal(s.err_ns, 20); /* what was no gap has none */
}

static const struct ct_cut two_cuts[] = { { 1 * MS, 11 * MS }, { 11 * MS, 21 * MS } };
static const struct ct_cuts two = { two_cuts, 2 };

/* Both members alike, seat 1 all the same. */
static void both(struct ct_tape *tape, struct ct_comm *comm, uint64_t seq, uint32_t stream,
		 uint64_t enter, uint64_t start, uint64_t end)
{
	const struct part parts[2] = {
		{ .seat = 0,
		  .enter = enter,
		  .start = start,
		  .end = end,
		  .stream = stream,
		  .err = 500 },
		{ .seat = 1,
		  .enter = enter,
		  .start = start,
		  .end = end,
		  .stream = stream,
		  .err = 500 },
	};

	put(tape, comm, CT_OP_AllReduce, seq, 1 << 20, -1, -1, parts, 2);
}

static void find_gaps(struct ct_tape *tape, struct ct_stream_gaps *gaps)
{
	uint32_t *cycle_of;

	*gaps = (struct ct_stream_gaps){ 0 };
	assert_int_equal(ct_tape_close(tape, SEATS), CT_OK);
	cycle_of = ct_cuts_tape(&two, tape);
	assert_non_null(cycle_of);
	assert_int_equal(ct_stream_gaps_find(tape, &two, cycle_of, gaps), CT_OK);
	free(cycle_of);
}

static void gaps_are_those_of_one_stream_within_one_cycle(void **state)
{
	struct ct_stream_gaps gaps;
	struct ct_tape tape;

	(void)state;
	ct_tape_init(&tape, 0);
	both(&tape, &world, 0, 1, 1 * MS, 2 * MS, 3 * MS);
	both(&tape, &other, 0, 2, 1 * MS, 3100 * US, 3200 * US); /* on another stream */
	both(&tape, &world, 1, 1, 1 * MS, 4 * MS, 5 * MS);	 /* 1 ms, not ready */
	both(&tape, &world, 2, 1, 6 * MS, 7 * MS, 8 * MS);	 /* 2 ms, 1.008 of it late */
	both(&tape, &world, 3, 1, 1 * MS, 15 * MS, 16 * MS); /* the next cycle's: not within one */
	both(&tape, &world, 4, 1, 1 * MS, 16010 * US, 17 * MS); /* 10 us */
	find_gaps(&tape, &gaps);
	for (int s = 0; s < 2; s++) {
		const struct ct_gap_rank *r = &gaps.ranks[s];

		/* of all streams: of the first gap, the 0.1 ms of the other one are none */
		assert_int_equal(r->sum.pairs, 4);
		assert_int_equal(r->sum.not_ready_ns, 900 * US + 992 * US);
		assert_int_equal(r->sum.host_late_ns, 1008 * US);
		assert_int_equal(r->sum.launch_ns, 10 * US);
		assert_int_equal(r->sum.err_ns, 4 * 2 * 1000);
		assert_int_equal(r->cycles, 2);
		assert_int_equal(r->cycle_ns, 20 * MS);
	}
	assert_int_equal(gaps.n_classes, 1);
	assert_ptr_equal(gaps.classes[0].comm, &world);
	assert_int_equal(gaps.classes[0].bytes_class, 1 << 20);
	assert_int_equal(gaps.classes[0].sum.pairs, 2 * 3);
	assert_int_equal(gaps.classes[0].sum.host_late_ns, 2 * 1008 * US);
	assert_int_equal(gaps.classes[0].sum.not_ready_ns, 2 * (1 * MS + 992 * US));
	ct_stream_gaps_fini(&gaps);
	ct_tape_fini(&tape);
}

/* While a long one runs on one stream, a short one on another ends: the rank does not stand idle yet. */
static void a_rank_stands_idle_when_all_its_streams_do(void **state)
{
	struct ct_stream_gaps gaps;
	struct ct_tape tape;

	(void)state;
	ct_tape_init(&tape, 0);
	both(&tape, &world, 0, 1, 1 * MS, 2 * MS, 6 * MS);
	both(&tape, &other, 0, 2, 1 * MS, 3 * MS, 4 * MS);
	both(&tape, &world, 1, 1, 1 * MS, 7 * MS, 8 * MS);
	both(&tape, &other, 1, 2, 1 * MS, 9 * MS, 10 * MS);
	find_gaps(&tape, &gaps);
	assert_int_equal(gaps.ranks[0].sum.not_ready_ns, 2 * MS);
	assert_int_equal(gaps.n_classes, 2);
	assert_int_equal(gaps.classes[0].sum.not_ready_ns, 2 * 1 * MS);
	assert_int_equal(gaps.classes[1].sum.not_ready_ns, 2 * 5 * MS);
	ct_stream_gaps_fini(&gaps);
	ct_tape_fini(&tape);
}

/* Cut at the end of an operation: what follows belongs to the next cycle, though one member was there before the cut. */
static void an_operation_belongs_to_where_its_last_member_came(void **state)
{
	const struct part parts[2] = { { .seat = 0, .start = 10900 * US, .end = 12 * MS },
				       { .seat = 1, .start = 11100 * US, .end = 12 * MS } };
	const struct part untimed[2] = { { .seat = 0, .enter = 3 * MS },
					 { .seat = 1, .enter = 2 * MS } };
	const struct part after[1] = { { .seat = 0, .start = 22 * MS, .end = 23 * MS } };
	struct ct_tape tape;
	uint32_t *cycle_of;

	(void)state;
	ct_tape_init(&tape, 0);
	put(&tape, &world, CT_OP_AllReduce, 0, 64, -1, -1, parts, 2);
	put(&tape, &world, CT_OP_AllReduce, 1, 64, -1, -1, untimed, 2);
	put(&tape, &world, CT_OP_AllReduce, 2, 64, -1, -1, after, 1);
	cycle_of = ct_cuts_tape(&two, &tape);
	assert_non_null(cycle_of);
	assert_int_equal(cycle_of[0], 1);
	assert_int_equal(cycle_of[1], 0);
	assert_int_equal(cycle_of[2], CT_NO_CYCLE);
	free(cycle_of);
	ct_tape_fini(&tape);
}

static void what_the_host_times_or_is_not_on_record_makes_no_gap(void **state)
{
	struct part by_host = {
		.seat = 0, .start = 2 * MS, .end = 3 * MS, .stream = 1, .by_host = 1
	};
	struct part untimed = { .seat = 1, .enter = 2 * MS, .stream = 1 };
	struct ct_stream_gaps gaps;
	struct ct_tape tape;

	(void)state;
	ct_tape_init(&tape, 0);
	for (uint64_t k = 0; k < 5; k++) {
		const struct part parts[2] = { by_host, untimed };

		put(&tape, &world, CT_OP_AllReduce, k, 64, -1, -1, parts, 2);
		by_host.start += MS + 100 * US;
		by_host.end += MS + 100 * US;
	}
	/* number 1 is missing between these */
	both(&tape, &other, 0, 7, 1 * MS, 2 * MS, 3 * MS);
	both(&tape, &other, 2, 7, 1 * MS, 5 * MS, 6 * MS);
	both(&tape, &other, 3, 7, 1 * MS, 7 * MS, 8 * MS);
	find_gaps(&tape, &gaps);
	assert_int_equal(gaps.ranks[0].sum.pairs, 1);
	assert_int_equal(gaps.ranks[0].sum.not_ready_ns, 1 * MS);
	assert_int_equal(gaps.ranks[1].sum.pairs, 1);
	assert_int_equal(gaps.ranks[5].cycles, 0);
	ct_stream_gaps_fini(&gaps);
	ct_tape_fini(&tape);
}

/* A group is called when it ends: the host was late for its last call, not for its first. And it is one launch. */
static void a_group_is_called_when_its_last_call_is(void **state)
{
	struct ct_group group = { 0 };
	struct part in_group = { .seat = 0,
				 .enter = 1 * MS,
				 .start = 6 * MS,
				 .end = 7 * MS,
				 .stream = 1,
				 .group = &group };
	struct ct_stream_gaps gaps;
	struct ct_tape tape;

	(void)state;
	group.id = 9;
	ct_tape_init(&tape, 0);
	both(&tape, &world, 0, 1, 1 * MS, 2 * MS, 3 * MS);
	for (uint64_t k = 0; k < 3; k++) {
		in_group.enter = 1 * MS + k * 2 * MS;
		put(&tape, &world, CT_OP_AllReduce, 1 + k, 64, -1, -1, &in_group, 1);
	}
	find_gaps(&tape, &gaps);
	assert_int_equal(gaps.ranks[0].sum.pairs, 1);
	assert_int_equal(gaps.ranks[0].sum.host_late_ns, 2008 * US);
	assert_int_equal(gaps.ranks[0].sum.not_ready_ns, 992 * US);
	ct_stream_gaps_fini(&gaps);
	ct_tape_fini(&tape);
}

/* ---- stalls by cycle ---- */

static void stall(struct ct_exposures *s, uint32_t seat, uint32_t comm, uint64_t start,
		  uint64_t begin, uint64_t end, int known)
{
	assert_int_equal(ct_exposures_add(s, &(struct ct_exposure){ .seat = seat,
								    .comm = comm,
								    .start_ns = start,
								    .begin_ns = begin,
								    .end_ns = end,
								    .err_ns = 100,
								    .is_known = (uint32_t)known }),
			 CT_OK);
}

static void exposed_time_is_summed_by_cycle_and_parted_by_who_was_waited_for(void **state)
{
	const uint8_t told[SEATS] = { 1, 1 };
	struct ct_exposed_sums sums = { 0 };
	struct ct_exposures stalls;
	struct ct_tape tape;
	/* rank 1 comes 2 ms after rank 0 */
	const struct part late[2] = {
		{ .seat = 0, .enter = 1 * MS, .start = 3 * MS, .end = 8 * MS, .wait = 2 * MS },
		{ .seat = 1, .enter = 1 * MS, .start = 5 * MS, .end = 8 * MS, .wait = 0 },
	};
	/* of this one nobody knows who waited for whom; it reaches into the next cycle by 1 ms */
	const struct part vague[2] = {
		{ .seat = 0, .enter = 1 * MS, .start = 9 * MS, .end = 12 * MS, .wait = UINT64_MAX },
		{ .seat = 1, .enter = 1 * MS, .start = 9 * MS, .end = 12 * MS, .wait = UINT64_MAX },
	};

	(void)state;
	ct_tape_init(&tape, 0);
	ct_exposures_init(&stalls, 0);
	put(&tape, &world, CT_OP_AllReduce, 0, 64, -1, -1, late, 2);
	put(&tape, &world, CT_OP_AllReduce, 1, 64, -1, -1, vague, 2);
	stall(&stalls, 0, 0, 3 * MS, 4 * MS, 8 * MS,
	      1); /* from 4 to 5 for rank 1, then the transfer */
	stall(&stalls, 0, 1, 3 * MS, 6 * MS, 8 * MS, 1); /* the same time once more */
	stall(&stalls, 0, 0, 9 * MS, 9500 * US, 12 * MS, 1);
	stall(&stalls, 1, 0, 5 * MS, 7 * MS, 8 * MS, 1);
	stall(&stalls, 1, 0, 9 * MS, 11 * MS, 12 * MS, 1);
	assert_int_equal(ct_tape_close(&tape, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	assert_int_equal(ct_exposed_sum(&tape, &stalls, &two, told, 2, &sums), CT_OK);
	assert_int_equal(sums.ranks[0].exposed_ns, 4 * MS + 2500 * US);
	assert_int_equal(sums.ranks[0].wait_ns, 1 * MS);
	assert_int_equal(sums.ranks[0].transfer_ns, 3 * MS);
	assert_int_equal(sums.ranks[0].unclear_ns, 2500 * US);
	assert_int_equal(sums.ranks[0].comm_ns, 8 * MS);
	assert_int_equal(sums.ranks[0].cycles, 2);
	assert_int_equal(sums.ranks[0].err_ns, 200);
	assert_int_equal(sums.ranks[1].exposed_ns, 2 * MS);
	assert_int_equal(sums.ranks[1].wait_ns, 0);
	assert_int_equal(sums.ranks[1].transfer_ns, 1 * MS);
	/* first cycle 4 + 1.5 against 1, second 1 against 1 */
	assert_int_equal(sums.cycles[0].exposed_ns, 5500 * US);
	assert_int_equal(sums.cycles[1].exposed_ns, 1 * MS);
	/* waits of which a quarter of the time is vague are not told */
	assert_true(sums.cycles[0].wait_ns == UINT64_MAX);
	assert_int_equal(sums.comms[0].exposed_ns, 8500 * US);
	assert_int_equal(sums.comms[0].wait_ns, 1 * MS);
	assert_int_equal(sums.comms[1].exposed_ns, 0);
	ct_exposed_fini(&sums);
	ct_exposures_fini(&stalls);
	ct_tape_fini(&tape);
}

static void a_cycle_of_which_a_part_is_not_known_is_not_told(void **state)
{
	const uint8_t told[SEATS] = { 1, 1 };
	struct ct_exposed_sums sums = { 0 };
	struct ct_exposures stalls;
	struct ct_tape tape;
	const struct part late[2] = {
		{ .seat = 0, .start = 2 * MS, .end = 4 * MS, .wait = 1 * MS },
		{ .seat = 1, .start = 3 * MS, .end = 4 * MS },
	};

	(void)state;
	ct_tape_init(&tape, 0);
	ct_exposures_init(&stalls, 0);
	/* one waits 1 ms for the other: 0.5 in the mean */
	put(&tape, &world, CT_OP_AllReduce, 0, 64, -1, -1, late, 2);
	both(&tape, &world, 1, 1, 1 * MS, 12 * MS, 14 * MS);
	stall(&stalls, 0, 0, 2 * MS, 3 * MS, 4 * MS, 1);
	stall(&stalls, 0, 0, 12 * MS, 13 * MS, 14 * MS, 1);
	stall(&stalls, 0, 0, 16 * MS, 17 * MS, 18 * MS, 1); /* for what is not on the tape */
	stall(&stalls, 1, 0, 3 * MS, 3 * MS, 4 * MS, 0);    /* who waited for it is not known */
	assert_int_equal(ct_tape_close(&tape, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	assert_int_equal(ct_exposed_sum(&tape, &stalls, &two, told, 2, &sums), CT_OK);
	assert_true(sums.cycles[0].exposed_ns == UINT64_MAX);
	assert_int_equal(sums.cycles[1].exposed_ns, 2 * MS);
	assert_int_equal(sums.ranks[0].unclear_ns, 1 * MS);
	assert_int_equal(sums.cycles[0].wait_ns, 500 * US);
	assert_int_equal(sums.ranks[0].cycles, 2);
	assert_int_equal(sums.ranks[1].cycles, 1);
	ct_exposed_fini(&sums);
	ct_exposures_fini(&stalls);
	ct_tape_fini(&tape);
}

static void stalls_stay_within_their_memory_and_are_forgotten_by_stretches(void **state)
{
	struct ct_exposures stalls;
	uint32_t kept = 0;

	(void)state;
	ct_exposures_init(&stalls, 1000);
	for (uint64_t k = 0; k < 20000; k++)
		stall(&stalls, k % 3, 0, k * MS, k * MS, k * MS + US, 1);
	assert_int_equal(ct_exposures_close(&stalls, 3), CT_OK);
	assert_in_range(stalls.n, 300, 1000);
	assert_int_equal(stalls.seen, 20000);
	assert_int_equal(stalls.seat_first[3], stalls.n);
	for (uint64_t k = 0; k < 20000; k++)
		kept += ct_exposures_keep(&stalls, k * MS, k * MS + US) != 0;
	assert_int_equal(kept, stalls.n);
	for (uint32_t s = 0; s < 3; s++)
		for (uint32_t i = stalls.seat_first[s]; i < stalls.seat_first[s + 1]; i++)
			assert_int_equal(stalls.all[i].seat, s);
	ct_exposures_fini(&stalls);
}

/* ---- buckets ---- */

/* X = 20 us + bytes * 1.5 / (150 bytes/ns): 1 MB takes 30 us. */
static const struct ct_bucket_speed speed = { 20000, 150 };

static void equal_buckets_are_exposed_as_the_formula_says(void **state)
{
	double bytes[64];

	(void)state;
	for (uint32_t n = 1; n <= 64; n++) {
		double g = 96e6, t = 2e6, x = 20000 + g / n / 100, all = 20000.0 * n + g / 100;
		double expected = fmax(x, all - t * (1 - 1.0 / n));

		for (uint32_t i = 0; i < n; i++)
			bytes[i] = g / n;
		assert_true(fabs(ct_buckets_model(bytes, n, 1.5, t, &speed) - expected) < 1);
	}
}

/* 100 buckets of 0.1 MB behind a backward pass of 2 ms: 21 us each, 20 of it start-up, 2.1 ms in all; the first is ready
 * after 20 us, so that 120 us are exposed. 10 MB in n buckets: 20 us + 100 us / n is least where the stream keeps up. */
static struct ct_buckets small(void)
{
	struct ct_buckets b = { .comm = &world, .op = CT_OP_AllReduce, .n = 100, .factor = 1.5 };

	for (uint32_t i = 0; i < b.n; i++) {
		b.bytes[i] = i % 2 ? 90000 : 110000;
		b.total_bytes += b.bytes[i];
	}
	b.busy_ns = 2100 * US;
	b.window_ns = 2100 * US;
	b.exposed_ns = 120 * US;
	b.until_stall_ns = 1978 * US; /* 2 ms less what comes before the first, 1.1 % of it */
	b.last_ns = 21 * US;
	return b;
}

static void buckets_that_are_too_small_get_a_size(void **state)
{
	struct ct_buckets b = small();
	struct ct_bucket_advice a;

	(void)state;
	ct_buckets_advise(&b, &speed, 4 * MS, &a);
	assert_int_equal(a.problem, CT_BUCKETS_TOO_SMALL);
	assert_true(fabs(a.startup_ratio - 20.0 / 21.1) < 0.001);
	assert_true(fabs(a.model_ns - 122000) < 2000);
	assert_true(a.n > 1 && a.n < 100);
	/* ten of 1 MiB at most: the last one's 20 + 10 us */
	assert_int_equal(a.n, 10);
	assert_true(fabs(a.gain_ns - 90e3) < 1e3);
	assert_int_equal(a.cap_bytes, 1 << 20);
	/* less than 2 % of the cycle is not worth a word */
	ct_buckets_advise(&b, &speed, 10 * MS, &a);
	assert_int_equal(a.n, 0);
	/* what was measured is something else than the model: no suggestion */
	b.exposed_ns = 90 * US;
	ct_buckets_advise(&b, &speed, 2900 * US, &a);
	assert_int_equal(a.problem, CT_BUCKETS_TOO_SMALL);
	assert_int_equal(a.n, 0);
	/* ranks that wait 10 us for each other in every bucket: start-up is half as long again, and the stream late by it */
	b.exposed_ns = 1120 * US;
	b.window_ns = 3100 * US;
	ct_buckets_advise(&b, &speed, 4 * MS, &a);
	assert_true(fabs(a.model_ns - 1122e3) < 2e3);
	assert_true(a.n > 1 && a.n < 100);
}

/* 2 MB and 96 MB behind 4 ms: the first takes 40 us and is ready after 82 us, the last 980 us, all of it exposed. */
static void a_last_bucket_that_is_late_is_cut(void **state)
{
	struct ct_buckets b = { .comm = &world, .op = CT_OP_AllReduce, .n = 2, .factor = 1.5 };
	struct ct_bucket_advice a;

	(void)state;
	b.bytes[0] = 2000000;
	b.bytes[1] = 96000000;
	b.total_bytes = 98000000;
	b.busy_ns = 1020 * US;
	b.window_ns = 4898 * US;
	b.idle_ns = 3878 * US;
	b.exposed_ns = 980 * US;
	b.until_stall_ns = 3918 * US;
	b.last_ns = 980 * US;
	ct_buckets_advise(&b, &speed, 10 * MS, &a);
	assert_int_equal(a.problem, CT_BUCKETS_LAST_LATE);
	assert_true(fabs(a.model_ns - 980e3) < 1e3);
	/* 94 of 1 MiB leave 20 + 10.4 us; 47 of 2 MiB 40.9, which is next to nothing more; 32 of 3 MiB 50.6 */
	assert_int_equal(a.n, 47);
	assert_int_equal(a.cap_bytes, 2 << 20);
	assert_true(fabs(a.gain_ns - 939e3) < 1e3);
	/* 40 MB behind as long: 420 us are less than 5 % of the cycle */
	b.last_ns = 420 * US;
	ct_buckets_advise(&b, &speed, 10 * MS, &a);
	assert_int_equal(a.problem, CT_BUCKETS_FINE);
}

static void where_the_stream_is_always_busy_sizes_do_not_help(void **state)
{
	struct ct_buckets b = { .comm = &world, .op = CT_OP_AllReduce, .n = 4, .factor = 1.5 };
	struct ct_bucket_advice a;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		b.bytes[i] = (50 + i) * 1000000;
	b.total_bytes = 206000000;
	b.busy_ns = b.window_ns = 2140 * US;
	b.exposed_ns = 1500 * US;
	b.until_stall_ns = 640 * US;
	b.last_ns = 550 * US;
	ct_buckets_advise(&b, &speed, 4 * MS, &a);
	assert_int_equal(a.problem, CT_BUCKETS_COMM_BOUND);
	assert_int_equal(a.n, 0);
}

struct seen {
	struct ct_buckets b;
	int n;
};

static int see(void *arg, const struct ct_buckets *b)
{
	struct seen *seen = arg;

	seen->b = *b;
	seen->n++;
	return 0;
}

/* 20 cycles of 10 ms with three buckets, a flag of 4 bytes in every other one, and on another communicator eight equal
 * all-reduces. In cycle 7 a bucket is missing. */
static void buckets_are_what_comes_in_several_sizes_in_each_cycle(void **state)
{
	const uint8_t told[SEATS] = { 1, 1 };
	struct ct_cut cuts[20];
	struct ct_cuts all = { cuts, 20 };
	struct ct_exposures stalls;
	struct ct_tape tape;
	struct seen seen = { .n = 0 };
	uint32_t *cycle_of;
	uint64_t seq = 0, others = 0;

	(void)state;
	ct_tape_init(&tape, 0);
	ct_exposures_init(&stalls, 0);
	for (uint64_t c = 0; c < 20; c++) {
		uint64_t at = (c + 1) * 10 * MS;

		cuts[c] = (struct ct_cut){ at, at + 10 * MS };
		for (uint64_t k = 0; k < 3; k++) {
			struct part p[2] = { { .seat = 0, .stream = 1 },
					     { .seat = 1, .stream = 1 } };

			if (c == 7 && k == 1)
				continue;
			for (int s = 0; s < 2; s++) {
				p[s].enter = at;
				p[s].start = at + (1 + 2 * k) * MS;
				p[s].end = p[s].start + (k + 1) * 400 * US;
			}
			p[0].start -= 100 * US;
			put(&tape, &world, CT_OP_AllReduce, seq++, (k + 1) << 20, -1, -1, p, 2);
		}
		for (uint32_t s = 0; s < 2; s++)
			stall(&stalls, s, 0, at + 5 * MS - (s ? 0 : 100 * US), at + 5200 * US,
			      at + 6200 * US, 1);
		if (c % 2)
			put(&tape, &world, CT_OP_AllReduce, seq++, 4, -1, -1,
			    (struct part[]){
				    { .seat = 0, .start = at + 8 * MS, .end = at + 9 * MS },
				    { .seat = 1, .start = at + 8 * MS, .end = at + 9 * MS } },
			    2);
		for (uint64_t k = 0; k < 8; k++)
			both(&tape, &other, others++, 2, at, at + k * MS, at + k * MS + 500 * US);
		stall(&stalls, 0, 1, at + 7 * MS, at + 7 * MS, at + 7500 * US, 1);
	}
	assert_int_equal(ct_tape_close(&tape, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	cycle_of = ct_cuts_tape(&all, &tape);
	assert_int_equal(ct_buckets_each(&tape, &stalls, cycle_of, told, see, &seen), CT_OK);
	assert_int_equal(seen.n, 1);
	assert_ptr_equal(seen.b.comm, &world);
	assert_int_equal(seen.b.n, 3);
	assert_int_equal(seen.b.bytes[2], 3 << 20);
	assert_int_equal(seen.b.total_bytes, 6 << 20);
	assert_int_equal(seen.b.cycles, 19);
	assert_int_equal(seen.b.all_cycles, 20);
	assert_true(seen.b.factor == 1);
	assert_int_equal(seen.b.last_ns, 1200 * US);
	assert_int_equal(seen.b.busy_ns, 2400 * US);
	assert_in_range(seen.b.window_ns, 5200 * US, 5300 * US);
	assert_in_range(seen.b.idle_ns, 2600 * US, 2800 * US);
	assert_int_equal(seen.b.exposed_ns, 1000 * US);
	assert_int_equal(seen.b.exposed_err_ns, 100);
	assert_in_range(seen.b.until_stall_ns, 4200 * US, 4300 * US);
	free(cycle_of);
	ct_exposures_fini(&stalls);
	ct_tape_fini(&tape);
}

/* ---- bubbles ---- */

enum { STAGES = 4, BATCHES = 8 };
#define FORWARD_NS (1 * MS)
#define BACKWARD_NS (2 * MS)

/* A pipeline as GPipe runs it: all forward, then all backward, `slow` times as long in stage 1. Sends take no time. Returns
 * when the cycle is over. `waited` gets what each stage stood in receives. */
static uint64_t gpipe(struct ct_tape *tape, struct ct_exposures *stalls, uint64_t begin,
		      uint64_t number, double slow, uint64_t *waited)
{
	uint64_t free_at[STAGES], ready[STAGES + 1][BATCHES], end = begin;
	struct ct_group group = { 0 };

	for (int s = 0; s < STAGES; s++)
		free_at[s] = begin;
	for (int pass = 0; pass < 2; pass++) {
		for (int k = 0; k < STAGES; k++) {
			int s = pass ? STAGES - 1 - k : k, from = pass ? s + 1 : s - 1;

			/* the first step has one batch less */
			for (int b = number == 0; b < BATCHES; b++) {
				uint64_t cost = pass ? BACKWARD_NS : FORWARD_NS, there;

				if (k > 0) {
					struct part p[2] = { { .seat = (uint32_t)from,
							       .stream = 1 },
							     { .seat = (uint32_t)s, .stream = 2 } };

					there = ready[from][b];
					p[0].enter = p[0].start = there;
					p[0].end = there + 1;
					p[1].enter = p[1].start = free_at[s];
					p[1].end = (there > free_at[s] ? there : free_at[s]) + 1;
					p[1].wait = there > free_at[s] ? there - free_at[s] : 0;
					p[1].err = 10;
					p[0].group = &group;
					group.id = number * 1000 +
						   (uint64_t)(pass * 500 + k * 50 + b);
					waited[s] += p[1].wait;
					put(tape, &pipe4, CT_OP_Send,
					    number * BATCHES + (uint64_t)b, 1 << 20, from, s, p, 2);
					/* two tensors in one launch, and a shape before them */
					put(tape, &pipe4, CT_OP_Send,
					    number * BATCHES + (uint64_t)b, 1 << 20, from, s, p, 2);
					p[0].group = NULL;
					put(tape, &pipe4, CT_OP_Send,
					    number * BATCHES + (uint64_t)b, 64, from, s, p, 2);
					if (p[1].wait)
						stall(stalls, (uint32_t)s, 2, p[1].start,
						      p[1].start, p[1].end - p[1].wait / 2, 1);
					free_at[s] = p[1].end - 1;
				}
				free_at[s] += s == 1 ? (uint64_t)(slow * (double)cost) : cost;
				ready[s][b] = free_at[s];
				end = free_at[s] > end ? free_at[s] : end;
			}
		}
	}
	return end;
}

static void the_bubble_is_what_stages_wait_for_late_senders(void **state)
{
	const uint8_t is_pipeline[3] = { 0, 0, 1 }, told[SEATS] = { 0, 1 };
	uint64_t waited[STAGES] = { 0 }, at = 1 * MS;
	struct ct_bubbles bubbles = { 0 };
	struct ct_exposures stalls;
	struct ct_cut cuts[10];
	struct ct_cuts all = { cuts, 10 };
	struct ct_tape tape;
	uint32_t *cycle_of;

	(void)state;
	ct_tape_init(&tape, 0);
	ct_exposures_init(&stalls, 0);
	for (uint32_t c = 0; c < 10; c++) {
		cuts[c].begin_ns = at;
		at = cuts[c].end_ns = gpipe(&tape, &stalls, at, c, 1, waited);
		/* (M + P - 1) (forward + backward) */
		assert_int_equal(cuts[c].end_ns - cuts[c].begin_ns,
				 (BATCHES - (c == 0) + STAGES - 1) * (FORWARD_NS + BACKWARD_NS));
	}
	assert_int_equal(ct_tape_close(&tape, SEATS), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, SEATS), CT_OK);
	cycle_of = ct_cuts_tape(&all, &tape);
	assert_int_equal(ct_bubbles_find(&tape, &stalls, &all, cycle_of, told, is_pipeline, 3,
					 &bubbles),
			 CT_OK);
	assert_int_equal(bubbles.n, STAGES);
	for (uint32_t s = 0; s < STAGES; s++) {
		const struct ct_bubble *b = &bubbles.all[s];

		assert_int_equal(b->stage, s);
		assert_int_equal(b->seat, s);
		assert_true(b->per_cycle == BATCHES);
		assert_true(fabs(b->ideal_ratio - 3.0 / 11) < 1e-9);
		assert_int_equal(b->cycles, 10);
		assert_int_equal(b->cycle_ns, 10 * 33 * MS - FORWARD_NS - BACKWARD_NS);
		assert_int_equal(b->unknown, 0);
		/* rank 1 tells its stalls, which end half way through each wait */
		assert_int_equal(b->at_most, s != 1);
		if (s != 1)
			assert_int_equal(b->bubble_ns, waited[s]);
		else
			assert_in_range(b->bubble_ns, waited[s] / 2, waited[s] / 2 + 100);
	}
	/* Stage 0 stands for the whole of it while the gradients come back, the last one before its first batch. */
	assert_int_equal(waited[0], 10 * 3 * (FORWARD_NS + BACKWARD_NS));
	assert_int_equal(waited[3], 10 * 3 * FORWARD_NS);
	ct_bubbles_fini(&bubbles);
	free(cycle_of);
	ct_exposures_fini(&stalls);
	ct_tape_fini(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_split_by_when_the_host_called),
		cmocka_unit_test(gaps_are_those_of_one_stream_within_one_cycle),
		cmocka_unit_test(a_rank_stands_idle_when_all_its_streams_do),
		cmocka_unit_test(an_operation_belongs_to_where_its_last_member_came),
		cmocka_unit_test(what_the_host_times_or_is_not_on_record_makes_no_gap),
		cmocka_unit_test(a_group_is_called_when_its_last_call_is),
		cmocka_unit_test(exposed_time_is_summed_by_cycle_and_parted_by_who_was_waited_for),
		cmocka_unit_test(a_cycle_of_which_a_part_is_not_known_is_not_told),
		cmocka_unit_test(stalls_stay_within_their_memory_and_are_forgotten_by_stretches),
		cmocka_unit_test(equal_buckets_are_exposed_as_the_formula_says),
		cmocka_unit_test(buckets_that_are_too_small_get_a_size),
		cmocka_unit_test(a_last_bucket_that_is_late_is_cut),
		cmocka_unit_test(where_the_stream_is_always_busy_sizes_do_not_help),
		cmocka_unit_test(buckets_are_what_comes_in_several_sizes_in_each_cycle),
		cmocka_unit_test(the_bubble_is_what_stages_wait_for_late_senders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
