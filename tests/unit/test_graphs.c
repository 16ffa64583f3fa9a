/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of CUDA graphs: what the report makes of them and of the lists that they carry out. */
#include <string.h>

#include "tests/unit/launch_job.h"

/* What list `list` of a rank holds: n operations of `count` floats. */
static void tell_list(int rank, uint32_t list, unsigned op, uint32_t n, uint64_t count)
{
	const struct ct_graph_rec rec = {
		.list = list,
		.comm = 1,
		.n_ops = n,
		.n_colls = n,
		.bytes = n * count * 4,
		.n = n,
		.count = count,
		.peer = -1,
		.op = (uint8_t)op,
		.dtype = CT_DTYPE_float32,
	};

	job_rare(&job, rank, CT_KIND_GRAPH, &rec, sizeof(rec));
}

/* A graph of `n` collectives: the next n numbers are its. */
static void launch_graph(int rank, uint32_t list, uint32_t n, uint64_t enter, uint64_t start,
			 uint64_t end)
{
	struct ct_op op = collective(CT_OP_GraphLaunch, n);

	op.dtype = op.redop = 0;
	op.tag = list;
	launch(rank, &op, 1, enter, start, end);
	job.seq[rank] += n - 1;
}

/* Rank 2 comes to each graph 1 ms after the others. */
static void launches_of_graphs_are_matched_and_their_time_is_not_communication(void **state)
{
	const struct ct_report_op *op;
	struct ct_report *report;

	(void)state;
	open_job(3, 0);
	for (int r = 0; r < 3; r++)
		tell_list(r, 7, CT_OP_AllReduce, 2, 1000);
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < 3; r++)
			launch_graph(r, 7, 2, c * 10 * MS + MS, c * 10 * MS + (r == 2 ? 3 : 2) * MS,
				     c * 10 * MS + 8 * MS);
	report = close_job(1001 * MS);
	op = row(report, NULL, "GraphLaunch");
	assert_non_null(op);
	assert_int_equal(op->instances, 100);
	assert_int_equal(op->bytes, 100 * 8000);
	assert_true(is_near(op->wait_ns, 100 * 2e6, 0.001));
	assert_true(op->transfer_ns == CT_UNKNOWN && op->transfer_p50_ns == CT_UNKNOWN);
	assert_true(op->algbw_p50_Bps == CT_UNKNOWN && op->busbw_p50_Bps == CT_UNKNOWN);
	assert_int_equal(op->last_rank, 2);
	assert_int_equal(report->run.matched, 100);
	assert_int_equal(report->comms[0].last_seq, 199);
	assert_true(report->ranks[0].comm_ns == CT_UNKNOWN);
	assert_int_equal(report->ranks[0].bytes, 100 * 8000);
	assert_non_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
}

/* A rank that calls by itself what the others launch as a graph, graphs that are cut elsewhere,
 * lists that are not on record or hold nothing that ranks wait for: no rank is blamed for it. */
static void graphs_that_differ_by_right_are_no_mismatch(void **state)
{
	const struct ct_op one = collective(CT_OP_AllReduce, 1000);
	struct ct_report *report;

	(void)state;
	open_job(3, 0);
	for (int r = 0; r < 3; r++) {
		tell_list(r, 1, CT_OP_AllReduce, 2, 1000);
		tell_list(r, 2, CT_OP_AllReduce, 1, 1000);
		tell_list(r, 3, CT_OP_Broadcast, 2, 1000);
	}
	for (uint64_t c = 0; c < 60; c++) {
		for (int r = 0; r < 3; r++) {
			uint64_t at = c * 10 * MS + MS, late = (uint64_t)r * MS;

			if (r == 0) {
				launch_graph(r, 1, 2, at, at + late, at + 5 * MS);
			} else if (r == 1) {
				launch_graph(r, 2, 1, at, at + late, at + 5 * MS);
				launch_graph(r, 2, 1, at + 1000, at + late, at + 5 * MS);
			} else {
				launch(r, &one, 1, at, at + late, at + 5 * MS);
				launch(r, &one, 1, at + 1000, at + late, at + 5 * MS);
			}
			launch_graph(r, 3, 2, at + 6 * MS, at + 6 * MS + late, at + 9 * MS);
			launch_graph(r, 99, 2, at + 6 * MS, at + 6 * MS + late, at + 9 * MS);
		}
	}
	report = close_job(601 * MS);
	assert_null(job_finding(report, CT_FINDING_MISMATCH));
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_int_equal(report->run.matched, 0);
	ct_report_free(report);
}

/* Rank 1 has launched a graph that its recorder knows nothing of: its numbers are one behind from
 * then on. */
static void nothing_is_compared_after_graphs_that_were_lost(void **state)
{
	const struct ct_loss_rec loss = { .reason = CT_LOSS_GRAPH_LOST, .records = 1 };
	struct ct_report *report;

	(void)state;
	open_job(3, 0);
	job_rare(&job, 1, CT_KIND_LOSS, &loss, sizeof(loss));
	for (uint64_t c = 0; c < 60; c++)
		for (int r = 0; r < 3; r++) {
			struct ct_op op = collective((c + (r == 1 && c > 20)) % 2 ? CT_OP_AllReduce
										  : CT_OP_AllGather,
						     1000);

			launch(r, &op, 1, c * 10 * MS + MS, c * 10 * MS + 2 * MS,
			       c * 10 * MS + 3 * MS);
		}
	report = close_job(700 * MS);
	assert_null(job_finding(report, CT_FINDING_MISMATCH));
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "CUDA graphs"));
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(launches_of_graphs_are_matched_and_their_time_is_not_communication),
		ON_DISK(graphs_that_differ_by_right_are_no_mismatch),
		ON_DISK(nothing_is_compared_after_graphs_that_were_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
