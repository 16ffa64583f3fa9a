/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient buckets and the bubble of a pipeline, on logs written by hand. All expected figures are
 * worked out in the tests. */
#include "tests/unit/log_parts.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/match/groups.h"
#include "analyzer/overlap/bubbles.h"
#include "analyzer/overlap/buckets.h"

static struct ct_comm pipe4 = { .index = 2, .nranks = 4 };

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

/* 100 buckets of 0.1 MB behind a backward pass of 2 ms: 21 us each, 20 of it start-up, 2.1 ms in
 * all; the first is ready after 20 us, so that 120 us are exposed. 10 MB in n buckets: 20 us + 100
 * us / n is least where the stream keeps up. */
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
	/* less than 2 % of the step is not worth a word */
	ct_buckets_advise(&b, &speed, 10 * MS, &a);
	assert_int_equal(a.n, 0);
	/* what was measured is something else than the model: no suggestion */
	b.exposed_ns = 90 * US;
	ct_buckets_advise(&b, &speed, 2900 * US, &a);
	assert_int_equal(a.problem, CT_BUCKETS_TOO_SMALL);
	assert_int_equal(a.n, 0);
	/* ranks that wait 10 us for each other in every bucket: start-up is half as long again, and
	 * the stream late by it */
	b.exposed_ns = 1120 * US;
	b.window_ns = 3100 * US;
	ct_buckets_advise(&b, &speed, 4 * MS, &a);
	assert_true(fabs(a.model_ns - 1122e3) < 2e3);
	assert_true(a.n > 1 && a.n < 100);
}

/* 2 MB and 96 MB behind 4 ms: the first takes 40 us and is ready after 82 us, the last 980 us, all
 * of it exposed. */
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
	/* 94 of 1 MiB leave 20 + 10.4 us; 47 of 2 MiB 40.9, which is next to nothing more; 32 of 3
	 * MiB 50.6 */
	assert_int_equal(a.n, 47);
	assert_int_equal(a.cap_bytes, 2 << 20);
	assert_true(fabs(a.gain_ns - 939e3) < 1e3);
	/* 40 MB behind as long: 420 us are less than 5 % of the step */
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

/* 20 steps of 10 ms with three buckets, a flag of 4 bytes in every other one, and on another
 * communicator eight equal all-reduces. In step 7 a bucket is missing. */
static void buckets_are_what_comes_in_several_sizes_in_each_step(void **state)
{
	const uint8_t waits_known[SLOTS] = { 1, 1 };
	struct ct_cut cuts[20];
	struct ct_cuts all = { cuts, 20 };
	struct ct_exposures stalls;
	struct ct_instance_log log;
	struct seen seen = { .n = 0 };
	uint32_t *step_of;
	uint64_t seq = 0, others = 0;

	(void)state;
	ct_instance_log_init(&log, 0);
	ct_exposures_init(&stalls, &log.sample, 0);
	for (uint64_t c = 0; c < 20; c++) {
		uint64_t at = (c + 1) * 10 * MS;

		cuts[c] = (struct ct_cut){ at, at + 10 * MS };
		for (uint64_t k = 0; k < 3; k++) {
			struct part p[2] = { { .slot = 0, .stream = 1 },
					     { .slot = 1, .stream = 1 } };

			if (c == 7 && k == 1)
				continue;
			for (int s = 0; s < 2; s++) {
				p[s].enter = at;
				p[s].start = at + (1 + 2 * k) * MS;
				p[s].end = p[s].start + (k + 1) * 400 * US;
			}
			p[0].start -= 100 * US;
			put(&log, &world, CT_OP_AllReduce, seq++, (k + 1) << 20, -1, -1, p, 2);
		}
		for (uint32_t s = 0; s < 2; s++)
			stall(&stalls, s, 0, at + 5 * MS - (s ? 0 : 100 * US), at + 5200 * US,
			      at + 6200 * US, 1);
		if (c % 2)
			put(&log, &world, CT_OP_AllReduce, seq++, 4, -1, -1,
			    (struct part[]){
				    { .slot = 0, .start = at + 8 * MS, .end = at + 9 * MS },
				    { .slot = 1, .start = at + 8 * MS, .end = at + 9 * MS } },
			    2);
		for (uint64_t k = 0; k < 8; k++)
			both(&log, &other, others++, 2, at, at + k * MS, at + k * MS + 500 * US);
		stall(&stalls, 0, 1, at + 7 * MS, at + 7 * MS, at + 7500 * US, 1);
	}
	assert_int_equal(ct_instance_log_close(&log, 2), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, 2), CT_OK);
	step_of = ct_cuts_of_log(&all, &log);
	assert_int_equal(ct_buckets_each(&log, &stalls, step_of, waits_known, see, &seen), CT_OK);
	assert_int_equal(seen.n, 1);
	assert_ptr_equal(seen.b.comm, &world);
	assert_int_equal(seen.b.n, 3);
	assert_int_equal(seen.b.bytes[2], 3 << 20);
	assert_int_equal(seen.b.total_bytes, 6 << 20);
	assert_int_equal(seen.b.steps, 19);
	assert_true(seen.b.factor == 1);
	assert_int_equal(seen.b.last_ns, 1200 * US);
	assert_int_equal(seen.b.busy_ns, 2400 * US);
	assert_in_range(seen.b.window_ns, 5200 * US, 5300 * US);
	assert_in_range(seen.b.idle_ns, 2600 * US, 2800 * US);
	assert_int_equal(seen.b.exposed_ns, 1000 * US);
	assert_int_equal(seen.b.exposed_err_ns, 100);
	assert_in_range(seen.b.until_stall_ns, 4200 * US, 4300 * US);
	free(step_of);
	ct_exposures_fini(&stalls);
	ct_instance_log_fini(&log);
}

