/* SPDX-License-Identifier: Apache-2.0 */
/* Each alert rule on reports that the test fills in: it fires in the third window in a row, once,
 * and is over after two; and what is below its limit, within its error or not known does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/alerts/alerts.h"

#define MINUTE 60000000000ull

static struct ct_report report;
static struct ct_report_op ops[2];
static struct ct_report_comm comms[1];
static struct ct_report_link links[1];
static struct ct_finding findings[2];
static struct ct_alert_counts counts;
static struct ct_alerts *alerts;
static struct ct_arena *memory;
static struct ct_alert *events;
static size_t n_events;
static uint64_t now_ns;
static int rank_2[] = { 2 }, rank_7[] = { 7 };

static int begin(void **state)
{
	const struct ct_alert_limits limits = { .latency_times = 3,
						.bandwidth_pct = 60,
						.errors_points = 5,
						.straggler_pct = 5,
						.again_ns = 30 * MINUTE };

	(void)state;
	for (int i = 0; i < 2; i++)
		ops[i] = (struct ct_report_op){ .comm_hash = 0xabcdef0100000000,
						.op_name = "AllReduce",
						.op = (unsigned)i,
						.size_range = 1 << 20,
						.bytes_each = 1 << 20,
						.instances = 100,
						.transfer_p50_ns = 1000000,
						.time_err_ns = 2000 };
	comms[0] = (struct ct_report_comm){
		.hash = 0xabcdef0100000000,
		.peak = { .Bps = 100e9, .from = "NVLink" },
	};
	links[0] = (struct ct_report_link){ .comm_hash = comms[0].hash,
					    .beta_Bps = 90000000000,
					    .beta_err_Bps = 2000000000 };
	for (int i = 0; i < 2; i++)
		findings[i] = (struct ct_finding){ .kind = CT_FINDING_STRAGGLER,
						   .confidence = CT_CONFIDENCE_MEDIUM,
						   .ranks = i ? rank_7 : rank_2,
						   .n_ranks = 1,
						   .headline = "it costs",
						   .time_lost_pct = 20 };
	report = (struct ct_report){ .ops = ops,
				     .n_ops = 2,
				     .comms = comms,
				     .n_comms = 1,
				     .links = links,
				     .n_links = 1,
				     .findings = findings };
	report.verdict.code = CT_VERDICT_HEALTHY;
	counts = (struct ct_alert_counts){ .ops = 1000 };
	now_ns = MINUTE;
	memory = ct_arena_new();
	alerts = ct_alerts_new(&limits);
	return !memory || !alerts;
}

static int end(void **state)
{
	(void)state;
	ct_alerts_free(alerts);
	ct_arena_free(memory);
	return 0;
}

/* So many windows with the report as it is; the events of the last one. */
static size_t take(int windows)
{
	for (int i = 0; i < windows; i++) {
		now_ns += MINUTE;
		assert_int_equal(ct_alerts_take(alerts, &report, &counts, now_ns, memory, &events,
						&n_events),
				 CT_OK);
		/* before the last one nothing may happen */
		if (i < windows - 1)
			assert_int_equal(n_events, 0);
	}
	return n_events;
}

static void expect(enum ct_alert_rule rule, int is_over, const char *words)
{
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].rule, rule);
	assert_int_equal(events[0].is_over, is_over);
	if (!strstr(events[0].text, words))
		fail_msg("no '%s' in: %s", words, events[0].text);
}

static void nothing_fires_in_a_healthy_job(void **state)
{
	(void)state;
	assert_int_equal(take(50), 0);
}

static void latency_fires_in_the_third_window_once(void **state)
{
	(void)state;
	take(6);
	ops[0].transfer_p50_ns = 3500000;
	take(3);
	expect(CT_ALERT_LATENCY, 0, "3.5 times the usual");
	assert_int_equal(events[0].n_ranks, 0); /* no rank is accused */
	assert_int_equal(take(5), 0);
	ops[0].transfer_p50_ns = 1000000;
	take(2);
	expect(CT_ALERT_LATENCY, 1, "as usual again");
}

static void latency_names_the_worst_and_counts_the_rest(void **state)
{
	(void)state;
	take(6);
	ops[0].transfer_p50_ns = 4000000;
	ops[1].transfer_p50_ns = 9000000;
	take(3);
	expect(CT_ALERT_LATENCY, 0, "9.0 times the usual");
	expect(CT_ALERT_LATENCY, 0, "1 more like it");
}

