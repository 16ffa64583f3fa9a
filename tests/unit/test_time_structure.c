/* SPDX-License-Identifier: Apache-2.0 */
/* When a rank is late: always, in a part of the run, after as many steps each, by turns; and when
 * all become slower. Healthy runs with noise and hiccups have nothing of the kind.
 *
 * unit_time_structure --measure SEEDS prints how often each case comes out right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/lateness/change_point.h"
#include "analyzer/lateness/stalls.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

static uint64_t random_state;

static void seed(unsigned number)
{
	random_state = ct_mix(number + 77);
}

static double uniform(void)
{
	random_state += 0x9e3779b97f4a7c15ull;
	return ((double)(ct_mix(random_state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

/* ---- change points: a series of step times ---- */

#define STEPS 400u

/* Steps of 300 ms with noise and, in 2 % of them, a spike of 100 ms on average; longer by `share`
 * from `at` on. */
static uint32_t levels_of(double noise, double share, uint32_t at, struct ct_level *levels)
{
	uint64_t times[STEPS];

	for (uint32_t k = 0; k < STEPS; k++) {
		double ns = 300e6 * (1 + noise * normal());

		if (uniform() < 0.02)
			ns += exponential(100e6);
		times[k] = (uint64_t)(k >= at ? ns * (1 + share) : ns);
	}
	return ct_levels_find(times, STEPS, levels);
}

/* Shifts found within ten steps of where they are, and others. */
static void count_shifts(unsigned seeds, double noise, double share, unsigned *found,
			 unsigned *wrong)
{
	struct ct_level levels[CT_SHIFT_LEVELS];

	*found = *wrong = 0;
	for (unsigned s = 0; s < seeds; s++) {
		uint32_t at, n;
		int here = 0;

		seed(s);
		at = share > 0 ? 50 + (uint32_t)(300 * uniform()) : STEPS;
		n = levels_of(noise, share, at, levels);
		assert_true(n > 0 && levels[0].first == 0 && levels[n - 1].end == STEPS);
		for (uint32_t k = 1; k < n; k++) {
			int near = levels[k].first + 10 >= at && levels[k].first <= at + 10;

			assert_int_equal(levels[k].first, levels[k - 1].end);
			here |= near;
			*wrong += !near;
		}
		*found += (unsigned)here;
	}
}

static void steady_steps_have_one_level(void **state)
{
	const double noises[] = { 0.01, 0.05, 0.2 };
	unsigned found, wrong;

	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		count_shifts(200, noises[n], 0, &found, &wrong);
		assert_int_equal(found + wrong, 0);
	}
}

static void a_shift_of_8_percent_is_always_found(void **state)
{
	const double shares[] = { 0.08, 0.1, 0.2 };
	unsigned found, wrong;

	(void)state;
	for (unsigned s = 0; s < 3; s++) {
		count_shifts(150, 0.01, shares[s], &found, &wrong);
		assert_int_equal(found, 150);
		assert_int_equal(wrong, 0);
	}
}

/* What makes a machine slow lasts for a while: steps that follow each other are alike. */
static void slowness_that_comes_and_goes_is_no_change(void **state)
{
	(void)state;
	for (unsigned s = 0; s < 200; s++) {
		struct ct_level levels[CT_SHIFT_LEVELS];
		uint64_t times[STEPS];
		double drift = 0;

		seed(s);
		for (uint32_t k = 0; k < STEPS; k++) {
			drift = 0.8 * drift + 0.06 * normal();
			times[k] = (uint64_t)(100e6 * exp(drift));
		}
		assert_int_equal(ct_levels_find(times, STEPS, levels), 1);
	}
}

