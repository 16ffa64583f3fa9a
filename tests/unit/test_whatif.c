/* SPDX-License-Identifier: Apache-2.0 */
/* Who is slow and what mending it gains, by replay, against the same schedule computed without the
 * slowness.
 *
 * unit_whatif --measure SEEDS prints reported and true gains. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/lateness/replay/judge.h"
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
	double reported_ns, err_ns, true_ns, total_ns, alone_ns;
	double error_pct, uneven_pct, free_ns, s;
	uint32_t broken;
	const char *why_not;
	/* of the first row; n_rows 0: no rank is slow */
	enum ct_slow_kind kind;
	uint32_t n_rows, n_slots, slots[64]; /* slots of all rows */
	double first_share, last_share;	     /* of the steps, in which it is slow */
};

/* A step ends where the first rank has done as much as in all steps before: it does the same in
 * each. */
static void cut_steps(const struct ct_instance_log *log, int n_steps, struct ct_steps *steps)
{
	uint32_t n = log->slot_first[1] - log->slot_first[0];

	*steps = (struct ct_steps){ .by_ends = 1 };
	steps->cut_ns = calloc((size_t)n_steps + 1, sizeof(*steps->cut_ns));
	steps->kept = malloc((size_t)n_steps + 1);
	assert_true(steps->cut_ns && steps->kept);
	memset(steps->kept, 1, (size_t)n_steps + 1);
	for (uint32_t k = 1; k <= (uint32_t)n_steps && n >= (uint32_t)n_steps; k++) {
		uint32_t at = log->order[log->slot_first[0] + k * n / (uint32_t)n_steps - 1];

		steps->cut_ns[k - 1] = log->parts[at].end_ns;
		steps->n = steps->n_kept = k - 1;
	}
	if (steps->n)
		steps->median_ns = (steps->cut_ns[steps->n] - steps->cut_ns[0]) / steps->n;
	else
		steps->why = "too few operations";
}

static void take(const struct ct_replay_judgement *j, double steps, struct outcome *out)
{
	const struct ct_engine *e = &j->engine;
	double scale = e->n_steps ? steps / e->n_steps : 0;

	out->why_not = e->why_not;
	out->broken = e->schedule.broken;
	if (e->why_not)
		return;
	out->reported_ns = j->rows.gain_ns * scale;
	out->err_ns = j->rows.gain_err_ns * scale;
	out->error_pct = 100 * fabs(e->played / e->recorded - 1);
	out->uneven_pct = 100 * j->uneven.ns / e->played;
	out->free_ns = (double)e->free_ns;
	out->s = j->even.s;
	out->n_rows = j->rows.n;
	for (uint32_t k = 0; k < j->rows.n; k++) {
		for (uint32_t i = 0; i < j->rows.all[k].n; i++)
			out->slots[out->n_slots++] = j->rows.all[k].slots[i];
	}
	if (!j->rows.n)
		return;
	out->kind = j->rows.all[0].kind;
	out->alone_ns = j->rows.all[0].gain_ns * scale;
	out->first_share = (double)j->rows.all[0].first / e->n_steps;
	out->last_share = (double)(j->rows.all[0].last + 1) / e->n_steps;
}

static struct outcome judge(const struct parallel_job *job)
{
	struct ct_replay_judgement judgement = { 0 };
	struct ct_starts starts = { 0 };
	static struct ct_rank_state slots[512];
	struct outcome out = { 0 };
	struct parallel_run run;
	struct ct_steps steps;
	struct ct_model model;

	parallel_play(job, &run);
	cut_steps(&run.log, job->steps, &steps);
	starts.n_hosts = ((uint32_t)run.ranks + 7) / 8;
	assert_in_range(run.ranks, 1, 512);
	for (int rank = 0; rank < run.ranks; rank++)
		slots[rank].rank = rank;
	model = (struct ct_model){
		.starts = &starts,
		.host_of = run.host_of,
		.slots = slots,
		.n_slots = (uint32_t)run.ranks,
		.comms = run.comms,
		.matched = run.log.n_instances,
	};
	assert_int_equal(ct_replay_judge(&judgement, &model, &run.log, &steps, NULL), 0);
	out.total_ns = run.total_ns;
	take(&judgement, job->steps, &out);
	ct_replay_judgement_fini(&judgement);
	ct_steps_fini(&steps);
	parallel_free(&run);
	out.true_ns = out.total_ns - without(*job);
	return out;
}

