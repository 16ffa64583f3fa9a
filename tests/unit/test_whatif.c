/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank, a group or a host costs, by replay, against the same schedule computed without the slowness.
 *
 * unit_whatif --measure SEEDS prints told and true losses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/lateness/replay/whatif.h"
#include "tests/unit/parallel_job.h"

static const struct parallel_job cube = { .layout = PARALLEL_TENSOR_DATA,
					  .tensor = 8,
					  .pipeline = 1,
					  .data = 8,
					  .steps = 20,
					  .seed = 3,
					  .noise = 0.01,
					  .spread = 0.003 };

static const struct parallel_job pipes = { .layout = PARALLEL_PIPELINE_DATA,
					   .tensor = 1,
					   .pipeline = 4,
					   .data = 4,
					   .steps = 20,
					   .seed = 3,
					   .noise = 0.01 };

static const struct parallel_job overlapped = { .layout = PARALLEL_BUCKETS,
						.tensor = 1,
						.pipeline = 1,
						.data = 8,
						.steps = 60,
						.seed = 3,
						.noise = 0.01 };

static double without(struct parallel_job job)
{
	struct parallel_run run;
	double total;

	memset(job.slow, 0, sizeof(job.slow));
	parallel_play(&job, &run);
	total = run.total_ns;
	parallel_free(&run);
	return total;
}

struct outcome {
	double told_ns, true_ns, total_ns, most_other_ns;
	uint32_t windows;
	double error_pct, left_out_pct, free_ns, usual_ns;
	uint32_t broken;
	int is_close, known;
	const struct ct_comm *comm;
	enum ct_whatif_kind kind;
	uint32_t set_n;
	double set_ns; /* of the set that costs most */
};

/* What these ranks cost together. */
static struct outcome cost_of(const struct parallel_job *job, const uint32_t *seats, uint32_t n)
{
	struct parallel_run run;
	struct ct_whatif w = { 0 };
	struct ct_whatif_loss loss = { 0 };
	struct outcome out = { 0 };
	const struct ct_whatif_set *best = NULL;

	parallel_play(job, &run);
	assert_int_equal(ct_whatif_run(&w, &run.tape, &run.comms, run.host_of, NULL), 0);
	out.known = n && ct_whatif_is_known(&w, seats, n);
	if (n)
		loss = ct_whatif_play(&w, seats, n);
	out.told_ns = (double)loss.loss_ns;
	out.windows = loss.windows;
	out.total_ns = (double)w.total_ns;
	out.error_pct = w.error_pct;
	out.left_out_pct = w.left_out_pct;
	out.is_close = w.is_close;
	out.free_ns = (double)w.free_ns;
	out.usual_ns = (double)w.usual_ns;
	out.broken = w.schedule.broken;
	for (uint32_t s = 0; s < w.schedule.n_seats; s++) {
		int is_in = 0;

		for (uint32_t k = 0; k < n; k++)
			is_in |= seats[k] == s;
		if (!is_in && w.is_asked[s] && (double)w.ranks[s].loss_ns > out.most_other_ns)
			out.most_other_ns = (double)w.ranks[s].loss_ns;
	}
	for (uint32_t k = 0; k < w.n_sets; k++) {
		if (!best || w.sets[k].loss.loss_ns > best->loss.loss_ns)
			best = &w.sets[k];
	}
	if (best) {
		out.kind = best->kind;
		out.comm = best->comm;
		out.set_n = best->n;
		out.set_ns = (double)best->loss.loss_ns;
	}
	ct_whatif_fini(&w);
	parallel_free(&run);
	out.true_ns = run.total_ns - without(*job);
	return out;
}

static void expect_near(const struct parallel_job *job, const uint32_t *seats, uint32_t n)
{
	struct outcome out = cost_of(job, seats, n);

	if (!out.is_close || !out.known || fabs(out.told_ns - out.true_ns) > 0.05 * out.true_ns)
		fail_msg("told %.3f ms, true %.3f ms, play off by %.2f %%", out.told_ns / 1e6,
			 out.true_ns / 1e6, out.error_pct);
}

static void one_slow_rank_costs_what_the_run_is_shorter_without_it(void **state)
{
	static const uint32_t who[] = { 19 };
	struct parallel_job job = cube;

	(void)state;
	job.slow[19] = 0.05;
	expect_near(&job, who, 1);
	job.slow[19] = 0.3;
	expect_near(&job, who, 1);
}

static void two_of_a_group_cost_together_what_neither_costs_alone(void **state)
{
	static const uint32_t who[] = { 19, 20 };
	struct parallel_job job = cube;
	struct outcome one;

	(void)state;
	job.slow[19] = job.slow[20] = 0.1;
	expect_near(&job, who, 2);
	one = cost_of(&job, who, 1);
	assert_true(one.told_ns < 0.4 * one.true_ns);
}

