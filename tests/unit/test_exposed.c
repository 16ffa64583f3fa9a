/* SPDX-License-Identifier: Apache-2.0 */
/* What exposed communication makes of a late rank: no rank can lose more by it than it waited. Rank
 * 2's stream comes 2 ms late every other time; when the computing streams of all came to wait
 * differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

#define US 1000ull
#define MS (1000 * US)
enum { RANKS = 4, STEPS = 200, COMMS = 1, COMPUTE = 2, ERR = 1000 };

static struct job job;

static void put(int rank, uint32_t id, uint64_t enter, uint64_t start, uint64_t end)
{
	job_op(&job, rank,
	       (struct ct_op){ .op = CT_OP_AllReduce,
			       .count = 1000,
			       .peer = -1,
			       .dtype = CT_DTYPE_float32,
			       .seq = job.seq[rank]++,
			       .enter_ns = enter,
			       .return_ns = enter + 400,
			       .launch = id });
	job_launch(&job, rank,
		   (struct ct_launch){ .id = id,
				       .comm = 1,
				       .stream = COMMS,
				       .n_ops = 1,
				       .start_ns = start,
				       .end_ns = end,
				       .start_err_ns = ERR,
				       .end_err_ns = ERR,
				       .start_source = CT_SOURCE_EVENT,
				       .end_source = CT_SOURCE_EVENT });
}

static void wait(int rank, uint32_t id, uint64_t begin)
{
	const struct ct_wait_rec rec = {
		.begin_ns = begin + job.clock[rank],
		.issued_ns = begin + job.clock[rank] - 3 * MS,
		.begin_err_ns = ERR,
		.launch = id,
		.after = id - 1,
		.waiter = COMPUTE,
		.via = COMMS,
	};

	job_rare(&job, rank, CT_KIND_WAIT, &rec, sizeof(rec));
}

/* The computing streams come to wait `before_ns` before the end; INT64_MIN: it is not known. */
static struct ct_report *run(int64_t before_ns)
{
	const struct job_options options = { .run = "run",
					     .ranks = RANKS,
					     .backend = CT_BACKEND_NCCL };
	const int all[RANKS] = { 0, 1, 2, 3 };
	uint64_t at = 10 * MS;

	job_open(&job, &options);
	job_comm(&job, 1, JOB_COMM, "world", all, RANKS);
	for (uint32_t c = 0; c < STEPS; c++) {
		uint64_t come = at + (c % 2 ? 2 * MS : 0);
		uint64_t leave = come + MS + c * 7 % 13 * US;

		for (int r = 0; r < RANKS; r++) {
			put(r, c + 1, at - MS, r == 2 ? come : at + (uint64_t)r * c % 7 * US,
			    leave);
			if (before_ns != INT64_MIN)
				wait(r, c + 1, leave - (uint64_t)before_ns);
		}
		at = leave + 5 * MS;
	}
	job_close(&job, at);
	return job_report(&job, -1);
}

static double hidden(const struct ct_finding *f)
{
	for (size_t i = 0; i < f->n_evidence; i++)
		if (strcmp(f->evidence[i].name, "late_but_hidden") == 0)
			return f->evidence[i].value;
	fail_msg("no such evidence");
	return 0;
}

static void what_is_not_known_hides_nothing(void **state)
{
	struct ct_report *report = run(INT64_MIN);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->ranks[0], 2);
	assert_true(f->time_lost_ns > 150 * MS);
	assert_true(isnan(hidden(f)));
	assert_int_equal(report->n_overlap, RANKS);
	assert_int_equal(report->overlap[0].measured, 0);
	assert_true(report->overlap[0].exposed_ns == CT_UNKNOWN);
	assert_string_equal(report->overlap[0].method, "n/a");
	assert_true(report->ranks[0].exposed_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void loss_is_no_more_than_was_waited(void **state)
{
	struct ct_report *report = run(700 * US);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);
	uint64_t waited = STEPS * 700 * US;

	(void)state;
	assert_int_equal(report->overlap[1].measured, STEPS);
	assert_string_equal(report->overlap[1].method, "stream-waits");
	assert_in_range(report->overlap[1].exposed_ns, waited - STEPS * 50, waited + STEPS * 50);
	assert_int_equal(report->overlap[1].hidden_ns + report->overlap[1].exposed_ns,
			 report->overlap[1].comm_ns);
	assert_int_equal(report->ranks[1].exposed_ns, report->overlap[1].exposed_ns);
	assert_int_equal(report->ops[0].exposed_ns / RANKS, report->overlap[1].exposed_ns);
	assert_non_null(f);
	assert_in_range(f->time_lost_ns, waited - STEPS * 50, waited + STEPS * 4 * ERR);
	assert_true(hidden(f) > 10 * (double)MS);
	ct_report_free(report);
}

