/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyzer/render/deep_link.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

static struct ct_report report(void)
{
	return (struct ct_report){
		.run = { .duration_ns = 1000000, .first_at_ns = 100, .last_at_ns = 900000 }
	};
}

static void a_range_is_a_tenth_wider_than_its_finding_and_ends_with_what_is_drawn(void **state)
{
	struct ct_report r = report();
	struct ct_finding f = { .begin_at_ns = 10000, .end_at_ns = 20000 };
	struct ct_deep_range range = ct_deep_range(&r, &f);

	(void)state;
	assert_int_equal(range.from_ns, 9000);
	assert_int_equal(range.to_ns, 21000);
	f = (struct ct_finding){ .begin_at_ns = 0, .end_at_ns = 1000000 };
	range = ct_deep_range(&r, &f);
	assert_int_equal(range.from_ns, 100);
	assert_int_equal(range.to_ns, 900000);
}

static void a_moment_is_shown_with_what_is_around_it(void **state)
{
	struct ct_report r = report();
	const struct ct_finding f = { .begin_at_ns = 50000, .end_at_ns = 50000 };
	struct ct_deep_range range = ct_deep_range(&r, &f);

	(void)state;
	assert_true(range.from_ns < 50000 && range.to_ns > 50000);
	assert_true(range.to_ns - range.from_ns < 2000);
}

static void without_a_time_there_is_no_range(void **state)
{
	struct ct_report r = report();
	const struct ct_finding never[] = {
		{ .begin_at_ns = CT_UNKNOWN, .end_at_ns = CT_UNKNOWN },
		{ .begin_at_ns = 5, .end_at_ns = CT_UNKNOWN },
		{ .begin_at_ns = 950000, .end_at_ns = 960000 }, /* after all that is drawn */
	};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ct_deep_range(&r, &never[i]).from_ns, CT_UNKNOWN);
	r.run.first_at_ns = r.run.last_at_ns = CT_UNKNOWN;
	assert_int_equal(
		ct_deep_range(&r, &(struct ct_finding){ .begin_at_ns = 5, .end_at_ns = 9 }).from_ns,
		CT_UNKNOWN);
}

static void of_many_steps_the_one_is_shown_in_which_its_ranks_held_up_the_others(void **state)
{
	struct ct_report_step steps[20];
	struct ct_report r = report();
	int rank = 3;
	struct ct_finding f = {
		.begin_at_ns = 40000, .end_at_ns = 200000, .ranks = &rank, .n_ranks = 1
	};
	struct ct_deep_range range;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		steps[i] = (struct ct_report_step){ .index = i,
						    .begin_at_ns = 20000 * i,
						    .time_ns = 20000,
						    .wait_ns = 10,
						    .last_rank = -1 };
	steps[4].wait_ns = 90; /* no one's */
	steps[5].last_rank = steps[7].last_rank = steps[15].last_rank = 3;
	steps[7].wait_ns = 40;
	steps[15].wait_ns = 99; /* not in it */
	steps[8].wait_ns = CT_UNKNOWN;
	steps[8].last_rank = 3;
	r.steps.items = steps;
	r.steps.n_items = 20;
	range = ct_deep_range(&r, &f);
	assert_int_equal(range.from_ns, 120000 - 6000);
	assert_int_equal(range.to_ns, 180000 + 6000);
	/* few of them are shown whole */
	f.end_at_ns = 130000;
	range = ct_deep_range(&r, &f);
	assert_int_equal(range.from_ns, 31000);
	assert_int_equal(range.to_ns, 139000);
}

static void an_address_has_nothing_but_plain_characters_in_its_values(void **state)
{
	struct ct_arena *memory = ct_arena_new();
	int ranks[12];
	const struct ct_finding f = { .comm_hash = 0xee01,
				      .ranks = ranks,
				      .n_ranks = 12,
				      .op_name = "\"></script>&x=",
				      .cause = "#&+%" };
	static const char
		begin[] = "https://ui.perfetto.dev/#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2F"
			  "run.pftrace&visStart=1&visEnd=123456789012345678&startupCommands=%5B%7B"
			  "%22id%22%3A%22dev.perfetto.PinTracksByRegex%22%2C%22args%22%3A%5B%22%5E"
			  "Findings%24%22%5D%7D%2C";
	const struct ct_deep_range range = { 1, UINT64_C(123456789012345678) };
	const char *link, *c;

	(void)state;
	for (int i = 0; i < 12; i++)
		ranks[i] = i ? 100 * i : -1;
	link = ct_deep_link(memory, 9001, range, &f);
	assert_non_null(link);
	assert_memory_equal(link, begin, sizeof(begin) - 1);
	for (c = strchr(link, '?') + 1; *c; c++)
		assert_non_null(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789-._~%&=",
				       *c));
	/* "^rank 0800( |$)" is the eighth that is known, and the last */
	assert_non_null(strstr(link, "%5Erank%200800%28%20%7C%24%29"));
	assert_null(strstr(link, "0900"));
	assert_null(strstr(link, "script"));
	assert_non_null(strstr(link, "%3Aee01%20%5B%28%5D"));
	link = ct_deep_link(memory, 9001, (struct ct_deep_range){ CT_UNKNOWN, CT_UNKNOWN }, NULL);
	assert_null(strstr(link, "visStart"));
	assert_non_null(strstr(link, "%22%5D%7D%5D"));
	ct_arena_free(memory);
}

static void a_report_knows_from_when_to_when_there_are_operations(void **state)
{
	struct job_options options = { .run = "run", .ranks = 3, .start_ns = 1000000 };
	struct ct_report *report;
	struct job job;

	(void)state;
	job_open(&job, &options);
	for (int rank = 0; rank < 3; rank++) {
		/* rank 1 is the first to begin, rank 2 the last to end; 0 begins another one that
		 * never ends */
		uint64_t first = rank == 1 ? 5000000 : 7000000, last = rank == 2 ? 91 : 90;

		job_collective(&job, rank, CT_OP_AllReduce, 100, first, 10000000);
		job_collective(&job, rank, CT_OP_AllReduce, 100, 80000000, last * 1000000);
	}
	job_op(&job, 0,
	       (struct ct_op){ .op = CT_OP_AllReduce, .comm = 1, .seq = 2, .enter_ns = 85000000 });
	job_close(&job, 0);
	report = job_report(&job, -1);
	assert_int_equal(report->run.first_at_ns, 4000000);
	assert_int_equal(report->run.last_at_ns, 90000000);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_range_is_a_tenth_wider_than_its_finding_and_ends_with_what_is_drawn),
		cmocka_unit_test(a_moment_is_shown_with_what_is_around_it),
		cmocka_unit_test(without_a_time_there_is_no_range),
		cmocka_unit_test(
			of_many_steps_the_one_is_shown_in_which_its_ranks_held_up_the_others),
		cmocka_unit_test_setup_teardown(
			a_report_knows_from_when_to_when_there_are_operations, fx_setup,
			fx_teardown),
		cmocka_unit_test(an_address_has_nothing_but_plain_characters_in_its_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