static void latency_below_its_limit_or_its_error_is_silent(void **state)
{
	(void)state;
	take(6);
	ops[0].transfer_p50_ns = 2900000;
	assert_int_equal(take(6), 0);
	ops[0].transfer_p50_ns = 3500000;
	ops[0].time_err_ns = 2000000;
	assert_int_equal(take(6), 0);
	ops[0].time_err_ns = 0;
	ops[0].instances = 5; /* too few for a median */
	assert_int_equal(take(6), 0);
	ops[0].transfer_p50_ns = CT_UNKNOWN;
	ops[0].instances = 100;
	assert_int_equal(take(6), 0);
}

static void two_slow_windows_are_no_pattern(void **state)
{
	(void)state;
	take(6);
	for (int i = 0; i < 5; i++) {
		ops[0].transfer_p50_ns = 9000000;
		assert_int_equal(take(2), 0);
		ops[0].transfer_p50_ns = 1000000;
		assert_int_equal(take(1), 0);
	}
}

/* So many windows in which operation 0 does not occur. */
static size_t without_the_first(int windows)
{
	size_t n;

	report.ops = ops + 1;
	report.n_ops = report.n_links = 0;
	n = take(windows);
	report.ops = ops;
	report.n_ops = 2;
	report.n_links = 1;
	return n;
}

static void a_window_without_the_operation_says_nothing_of_it(void **state)
{
	(void)state;
	take(6);
	ops[0].transfer_p50_ns = 9000000;
	assert_int_equal(take(2), 0);
	assert_int_equal(without_the_first(1), 0);
	assert_int_equal(take(1), 1);
	expect(CT_ALERT_LATENCY, 0, "9.0 times the usual");
}

static void slow_windows_far_apart_are_no_row(void **state)
{
	(void)state;
	take(6);
	for (int i = 0; i < 10; i++) {
		ops[0].transfer_p50_ns = 9000000;
		links[0].beta_Bps = 41000000000;
		assert_int_equal(take(2), 0);
		assert_int_equal(without_the_first(2), 0);
	}
}

/* One in each window, beside operation 0. */
static void make_communicators(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		ops[1].comm_hash++;
		assert_int_equal(take(1), 0);
	}
}

static void a_new_communicator_is_judged_after_thousands_of_others(void **state)
{
	(void)state;
	make_communicators(9000);
	assert_int_equal(take(6), 0);
	ops[1].transfer_p50_ns = 4000000;
	take(3);
	expect(CT_ALERT_LATENCY, 0, "4.0 times the usual");
}

static void what_goes_on_is_not_forgotten_for_what_is_new(void **state)
{
	(void)state;
	take(6);
	make_communicators(9000);
	ops[0].transfer_p50_ns = 4000000;
	take(3);
	expect(CT_ALERT_LATENCY, 0, "4.0 times the usual");
}

static void of_too_many_in_a_window_the_first_are_judged(void **state)
{
	static struct ct_report_op many[5000];

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		many[i] = ops[0];
		many[i].comm_hash += i;
	}
	report.ops = many;
	report.n_ops = 5000;
	take(6);
	for (uint32_t i = 0; i < 5000; i++)
		many[i].transfer_p50_ns = 4000000;
	take(3);
	/* the others of 4096 */
	expect(CT_ALERT_LATENCY, 0, "; 4095 more like it");
	links[0].beta_Bps = 41000000000;
	take(3);
	expect(CT_ALERT_BANDWIDTH, 0, "41 %");
}

static void nothing_is_usual_in_the_first_windows(void **state)
{
	(void)state;
	take(2);
	ops[0].transfer_p50_ns = 9000000;
	assert_int_equal(take(20), 0);
}

static void bandwidth_below_60_percent_fires(void **state)
{
	(void)state;
	take(3);
	links[0].beta_Bps = 41000000000;
	take(3);
	expect(CT_ALERT_BANDWIDTH, 0, "41 % of 100 GB/s");
	links[0].beta_Bps = 90000000000;
	take(2);
	expect(CT_ALERT_BANDWIDTH, 1, "as usual again");
}

static void bandwidth_within_its_error_or_without_a_peak_is_silent(void **state)
{
	(void)state;
	links[0].beta_Bps = 59000000000;
	assert_int_equal(take(6), 0);
	links[0].beta_Bps = 41000000000;
	links[0].beta_err_Bps = CT_UNKNOWN;
	assert_int_equal(take(6), 0);
	links[0].beta_err_Bps = 0;
	comms[0].peak.Bps = NAN;
	assert_int_equal(take(6), 0);
}

