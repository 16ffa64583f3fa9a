/* SPDX-License-Identifier: Apache-2.0 */
/* The traffic of runs of which not everything is known, and of those with much of it: never
 * silently wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/traffic/edges.h"
#include "tests/unit/launch_job.h"
#include "trace/status.h"

/* Ranks of NCCL on one communicator, 1; nothing has been called yet. */
static void open_nccl(int ranks, uint64_t absent, int ranks_per_host)
{
	static const int all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const struct job_options options = { .run = "run",
					     .ranks = ranks,
					     .ranks_per_host = ranks_per_host,
					     .absent = absent,
					     .backend = CT_BACKEND_NCCL };

	memset(&job, 0, sizeof(job));
	job_open(&job, &options);
	job_comm(&job, 1, JOB_COMM, "world", all, (uint32_t)ranks);
}

static void all_reduce(uint64_t count, uint64_t at)
{
	for (int r = 0; r < job.o.ranks; r++)
		job_collective(&job, r, CT_OP_AllReduce, count, at, at + MS);
}

static void send_on(int rank, uint32_t comm, int peer, uint64_t bytes, uint64_t at)
{
	const struct ct_op op = { .enter_ns = at,
				  .return_ns = at + US,
				  .op = CT_OP_Send,
				  .comm = comm,
				  .peer = peer,
				  .dtype = CT_DTYPE_uint8,
				  .count = bytes };

	job_op(&job, rank, op);
}

static struct ct_report *read_job(void)
{
	job_close(&job, 3000 * MS);
	return job_report(&job, -1);
}

/* Of the layer of all, -1: no such pair. */
static int64_t bytes_of(const struct ct_report *report, const char *scope, int src, int dst)
{
	const struct ct_report_traffic *t = &report->traffic;

	for (size_t l = 0; l < t->n_layers; l++)
		for (size_t i = 0; i < t->layers[l].n; i++)
			if (strcmp(t->layers[l].scope, scope) == 0 &&
			    strcmp(t->layers[l].kind, "all") == 0 && t->layers[l].src[i] == src &&
			    t->layers[l].dst[i] == dst)
				return (int64_t)t->layers[l].bytes[i];
	return -1;
}

/* There is no matrix, and what is missing is reported. */
static void assert_lacks(const struct ct_report *report, const char *what)
{
	const struct ct_report_traffic *t = &report->traffic;

	assert_non_null(t->why);
	assert_non_null(t->note);
	assert_int_equal(t->at_least, 1);
	assert_int_equal(t->n_ranks, 0);
	if (!strstr(t->note, what) || !strstr(t->note, "at least"))
		fail_msg("'%s' does not report '%s'", t->note, what);
}

static void what_no_one_counted_is_modelled(void **state)
{
	struct ct_report *report;

	(void)state;
	open_nccl(3, 0, 0);
	all_reduce(300, 100 * MS);
	send_on(2, 1, 0, 1000, 200 * MS);
	report = read_job();
	assert_null(report->traffic.why);
	assert_int_equal(report->traffic.at_least, 0);
	assert_string_equal(report->traffic.note,
			    "collective bytes are attributed by model, P2P bytes are exact");
	assert_int_equal(report->traffic.exact_bytes, 1000);
	assert_int_equal(report->traffic.modelled_bytes, 3 * 1600);
	assert_int_equal(report->traffic.matrix[2], 0);
	assert_int_equal(report->traffic.matrix[1], 1600);
	assert_int_equal(report->traffic.matrix[6], 2600);
	assert_string_equal(report->traffic.layers[0].model, "ring");
	assert_string_equal(report->traffic.layers[0].backend, "nccl");
	assert_int_equal(report->traffic.n_layers, 1);
	ct_report_free(report);
}

static void a_rank_without_a_trace_has_no_account_and_is_no_one(void **state)
{
	struct ct_report *report;

	(void)state;
	open_nccl(4, 1 << 2, 2);
	all_reduce(400, 100 * MS);
	report = read_job();
	assert_lacks(report, "ranks or records are missing");
	assert_lacks(report, "no trace names");
	assert_int_equal(report->traffic.unattributed_bytes, 2400);
	assert_int_equal(bytes_of(report, "rank", 0, 1), 2400);
	assert_int_equal(bytes_of(report, "rank", 1, 2), -1);
	assert_int_equal(bytes_of(report, "rank", 2, 3), -1);
	assert_int_equal(bytes_of(report, "rank", 3, 0), 2400);
	assert_int_equal(bytes_of(report, "host", 0, 0), 2400);
	assert_int_equal(bytes_of(report, "host", 1, 0), 2400);
	assert_int_equal(report->traffic.modelled_bytes, 4800);
	ct_report_free(report);
}

