/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes between ranks: the matrix of a report. */
#include "tests/unit/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

static void tell(struct job *job, int rank, int32_t peer, uint32_t received, uint32_t slot,
		 uint64_t bytes)
{
	const struct ct_traffic_rec rec = { .comm = 1,
					    .peer = peer,
					    .received = received,
					    .slot = slot,
					    .messages = bytes / 10,
					    .bytes = bytes };

	job_rare(job, rank, CT_KIND_TRAFFIC, &rec, sizeof(rec));
}

static void send_to(struct job *job, int rank, int peer, uint64_t bytes, int result)
{
	const struct ct_op op = { .enter_ns = 2000000000,
				  .return_ns = 2000001000,
				  .op = CT_OP_Send,
				  .comm = 1,
				  .peer = peer,
				  .dtype = CT_DTYPE_uint8,
				  .count = bytes,
				  .result = (int16_t)result };

	job_op(job, rank, op);
}

/* Two ranks that have been through one collective. */
static struct job *open_job(unsigned backend)
{
	static char run[16];
	static int nth;
	const struct job_options options = { .run = run, .ranks = 2, .backend = backend };
	struct job *job = calloc(1, sizeof(*job));
	const int ranks[] = { 0, 1 };

	snprintf(run, sizeof(run), "traffic%d", nth++);
	job_open(job, &options);
	job_comm(job, 1, JOB_COMM, NULL, ranks, 2);
	for (int r = 0; r < 2; r++)
		job_collective(job, r, CT_OP_AllReduce, 100, 1000000000, 1000100000);
	return job;
}

static struct ct_report *close_job(struct job *job)
{
	struct ct_report *report;

	job_close(job, 3000000000);
	report = job_report(job, -1);
	free(job);
	return report;
}

static void latest_totals_count_once_and_sends_come_on_top(void **state)
{
	struct job *job = open_job(0);
	struct ct_report *report;

	(void)state;
	tell(job, 0, 1, 0, 5, 100);
	tell(job, 0, 1, 0, 5, 300);
	tell(job, 0, 1, 0, 9, 40); /* another counter of the same */
	tell(job, 0, 1, 1, 6, 70);
	tell(job, 1, 0, 0, 5, 70);
	tell(job, 1, 0, 1, 6, 340);
	send_to(job, 1, 0, 1000, 0);
	send_to(job, 1, 0, 5000, CT_RESULT_EXCEPTION); /* was never sent */
	report = close_job(job);
	assert_null(report->traffic.why);
	assert_int_equal(report->traffic.n_ranks, 2);
	assert_int_equal(report->traffic.matrix[1], 340);
	assert_int_equal(report->traffic.matrix[2], 1070);
	assert_int_equal(report->traffic.matrix[0] + report->traffic.matrix[3], 0);
	ct_report_free(report);
}

/* What was gathered is in the counts of the insides, and follows from the operation as well: once
 * is enough. */
static void what_was_counted_inside_is_not_laid_again(void **state)
{
	struct job *job = open_job(0);
	struct ct_report *report;

	(void)state;
	for (int r = 0; r < 2; r++) {
		job_collective(job, r, CT_OP_Gather, 25, 1500000000, 1500100000);
		job_collective(job, r, CT_OP_Reduce, 25, 1600000000, 1600100000);
		job_collective(job, r, CT_OP_AllToAll, 25, 1700000000, 1700100000);
	}
	tell(job, 0, 1, 0, 5, 500);
	tell(job, 0, 1, 1, 6, 600);
	tell(job, 1, 0, 0, 5, 600);
	tell(job, 1, 0, 1, 6, 500);
	report = close_job(job);
	assert_null(report->traffic.why);
	assert_int_equal(report->traffic.matrix[1], 500);
	assert_int_equal(report->traffic.matrix[2], 600);
	assert_int_equal(report->traffic.modelled_bytes, 0);
	assert_string_equal(report->traffic.layers[0].model, "exact");
	ct_report_free(report);
}

static void it_is_not_known_where_a_part_is_not(void **state)
{
	const struct ct_loss_rec loss = { .reason = CT_LOSS_TRAFFIC_FULL, .records = 1 };
	struct ct_report *report;
	struct job *job;

	(void)state;
	/* one rank's collectives were not looked into: another transport, perhaps */
	job = open_job(0);
	tell(job, 0, 1, 0, 5, 100);
	report = close_job(job);
	assert_non_null(report->traffic.why);
	ct_report_free(report);

	/* more pairs than there was space for */
	job = open_job(0);
	tell(job, 0, 1, 0, 5, 100);
	tell(job, 1, 0, 1, 5, 100);
	job_rare(job, 1, CT_KIND_LOSS, &loss, sizeof(loss));
	report = close_job(job);
	assert_non_null(report->traffic.why);
	ct_report_free(report);

	/* to a rank outside the communicator */
	job = open_job(0);
	tell(job, 0, 7, 0, 5, 100);
	tell(job, 1, 0, 1, 5, 100);
	report = close_job(job);
	assert_non_null(report->traffic.why);
	ct_report_free(report);

	/* a communicating library passes unseen */
	job = open_job(0);
	tell(job, 0, 1, 0, 5, 100);
	tell(job, 1, 0, 1, 5, 100);
	job_rare(job, 1, CT_KIND_INVISIBLE, "NVSHMEM=/lib/x.so", strlen("NVSHMEM=/lib/x.so"));
	report = close_job(job);
	assert_non_null(report->traffic.why);
	ct_report_free(report);

	/* and with all that it is */
	job = open_job(0);
	tell(job, 0, 1, 0, 5, 100);
	tell(job, 1, 0, 1, 5, 100);
	report = close_job(job);
	assert_null(report->traffic.why);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(latest_totals_count_once_and_sends_come_on_top,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(what_was_counted_inside_is_not_laid_again, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_not_known_where_a_part_is_not, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