static void errors_fire_at_once(void **state)
{
	(void)state;
	counts.failed = 10;
	assert_int_equal(take(6), 0); /* 1 % is usual here */
	counts.failed = 59;
	assert_int_equal(take(1), 0);
	counts.failed = 70;
	take(1);
	expect(CT_ALERT_ERRORS, 0, "7.0 % of operations failed (70 of 1000), 1.0 % before");
	counts = (struct ct_alert_counts){ .ops = 3, .failed = 3 }; /* says nothing */
	assert_int_equal(take(6), 0);
	counts = (struct ct_alert_counts){ .ops = 1000, .failed = 10 };
	take(2);
	expect(CT_ALERT_ERRORS, 1, "as usual again");
}

static void a_straggler_fires_in_the_third_window(void **state)
{
	(void)state;
	report.n_findings = 1;
	take(3);
	expect(CT_ALERT_STRAGGLER, 0, "Straggler: it costs (confidence medium)");
	assert_int_equal(events[0].n_ranks, 1);
	assert_int_equal(events[0].ranks[0], 2);
	assert_int_equal(take(3), 0);
	report.n_findings = 2; /* another rank, too */
	take(3);
	expect(CT_ALERT_STRAGGLER, 0, "it costs");
	assert_int_equal(events[0].ranks[0], 7);
	report.n_findings = 0;
	report.verdict.code = CT_VERDICT_NOT_ENOUGH_EVIDENCE; /* an evaluation: nothing is known */
	assert_int_equal(take(5), 0);
	report.verdict.code = CT_VERDICT_HEALTHY;
	assert_int_equal(take(1), 0);
	assert_int_equal(take(1), 2);
}

static void no_rank_is_named_below_medium_confidence_or_its_limit(void **state)
{
	(void)state;
	report.n_findings = 1;
	findings[0].confidence = CT_CONFIDENCE_LOW;
	assert_int_equal(take(6), 0);
	findings[0].confidence = CT_CONFIDENCE_HIGH;
	findings[0].time_lost_pct = 4.9;
	assert_int_equal(take(6), 0);
	findings[0].time_lost_pct = 20;
	findings[0].is_undecided = 1;
	assert_int_equal(take(6), 0);
	findings[0].is_undecided = 0;
	findings[0].kind = CT_FINDING_IMBALANCE; /* blames no rank */
	assert_int_equal(take(6), 0);
}

static void slow_ranks_that_change_are_no_pattern(void **state)
{
	(void)state;
	report.n_findings = 1;
	for (int i = 0; i < 20; i++) {
		findings[0].ranks = i % 3 ? rank_7 : rank_2;
		assert_int_equal(take(1), 0);
	}
}

static void what_comes_again_soon_is_counted(void **state)
{
	(void)state;
	report.n_findings = 1;
	take(3);
	expect(CT_ALERT_STRAGGLER, 0, "it costs");
	for (int i = 0; i < 2; i++) {
		report.n_findings = 0;
		take(2);
		report.n_findings = 1;
		assert_int_equal(take(3), 0);
	}
	report.n_findings = 0;
	assert_int_equal(take(2), 0);
	now_ns += 60 * MINUTE;
	report.n_findings = 1;
	take(3);
	expect(CT_ALERT_STRAGGLER, 0, "2 more since the last report");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
		TEST(nothing_fires_in_a_healthy_job),
		TEST(latency_fires_in_the_third_window_once),
		TEST(latency_names_the_worst_and_counts_the_rest),
		TEST(latency_below_its_limit_or_its_error_is_silent),
		TEST(two_slow_windows_are_no_pattern),
		TEST(a_window_without_the_operation_says_nothing_of_it),
		TEST(slow_windows_far_apart_are_no_row),
		TEST(a_new_communicator_is_judged_after_thousands_of_others),
		TEST(what_goes_on_is_not_forgotten_for_what_is_new),
		TEST(of_too_many_in_a_window_the_first_are_judged),
		TEST(nothing_is_usual_in_the_first_windows),
		TEST(bandwidth_below_60_percent_fires),
		TEST(bandwidth_within_its_error_or_without_a_peak_is_silent),
		TEST(errors_fire_at_once),
		TEST(a_straggler_fires_in_the_third_window),
		TEST(no_rank_is_named_below_medium_confidence_or_its_limit),
		TEST(slow_ranks_that_change_are_no_pattern),
		TEST(what_comes_again_soon_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