static void what_is_not_on_record_is_said(void **state)
{
	struct ct_op op = { .enter_ns = 300 * MS,
			    .return_ns = 301 * MS,
			    .op = CT_OP_AllReduce,
			    .comm = 77,
			    .peer = -1,
			    .dtype = CT_DTYPE_uint8,
			    .count = 8 };
	struct ct_report *report;

	(void)state;
	open_nccl(2, 0, 0);
	all_reduce(400, 100 * MS);
	job_op(&job, 0, op);
	report = read_job();
	assert_lacks(report, "the creation of some communicators was not recorded");
	assert_int_equal(bytes_of(report, "rank", 0, 1), 1600);
	ct_report_free(report);

	fresh();
	open_nccl(2, 0, 0);
	send_on(0, 1, 5, 100, 100 * MS);
	send_on(0, 1, 1, 100, 110 * MS);
	report = read_job();
	assert_lacks(report, "unknown peer");
	assert_int_equal(bytes_of(report, "rank", 0, 1), 100);
	ct_report_free(report);

	fresh();
	open_nccl(2, 0, 0);
	op.comm = 1;
	op.op = CT_OP_NeighborAllGather;
	job_op(&job, 1, op);
	report = read_job();
	assert_lacks(report, "source or target");
	assert_int_equal(report->traffic.n_layers, 0);
	ct_report_free(report);

	fresh();
	open_nccl(2, 0, 0);
	op.op = CT_OP_GraphLaunch;
	job_op(&job, 1, op);
	report = read_job();
	assert_lacks(report, "graphs");
	ct_report_free(report);
}

static void what_failed_was_not_sent(void **state)
{
	const struct ct_op op = { .enter_ns = 300 * MS,
				  .return_ns = 301 * MS,
				  .op = CT_OP_AllReduce,
				  .comm = 1,
				  .seq = 1,
				  .peer = -1,
				  .dtype = CT_DTYPE_uint8,
				  .count = 8,
				  .result = 3 };
	struct ct_report *report;

	(void)state;
	open_nccl(2, 0, 0);
	all_reduce(400, 100 * MS);
	for (int r = 0; r < 2; r++)
		job_op(&job, r, op);
	report = read_job();
	assert_null(report->traffic.why);
	assert_int_equal(bytes_of(report, "rank", 0, 1), 1600);
	ct_report_free(report);
}

/* A list of two AllReduces and a message round the ring, launched a hundred times. */
static void a_graph_moves_what_it_holds_with_each_launch(void **state)
{
	struct ct_graph_rec rec = { .list = 7,
				    .comm = 1,
				    .n_ops = 3,
				    .n_colls = 2,
				    .bytes = 8700,
				    .n = 2,
				    .count = 1000,
				    .peer = -1,
				    .op = CT_OP_AllReduce,
				    .dtype = CT_DTYPE_float32 };
	struct ct_report *report;

	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		fresh();
		open_nccl(3, 0, 0);
		for (int r = 0; r < 3; r++) {
			struct ct_graph_rec next = rec;

			job_rare(&job, r, CT_KIND_GRAPH, &rec, sizeof(rec));
			next.first = 2;
			next.n = 1;
			next.count = 175;
			next.peer = (r + 1) % 3;
			next.op = CT_OP_Send;
			if (whole)
				job_rare(&job, r, CT_KIND_GRAPH, &next, sizeof(next));
		}
		for (uint64_t c = 0; c < 100; c++)
			for (int r = 0; r < 3; r++) {
				const struct ct_op op = { .enter_ns = (10 + c) * MS,
							  .return_ns = (10 + c) * MS + US,
							  .op = CT_OP_GraphLaunch,
							  .seq = 2 * c,
							  .count = 2,
							  .tag = 7,
							  .peer = -1 };

				job_op(&job, r, op);
			}
		report = read_job();
		assert_int_equal(bytes_of(report, "rank", 1, 2),
				 100 * (2 * 4000 * 4 / 3) + 66 + whole * 100 * 700);
		assert_int_equal(report->traffic.exact_bytes, (uint64_t)whole * 3 * 100 * 700);
		if (whole)
			assert_null(report->traffic.why);
		else
			assert_lacks(report, "graphs");
		ct_report_free(report);
	}
}

static void only_the_communicators_with_most_bytes_have_layers_of_their_own(void **state)
{
	static const int both[] = { 0, 1 };
	const struct ct_report_traffic *t;
	struct ct_report *report;
	uint64_t sum = 0, least = UINT64_MAX;

	(void)state;
	open_nccl(2, 0, 1);
	for (uint32_t c = 0; c < 70; c++) {
		/* the more bytes, in no order */
		uint64_t bytes = 1000 + c * 37 % 70;

		job_comm(&job, 10 + c, 0xabc000 + c, NULL, both, 2);
		send_on(0, 10 + c, 1, bytes, (100 + c) * MS);
		sum += bytes;
	}
	report = read_job();
	t = &report->traffic;
	assert_null(t->why);
	assert_non_null(strstr(t->note, "6 communicators"));
	assert_int_equal(t->comms_left_out, 6);
	assert_int_equal(t->n_hosts, 2);
	assert_int_equal(bytes_of(report, "rank", 0, 1), sum);
	assert_int_equal(bytes_of(report, "host", 0, 1), sum);
	for (size_t l = 0, n = 0; l < t->n_layers; l++) {
		if (strcmp(t->layers[l].kind, "comm") != 0 ||
		    strcmp(t->layers[l].scope, "rank") != 0)
			continue;
		assert_true(t->layers[l].exact_bytes < least || n == 0);
		least = t->layers[l].exact_bytes;
		n++;
		assert_true(t->layers[l].comm_hash >= 0xabc000 &&
			    t->layers[l].comm_hash < 0xabc046);
		assert_int_equal(least, 1000 + (t->layers[l].comm_hash - 0xabc000) * 37 % 70);
		assert_true(n <= 64);
	}
	assert_int_equal(least, 1006);
	ct_report_free(report);
}