static void a_level_is_reported_with_its_median_and_its_noise(void **state)
{
	struct ct_level levels[CT_SHIFT_LEVELS];

	(void)state;
	seed(1);
	assert_int_equal(levels_of(0.01, 0.5, 100, levels), 2);
	assert_in_range(levels[1].first, 98, 102);
	assert_float_equal(levels[0].median_ns, 300e6, 2e6);
	assert_float_equal(levels[1].median_ns, 450e6, 2e6);
	assert_true(levels[0].sd_ns > 2e6 && levels[0].sd_ns < 4e6);
}

static void too_few_steps_are_one_level(void **state)
{
	const uint64_t times[3] = { 1, 1000, 1 };
	struct ct_level levels[CT_SHIFT_LEVELS];

	(void)state;
	assert_int_equal(ct_levels_find(times, 0, levels), 0);
	assert_int_equal(ct_levels_find(times, 3, levels), 1);
	assert_int_equal(levels[0].end, 3);
}

/* ---- stalls: what ranks are charged with ---- */

static struct ct_stall charges[4096];

/* A stall of `ms` after every `every`th of 400 steps, of the rank that `next` says, among small
 * charges. */
static uint32_t stalls(uint32_t every, double ms, uint32_t (*next)(uint32_t turn))
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < STEPS; k++) {
		if (uniform() < 0.5)
			charges[n++] = (struct ct_stall){
				k, (uint32_t)(8 * uniform()), exponential(1e6), 1e3, 0, 0
			};
		if (k % every == every - 1)
			charges[n++] = (struct ct_stall){
				k, next(k / every), ms * 1e6 * (1 + 0.02 * normal()), 1e3, 0, 0
			};
	}
	return n;
}

static uint32_t always_3(uint32_t turn)
{
	(void)turn;
	return 3;
}

static uint32_t by_turns(uint32_t turn)
{
	return (5 * turn) % 8;
}

static void stalls_of_one_rank_are_periodic(void **state)
{
	struct ct_stall_pattern p;

	(void)state;
	seed(1);
	ct_stalls_of_one(charges, stalls(50, 100, always_3), STEPS, 30e6, &p);
	assert_int_equal(p.n, 8);
	assert_float_equal(p.every, 50, 0.1);
	assert_float_equal(p.typical_ns, 100e6, 5e6);
	assert_float_equal(p.sum_ns, 800e6, 20e6);
	assert_int_equal(p.first, 49);
	assert_int_equal(p.last, 399);
	/* that is not a turn-taking */
	ct_stalls_of_all(charges, stalls(50, 100, always_3), STEPS, 30e6, &p);
	assert_int_equal(p.n, 0);
}

static uint32_t mostly_3(uint32_t turn)
{
	return turn % 4 ? 3 : turn % 8;
}

static void stalls_of_mostly_one_rank_do_not_rotate(void **state)
{
	struct ct_stall_pattern p;

	(void)state;
	seed(1);
	ct_stalls_of_all(charges, stalls(50, 100, mostly_3), STEPS, 30e6, &p);
	assert_int_equal(p.n, 0);
}

static void stalls_of_another_rank_each_time_rotate(void **state)
{
	struct ct_stall_pattern p;

	(void)state;
	seed(1);
	ct_stalls_of_all(charges, stalls(50, 100, by_turns), STEPS, 30e6, &p);
	assert_int_equal(p.n, 8);
	assert_int_equal(p.slots, 8);
	assert_int_equal(p.most_of_one, 1);
	assert_float_equal(p.every, 50, 0.1);
}

static void few_short_or_late_stalls_are_no_pattern(void **state)
{
	struct ct_stall_pattern p;

	(void)state;
	seed(1);
	ct_stalls_of_one(charges, stalls(120, 100, always_3), STEPS, 30e6, &p); /* three */
	assert_int_equal(p.n, 0);
	ct_stalls_of_one(charges, stalls(50, 20, always_3), STEPS, 30e6, &p);
	assert_int_equal(p.n, 0);
	/* all in the first third of the run */
	ct_stalls_of_one(charges, stalls(50, 100, always_3), 3 * STEPS, 30e6, &p);
	assert_int_equal(p.n, 0);
	/* every second step: slow, not stalling */
	ct_stalls_of_one(charges, stalls(2, 100, always_3), STEPS, 30e6, &p);
	assert_int_equal(p.n, 0);
}