static void a_whole_group_is_found_among_all_groups(void **state)
{
	static const uint32_t who[] = { 8, 9, 10, 11 };
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.tensor = 4;
	job.data = 16;
	for (int r = 8; r < 12; r++)
		job.slow[r] = 0.1;
	expect_near(&job, who, 4);
	out = cost_of(&job, who, 4);
	assert_int_equal(out.set_n, 4);
	assert_true(fabs(out.set_ns - out.true_ns) < 0.05 * out.true_ns);
	assert_true(out.most_other_ns < 0.01 * out.total_ns);
}

static void a_slow_host_is_found_whose_clock_nobody_knows(void **state)
{
	static const uint32_t who[] = { 16, 17, 18, 19, 20, 21, 22, 23 };
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.separate = 1;
	for (int r = 16; r < 24; r++)
		job.slow[r] = 0.1;
	expect_near(&job, who, 8);
	out = cost_of(&job, who, 8);
	assert_int_equal(out.set_n, 8);
	assert_true(fabs(out.set_ns - out.true_ns) < 0.05 * out.true_ns);
}

static void a_slow_stage_of_a_pipeline_costs_what_it_costs(void **state)
{
	static const uint32_t who[] = { 5 };
	struct parallel_job job = pipes;

	(void)state;
	job.slow[5] = 0.05;
	expect_near(&job, who, 1);
	job.separate = 1;
	job.slow[5] = 0.2;
	expect_near(&job, who, 1);
}

/* The same lateness comes to five buckets one after the other: it costs once. */
static void lateness_that_buckets_hand_on_costs_once(void **state)
{
	static const uint32_t who[] = { 5 };
	struct parallel_job job = overlapped;

	(void)state;
	job.slow[5] = 0.05;
	expect_near(&job, who, 1);
	job.slow[5] = 0.2;
	expect_near(&job, who, 1);
}

static void slowness_that_transfers_hide_costs_nothing(void **state)
{
	static const uint32_t who[] = { 5 };
	struct parallel_job job = overlapped;
	struct outcome out;

	(void)state;
	/* buckets are full of transfers: only what comes before the first of them counts */
	job.transfer = 4;
	job.slow[5] = 0.05;
	out = cost_of(&job, who, 1);
	assert_true(fabs(out.told_ns - out.true_ns) < 0.005 * out.total_ns);
	assert_true(out.told_ns < 0.03 * out.total_ns);
	/* one bucket goes after the other, however early it is ready */
	assert_true(out.error_pct < 0.5);
}

static void half_a_run_of_slowness_shows_in_half_of_the_windows(void **state)
{
	static const uint32_t who[] = { 19 };
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.slow[19] = 0.2;
	job.slow_from = 10;
	job.slow_to = 20;
	expect_near(&job, who, 1);
	out = cost_of(&job, who, 1);
	assert_in_range(out.windows, 4, 5);
}

static void nobody_costs_anything_in_a_healthy_run(void **state)
{
	struct parallel_job jobs[] = { cube, pipes, overlapped };

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct outcome out = cost_of(&jobs[k], NULL, 0);

		assert_true(out.is_close);
		assert_true(out.error_pct < 0.2);
		assert_true(out.most_other_ns < 0.003 * out.total_ns);
		assert_true(out.set_ns < 0.005 * out.total_ns);
	}
}

/* Where computing waits for each operation it is known exactly what the run takes without them; where it does not, at least
 * that much is promised. */
static void the_run_without_communication_is_never_promised_to_be_longer(void **state)
{
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	out = cost_of(&job, NULL, 0);
	job.transfer = -1;
	assert_true(fabs(out.free_ns - without(job)) < 0.01 * out.total_ns);
	job = overlapped;
	out = cost_of(&job, NULL, 0);
	job.transfer = -1;
	assert_true(out.free_ns < without(job));
	assert_true(out.free_ns > 0.5 * out.total_ns);
}

static void what_is_missing_leaves_the_rest_to_be_played(void **state)
{
	static const uint32_t who[] = { 19 };
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.slow[19] = 0.3;
	job.lost = 0.002;
	out = cost_of(&job, who, 1);
	assert_true(fabs(out.told_ns - out.true_ns) < 0.15 * out.true_ns);
	/* one rank without times is a hole in every operation that it takes part in */
	job.lost = 0;
	job.mute = 1 + 40;
	out = cost_of(&job, who, 1);
	assert_true(out.left_out_pct > 5);
	assert_false(out.is_close);
	assert_true(out.total_ns > 0);
}

static void times_that_make_no_sense_end_and_are_not_relied_on(void **state)
{
	struct parallel_job jobs[] = { cube, pipes, overlapped };
	uint32_t broken = 0;

	(void)state;
	for (unsigned k = 0; k < 9; k++) {
		struct parallel_job job = jobs[k % 3];
		struct outcome out;

		job.garbage = 1;
		job.steps = 5;
		job.seed = 100 + k;
		out = cost_of(&job, NULL, 0);
		assert_false(out.is_close);
		broken += out.broken;
	}
	/* some of them did wait for each other in a ring */
	assert_true(broken > 0);
}

