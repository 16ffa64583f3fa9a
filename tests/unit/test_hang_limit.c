/* SPDX-License-Identifier: Apache-2.0 */
/* From when on an operation of a running job is stalled, for callers that see whether ranks are at
 * work: twice the longest wait, at least 5 s, and the default of 30 s until 100 waits were seen. */
#include <stdio.h>

#include "analyzer/hang/hang.h"
#include "tests/unit/job.h"

#define SECOND 1000000000ull

/* The limit for a job of two ranks whose operations took 10 ms, and one of them `longest_ns`. */
static uint64_t limit_of(int ops, uint64_t longest_ns, int adaptive, int alive)
{
	static const char *const no_rings[] = { NULL };
	const struct ct_run_options here = { .ring_dirs = no_rings };
	const struct ct_hang_options options = { .restart = -1, .adaptive = adaptive };
	static int runs;
	char name[16];
	const char *path;
	struct ct_arena *memory = ct_arena_new();
	struct ct_hang_run *hang;
	struct ct_run *run;
	struct job job;
	uint64_t at = SECOND, limit_ns;

	snprintf(name, sizeof(name), "run%d", runs++);
	job_open(&job, &(struct job_options){ .run = name, .ranks = 2, .alive = alive });
	for (int i = 0; i < ops; i++) {
		uint64_t took = i == ops / 2 ? longest_ns : SECOND / 100;

		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 1000, at, at + took);
		at += took + SECOND / 100;
	}
	job_close(&job, 0);
	path = fx_path(name);
	assert_int_equal(ct_run_open(&path, 1, alive ? &here : NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_hang_of_run(run, &options, memory, &hang, NULL), CT_OK);
	limit_ns = hang->limit_ns;
	ct_run_close(run);
	ct_arena_free(memory);
	return limit_ns;
}

/* Times are recorded in steps. */
static void is_about(uint64_t ns, uint64_t expected_ns)
{
	if (ns < expected_ns - expected_ns / 100 || ns > expected_ns + expected_ns / 100)
		fail_msg("%g s, not %g s", (double)ns / 1e9, (double)expected_ns / 1e9);
}

static void the_limit_follows_the_longest_wait(void **state)
{
	(void)state;
	is_about(limit_of(51, 4 * SECOND, 1, 1), 8 * SECOND);
	is_about(limit_of(51, 40 * SECOND, 1, 1), 80 * SECOND);
}

static void it_is_5_seconds_at_least(void **state)
{
	(void)state;
	is_about(limit_of(51, SECOND / 100, 1, 1), 5 * SECOND);
	is_about(limit_of(51, SECOND, 1, 1), 5 * SECOND);
}

static void it_is_30_seconds_until_100_waits_were_seen(void **state)
{
	(void)state;
	is_about(limit_of(49, 4 * SECOND, 1, 1), 30 * SECOND);
}

static void who_does_not_see_the_ranks_takes_30_seconds(void **state)
{
	(void)state;
	is_about(limit_of(51, 4 * SECOND, 0, 1), 30 * SECOND);
}

/* 5 s replace a longer limit there, whatever was usual. */
static void a_job_that_was_killed_has_its_own_limit(void **state)
{
	(void)state;
	is_about(limit_of(51, 40 * SECOND, 1, 0), 5 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)
		TEST(the_limit_follows_the_longest_wait),
		TEST(it_is_5_seconds_at_least),
		TEST(it_is_30_seconds_until_100_waits_were_seen),
		TEST(who_does_not_see_the_ranks_takes_30_seconds),
		TEST(a_job_that_was_killed_has_its_own_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