/* The distance from one recorded part of the run to the next is unknown. */
static void distances_over_holes_do_not_count(void **state)
{
	struct ct_stall_pattern p;
	uint32_t n = 0;

	(void)state;
	for (uint32_t k = 0; k < 12; k++)
		charges[n++] = (struct ct_stall){ 50 * k + 137 * (k / 4), 3, 1e8, 1e3, k / 4, 0 };
	ct_stalls_of_one(charges, n, 600, 30e6, &p);
	assert_int_equal(p.n, 12);
	assert_float_equal(p.every, 50, 0.1);
	for (n = 0; n < 12; n++)
		charges[n] = (struct ct_stall){ 50 * n, 3, 1e8, 1e3, n, 0 };
	ct_stalls_of_one(charges, n, 600, 30e6, &p);
	assert_int_equal(p.n, 0);
}

/* Hiccups come at random and are as long as it happens. */
static unsigned false_patterns(unsigned seeds, double rate, double ms, double least_ms)
{
	unsigned found = 0;

	for (unsigned s = 0; s < seeds; s++) {
		struct ct_stall_pattern p;
		uint32_t n = 0;

		seed(1000 + s);
		for (uint32_t k = 0; k < STEPS; k++) {
			for (uint32_t slot = 0; slot < 16 && n < 4096; slot++) {
				if (uniform() < rate)
					charges[n++] = (struct ct_stall){
						k, slot, exponential(ms * 1e6), 0, 0, 0
					};
			}
		}
		ct_stalls_of_all(charges, n, STEPS, least_ms * 1e6, &p);
		found += p.n > 0;
		for (uint32_t slot = 0; slot < 16; slot++) {
			uint32_t own = 0;

			for (uint32_t k = 0; k < n; k++) {
				if (charges[k].slot == slot) {
					struct ct_stall swap = charges[own];

					charges[own++] = charges[k];
					charges[k] = swap;
				}
			}
			ct_stalls_of_one(charges, own, STEPS, least_ms * 1e6, &p);
			found += p.n > 0;
		}
	}
	return found;
}

static void hiccups_are_no_pattern(void **state)
{
	(void)state;
	assert_int_equal(false_patterns(200, 0.01, 20, 30), 0);
	assert_int_equal(false_patterns(200, 0.1, 5, 30), 0);
	assert_int_equal(false_patterns(200, 0.01, 100, 30), 0);
}

/* ---- whole runs ---- */

static struct ct_report *report_of(const struct job_loop *loop, int ranks)
{
	const struct job_options options = { .run = "run", .ranks = ranks, .ranks_per_host = 4 };
	struct ct_report *report;
	static struct job job;
	uint64_t end;

	job_open(&job, &options);
	end = job_run(&job, loop, 1000000, NULL);
	job_close(&job, end + 1000000);
	report = job_report(&job, -1);
	return report;
}

static int is_of_time(const struct ct_finding *f)
{
	return f->kind == CT_FINDING_ROTATING_STALLS || f->kind == CT_FINDING_PERIODIC_STALLS ||
	       f->kind == CT_FINDING_CHANGE_POINT;
}

static unsigned false_findings(struct job_loop loop, int ranks, unsigned seeds)
{
	unsigned found = 0;

	for (unsigned s = 0; s < seeds; s++) {
		struct ct_report *report;
		void *state;

		assert_int_equal(fx_setup(&state), 0);
		loop.seed = s;
		report = report_of(&loop, ranks);
		assert_int_equal(report->steps.count,
				 (uint64_t)loop.steps * (uint64_t)loop.ops - 1);
		for (size_t i = 0; i < report->n_findings; i++)
			found += (unsigned)is_of_time(&report->findings[i]);
		ct_report_free(report);
		assert_int_equal(fx_teardown(&state), 0);
	}
	return found;
}

