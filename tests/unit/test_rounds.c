/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds: evidence against a rank counts by cycle, so that one late start in each of them is a slow rank, a few stalls are
 * none, and a handful of cycles tells nothing. Truth is what the jobs were made with. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/lateness/lateness.h"
#include "analyzer/stream/stream.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

#define OPS 40
#define CYCLES 60

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Four ranks, cycles of forty operations of one class 1 ms apart, to which each rank comes up to 200 us late. Rank 2 comes late_ns late
 * to the first one of every `every`-th cycle. */
static struct ct_report *many_operations(uint64_t late_ns, int every)
{
	static struct job job;
	uint64_t now = 5000000, seed = 1;

	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4 });
	for (int k = 0; k < CYCLES * OPS; k++) {
		uint64_t late = k % OPS == 0 && k / OPS % every == 0 ? late_ns : 0, come[4],
			 last = 0;

		for (int r = 0; r < 4; r++) {
			come[r] = now + 1000000 + draw(&seed) % 200000 + (r == 2 ? late : 0);
			last = come[r] > last ? come[r] : last;
		}
		for (int r = 0; r < 4; r++)
			job_collective(&job, r, CT_OP_AllReduce, k % OPS ? 1100 : 1900, come[r],
				       last + 100000);
		now = last + 100000;
	}
	job_close(&job, now);
	return job_report(&job, -1);
}

static void one_late_start_in_each_cycle_is_a_slow_rank(void **state)
{
	struct ct_report *report = many_operations(5000000, 1);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);
	double truth = CYCLES * 5000000.0;

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 2);
	assert_true(fabs((double)f->loss_ns - truth) <= (double)f->loss_err_ns);
	assert_true((double)f->loss_err_ns < 0.5 * truth);
	ct_report_free(report);
}

static void a_few_stalls_among_many_operations_are_no_slow_rank(void **state)
{
	struct ct_report *report = many_operations(100000000, 20);

	(void)state;
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
}

static struct ct_report *loop_report(const struct job_loop *loop, int ranks)
{
	static struct job job;
	uint64_t end;

	job_open(&job, &(struct job_options){ .run = "run", .ranks = ranks });
	end = job_run(&job, loop, 5000000, NULL);
	job_close(&job, end + 1000000);
	return job_report(&job, -1);
}

static void few_cycles_are_not_enough_evidence(void **state)
{
	struct job_loop loop = { .cycles = 4,
				 .ops = 25,
				 .cycle_ms = 100,
				 .noise = 0.01,
				 .skew_us = 10,
				 .transfer_us = 1500,
				 .slow = 1,
				 .slow_pct = 20 };
	struct ct_report *report;
	void *s;

	(void)state;
	for (unsigned seed = 0; seed < 10; seed++) {
		static const int cycles[] = { 1, 2, 3, 5, 10 };

		for (int k = 0; k < 5; k++) {
			struct job_loop healthy = { .cycles = cycles[k],
						    .ops = 3,
						    .cycle_ms = 100,
						    .noise = 0.05,
						    .skew_us = 10,
						    .transfer_us = 1500,
						    .seed = seed };

			assert_int_equal(fx_setup(&s), 0);
			report = loop_report(&healthy, seed % 2 ? 4 : 8);
			if (job_finding(report, CT_FINDING_STRAGGLER))
				fail_msg("seed %u, %d cycles", seed, cycles[k]);
			ct_report_free(report);
			assert_int_equal(fx_teardown(&s), 0);
		}
	}
	/* where a cycle is the same operation 25 times no cycle is seen, and every few operations are a round: enough */
	assert_int_equal(fx_setup(&s), 0);
	report = loop_report(&loop, 4);
	assert_non_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
	assert_int_equal(fx_teardown(&s), 0);
}

/* ---- arithmetic ---- */

static void a_full_log_keeps_the_sums_by_rank(void **state)
{
	struct ct_charge_log log = { 0 };
	struct ct_rounds rounds;
	struct ct_tally tally;
	double sum = 0;

	(void)state;
	for (uint64_t k = 0; k < 3u << 20; k++)
		assert_int_equal(ct_charge_log_add(&log, k * 10000, k % 3 ? 1 : 0, 100), 0);
	assert_true(log.n <= CT_CHARGES_MOST);
	ct_rounds_make(&rounds, NULL, 0, (3ull << 20) * 10000, 0, 10);
	assert_int_equal(rounds.n, 10);
	assert_int_equal(ct_tally_make(&tally, &log, &rounds, 2), 0);
	for (uint32_t u = 0; u < 10; u++) {
		sum += (double)tally.lost_ns[10 + u];
		assert_int_equal(tally.worst[u], 1);
		/* a tenth each, but for what lies at an edge */
		assert_float_equal(tally.lost_ns[10 + u], 2 * (1u << 20) * 100.0 / 10, 1e5);
	}
	assert_float_equal(sum, 2 * (1u << 20) * 100.0, 1e3);
	ct_tally_fini(&tally);
	ct_charge_log_fini(&log);
}

static void rounds_are_cycles_or_several(void **state)
{
	uint64_t cuts[1001];
	struct ct_rounds r;

	(void)state;
	for (uint64_t k = 0; k <= 1000; k++)
		cuts[k] = 500 + k * 1000;
	ct_rounds_make(&r, cuts, 100, 1000000, 0, 7);
	assert_int_equal(r.n, 100);
	assert_true(r.by_cycles);
	ct_rounds_make(&r, cuts, 1000, 1000000, 0, 7);
	assert_int_equal(r.n, CT_ROUNDS_MOST);
	ct_rounds_make(&r, cuts, 1000, 1000000, 20000, 7); /* what keeps a core busy meanwhile */
	assert_int_equal(r.n, 50);
	assert_int_equal(r.begin_ns[1], 500 + 20 * 1000);
	ct_rounds_make(&r, NULL, 0, 1000000, 0, 0);
	assert_int_equal(r.n, 0);
}

static void who_is_slow_in_a_part_of_the_run_has_no_larger_error(void **state)
{
	float own[100], others[100] = { 0 }, room[100];
	struct ct_recurrence part, noise;

	(void)state;
	for (int u = 0; u < 100; u++)
		own[u] = u < 20 ? 1000 : 0;
	ct_recurrence_of(own, others, 100, 0.125, room, &part);
	for (int u = 0; u < 100; u++)
		own[u] = u % 5 ? 0 : 1000;
	ct_recurrence_of(own, others, 100, 0.125, room, &noise);
	assert_int_equal(part.hits, 20);
	assert_int_equal(part.trials, 20);
	assert_float_equal(part.log10_p, 20 * log10(0.125), 1e-6);
	assert_float_equal(part.rest, 14 * 1000.0, 1e-3); /* without one and a twentieth of 100 */
	assert_true(4 * part.spread_ns < noise.spread_ns);
	/* two standard errors of 20 x 1000 in 100 rounds: 2 x 400 x 10 */
	assert_float_equal(noise.spread_ns, 8000, 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_late_start_in_each_cycle_is_a_slow_rank,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_few_stalls_among_many_operations_are_no_slow_rank,
						fx_setup, fx_teardown),
		cmocka_unit_test(few_cycles_are_not_enough_evidence),
		cmocka_unit_test(a_full_log_keeps_the_sums_by_rank),
		cmocka_unit_test(rounds_are_cycles_or_several),
		cmocka_unit_test(who_is_slow_in_a_part_of_the_run_has_no_larger_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