static void sums_that_are_too_large_are_said_to_be(void **state)
{
	struct ct_report *report;

	(void)state;
	open_nccl(2, 0, 0);
	for (int i = 0; i < 4; i++)
		send_on(0, 1, 1, UINT64_MAX / 3, (uint64_t)(100 + i) * MS);
	report = read_job();
	assert_lacks(report, "more bytes than can be added up");
	assert_int_equal(bytes_of(report, "rank", 0, 1), INT64_MAX);
	ct_report_free(report);
}

/* A second start of the job: its traffic alone. */
static void starts_are_apart(void **state)
{
	struct ct_report *report;

	(void)state;
	open_nccl(2, 0, 0);
	send_on(0, 1, 1, 100, 100 * MS);
	job_close(&job, 200 * MS);
	{
		static const int both[] = { 0, 1 };
		const struct job_options again = { .run = "run",
						   .ranks = 2,
						   .backend = CT_BACKEND_NCCL,
						   .restart = 1,
						   .start_ns = 1000 * MS,
						   .pid = 5000000 };

		memset(&job, 0, sizeof(job));
		job_open(&job, &again);
		job_comm(&job, 1, JOB_COMM, "world", both, 2);
	}
	send_on(0, 1, 1, 7, 1100 * MS);
	job_close(&job, 2000 * MS);
	report = job_report(&job, -1);
	assert_int_equal(report->run.starts, 2);
	assert_int_equal(bytes_of(report, "rank", 0, 1), 7);
	ct_report_free(report);
	report = job_report(&job, 0);
	assert_int_equal(bytes_of(report, "rank", 0, 1), 100);
	ct_report_free(report);
}

/* Messages that were sent and none that was received: no time is made up for them. */
static void pairs_without_matched_messages_have_no_time(void **state)
{
	struct ct_report *report;

	(void)state;
	open_nccl(2, 0, 0);
	all_reduce(400, 100 * MS);
	send_on(0, 1, 1, 1 << 20, 200 * MS);
	report = read_job();
	assert_true(report->traffic.layers[0].time_ns[0] == CT_UNKNOWN);
	assert_true(report->traffic.layers[0].bandwidth_Bps[0] == CT_UNKNOWN);
	assert_true(report->traffic.layers[0].max_bandwidth_Bps == CT_UNKNOWN);
	ct_report_free(report);
}

static void a_heatmap_with_too_many_pairs_is_none(void **state)
{
	struct ct_edges edges = { .most = 4 }, sum = { .most = 5 };

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		const struct ct_edge edge = { .src = 3 - i % 4, .dst = 7, .bytes = i, .count = 1 };

		assert_int_equal(ct_edges_add(&edges, &edge), CT_OK);
	}
	assert_int_equal(ct_edges_add_all(&sum, &edges), CT_OK);
	ct_edges_sort(&edges);
	assert_int_equal(edges.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(edges.all[i].src, i);
		assert_int_equal(edges.all[i].bytes, 3 * (3 - i) + 12);
		assert_int_equal(edges.all[i].count, 3);
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct ct_edge edge = { .src = 9 + i, .dst = 7, .bytes = i, .count = 1 };

		assert_int_equal(sum.is_full, i > 1);
		assert_int_equal(ct_edges_add(&sum, &edge), CT_OK);
	}
	assert_int_equal(sum.n, 0);
	/* what holds a part of it is none either */
	assert_int_equal(ct_edges_add_all(&edges, &sum), CT_OK);
	assert_true(edges.is_full && edges.n == 0);
	ct_edges_fini(&edges);
	ct_edges_fini(&sum);
}

#define in_dir_test(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heatmap_with_too_many_pairs_is_none),
		in_dir_test(what_no_one_counted_is_modelled),
		in_dir_test(a_rank_without_a_trace_has_no_account_and_is_no_one),
		in_dir_test(what_is_not_on_record_is_said),
		in_dir_test(what_failed_was_not_sent),
		in_dir_test(a_graph_moves_what_it_holds_with_each_launch),
		in_dir_test(only_the_communicators_with_most_bytes_have_layers_of_their_own),
		in_dir_test(sums_that_are_too_large_are_said_to_be),
		in_dir_test(starts_are_apart),
		in_dir_test(pairs_without_matched_messages_have_no_time),
	};

	return cmocka_run_group_tests_name("traffic_gaps", tests, NULL, NULL);
}