static const struct job_loop healthy[] = {
	{ .steps = 200, .ops = 1, .step_ms = 100, .noise = 0.01, .skew_us = 10, .transfer_us = 1000 },
	{ .steps = 200, .ops = 1, .step_ms = 100, .noise = 0.05, .skew_us = 10, .transfer_us = 1000 },
	{ .steps = 200, .ops = 1, .step_ms = 100, .noise = 0.2, .skew_us = 10, .transfer_us = 1000 },
	{ .steps = 200,
	  .ops = 1,
	  .step_ms = 100,
	  .noise = 0.01,
	  .hiccup = 0.01,
	  .hiccup_ms = 20,
	  .skew_us = 10,
	  .transfer_us = 1000 },
	{ .steps = 200,
	  .ops = 1,
	  .step_ms = 100,
	  .noise = 0.01,
	  .hiccup = 0.1,
	  .hiccup_ms = 5,
	  .skew_us = 10,
	  .transfer_us = 1000 },
	{ .steps = 200,
	  .ops = 1,
	  .step_ms = 100,
	  .noise = 0.01,
	  .hiccup = 0.01,
	  .hiccup_ms = 100,
	  .skew_us = 10,
	  .transfer_us = 1000 },
	{ .steps = 200,
	  .ops = 1,
	  .step_ms = 100,
	  .noise = 0.01,
	  .spread = 0.01,
	  .hiccup = 0.003,
	  .hiccup_ms = 300,
	  .skew_us = 10,
	  .transfer_us = 1000 },
};
#define N_HEALTHY (sizeof(healthy) / sizeof(healthy[0]))

static void healthy_runs_have_no_time_structure(void **state)
{
	(void)state;
	fx_teardown(state);
	for (size_t h = 0; h < N_HEALTHY; h++)
		assert_int_equal(false_findings(healthy[h], 8, 4), 0);
	assert_int_equal(fx_setup(state), 0);
}

/* Of a damaged trace: what times that go back leave of steps. */
static void steps_of_no_time_are_compared_with_none(void **state)
{
	uint64_t cuts[STEPS + 1] = { 0 }, nothing[STEPS] = { 0 };
	uint8_t kept[STEPS] = { 0 };
	struct ct_findings list = { .memory = ct_arena_new(),
				    .step_time = { 0, 20000000000ull, 1 } };
	struct ct_model model = { .duration_ns = 20000000000ull };
	struct ct_steps steps = { .cut_ns = cuts, .n = STEPS, .kept = kept };
	struct ct_step_blame blame = { .kept = kept, .comm_ns = nothing, .n_steps = STEPS };
	const struct ct_time_structure t = {
		.model = &model, .steps = &steps, .blame = &blame, .list = &list
	};

	(void)state;
	for (uint32_t k = 0; k < STEPS; k++)
		cuts[k + 1] = cuts[k] + (k < STEPS / 2 ? 50000000 : 100000000);
	assert_int_equal(ct_shifts_report(&t), CT_OK);
	assert_int_equal(list.n, 1);
	list.n = 0;
	for (uint32_t k = 0; k < STEPS; k++)
		cuts[k + 1] = cuts[k] + (k < STEPS / 2 ? 0 : 100000000);
	assert_int_equal(ct_shifts_report(&t), CT_OK);
	assert_int_equal(list.n, 0);
	ct_arena_free(list.memory);
	ct_findings_fini(&list);
}

static double value_of(const struct ct_finding *f, const char *name)
{
	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) == 0)
			return f->evidence[i].value;
	}
	return NAN;
}