/* Exactly these are named, as this, and mending them gains what the run is shorter by without their
 * slowness. */
static struct outcome expect(const struct parallel_job *job, enum ct_slow_kind kind,
			     const uint32_t *slots, uint32_t n)
{
	struct outcome out = judge(job);

	if (out.why_not)
		fail_msg("nothing told: %s", out.why_not);
	assert_int_equal(out.n_slots, n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t found = 0;

		for (uint32_t i = 0; i < n; i++)
			found += out.slots[i] == slots[k];
		assert_int_equal(found, 1);
	}
	assert_int_equal(out.kind, kind);
	if (fabs(out.reported_ns - out.true_ns) > 0.05 * out.true_ns)
		fail_msg("told %.3f ms, true %.3f ms, play off by %.2f %%", out.reported_ns / 1e6,
			 out.true_ns / 1e6, out.error_pct);
	return out;
}

static void one_slow_rank_costs_what_the_run_is_shorter_without_it(void **state)
{
	static const uint32_t who[] = { 19 };
	struct parallel_job job = cube;

	(void)state;
	job.steps = 40;
	job.slow[19] = 0.05;
	expect(&job, CT_SLOW_RANK, who, 1);
	job.steps = 20;
	job.slow[19] = 0.3;
	expect(&job, CT_SLOW_RANK, who, 1);
}

static void two_of_a_group_cost_together_what_neither_costs_alone(void **state)
{
	static const uint32_t who[] = { 19, 20 };
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.slow[19] = job.slow[20] = 0.1;
	out = expect(&job, CT_SLOW_RANK, who, 2);
	assert_true(out.alone_ns < 0.4 * out.true_ns);
}

static void a_whole_group_is_reported_as_one(void **state)
{
	static const uint32_t who[] = { 8, 9, 10, 11 };
	struct parallel_job job = cube;

	(void)state;
	job.tensor = 4;
	job.data = 16;
	for (int r = 8; r < 12; r++)
		job.slow[r] = 0.1;
	assert_int_equal(expect(&job, CT_SLOW_GROUP, who, 4).n_rows, 1);
}

static void a_slow_host_is_found_whose_clock_no_one_knows(void **state)
{
	static const uint32_t who[] = { 16, 17, 18, 19, 20, 21, 22, 23 };
	struct parallel_job job = cube;

	(void)state;
	job.separate = 1;
	for (int r = 16; r < 24; r++)
		job.slow[r] = 0.1;
	assert_int_equal(expect(&job, CT_SLOW_HOST, who, 8).n_rows, 1);
}

static void a_slow_rank_of_a_pipeline_is_reported_and_not_its_victims(void **state)
{
	static const uint32_t who[] = { 5 };
	struct parallel_job job = pipes;

	(void)state;
	job.slow[5] = 0.05;
	expect(&job, CT_SLOW_RANK, who, 1);
	job.slow[5] = 0.2;
	expect(&job, CT_SLOW_RANK, who, 1);
	/* with nothing but messages between hosts without synchronized clocks, no rank is named */
	job.separate = 1;
	assert_int_equal(judge(&job).n_rows, 0);
}

static void a_long_stage_is_reported_as_a_stage(void **state)
{
	static const uint32_t who[] = { 8, 9, 10, 11 };
	struct parallel_job job = pipes;

	(void)state;
	for (int r = 8; r < 12; r++)
		job.slow[r] = 0.3;
	assert_int_equal(expect(&job, CT_SLOW_STAGE, who, 4).n_rows, 1);
}

/* The same lateness comes to five buckets one after the other: it costs once. */
static void lateness_that_buckets_hand_on_costs_once(void **state)
{
	static const uint32_t who[] = { 5 };
	struct parallel_job job = overlapped;

	(void)state;
	job.slow[5] = 0.05;
	expect(&job, CT_SLOW_RANK, who, 1);
	job.slow[5] = 0.2;
	expect(&job, CT_SLOW_RANK, who, 1);
}