/* ---- bubbles ---- */

enum { STAGES = 4, BATCHES = 8 };
#define FORWARD_NS (1 * MS)
#define BACKWARD_NS (2 * MS)

/* A pipeline as GPipe runs it: all forward, then all backward, `slow` times as long in stage 1.
 * Sends take no time. Returns when the step is over. `waited` gets what each stage stood in
 * receives. */
static uint64_t gpipe(struct ct_instance_log *log, struct ct_exposures *stalls, uint64_t begin,
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
					struct part p[2] = { { .slot = (uint32_t)from,
							       .stream = 1 },
							     { .slot = (uint32_t)s, .stream = 2 } };

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
					put(log, &pipe4, CT_OP_Send, number * BATCHES + (uint64_t)b,
					    1 << 20, from, s, p, 2);
					/* two tensors in one launch, and a shape before them */
					put(log, &pipe4, CT_OP_Send, number * BATCHES + (uint64_t)b,
					    1 << 20, from, s, p, 2);
					p[0].group = NULL;
					put(log, &pipe4, CT_OP_Send, number * BATCHES + (uint64_t)b,
					    64, from, s, p, 2);
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
	const uint8_t is_pipeline[3] = { 0, 0, 1 }, waits_known[SLOTS] = { 0, 1 };
	uint64_t waited[STAGES] = { 0 }, at = 1 * MS;
	struct ct_bubbles bubbles = { 0 };
	struct ct_exposures stalls;
	struct ct_cut cuts[10];
	struct ct_cuts all = { cuts, 10 };
	struct ct_instance_log log;
	uint32_t *step_of;

	(void)state;
	ct_instance_log_init(&log, 0);
	ct_exposures_init(&stalls, &log.sample, 0);
	for (uint32_t c = 0; c < 10; c++) {
		cuts[c].begin_ns = at;
		at = cuts[c].end_ns = gpipe(&log, &stalls, at, c, 1, waited);
		/* (M + P - 1) (forward + backward) */
		assert_int_equal(cuts[c].end_ns - cuts[c].begin_ns,
				 (BATCHES - (c == 0) + STAGES - 1) * (FORWARD_NS + BACKWARD_NS));
	}
	assert_int_equal(ct_instance_log_close(&log, SLOTS), CT_OK);
	assert_int_equal(ct_exposures_close(&stalls, SLOTS), CT_OK);
	step_of = ct_cuts_of_log(&all, &log);
	assert_int_equal(ct_bubbles_find(&log, &stalls, &all, step_of, waits_known, is_pipeline, 3,
					 &bubbles),
			 CT_OK);
	assert_int_equal(bubbles.n, STAGES);
	for (uint32_t s = 0; s < STAGES; s++) {
		const struct ct_bubble *b = &bubbles.all[s];

		assert_int_equal(b->stage, s);
		assert_int_equal(b->slot, s);
		assert_true(b->per_step == BATCHES);
		assert_true(fabs(b->ideal_ratio - 3.0 / 11) < 1e-9);
		assert_int_equal(b->steps, 10);
		assert_int_equal(b->step_ns, 10 * 33 * MS - FORWARD_NS - BACKWARD_NS);
		assert_int_equal(b->unknown, 0);
		/* rank 1 shows its stalls, which end half way through each wait */
		assert_int_equal(b->at_most, s != 1);
		if (s != 1)
			assert_int_equal(b->bubble_ns, waited[s]);
		else
			assert_in_range(b->bubble_ns, waited[s] / 2, waited[s] / 2 + 100);
	}
	/* Stage 0 stands for the whole of it while the gradients come back, the last one before its
	 * first batch. */
	assert_int_equal(waited[0], 10 * 3 * (FORWARD_NS + BACKWARD_NS));
	assert_int_equal(waited[3], 10 * 3 * FORWARD_NS);
	ct_bubbles_fini(&bubbles);
	free(step_of);
	ct_exposures_fini(&stalls);
	ct_instance_log_fini(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_buckets_are_exposed_as_the_formula_says),
		cmocka_unit_test(buckets_that_are_too_small_get_a_size),
		cmocka_unit_test(a_last_bucket_that_is_late_is_cut),
		cmocka_unit_test(where_the_stream_is_always_busy_sizes_do_not_help),
		cmocka_unit_test(buckets_are_what_comes_in_several_sizes_in_each_step),
		cmocka_unit_test(the_bubble_is_what_stages_wait_for_late_senders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