static void a_straggler_has_its_steps(void **state)
{
	struct job_loop loop = healthy[0];
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	loop.slow = 1 << 5;
	loop.slow_pct = 20;
	report = report_of(&loop, 8);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_in_range(f->step_first, 0, 4);
	assert_in_range(f->step_last, 194, 199);
	assert_non_null(strstr(job_pairs(f), "pattern=persistent"));
	assert_true(isnan(f->gpu_seconds)); /* there is no GPU */
	assert_int_equal(report->steps.items[100].last_rank, 5);
	ct_report_free(report);
}

static void a_straggler_of_a_part_of_the_run_has_that_part(void **state)
{
	struct job_loop loop = healthy[0];
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	loop.slow = 1 << 5;
	loop.slow_pct = 20;
	loop.from = 0.5;
	report = report_of(&loop, 8);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_in_range(f->step_first, 95, 103);
	assert_in_range(f->step_last, 194, 199);
	assert_non_null(strstr(job_pairs(f), "pattern=part-of-run"));
	/* it is why the steps became longer */
	assert_null(job_finding(report, CT_FINDING_CHANGE_POINT));
	ct_report_free(report);
}

/* All ranks stall for 200 ms, each after 40 steps of 100 ms of its own. */
static void ranks_that_each_stall_by_themselves_are_one_finding(void **state)
{
	const struct job_options options = { .run = "run", .ranks = 8 };
	const struct ct_finding *f;
	struct ct_report *report;
	static struct job job;
	uint64_t now = 1000000;

	(void)state;
	job_open(&job, &options);
	for (uint32_t k = 0; k < 200; k++) {
		uint64_t arrival[8], latest = 0;

		for (uint32_t r = 0; r < 8; r++) {
			arrival[r] = now + 100000000 + 1000 * r +
				     (k % 40 == 5 * r + 2 ? 200000000 : 0);
			latest = arrival[r] > latest ? arrival[r] : latest;
		}
		for (int r = 0; r < 8; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, arrival[r],
				       latest + 1000000);
		now = latest + 1000000;
	}
	job_close(&job, now + 1000000);
	report = job_report(&job, -1);
	f = job_finding(report, CT_FINDING_ROTATING_STALLS);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 8);
	assert_float_equal(value_of(f, "every"), 40, 0.5);
	assert_in_range((int)value_of(f, "stalls"), 38, 40);
	assert_float_equal((double)f->time_lost_ns, 40 * 200e6, 500e6);
	assert_null(job_finding(report, CT_FINDING_PERIODIC_STALLS));
	ct_report_free(report);
}

/* Steps of 50 ms of four ranks, one of which stalls: the one that `who` has for the step, '.':
 * none. Each has a length of its own. Returns how many stalls of rank 0 are reported as periodic,
 * 0: none; no other rank's are. */
static unsigned told_of_rank_0(const char *who)
{
	const struct job_options options = { .run = "run", .ranks = 4 };
	const uint64_t lengths[4] = { 40000000, 53000000, 53000000, 31000000 };
	const struct ct_finding *f;
	struct ct_report *report;
	static struct job job;
	uint64_t now = 1000000;
	unsigned told = 0;

	job_open(&job, &options);
	for (uint32_t k = 0; who[k]; k++) {
		uint64_t arrival[4], latest = 0;

		for (int r = 0; r < 4; r++) {
			arrival[r] = now + 50000000 + 1000u * (unsigned)r +
				     (who[k] == '0' + r ? lengths[r] : 0);
			latest = arrival[r] > latest ? arrival[r] : latest;
		}
		for (int r = 0; r < 4; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, arrival[r],
				       latest + 1000000);
		now = latest + 1000000;
	}
	job_close(&job, now + 1000000);
	report = job_report(&job, -1);
	f = job_finding(report, CT_FINDING_PERIODIC_STALLS);
	if (f) {
		assert_int_equal(f->n_ranks, 1);
		assert_int_equal(f->ranks[0], 0);
		told = (unsigned)value_of(f, "stalls");
	}
	ct_report_free(report);
	return told;
}

static void turns_at_even_distances_by_chance_are_no_period(void **state)
{
	(void)state;
	assert_int_equal(told_of_rank_0("..2..1.0...3.0...3..2..1..3.0...1.0...3.0...2..3.."), 0);
}