static void slowness_that_transfers_hide_gains_nothing(void **state)
{
	struct parallel_job job = overlapped;
	struct outcome out;

	(void)state;
	/* buckets are full of transfers: only what comes before the first of them counts */
	job.transfer = 4;
	job.slow[5] = 0.05;
	out = judge(&job);
	assert_null(out.why_not);
	assert_true(fabs(out.reported_ns - out.true_ns) < 0.01 * out.total_ns);
	assert_true(out.reported_ns < 0.03 * out.total_ns);
	/* one bucket goes after the other, however early it is ready */
	assert_true(out.error_pct < 0.5);
}

static void half_a_run_of_slowness_is_reported_of_that_half(void **state)
{
	static const uint32_t who[] = { 19 };
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.steps = 60;
	job.slow[19] = 0.2;
	job.slow_from = 30;
	job.slow_to = 60;
	out = expect(&job, CT_SLOW_RANK, who, 1);
	assert_true(fabs(out.first_share - 0.5) < 0.1);
	assert_true(out.last_share > 0.95);
}

static void no_rank_is_slow_in_a_healthy_run(void **state)
{
	struct parallel_job jobs[] = { cube, pipes, overlapped };

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct outcome out = judge(&jobs[k]);

		assert_null(out.why_not);
		assert_int_equal(out.n_rows, 0);
		assert_true(out.error_pct < 0.2);
		assert_true(out.uneven_pct < 3);
	}
}

/* Of the run: what stalls cost that come to one rank or another. */
static double stalls_cost(struct parallel_job job)
{
	struct parallel_run run;
	double with_ns, without_ns;

	parallel_play(&job, &run);
	with_ns = run.total_ns;
	parallel_free(&run);
	job.stalls = 0;
	parallel_play(&job, &run);
	without_ns = run.total_ns;
	parallel_free(&run);
	return (with_ns - without_ns) / with_ns;
}

/* Slow by turns: no rank is slow, and the cost is reported. */
static void stalls_of_everybody_are_unevenness(void **state)
{
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.stalls = 0.01;
	job.stall_ms = 5;
	job.steps = 60;
	out = judge(&job);
	assert_null(out.why_not);
	assert_int_equal(out.n_rows, 0);
	if (fabs(out.uneven_pct - 100 * stalls_cost(job)) > 2)
		fail_msg("uneven %.2f %%, true %.2f %%", out.uneven_pct, 100 * stalls_cost(job));
}

/* Where computing waits for each operation it is known exactly what the run takes without them;
 * where it does not, at least that much is promised. */
static void the_run_without_communication_is_never_promised_to_be_longer(void **state)
{
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	out = judge(&job);
	job.transfer = -1;
	assert_true(fabs(out.free_ns - without(job)) < 0.01 * out.total_ns);
	job = overlapped;
	out = judge(&job);
	job.transfer = -1;
	assert_true(out.free_ns < without(job));
	assert_true(out.free_ns > 0.5 * out.total_ns);
}

static void what_is_missing_leaves_the_rest_to_be_played(void **state)
{
	struct parallel_job job = cube;
	struct outcome out;

	(void)state;
	job.slow[19] = 0.3;
	job.lost = 0.002;
	out = judge(&job);
	assert_null(out.why_not);
	assert_int_equal(out.n_slots, 1);
	assert_int_equal(out.slots[0], 19);
	assert_true(fabs(out.reported_ns - out.true_ns) < 0.15 * out.true_ns);
	/* one rank without times is a hole in every operation that it takes part in */
	job.lost = 0;
	job.mute = 1 + 40;
	out = judge(&job);
	for (uint32_t k = 0; k < out.n_slots; k++)
		assert_int_equal(out.slots[k], 19);
}

static void times_that_make_no_sense_end_and_name_no_one(void **state)
{
	struct parallel_job jobs[] = { cube, pipes, overlapped };

	(void)state;
	for (unsigned k = 0; k < 9; k++) {
		struct parallel_job job = jobs[k % 3];

		job.garbage = 1;
		job.steps = 12;
		job.seed = 100 + k;
		assert_int_equal(judge(&job).n_rows, 0);
	}
}

