/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program a slow rank loses its time: the call sites around the gaps that hold it,
 * against a job in which it is known before which operation the rank is late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/lateness/replay/judge.h"
#include "analyzer/model/site_text.h"
#include "tests/unit/parallel_job.h"

#define SLOW 19

static struct ct_site sites[PARALLEL_OPS];

static struct parallel_job job_of_sites(void)
{
	struct parallel_job job = { .layout = PARALLEL_TENSOR_DATA,
				    .tensor = 8,
				    .pipeline = 1,
				    .data = 8,
				    .steps = 20,
				    .seed = 3,
				    .noise = 0.01,
				    .spread = 0.003,
				    .late_rank = SLOW,
				    .sites = sites };

	for (int k = 0; k < PARALLEL_OPS; k++)
		sites[k] = (struct ct_site){ .number = (uint16_t)(k + 1) };
	return job;
}

/* Steps end with the operation of all data groups, the last of each step. */
static void cut_steps(const struct ct_instance_log *log, int n_steps, struct ct_steps *steps)
{
	*steps = (struct ct_steps){ .by_ends = 1 };
	steps->cut_ns = calloc((size_t)n_steps + 1, sizeof(*steps->cut_ns));
	steps->kept = malloc((size_t)n_steps + 1);
	assert_true(steps->cut_ns && steps->kept);
	memset(steps->kept, 1, (size_t)n_steps + 1);
	for (uint32_t k = 1; k <= (uint32_t)n_steps; k++) {
		steps->cut_ns[k - 1] = log->parts[log->order[k * PARALLEL_OPS - 1]].end_ns;
		steps->n = steps->n_kept = k - 1;
	}
	steps->median_ns = (steps->cut_ns[steps->n] - steps->cut_ns[0]) / steps->n;
}

/* The slow rank is found; the sites around its loss are these. 0: none are reported. */
static void expect(const struct parallel_job *job, unsigned before, unsigned after)
{
	struct ct_replay_judgement judgement = { 0 };
	struct ct_starts starts = { .n_hosts = 8 };
	static struct ct_rank_state slots[64];
	struct parallel_run run;
	struct ct_steps steps;
	struct ct_model model;

	parallel_play(job, &run);
	cut_steps(&run.log, job->steps, &steps);
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
	assert_null(judgement.engine.why_not);
	assert_int_equal(judgement.rows.n, 1);
	assert_int_equal(judgement.rows.all[0].slots[0], SLOW);
	assert_int_equal(judgement.rows.all[0].site_before, before);
	assert_int_equal(judgement.rows.all[0].site_after, after);
	ct_replay_judgement_fini(&judgement);
	ct_steps_fini(&steps);
	parallel_free(&run);
}

static void the_sites_are_those_around_the_late_operation(void **state)
{
	(void)state;
	for (unsigned at = 0; at < PARALLEL_OPS; at += at < 2 || at == 15 ? 1 : 13) {
		struct parallel_job job = job_of_sites();

		job.late_ns[at] = 4e6;
		/* before the first operation of a step comes the last of the step before */
		expect(&job, at ? at : PARALLEL_OPS, at + 1);
	}
}

static void a_loss_in_some_steps_is_found_in_those(void **state)
{
	struct parallel_job job = job_of_sites();

	(void)state;
	job.steps = 60;
	job.late_ns[8] = 4e6;
	job.slow_from = 30;
	job.slow_to = 60;
	expect(&job, 8, 9);
}

static void a_spread_loss_has_no_sites(void **state)
{
	struct parallel_job job = job_of_sites();

	(void)state;
	job.slow[SLOW] = 0.3;
	expect(&job, 0, 0);
	job.slow[SLOW] = 0;
	job.late_ns[3] = job.late_ns[8] = job.late_ns[12] = 3e6;
	expect(&job, 0, 0);
	job.late_ns[8] = 9e6;
	expect(&job, 8, 9);
}

/* A line that all operations come from: a backward pass with its buckets. */
static void gaps_between_the_same_sites_add_up(void **state)
{
	struct parallel_job job = job_of_sites();

	(void)state;
	for (int k = 4; k <= 12; k++)
		sites[k].number = 5;
	job.late_ns[6] = job.late_ns[8] = job.late_ns[12] = 3e6;
	job.late_ns[15] = 4e6;
	expect(&job, 5, 5);
}

static void where_no_site_is_on_record_none_is_reported(void **state)
{
	struct parallel_job job = job_of_sites();

	(void)state;
	job.late_ns[5] = 4e6;
	sites[5].number = 0;
	expect(&job, 0, 0);
	job.sites = NULL;
	expect(&job, 0, 0);
}

static void two_sites_are_reported_by_their_lines(void **state)
{
	static const struct {
		const char *before, *after, *told;
	} cases[] = {
		{ "/a/train.py:111 Job.step < /a/train.py:200 main",
		  "/a/train.py:117 Job.step < /a/train.py:200 main",
		  "between train.py:111 and train.py:117" },
		{ "/a/train.py:117 Job.step < /a/train.py:200 main",
		  "/a/train.py:117 Job.step < /a/train.py:200 main", "at train.py:117" },
		{ "train.py:117", "/b/c/data.py:3 <lambda>", "between train.py:117 and data.py:3" },
		/* one function that makes all calls */
		{ "/a/comm.py:20 reduce < /a/train.py:111 step < /a/train.py:5 main",
		  "/a/comm.py:20 reduce < /a/train.py:117 step < /a/train.py:5 main",
		  "between train.py:111 and train.py:117" },
		{ "/a/comm.py:20 reduce < /a/train.py:111 step", "/a/comm.py:20 reduce",
		  "at comm.py:20" },
		{ "/odd: 3/x:y.py:8 f", "/odd: 3/x:y.py:9 f", "between x:y.py:8 and x:y.py:9" },
		{ "simjob+0x4b2f (build 0a1b2c3d)", "/a/train.py:117 step", NULL },
		{ "/a/train.py:117 step", "simjob+0x4b2f (build 0a1b2c3d) < /a/train.py:117 step",
		  NULL },
		{ "simjob+0x4b2f (build 0a1b2c3d)", "simjob+0x4b2f (build 0a1b2c3d)", NULL },
	};
	struct ct_arena *memory = ct_arena_new();

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const char *told = ct_sites_between(memory, cases[k].before, cases[k].after);

		if (cases[k].told)
			assert_string_equal(told, cases[k].told);
		else
			assert_null(told);
	}
	ct_arena_free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sites_are_those_around_the_late_operation),
		cmocka_unit_test(a_loss_in_some_steps_is_found_in_those),
		cmocka_unit_test(a_spread_loss_has_no_sites),
		cmocka_unit_test(gaps_between_the_same_sites_add_up),
		cmocka_unit_test(where_no_site_is_on_record_none_is_reported),
		cmocka_unit_test(two_sites_are_reported_by_their_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