static void an_empty_tape_has_nothing_to_tell(void **state)
{
	struct ct_tape tape;
	struct ct_whatif w = { 0 };
	uint32_t host = 0;

	(void)state;
	ct_tape_init(&tape, 0);
	assert_int_equal(ct_tape_close(&tape, 1), 0);
	assert_int_equal(ct_whatif_run(&w, &tape, NULL, &host, NULL), 0);
	assert_false(w.is_close);
	assert_int_equal(w.total_ns, 0);
	ct_whatif_fini(&w);
	ct_tape_fini(&tape);
}

/* ---- figures for docs/ANALYSIS.md ---- */

static void measure(const char *name, struct parallel_job job, const uint32_t *seats, uint32_t n,
		    unsigned seeds)
{
	double told = 0, truth = 0, worst = 1, other = 0, error = 0, set = 0;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct outcome out;

		job.seed = 1000 + seed;
		out = cost_of(&job, seats, n);
		told += 100 * out.told_ns / out.total_ns / seeds;
		truth += 100 * out.true_ns / out.total_ns / seeds;
		set += 100 * out.set_ns / out.total_ns / seeds;
		if (n && fabs(out.told_ns / out.true_ns - 1) > fabs(worst - 1))
			worst = out.told_ns / out.true_ns;
		if (out.most_other_ns / out.total_ns > other)
			other = out.most_other_ns / out.total_ns;
		error = out.error_pct > error ? out.error_pct : error;
	}
	printf("%-44s told %6.2f%% true %6.2f%% worst ratio %.3f best set %.2f%% other ranks at "
	       "most %.2f%% play off %.3f%%\n",
	       name, told, truth, worst, set, 100 * other, error);
	fflush(stdout);
}

static int measure_all(unsigned seeds)
{
	static const uint32_t one[] = { 19 }, two[] = { 19, 20 }, five[] = { 5 },
			      group[] = { 16, 17, 18, 19, 20, 21, 22, 23 };
	struct parallel_job job = cube;

	measure("tensor x data, nobody slow", job, NULL, 0, seeds);
	job.slow[19] = 0.05;
	measure("tensor x data, one rank +5 %", job, one, 1, seeds);
	job.slow[19] = 0.3;
	measure("tensor x data, one rank +30 %", job, one, 1, seeds);
	job.slow[19] = job.slow[20] = 0.1;
	measure("tensor x data, two ranks of a group +10 %", job, two, 2, seeds);
	for (int r = 16; r < 24; r++)
		job.slow[r] = 0.1;
	measure("tensor x data, a group (a host) +10 %", job, group, 8, seeds);
	job.separate = 1;
	measure("the same, clocks not related", job, group, 8, seeds);
	job = pipes;
	measure("pipeline x data, nobody slow", job, NULL, 0, seeds);
	job.slow[5] = 0.05;
	measure("pipeline x data, one rank +5 %", job, five, 1, seeds);
	job.slow[5] = 0.2;
	measure("pipeline x data, one rank +20 %", job, five, 1, seeds);
	job.separate = 1;
	measure("the same, clocks not related", job, five, 1, seeds);
	job = overlapped;
	measure("buckets, nobody slow", job, NULL, 0, seeds);
	job.slow[5] = 0.05;
	measure("buckets, one rank +5 %", job, five, 1, seeds);
	job.slow[5] = 0.2;
	measure("buckets, one rank +20 %", job, five, 1, seeds);
	job.transfer = 4;
	measure("buckets, transfers hide it, +20 %", job, five, 1, seeds);
	job = overlapped;
	job.stalls = 0.02;
	job.stall_ms = 5;
	measure("buckets, nobody slow, stalls", job, NULL, 0, seeds);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_slow_rank_costs_what_the_run_is_shorter_without_it),
		cmocka_unit_test(two_of_a_group_cost_together_what_neither_costs_alone),
		cmocka_unit_test(a_whole_group_is_found_among_all_groups),
		cmocka_unit_test(a_slow_host_is_found_whose_clock_nobody_knows),
		cmocka_unit_test(a_slow_stage_of_a_pipeline_costs_what_it_costs),
		cmocka_unit_test(lateness_that_buckets_hand_on_costs_once),
		cmocka_unit_test(slowness_that_transfers_hide_costs_nothing),
		cmocka_unit_test(half_a_run_of_slowness_shows_in_half_of_the_windows),
		cmocka_unit_test(nobody_costs_anything_in_a_healthy_run),
		cmocka_unit_test(the_run_without_communication_is_never_promised_to_be_longer),
		cmocka_unit_test(what_is_missing_leaves_the_rest_to_be_played),
		cmocka_unit_test(times_that_make_no_sense_end_and_are_not_relied_on),
		cmocka_unit_test(an_empty_tape_has_nothing_to_tell),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure_all((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