static void an_empty_log_has_nothing_to_tell(void **state)
{
	struct ct_replay_judgement judgement = { 0 };
	struct ct_steps steps = { .why = "nothing" };
	struct ct_starts starts = { 0 };
	uint32_t host = 0;
	struct ct_model model = { .starts = &starts, .host_of = &host };
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 0);
	assert_int_equal(ct_instance_log_close(&log, 1), 0);
	assert_int_equal(ct_replay_judge(&judgement, &model, &log, &steps, NULL), 0);
	assert_non_null(judgement.engine.why_not);
	assert_int_equal(judgement.rows.n, 0);
	ct_replay_judgement_fini(&judgement);
	ct_instance_log_fini(&log);
}

/* ---- figures for docs/ACCURACY.md ---- */

static void measure(const char *name, struct parallel_job job, unsigned seeds)
{
	double told = 0, truth = 0, worst = 1, error = 0;
	unsigned named = 0;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct outcome out;

		job.seed = 1000 + seed;
		out = judge(&job);
		named += out.n_rows > 0;
		told += 100 * out.reported_ns / out.total_ns / seeds;
		truth += 100 * out.true_ns / out.total_ns / seeds;
		if (out.n_rows && fabs(out.reported_ns / out.true_ns - 1) > fabs(worst - 1))
			worst = out.reported_ns / out.true_ns;
		error = out.error_pct > error ? out.error_pct : error;
	}
	printf("%-44s named in %u told %6.2f%% true %6.2f%% worst ratio %.3f play off %.3f%%\n",
	       name, named, told, truth, worst, error);
	fflush(stdout);
}

static int measure_all(unsigned seeds)
{
	struct parallel_job job = cube;

	measure("tensor x data, nobody slow", job, seeds);
	job.slow[19] = 0.05;
	measure("tensor x data, one rank +5 %", job, seeds);
	job.slow[19] = 0.3;
	measure("tensor x data, one rank +30 %", job, seeds);
	job.slow[19] = job.slow[20] = 0.1;
	measure("tensor x data, two ranks of a group +10 %", job, seeds);
	for (int r = 16; r < 24; r++)
		job.slow[r] = 0.1;
	measure("tensor x data, a group (a host) +10 %", job, seeds);
	job.separate = 1;
	measure("the same, clocks not related", job, seeds);
	job = pipes;
	measure("pipeline x data, nobody slow", job, seeds);
	job.slow[5] = 0.05;
	measure("pipeline x data, one rank +5 %", job, seeds);
	job.slow[5] = 0.2;
	measure("pipeline x data, one rank +20 %", job, seeds);
	job.separate = 1;
	measure("the same, clocks not related", job, seeds);
	job = overlapped;
	measure("buckets, nobody slow", job, seeds);
	job.slow[5] = 0.05;
	measure("buckets, one rank +5 %", job, seeds);
	job.slow[5] = 0.2;
	measure("buckets, one rank +20 %", job, seeds);
	job.transfer = 4;
	measure("buckets, transfers hide it, +20 %", job, seeds);
	job = overlapped;
	job.stalls = 0.02;
	job.stall_ms = 5;
	measure("buckets, nobody slow, stalls", job, seeds);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_slow_rank_costs_what_the_run_is_shorter_without_it),
		cmocka_unit_test(two_of_a_group_cost_together_what_neither_costs_alone),
		cmocka_unit_test(a_whole_group_is_reported_as_one),
		cmocka_unit_test(a_slow_host_is_found_whose_clock_no_one_knows),
		cmocka_unit_test(a_slow_rank_of_a_pipeline_is_reported_and_not_its_victims),
		cmocka_unit_test(a_long_stage_is_reported_as_a_stage),
		cmocka_unit_test(lateness_that_buckets_hand_on_costs_once),
		cmocka_unit_test(slowness_that_transfers_hide_gains_nothing),
		cmocka_unit_test(half_a_run_of_slowness_is_reported_of_that_half),
		cmocka_unit_test(no_rank_is_slow_in_a_healthy_run),
		cmocka_unit_test(stalls_of_everybody_are_unevenness),
		cmocka_unit_test(the_run_without_communication_is_never_promised_to_be_longer),
		cmocka_unit_test(what_is_missing_leaves_the_rest_to_be_played),
		cmocka_unit_test(times_that_make_no_sense_end_and_name_no_one),
		cmocka_unit_test(an_empty_log_has_nothing_to_tell),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure_all((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
