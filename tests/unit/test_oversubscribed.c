/* SPDX-License-Identifier: Apache-2.0 */
/* More processes than cores: reported, and no rank is accused of what may be chance. */
#include <string.h>

#include "analyzer/lateness/oversubscribed.h"
#include "tests/unit/job.h"

static void lists_of_cores_are_counted_once(void **state)
{
	uint64_t known[CT_CORES_MOST / 64] = { 0 };

	(void)state;
	assert_int_equal(ct_cores_add("0-3,8", known), 5);
	assert_int_equal(ct_cores_add("2-5", known), 2);
	assert_int_equal(ct_cores_add("64", known), 1);
	assert_int_equal(ct_cores_add("64-64,4095,4096", known), 1);
	/* what is not a list */
	assert_int_equal(ct_cores_add("", known), 0);
	assert_int_equal(ct_cores_add("many", known), 0);
	assert_int_equal(ct_cores_add("9-", known), 0);
	assert_int_equal(ct_cores_add("-1", known), 0);
	assert_int_equal(ct_cores_add("99999999999999999999-", known), 0);
	assert_int_equal(ct_cores_add("20-10", known), 0);
}

/* How long ranks wait for cores: rank 2, and the others. NULL: not recorded. */
static const char *rank_2_waited, *others_waited;

/* Each process may use the cores of the one list, then of the other. */
static struct ct_report *report_on(const struct job_loop *loop, int per_host, const char *one,
				   const char *other)
{
	static struct job job;
	uint64_t end;

	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = 4, .ranks_per_host = per_host });
	for (int r = 0; r < 4 && one; r++) {
		const char *text = r % 2 ? other : one;

		job_rare(&job, r, CT_KIND_ENV, text, strlen(text));
		job_rare(&job, r, CT_KIND_ENV, "cpu.usable=2", 12);
		text = r == 2 ? rank_2_waited : others_waited;
		if (text)
			job_rare(&job, r, CT_KIND_ENV, text, strlen(text));
	}
	rank_2_waited = others_waited = NULL;
	end = job_run(&job, loop, 5000000, NULL);
	job_close(&job, end + 1000000);
	return job_report(&job, -1);
}

/* Two of four ranks are 20 % slower. */
static struct ct_report *slow_pair(int per_host, const char *one, const char *other)
{
	const struct job_loop loop = { .steps = 60,
				       .ops = 5,
				       .step_ms = 100,
				       .noise = 0.01,
				       .skew_us = 10,
				       .transfer_us = 1500,
				       .slow = 0x3,
				       .slow_pct = 20 };

	return report_on(&loop, per_host, one, other);
}

/* Rank 2 of four is slower. */
static struct ct_report *slow_rank(double pct, const char *one, const char *other)
{
	const struct job_loop loop = { .steps = 60,
				       .ops = 5,
				       .step_ms = 100,
				       .noise = 0.01,
				       .skew_us = 10,
				       .transfer_us = 1500,
				       .slow = 0x4,
				       .slow_pct = pct };

	return report_on(&loop, 0, one, other);
}

static void hold(struct ct_report *report, enum ct_verdict_code code, enum ct_finding_kind kind,
		 enum ct_confidence confidence)
{
	const struct ct_finding *f = job_finding(report, kind);
	int may_be_chance = strstr(report->verdict.text, "perhaps by chance") != NULL;

	assert_non_null(f);
	assert_ptr_equal(report->verdict.about, f);
	assert_int_equal(report->verdict.code, code);
	assert_int_equal(f->confidence, confidence);
	assert_int_equal(may_be_chance, code == CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	ct_report_free(report);
}

#define ENOUGH "cpu.affinity=0-1", "cpu.affinity=2,3"
#define SHARED "cpu.affinity=0-1", "cpu.affinity=0-1"

/* A balanced job on half the cores may look so, but none with cores enough. */
static void little_that_a_rank_short_of_cores_costs_may_be_chance(void **state)
{
	struct ct_report *report = slow_rank(8, SHARED);

	(void)state;
	assert_non_null(strstr(report->verdict.text, "rank 2 "));
	assert_non_null(strstr(report->verdict.text, "costs "));
	hold(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_FINDING_STRAGGLER, CT_CONFIDENCE_LOW);
}

static void little_is_enough_where_there_are_cores_enough(void **state)
{
	(void)state;
	hold(slow_rank(8, ENOUGH), CT_VERDICT_STRAGGLER, CT_FINDING_STRAGGLER, CT_CONFIDENCE_HIGH);
}

static void much_that_a_rank_short_of_cores_costs_is_no_chance(void **state)
{
	(void)state;
	hold(slow_rank(20, SHARED), CT_VERDICT_STRAGGLER, CT_FINDING_STRAGGLER,
	     CT_CONFIDENCE_MEDIUM);
}

static void a_rank_that_waits_for_a_core_may_be_late_by_chance(void **state)
{
	struct ct_report *report = slow_pair(0, SHARED);

	(void)state;
	assert_non_null(
		strstr(report->verdict.text, "host0 is CPU-oversubscribed (4 processes, 2 cores)"));
	hold(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_FINDING_STRAGGLER, CT_CONFIDENCE_LOW);
}

static void a_rank_that_has_more_in_common_than_cores_is_no_chance(void **state)
{
	(void)state;
	hold(slow_pair(2, SHARED), CT_VERDICT_STRAGGLER, CT_FINDING_STRAGGLER_HOST,
	     CT_CONFIDENCE_MEDIUM);
}

/* The machine has cores enough for this job, but also runs others. */
static void hold_waited(double slow_pct, const char *rank_2, const char *others,
			enum ct_verdict_code code, enum ct_confidence confidence, int is_the_cause)
{
	struct ct_report *report;
	const struct ct_finding *f;

