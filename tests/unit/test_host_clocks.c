/* SPDX-License-Identifier: Apache-2.0 */
/* Runs on several hosts, analyzed whole: what needs one clock is known where clocks are related,
 * with their error, and is not where they are not, or contradict each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

#define US 1000ull
#define MS 1000000ull
#define STEPS 400
#define LAST (100 * MS + STEPS * STEP)
#define STEP (10 * MS)
#define DRIFT_NS 2000 /* that a clock gains in a step: 200 ppm */

static struct job job;

static void open_hosts(int hosts)
{
	const struct job_options options = { .run = "run",
					     .ranks = 2 * hosts,
					     .ranks_per_host = 2 };

	job_open(&job, &options);
}

/* The clock of a host, and all that it shows from now on, moves by so much. */
static void move_clock(int host, int64_t ns)
{
	for (int r = 2 * host; r < 2 * host + 2; r++)
		job.clock[r] += (uint64_t)ns;
}

static void collective(unsigned op, uint64_t at, uint64_t late_root_ns)
{
	uint64_t seq = job.seq[0];

	for (int r = 0; r < job.o.ranks; r++) {
		uint64_t late = r == 0 ? late_root_ns : 0;

		/* ends lie some microseconds apart, now these first, now those */
		job_collective(&job, r, op, 250000, at + (uint64_t)r * 10 * US + late,
			       at + late_root_ns + MS + (seq * 7 + (uint64_t)r * 3) % 5 * US);
	}
}

static void message(uint64_t seq, uint64_t sent, uint64_t asked, uint64_t ended)
{
	struct ct_op op = { .enter_ns = sent,
			    .return_ns = ended,
			    .count = 1000,
			    .seq = seq,
			    .peer = 2,
			    .op = CT_OP_Send,
			    .dtype = CT_DTYPE_float32 };

	job_op(&job, 0, op);
	op.enter_ns = asked;
	op.peer = 0;
	op.op = CT_OP_Recv;
	job_op(&job, 2, op);
}

/* All-reduces, a broadcast whose root comes 3 ms late, a message whose sender comes 2 ms late. Host
 * 1's clock drifts; at step `set` that of host `whose` is set by set_ns. */
static struct ct_report *run(int hosts, int whose, int set, int64_t set_ns)
{
	open_hosts(hosts);
	for (int k = 0; k < STEPS; k++) {
		uint64_t at = 100 * MS + (uint64_t)k * STEP;

		if (set && k == set)
			move_clock(whose, set_ns);
		collective(CT_OP_AllReduce, at, 0);
		collective(CT_OP_Broadcast, at + 2 * MS, 3 * MS);
		message((uint64_t)k, at + 9 * MS, at + 7 * MS, at + 9 * MS + 500 * US);
		move_clock(1, DRIFT_NS);
	}
	/* what does not return, by the clock that is 800 us fast by then */
	if (hosts > 1)
		job_op(&job, 2,
		       (struct ct_op){ .enter_ns = LAST,
				       .count = 10,
				       .seq = job.seq[2],
				       .peer = -1,
				       .op = CT_OP_AllReduce,
				       .dtype = CT_DTYPE_float32 });
	job_close(&job, LAST);
	return job_report(&job, -1);
}