static void a_period_is_reported_where_no_one_else_stalls(void **state)
{
	(void)state;
	assert_int_equal(told_of_rank_0(".......0.....0..............0.....0.....0........."), 5);
}

static void a_period_is_reported_beside_stalls_of_others(void **state)
{
	(void)state;
	/* by chance one of four has as many once in 25000 jobs */
	assert_int_equal(
		told_of_rank_0(
			"..0..3..0.....0...1.0.....0.1.3.0..1..0.....0.....0..2..0.....0.3...0..1"
			"1.0.....0.....0.....0.1.1.0.....0...2.0.....0.2...0.31..0.....0.2.3.0.3."),
		24);
}

/* ---- figures for docs/dev/algorithms/stalls.md ---- */

static int measure_all(unsigned seeds)
{
	const double noises[] = { 0.01, 0.05, 0.2 }, shares[] = { 0.05, 0.08, 0.1, 0.2 };
	unsigned found, wrong;

	for (unsigned n = 0; n < 3; n++) {
		count_shifts(10 * seeds, noises[n], 0, &found, &wrong);
		printf("levels: noise %.0f%%: %u changes in %u steady series\n", 100 * noises[n],
		       found + wrong, 10 * seeds);
		for (unsigned s = 0; s < 4; s++) {
			count_shifts(10 * seeds, noises[n], shares[s], &found, &wrong);
			printf("levels: noise %.0f%% +%.0f%%: found %u of %u, %u elsewhere\n",
			       100 * noises[n], 100 * shares[s], found, 10 * seeds, wrong);
		}
	}
	printf("hiccups 1%% of 20 ms: %u patterns in %u runs\n",
	       false_patterns(10 * seeds, 0.01, 20, 30), 10 * seeds);
	printf("hiccups 10%% of 5 ms: %u\n", false_patterns(10 * seeds, 0.1, 5, 30));
	printf("hiccups 1%% of 100 ms: %u\n", false_patterns(10 * seeds, 0.01, 100, 30));
	printf("hiccups 0.3%% of 300 ms: %u\n", false_patterns(10 * seeds, 0.003, 300, 30));
	for (size_t h = 0; h < N_HEALTHY; h++)
		printf("healthy run %zu: %u findings in %u runs of 4, %u in %u of 16 ranks\n", h,
		       false_findings(healthy[h], 4, seeds), seeds,
		       false_findings(healthy[h], 16, seeds), seeds);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_steps_have_one_level),
		cmocka_unit_test(a_shift_of_8_percent_is_always_found),
		cmocka_unit_test(slowness_that_comes_and_goes_is_no_change),
		cmocka_unit_test(a_level_is_reported_with_its_median_and_its_noise),
		cmocka_unit_test(too_few_steps_are_one_level),
		cmocka_unit_test(stalls_of_one_rank_are_periodic),
		cmocka_unit_test(stalls_of_mostly_one_rank_do_not_rotate),
		cmocka_unit_test(stalls_of_another_rank_each_time_rotate),
		cmocka_unit_test(few_short_or_late_stalls_are_no_pattern),
		cmocka_unit_test(distances_over_holes_do_not_count),
		cmocka_unit_test(hiccups_are_no_pattern),
		cmocka_unit_test(steps_of_no_time_are_compared_with_none),
		cmocka_unit_test_setup_teardown(healthy_runs_have_no_time_structure, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(ranks_that_each_stall_by_themselves_are_one_finding,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(turns_at_even_distances_by_chance_are_no_period,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_period_is_reported_where_no_one_else_stalls,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_period_is_reported_beside_stalls_of_others,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_straggler_has_its_steps, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_straggler_of_a_part_of_the_run_has_that_part,
						fx_setup, fx_teardown),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure_all((unsigned)strtoul(argv[2], NULL, 10));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