	rank_2_waited = rank_2;
	others_waited = others;
	report = slow_rank(slow_pct, ENOUGH);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_int_equal(f->why == CT_WHY_CORES, is_the_cause);
	assert_int_equal(strstr(report->verdict.text, "rank 2 waited for CPU cores for") != NULL,
			 confidence != CT_CONFIDENCE_HIGH);
	hold(report, code, CT_FINDING_STRAGGLER, confidence);
}

static void hardly_any_waiting_for_cores_is_no_doubt(void **state)
{
	(void)state;
	hold_waited(20, "cpu.waited_ppm=20000", "cpu.waited_ppm=100", CT_VERDICT_STRAGGLER,
		    CT_CONFIDENCE_HIGH, 0);
}

static void a_slow_rank_on_a_busy_machine_is_less_certain(void **state)
{
	(void)state;
	hold_waited(20, "cpu.waited_ppm=300000", "cpu.waited_ppm=290000", CT_VERDICT_STRAGGLER,
		    CT_CONFIDENCE_MEDIUM, 0);
}

static void little_that_a_rank_on_a_busy_machine_costs_may_be_chance(void **state)
{
	(void)state;
	hold_waited(8, "cpu.waited_ppm=300000", "cpu.waited_ppm=290000",
		    CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_LOW, 0);
}

static void the_rank_that_waits_most_on_a_busy_machine_may_do_so_by_chance(void **state)
{
	(void)state;
	hold_waited(20, "cpu.waited_ppm=500000", "cpu.waited_ppm=300000",
		    CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_LOW, 1);
}

static void a_rank_that_alone_waits_for_cores_is_named_with_the_cause(void **state)
{
	(void)state;
	hold_waited(20, "cpu.waited_ppm=200000", "cpu.waited_ppm=1000", CT_VERDICT_STRAGGLER,
		    CT_CONFIDENCE_MEDIUM, 1);
}

/* Rank 0 is 40 % slower; the others differ by up to 16 %. */
static void a_rank_that_is_slowest_by_far_is_named_alone(void **state)
{
	const struct job_loop loop = { .steps = 60,
				       .ops = 5,
				       .step_ms = 100,
				       .noise = 0.01,
				       .spread = 0.08,
				       .skew_us = 10,
				       .transfer_us = 1500,
				       .slow = 0x1,
				       .slow_pct = 40 };
	struct ct_report *report = report_on(&loop, 0, SHARED);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 0);
	assert_non_null(strstr(f->note, "other ranks are slow as well"));
	ct_report_free(report);
}

static void sets_are_named_where_there_are_cores_enough(void **state)
{
	struct ct_report *report = slow_pair(0, ENOUGH);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 2);
	assert_int_equal(f->confidence, CT_CONFIDENCE_HIGH);
	assert_null(strstr(report->verdict.text, "cores"));
	ct_report_free(report);
}

static void a_host_that_did_not_report_has_enough(void **state)
{
	struct ct_report *report = slow_pair(0, NULL, NULL);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 2);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_cores_are_counted_once),
		cmocka_unit_test_setup_teardown(a_rank_that_waits_for_a_core_may_be_late_by_chance,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			little_that_a_rank_short_of_cores_costs_may_be_chance, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(little_is_enough_where_there_are_cores_enough,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(much_that_a_rank_short_of_cores_costs_is_no_chance,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			a_rank_that_has_more_in_common_than_cores_is_no_chance, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(hardly_any_waiting_for_cores_is_no_doubt, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(a_slow_rank_on_a_busy_machine_is_less_certain,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			little_that_a_rank_on_a_busy_machine_costs_may_be_chance, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(
			the_rank_that_waits_most_on_a_busy_machine_may_do_so_by_chance, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(
			a_rank_that_alone_waits_for_cores_is_named_with_the_cause, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(a_rank_that_is_slowest_by_far_is_named_alone,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(sets_are_named_where_there_are_cores_enough,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_host_that_did_not_report_has_enough, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