static void a_rank_that_is_late_behind_computing_costs_nothing(void **state)
{
	struct ct_report *report = run(-1000 * (int64_t)US);

	(void)state;
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_int_equal(report->overlap[0].exposed_ns, 0);
	assert_int_equal(report->overlap[0].err_ns, 0);
	ct_report_free(report);
}

enum { BLOCKING = 20, OPEN_AT = 5 };

/* Of each call of 1 ms by a host half was spent waiting for the other rank. `open`: one operation
 * besides was begun, and no wait for it is known. */
static uint64_t every = 5 * MS;

static struct ct_report *run_blocking(unsigned backend, int open)
{
	uint64_t at = 10 * MS;

	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2, .backend = backend });
	for (uint64_t c = 0; c < BLOCKING; c++, at += every) {
		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 1000, at, at + MS);
		for (int r = 0; r < 2 && open && c == OPEN_AT; r++) {
			job_op(&job, r,
			       (struct ct_op){ .op = CT_OP_AllReduce,
					       .count = 1000,
					       .peer = -1,
					       .dtype = CT_DTYPE_float32,
					       .redop = CT_REDOP_sum,
					       .seq = job.seq[r]++,
					       .enter_ns = at + 2 * MS,
					       .return_ns = at + 2 * MS + US,
					       .launch = 1 });
			job_launch(&job, r,
				   (struct ct_launch){ .id = 1,
						       .comm = 1,
						       .n_ops = 1,
						       .start_ns = at + 2 * MS,
						       .end_ns = at + 3 * MS,
						       .start_source = CT_SOURCE_CALL,
						       .end_source = CT_SOURCE_WAIT });
		}
	}
	job_close(&job, at);
	return job_report(&job, -1);
}

static void of_a_blocking_call_all_is_exposed(void **state)
{
	struct ct_report *report = run_blocking(CT_BACKEND_MPI, 0);

	(void)state;
	assert_int_equal(report->n_overlap, 2);
	for (int r = 0; r < 2; r++) {
		assert_string_equal(report->overlap[r].method, "host-waits");
		assert_int_equal(report->overlap[r].measured, BLOCKING);
		assert_int_equal(report->overlap[r].exposed_ns, BLOCKING * MS);
		assert_int_equal(report->overlap[r].hidden_ns, 0);
		assert_int_equal(report->ranks[r].exposed_ns, BLOCKING * MS);
	}
	assert_int_equal(report->n_ops, 1);
	assert_int_equal(report->ops[0].exposed_ns, 2 * BLOCKING * MS);
	ct_report_free(report);
}

/* Half of the time in calls: of transfers, or because the processes had no cores. */
static void nothing_is_concluded_from_what_calls_take(void **state)
{
	struct ct_report *report;

	(void)state;
	every = 2 * MS;
	report = run_blocking(CT_BACKEND_MPI, 0);
	every = 5 * MS;
	assert_true(report->exposed.median_pct > 45 && report->exposed.wait_pct < 1);
	assert_null(job_finding(report, CT_FINDING_COMM_SHARE));
	assert_null(job_finding(report, CT_FINDING_EXPOSED_COMM));
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	ct_report_free(report);
}

static void assert_unknown(struct ct_report *report)
{
	assert_int_equal(report->n_overlap, 0);
	assert_true(report->ranks[0].exposed_ns == CT_UNKNOWN);
	assert_true(report->ops[0].exposed_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void blocked_threads_may_do_nothing_else(void **state)
{
	(void)state;
	assert_unknown(run_blocking(CT_BACKEND_GLOO, 0));
}

static void nothing_is_exposed_for_certain_where_waits_are_not_on_record(void **state)
{
	(void)state;
	assert_unknown(run_blocking(CT_BACKEND_MPI, 1));
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(what_is_not_known_hides_nothing),
		ON_DISK(loss_is_no_more_than_was_waited),
		ON_DISK(a_rank_that_is_late_behind_computing_costs_nothing),
		ON_DISK(of_a_blocking_call_all_is_exposed),
		ON_DISK(nothing_is_concluded_from_what_calls_take),
		ON_DISK(blocked_threads_may_do_nothing_else),
		ON_DISK(nothing_is_exposed_for_certain_where_waits_are_not_on_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