static const struct ct_report_op *row(const struct ct_report *report, const char *name)
{
	for (size_t i = 0; i < report->n_ops; i++) {
		if (report->ops[i].op_name && !strcmp(report->ops[i].op_name, name))
			return &report->ops[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static const struct ct_report_clock *clock_of(const struct ct_report *report, const char *host)
{
	for (size_t i = 0; i < report->n_clocks; i++) {
		if (!strcmp(report->clocks[i].host, host))
			return &report->clocks[i];
	}
	fail_msg("no clock of %s", host);
	return NULL;
}

static void waits_across_hosts_are_known_with_the_error_of_the_clocks(void **state)
{
	struct ct_report *report = run(2, 0, 0, 0);
	const struct ct_report_clock *clock = clock_of(report, "host1");
	const struct ct_report_op *op = row(report, "Broadcast");
	/* what the second clock shows more in the middle of the run */
	double to_end = ((double)LAST - (double)report->run.duration_ns / 2) / STEP;
	double more = (double)(int64_t)(job.clock[2] - job.clock[0]) - DRIFT_NS * to_end;
	char *text;

	(void)state;
	assert_string_equal(clock->quality, "ACCURATE");
	assert_string_equal(clock->ref_host, "host0");
	assert_true(clock->has_offset);
	assert_true(clock->err_ns > 0 && clock->err_ns < 100 * US);
	assert_true(fabs((double)clock->offset_ns + more) < (double)clock->err_ns + 3000);
	assert_int_equal(clock_of(report, "host0")->offset_ns, 0);
	assert_int_equal(clock_of(report, "host0")->err_ns, 0);
	/* Three of four wait 3 ms for the root, each some microseconds less. */
	assert_true(fabs((double)op->wait_ns - STEPS * 3.0 * 3e6) < STEPS * 3.0 * 60e3);
	assert_true(op->time_err_ns >= clock->err_ns);
	assert_true(fabs((double)op->transfer_p50_ns - 1e6) < 150e3);
	op = row(report, "Recv");
	assert_true(fabs((double)op->wait_ns - STEPS * 2e6) < STEPS * 60e3);
	assert_true(op->time_err_ns >= clock->err_ns);
	/* a late send has no waits */
	assert_int_equal(row(report, "Send")->wait_ns, 0);
	assert_true(fabs(clock->drift_ppb + 200000) < 2000);
	assert_int_equal(report->n_in_flight, 1);
	assert_true(llabs((int64_t)(report->in_flight[0].since_at_ns - LAST)) <
		    (int64_t)clock->err_ns);
	assert_null(job_finding(report, CT_FINDING_CLOCK_CONFLICT));
	text = job_text(report, 0);
	assert_non_null(strstr(text, "\nclocks    2 of 2 hosts synchronized to host0, ±"));
	assert_non_null(strstr(text, "self-test within a host "));
	free(text);
	ct_report_free(report);
}

/* What the clocks' error could have made is not a wait. */
static void waits_below_the_error_of_the_clocks_are_none(void **state)
{
	struct ct_report *report;

	(void)state;
	open_hosts(2);
	for (int k = 0; k < STEPS; k++) {
		uint64_t at = 100 * MS + (uint64_t)k * STEP;

		collective(CT_OP_AllReduce, at, 0);
		/* the root arrives 5 us later than another member, and the message 5 us */
		collective(CT_OP_Broadcast, at + 2 * MS, 15 * US);
		message((uint64_t)k, at + 7 * MS + 5 * US, at + 7 * MS, at + 8 * MS);
	}
	job_close(&job, LAST);
	report = job_report(&job, -1);
	assert_string_equal(clock_of(report, "host1")->quality, "ACCURATE");
	assert_int_equal(row(report, "Recv")->wait_ns, 0);
	assert_int_equal(row(report, "Broadcast")->wait_ns, 0);
	ct_report_free(report);
}

static void a_clock_that_is_set_is_a_finding_and_nothing_is_compared_by_it(void **state)
{
	struct ct_report *report = run(3, 2, 170, 5 * MS);
	const struct ct_finding *f = job_finding(report, CT_FINDING_CLOCK_CONFLICT);
	char *text;

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_hosts, 1);
	assert_string_equal(f->hosts[0], "host2");
	assert_int_equal(f->n_ranks, 2);
	assert_int_equal(f->ranks[0], 4);
	assert_int_equal(f->severity, CT_SEVERITY_WARNING);
	assert_string_equal(clock_of(report, "host2")->quality, "FAIL");
	assert_false(clock_of(report, "host2")->has_offset);
	assert_true(clock_of(report, "host2")->err_ns == CT_UNKNOWN);
	assert_string_equal(clock_of(report, "host1")->quality, "ACCURATE");
	/* the broadcast has members on it, the message has not */
	assert_true(row(report, "Broadcast")->wait_ns == CT_UNKNOWN);
	assert_true(row(report, "Recv")->wait_ns != CT_UNKNOWN);
	text = job_text(report, 0);
	assert_non_null(strstr(text, " hosts=host2 by="));
	assert_non_null(strstr(text, "not: host2"));
	free(text);
	ct_report_free(report);
}

static void of_two_contradicting_hosts_both_are_named(void **state)
{
	struct ct_report *report = run(2, 1, 170, -2 * (int64_t)MS);
	const struct ct_finding *f = job_finding(report, CT_FINDING_CLOCK_CONFLICT);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_hosts, 2);
	assert_string_equal(clock_of(report, "host1")->quality, "FAIL");
	assert_true(row(report, "Broadcast")->wait_ns == CT_UNKNOWN);
	assert_true(row(report, "Recv")->wait_ns == CT_UNKNOWN);
	ct_report_free(report);
}

/* Communicators of each host only. `status` of the kernel's clock, and the errors that it shows. */
static struct ct_report *run_apart(uint64_t status, uint64_t err_ns)
{
	static const int first[] = { 0, 1 }, second[] = { 2, 3 };

	open_hosts(2);
	job_comm(&job, 2, 77, NULL, first, 2);
	job_comm(&job, 3, 78, NULL, second, 2);
	for (int r = 0; r < 4; r++) {
		struct ct_clock_rec rec = { .monotonic_ns = job.clock[r],
					    .maxerror_ns = err_ns + (uint64_t)r * US,
					    .status = status };

		job_rare(&job, r, CT_KIND_CLOCK, &rec, sizeof(rec));
		for (int k = 0; k < STEPS; k++)
			job_op(&job, r,
			       (struct ct_op){ .enter_ns = 100 * MS + (uint64_t)k * STEP,
					       .return_ns = 101 * MS + (uint64_t)k * STEP,
					       .count = 10,
					       .seq = (uint64_t)k,
					       .peer = -1,
					       .comm = r < 2 ? 2 : 3,
					       .op = CT_OP_AllReduce,
					       .dtype = CT_DTYPE_float32,
					       .redop = CT_REDOP_sum });
	}
	job_close(&job, LAST);
	return job_report(&job, -1);
}

static void hosts_that_never_meet_have_their_time_of_day_only(void **state)
{
	struct ct_report *report = run_apart(0, 3 * MS);
	const struct ct_report_clock *clock = clock_of(report, "host1");
	char *text;

	(void)state;
	assert_string_equal(clock->quality, "ABSENT");
	assert_true(clock->has_offset);
	assert_int_equal(clock->err_ns, 6 * MS + (1 + 3) * US);
	assert_true(clock->offset_ns == (int64_t)(job.clock[0] - job.clock[2]));
	text = job_text(report, 0);
	assert_non_null(strstr(text, "clocks    not synchronized: host1 ABSENT (NTP only, ± 6"));
	free(text);
	ct_report_free(report);
}

static void a_time_of_day_that_no_one_sets_is_unknown(void **state)
{
	struct ct_report *report = run_apart(0x40, 3 * MS);
	const struct ct_report_clock *clock = clock_of(report, "host1");

	(void)state;
	assert_string_equal(clock->quality, "ABSENT");
	assert_false(clock->has_offset);
	assert_null(clock->ref_host);
	assert_true(clock->err_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void one_host_has_no_clocks(void **state)
{
	struct ct_report *report = run(1, 0, 0, 0);
	char *text = job_text(report, 0);

	(void)state;
	assert_int_equal(report->n_clocks, 0);
	assert_null(strstr(text, "\nclocks "));
	free(text);
	ct_report_free(report);
}

int main(void)
{
#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_DIRECTORY(waits_across_hosts_are_known_with_the_error_of_the_clocks),
		IN_A_DIRECTORY(waits_below_the_error_of_the_clocks_are_none),
		IN_A_DIRECTORY(a_clock_that_is_set_is_a_finding_and_nothing_is_compared_by_it),
		IN_A_DIRECTORY(of_two_contradicting_hosts_both_are_named),
		IN_A_DIRECTORY(hosts_that_never_meet_have_their_time_of_day_only),
		IN_A_DIRECTORY(a_time_of_day_that_no_one_sets_is_unknown),
		IN_A_DIRECTORY(one_host_has_no_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
