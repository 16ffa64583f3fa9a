/* SPDX-License-Identifier: Apache-2.0 */
/* Work on GPUs: spans measured by events, and operations without a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/launch_job.h"

/* ---- what has no time ---- */

static void operations_without_a_time_are_neither_waits_nor_hangs(void **state)
{
	const struct ct_op op = collective(CT_OP_AllReduce, 1000);
	struct ct_op empty = collective(CT_OP_AllReduce, 0);
	struct ct_op captured = op;
	struct ct_report *report;
	uint64_t end = 0;
	char *text;

	(void)state;
	captured.flags = CT_OP_CAPTURED;
	open_job(3, 0);
	for (uint64_t c = 0; c < 100; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		for (int r = 0; r < 3; r++) {
			/* Now and then a rank had no event left. */
			int untimed = r == 1 && c % 10 == 3;

			launch(r, &op, 1, at, untimed ? 0 : at, untimed ? 0 : at + 5 * MS);
			empty.launch = c % 2 ? NO_LAUNCH : 0;
			launch(r, &empty, 1, at + 6 * MS, 0, 0);
			launch(r, &captured, 1, at + 7 * MS, at + 7 * MS, at + 8 * MS);
		}
		end = at + 10 * MS;
	}
	report = close_job(end);
	assert_int_equal(report->n_in_flight, 0);
	assert_int_equal(report->run.matched, 90);
	assert_int_equal(report->run.incomplete, 0);
	assert_int_equal(report->comms[0].instances, 200);
	assert_int_equal(report->comms[0].equal_to_seq, 199);
	assert_int_equal(report->comms[0].bytes, 100 * 4000);
	/* 100 reduced, 100 empty; what was captured has not run. */
	assert_int_equal(report->n_ops, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct ct_report_op *row = &report->ops[i];

		assert_int_equal(row->instances, 100);
		if (row->bytes == 0) {
			assert_true(row->span_p50_ns == CT_UNKNOWN);
			assert_true(row->wait_ns == CT_UNKNOWN);
			assert_true(row->transfer_ns == CT_UNKNOWN);
		} else {
			assert_true(is_near(row->transfer_ns, 90 * 5e6, 0.001));
		}
	}
	/* Half of the time inside is known, and that rank 1's is not. */
	assert_true(is_near(report->ranks[0].comm_ns, 500e6, 0.001));
	assert_true(report->ranks[1].comm_ns == CT_UNKNOWN);
	assert_true(isnan(report->run.comm_share_pct));
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "\ntiming    events: "));
	free(text);
	ct_report_free(report);
}

static void contradictions_of_operations_without_a_time_are_found(void **state)
{
	struct ct_op op = collective(CT_OP_AllReduce, 0);
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(3, 0);
	for (uint64_t c = 0; c < 30; c++) {
		for (int r = 0; r < 3; r++) {
			op.flags = c % 2 ? CT_OP_CAPTURED : 0;
			op.op = (c == 20 || c == 13) && r == 1 ? CT_OP_AllGather : CT_OP_AllReduce;
			launch(r, &op, 1, c * MS + MS, 0, 0);
		}
	}
	report = close_job(40 * MS);
	f = job_finding(report, CT_FINDING_MISMATCH);
	assert_non_null(f);
	assert_int_equal(f->ranks[0], 1);
	assert_non_null(strstr(job_pairs(f), "seq=10 "));
	ct_report_free(report);
}

static void rank_that_is_not_timed_is_named_and_not_judged(void **state)
{
	const struct ct_op op = collective(CT_OP_AllReduce, 1000);
	struct ct_report *report;
	char *text;

	(void)state;
	open_job(4, 0);
	for (uint64_t c = 0; c < 50; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		for (int r = 0; r < 4; r++)
			launch(r, &op, 1, at, r == 3 ? 0 : at + (r == 1 ? 4 * MS : 0),
			       r == 3 ? 0 : at + 5 * MS);
	}
	report = close_job(600 * MS);
	assert_int_equal(report->run.timing, CT_TIMING_EVENTS);
	assert_int_equal(report->ranks[3].timing, CT_TIMING_OFF);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "1 of 4 ranks were not timed"));
	assert_int_equal(report->n_findings, 0);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "; off on 1 rank\n"));
	free(text);
	ct_report_free(report);
}

/* ---- spans of events ---- */

static void last_one_whose_transfer_is_slow_is_not_blamed(void **state)
{
	const struct ct_op op = collective(CT_OP_AllReduce, 1000);

	(void)state;
	/* Every other time rank 2's stream comes 2 ms late. Either what follows is as fast as ever:
	 * it was late. Or it takes three times as long as usual: then what made it late may be what
	 * makes it slow. */
	for (int slow = 0; slow < 2; slow++) {
		struct ct_report *report;
		const struct ct_finding *f;
		uint64_t at = 2 * MS;

		fresh();
		open_job(4, 0);
		for (int c = 0; c < 200; c++) {
			int late = c % 2;
			uint64_t come = at + (late ? 2 * MS : 0);
			uint64_t leave = come + (late && slow ? 3 * MS : MS) +
					 (uint64_t)(c * 7 % 13) * US;

			for (int r = 0; r < 4; r++)
				launch(r, &op, 1, at - MS,
				       r == 2 ? come : at + (uint64_t)(r * c % 7) * US, leave);
			at = leave + 5 * MS;
		}
		report = close_job(at);
		f = job_finding(report, CT_FINDING_STRAGGLER);
		if (slow) {
			assert_null(f);
		} else {
			assert_non_null(f);
			assert_int_equal(f->ranks[0], 2);
		}
		ct_report_free(report);
	}
}

static void errors_of_spans_reach_the_report(void **state)
{
	const struct ct_op op = collective(CT_OP_AllReduce, 1000);
	struct ct_report *report;

	(void)state;
	open_job(2, 0);
	/* 4 us apart is nothing when each time may be 2.5 us off. */
	for (uint64_t c = 0; c < 30; c++) {
		for (uint64_t r = 0; r < 2; r++)
			launch((int)r, &op, 1, c * MS + MS, c * MS + 2 * MS + r * 4 * US,
			       c * MS + 2 * MS + 500 * US);
	}
	report = close_job(40 * MS);
	assert_int_equal(report->run.time_err_ns, 2 * (ERR + 1 + CT_BLOCK_QUANTUM_NS));
	assert_int_equal(report->ops[0].time_err_ns, report->run.time_err_ns);
	assert_int_equal(report->ops[0].last_count, 0);
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(operations_without_a_time_are_neither_waits_nor_hangs),
		ON_DISK(contradictions_of_operations_without_a_time_are_found),
		ON_DISK(rank_that_is_not_timed_is_named_and_not_judged),
		ON_DISK(last_one_whose_transfer_is_slow_is_not_blamed),
		ON_DISK(errors_of_spans_reach_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
