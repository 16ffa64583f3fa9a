/* SPDX-License-Identifier: Apache-2.0 */
/* Work on GPUs: launches of several operations, spans measured by events, operations without a time. What each
 * launch was and took is written here; the report has to say the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

#define MS 1000000ull
#define US 1000ull
#define ERR 2500u /* of each time of a stream, ns */

static struct job job;
static uint32_t launches[JOB_MAX_RANKS]; /* ids given out */
static uint32_t lost_ops;		 /* that each launch held beside those that are recorded */
static uint64_t messages[JOB_MAX_RANKS][JOB_MAX_RANKS][2];

static void open_job(int ranks, int ranks_per_host)
{
	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = ranks,
					      .ranks_per_host = ranks_per_host,
					      .backend = CT_BACKEND_NCCL });
	lost_ops = 0;
	memset(launches, 0, sizeof(launches));
	memset(messages, 0, sizeof(messages));
}

/* An empty directory once more. */
static void fresh(void)
{
	void *state;

	assert_int_equal(fx_teardown(&state), 0);
	assert_int_equal(fx_setup(&state), 0);
}

static struct ct_report *close_job(uint64_t end)
{
	job_close(&job, end);
	return job_report(&job, -1);
}

static struct ct_op collective(unsigned op, uint64_t count)
{
	return (struct ct_op){ .op = (uint8_t)op,
			       .count = count,
			       .peer = ct_op_class(op) == CT_CLASS_ROOTED ? 0 : -1,
			       .dtype = CT_DTYPE_float32 };
}

static struct ct_op message(unsigned op, int peer, uint64_t count)
{
	return (struct ct_op){
		.op = (uint8_t)op, .count = count, .peer = peer, .dtype = CT_DTYPE_float32
	};
}

#define NO_LAUNCH UINT32_MAX /* as launch of an op: it has none */

/* One launch of `n` ops by `rank`, which its stream reaches at `start`; start and end 0: not timed. */
static void launch(int rank, const struct ct_op *ops, uint32_t n, uint64_t enter, uint64_t start,
		   uint64_t end)
{
	uint32_t id = ops[0].launch == NO_LAUNCH ? 0 : ++launches[rank];

	for (uint32_t i = 0; i < n; i++) {
		struct ct_op op = ops[i];

		if (ct_op_class(op.op) == CT_CLASS_P2P)
			op.seq = messages[rank][op.peer][op.op == CT_OP_Recv]++;
		else if (!(op.flags & CT_OP_CAPTURED))
			op.seq = job.seq[rank]++;
		op.enter_ns = enter + i * 500;
		op.return_ns = op.enter_ns + 400;
		op.launch = id;
		job_op(&job, rank, op);
	}
	if (!id || ops[0].flags & CT_OP_CAPTURED)
		return;
	job_launch(&job, rank,
		   (struct ct_launch){ .id = id,
				       .comm = 1,
				       .n_ops = n + lost_ops,
				       .start_ns = start,
				       .end_ns = end,
				       .start_err_ns = start ? ERR : 0,
				       .end_err_ns = end ? ERR : 0,
				       .start_source = start ? CT_SOURCE_EVENT : CT_SOURCE_NONE,
				       .end_source = end ? CT_SOURCE_EVENT : CT_SOURCE_NONE });
}

static int is_near(uint64_t value, double expected, double off)
{
	return fabs((double)value - expected) <= off * expected + 200;
}

static const struct ct_report_op *row(const struct ct_report *report, const char *group,
				      const char *name)
{
	for (size_t i = 0; i < report->n_ops; i++) {
		const struct ct_report_op *op = &report->ops[i];

		if ((!group != !op->group) || (group && strcmp(group, op->group) != 0) ||
		    (!name != !op->op_name) || (name && strcmp(name, op->op_name) != 0))
			continue;
		return op;
	}
	return NULL;
}

/* ---- graphs ---- */

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

/* A rank that calls by itself what the others launch as a graph, graphs that are cut elsewhere, lists that are not on
 * record or hold nothing that ranks wait for: nobody is blamed for it. */
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

/* ---- groups of collectives ---- */

static void fused_collectives_are_one_operation_of_all_their_bytes(void **state)
{
	const struct ct_op group[] = { collective(CT_OP_AllReduce, 250000),
				       collective(CT_OP_AllReduce, 500000),
				       collective(CT_OP_AllReduce, 250000) };
	const struct ct_report_op *op;
	struct ct_report *report;

	(void)state;
	open_job(4, 0);
	for (uint64_t c = 0; c < 60; c++) {
		for (uint64_t r = 0; r < 4; r++)
			launch((int)r, group, 3, c * 10 * MS + MS,
			       c * 10 * MS + 2 * MS + r * 100 * US, c * 10 * MS + 3 * MS);
	}
	report = close_job(700 * MS);
	assert_int_equal(report->run.timing, CT_TIMING_EVENTS);
	assert_int_equal(report->n_ops, 1);
	op = row(report, "collectives", "AllReduce");
	assert_non_null(op);
	assert_int_equal(op->instances, 60);
	assert_int_equal(op->bytes, 60 * 4000000ull);
	/* Spans 1000, 900, 800, 700 us; X = 700 us, once a launch; waits 300 + 200 + 100. */
	assert_true(is_near(op->transfer_ns, 60 * 700e3, 0.001));
	assert_true(is_near(op->wait_ns, 60 * 600e3, 0.001));
	assert_true(is_near(op->algbw_p50_Bps, 4e6 / 700e-6, 0.03));
	assert_true(is_near(op->busbw_p50_Bps, 1.5 * 4e6 / 700e-6, 0.03));
	assert_int_equal(op->last_rank, 3);
	assert_int_equal(op->last_count, 60);
	assert_true(is_near(op->last_cost_ns, 60 * 100e3, 0.001));
	assert_true(is_near(report->ranks[0].wait_ns, 60 * 300e3, 0.001));
	assert_true(is_near(report->ranks[0].comm_ns, 60 * 1000e3, 0.001));
	assert_int_equal(report->ranks[3].last_count, 60);
	/* Every operation counts where it is about order. */
	assert_int_equal(report->comms[0].instances, 180);
	assert_int_equal(report->comms[0].last_seq, 179);
	assert_int_equal(report->comms[0].bytes, 60 * 4000000ull);
	assert_int_equal(report->run.matched, 60);
	assert_int_equal(report->run.incomplete, 0);
	ct_report_free(report);
}

static void lateness_to_a_group_costs_once(void **state)
{
	const struct ct_op group[] = { collective(CT_OP_AllGather, 1000),
				       collective(CT_OP_AllGather, 1000),
				       collective(CT_OP_AllGather, 1000),
				       collective(CT_OP_AllGather, 1000) };
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(4, 2);
	for (uint64_t c = 0; c < 100; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		for (int r = 0; r < 4; r++)
			launch(r, group, 4, at - MS, at + (r == 1 ? MS : (uint64_t)r * 3 * US),
			       at + 2 * MS + (uint64_t)r * US);
	}
	report = close_job(1000 * MS);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 1);
	assert_true(is_near(f->loss_ns, 99e6, 0.02));
	assert_string_equal(f->op_name, "AllGather");
	ct_report_free(report);
}

static void what_cannot_be_told_apart_has_no_bandwidth(void **state)
{
	/* Kinds that do not end together: nobody knows which part of the span is whose. */
	const struct ct_op mixed[] = { collective(CT_OP_AllReduce, 1000),
				       collective(CT_OP_Broadcast, 1000) };
	/* Two synchronising kinds: one wait, bytes add up, but there is no common bus factor. */
	const struct ct_op sync[] = { collective(CT_OP_ReduceScatter, 1000),
				      collective(CT_OP_AllGather, 1000) };
	const struct ct_report_op *op;
	struct ct_report *report;

	(void)state;
	open_job(2, 0);
	for (uint64_t c = 0; c < 30; c++) {
		for (int r = 0; r < 2; r++) {
			uint64_t at = c * 10 * MS + 2 * MS + (uint64_t)r * 200 * US;

			launch(r, mixed, 2, at - MS, at, c * 10 * MS + 3 * MS);
			launch(r, sync, 2, at - MS, at + 4 * MS, c * 10 * MS + 7 * MS);
		}
	}
	report = close_job(400 * MS);
	assert_int_equal(report->n_ops, 2);
	for (size_t i = 0; i < 2; i++) {
		op = &report->ops[i];
		assert_null(op->op_name);
		assert_string_equal(op->group, "collectives");
		assert_int_equal(op->instances, 30);
		assert_true(op->span_p50_ns != CT_UNKNOWN);
		assert_true(op->busbw_p50_Bps == CT_UNKNOWN);
		if (op->bytes == 30 * (4000 + 4000)) {
			assert_true(op->wait_ns == CT_UNKNOWN);
			assert_true(op->algbw_p50_Bps == CT_UNKNOWN);
		} else {
			assert_int_equal(op->bytes, 30 * (8000 + 8000));
			assert_true(is_near(op->wait_ns, 30 * 200e3, 0.001));
			assert_true(is_near(op->algbw_p50_Bps, 16000 / 800e-6, 0.03));
		}
	}
	assert_int_equal(report->run.matched, 30);
	ct_report_free(report);
}

static void group_of_which_a_part_is_lost_is_not_judged(void **state)
{
	const struct ct_op group[] = { collective(CT_OP_AllReduce, 1000),
				       collective(CT_OP_AllReduce, 1000) };
	struct ct_report *report;

	(void)state;
	open_job(3, 0);
	lost_ops = 1;
	for (uint64_t c = 0; c < 30; c++) {
		for (int r = 0; r < 3; r++)
			launch(r, group, c % 2 ? 2 : 1, c * 10 * MS + MS,
			       c * 10 * MS + 2 * MS + (r == 1 ? MS : 0), c * 10 * MS + 4 * MS);
	}
	report = close_job(400 * MS);
	assert_int_equal(report->run.matched, 0);
	assert_int_equal(report->comms[0].instances, 45);
	for (size_t i = 0; i < report->n_ops; i++) {
		assert_string_equal(report->ops[i].group, "collectives");
		assert_int_equal(report->ops[i].instances, 15);
		assert_true(report->ops[i].algbw_p50_Bps == CT_UNKNOWN);
		assert_true(report->ops[i].wait_ns == CT_UNKNOWN);
	}
	ct_report_free(report);
}

static void broadcasts_from_several_roots_are_not_judged_as_one(void **state)
{
	struct ct_op group[] = { collective(CT_OP_Broadcast, 1000),
				 collective(CT_OP_Broadcast, 1000) };
	struct ct_report *report;

	(void)state;
	for (int roots = 1; roots <= 2; roots++) {
		fresh();
		open_job(3, 0);
		group[1].peer = roots - 1;
		for (uint64_t c = 0; c < 30; c++) {
			for (int r = 0; r < 3; r++)
				launch(r, group, 2, c * 10 * MS + MS,
				       c * 10 * MS + 2 * MS + (r == 0 ? 800 * US : 0),
				       c * 10 * MS + 3 * MS);
		}
		report = close_job(400 * MS);
		assert_int_equal(report->n_ops, 1);
		assert_string_equal(report->ops[0].op_name, "Broadcast");
		assert_string_equal(report->ops[0].group, "collectives");
		if (roots == 1) {
			assert_true(is_near(report->ops[0].wait_ns, 30 * 1600e3, 0.001));
			assert_int_equal(report->ops[0].last_rank, 0);
		} else {
			assert_true(report->ops[0].wait_ns == CT_UNKNOWN);
			assert_true(report->ops[0].transfer_ns == CT_UNKNOWN);
		}
		ct_report_free(report);
	}
}

static void members_that_group_differently_are_not_compared(void **state)
{
	const struct ct_op two[] = { collective(CT_OP_AllReduce, 1000),
				     collective(CT_OP_AllReduce, 1000) };
	struct ct_report *report;

	(void)state;
	open_job(2, 0);
	for (uint64_t c = 0; c < 40; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		launch(0, two, 2, at, at, at + 2 * MS);
		launch(1, two, 1, at, at, at + MS);
		launch(1, two, 1, at, at + MS, at + 2 * MS);
	}
	report = close_job(500 * MS);
	assert_int_equal(report->run.matched, 0);
	assert_null(job_finding(report, CT_FINDING_MISMATCH));
	assert_int_equal(report->comms[0].equal_to_seq, 79);
	for (size_t i = 0; i < report->n_ops; i++)
		assert_true(report->ops[i].wait_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void a_contradiction_inside_a_group_is_found(void **state)
{
	const struct ct_op group[] = { collective(CT_OP_AllReduce, 1000),
				       collective(CT_OP_AllReduce, 2000),
				       collective(CT_OP_AllReduce, 3000) };
	const struct ct_op odd[] = { group[0], group[2], group[1] };
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(3, 0);
	for (uint64_t c = 0; c < 30; c++) {
		for (int r = 0; r < 3; r++)
			launch(r, c == 20 && r == 2 ? odd : group, 3, c * 10 * MS + MS,
			       c * 10 * MS + 2 * MS, c * 10 * MS + 3 * MS);
	}
	report = close_job(400 * MS);
	f = job_finding(report, CT_FINDING_MISMATCH);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 2);
	assert_non_null(strstr(f->line, "seq=61 field=count"));
	ct_report_free(report);
}

/* ---- groups of messages ---- */

static void grouped_messages_are_told_by_rank(void **state)
{
	struct ct_report *report;
	const struct ct_report_op *op;

	(void)state;
	open_job(3, 0);
	/* A pipeline: rank 1 sends 1 MB to rank 2 and gets 2 MB from rank 0 in one group. */
	for (uint64_t c = 0; c < 30; c++) {
		const struct ct_op first[] = { message(CT_OP_Send, 1, 500000) };
		const struct ct_op middle[] = { message(CT_OP_Recv, 0, 500000),
						message(CT_OP_Send, 2, 250000) };
		const struct ct_op last[] = { message(CT_OP_Recv, 1, 250000) };
		uint64_t at = c * 10 * MS;

		launch(0, first, 1, at + MS, at + 2 * MS, at + 4 * MS);
		launch(1, middle, 2, at + MS, at + 3 * MS, at + 4 * MS);
		launch(2, last, 1, at + MS, at + 2500 * US, at + 4 * MS);
	}
	report = close_job(400 * MS);
	assert_int_equal(report->n_ops, 3);
	op = row(report, "messages", NULL);
	assert_non_null(op);
	assert_int_equal(op->instances, 30);
	assert_int_equal(op->bytes, 30 * 2000000ull); /* the larger of 2 MB in and 1 MB out */
	assert_true(is_near(op->transfer_p50_ns, 1e6, 0.02));
	assert_true(is_near(op->busbw_p50_Bps, 2e6 / 1e-3, 0.03));
	assert_true(is_near(op->wait_ns, 0, 0)); /* everybody was there when it came */
	/* The others were alone in their launches: as ever. */
	op = row(report, NULL, "Send");
	assert_int_equal(op->instances, 30);
	assert_true(is_near(op->wait_ns, 30 * 1e6, 0.001));
	op = row(report, NULL, "Recv");
	assert_true(is_near(op->wait_ns, 30 * 500e3, 0.001));
	ct_report_free(report);
}

static void a_group_waits_once_for_the_last_of_its_partners(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(4, 0);
	for (uint64_t c = 0; c < 30; c++) {
		/* Rank 0 collects from three, who come 1, 2 and 3 ms after it. */
		const struct ct_op gather[] = { message(CT_OP_Recv, 1, 1000),
						message(CT_OP_Recv, 2, 1000),
						message(CT_OP_Recv, 3, 1000) };
		uint64_t at = c * 20 * MS + MS;

		launch(0, gather, 3, at, at, at + 4 * MS);
		for (int r = 1; r < 4; r++) {
			const struct ct_op send = message(CT_OP_Send, 0, 1000);

			launch(r, &send, 1, at, at + (uint64_t)r * MS, at + 4 * MS);
		}
	}
	report = close_job(700 * MS);
	assert_true(is_near(row(report, "messages", "Recv")->wait_ns, 30 * 3e6, 0.001));
	assert_true(is_near(report->ranks[0].wait_ns, 30 * 3e6, 0.001));
	assert_int_equal(row(report, "messages", "Recv")->bytes, 30 * 12000);
	ct_report_free(report);
}

/* `rank`'s side of an exchange: `count` to everybody and from everybody, rank 0 gets `more` more of everybody. */
static uint32_t exchange(int rank, uint64_t count, uint64_t more, int self, struct ct_op *ops)
{
	uint32_t n = 0;

	for (int p = 0; p < job.o.ranks; p++) {
		if (p == rank && !self)
			continue;
		ops[n++] = message(CT_OP_Send, p, count + (p == 0 ? more : 0));
		ops[n++] = message(CT_OP_Recv, p, count + (rank == 0 ? more : 0));
	}
	return n;
}

/* `cycles` exchanges; rank 2 comes `late` late. */
static struct ct_report *exchanges(int per_host, uint64_t more, int self, uint64_t late,
				   uint32_t without)
{
	struct ct_op ops[2 * JOB_MAX_RANKS];

	open_job(4, per_host);
	for (uint64_t c = 0; c < 100; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		for (int r = 0; r < 4; r++) {
			uint32_t n = exchange(r, 1000, more, self, ops);

			launch(r, ops, n - without, at - MS,
			       at + (r == 2 ? late : (uint64_t)r * 5 * US),
			       at + late + MS + (uint64_t)r * US);
		}
	}
	return close_job(1000 * MS);
}

static void equal_exchange_with_everybody_is_an_all_to_all(void **state)
{
	(void)state;
	for (int self = 0; self < 2; self++) {
		const struct ct_report_op *op;
		const struct ct_finding *f;
		struct ct_report *report;

		fresh();
		report = exchanges(self ? 2 : 0, 0, self, MS, 0);
		f = job_finding(report, CT_FINDING_STRAGGLER);
		assert_int_equal(report->n_ops, 1);
		op = row(report, "messages", "AllToAll");
		assert_non_null(op);
		assert_int_equal(op->instances, 100);
		assert_int_equal(op->bytes, 100 * 4000 * 4);
		assert_true(is_near(op->transfer_p50_ns, 1e6, 0.02));
		assert_true(is_near(op->busbw_p50_Bps, 0.75 * 16000 / 1e-3, 0.03));
		assert_int_equal(op->last_rank, 2);
		assert_int_equal(report->run.matched, 100);
		/* It brings all ranks together: who is late to it is found, and costs once. */
		assert_non_null(f);
		assert_int_equal(f->n_ranks, 1);
		assert_int_equal(f->ranks[0], 2);
		assert_true(is_near(f->loss_ns, 99 * 985e3, 0.03));
		ct_report_free(report);
	}
}

static void other_exchanges_are_no_all_to_all(void **state)
{
	struct ct_report *report;

	(void)state;
	/* Unequal parts: the least busy rank's span is not the transfer, and nobody is judged by it. */
	report = exchanges(0, 500, 0, MS, 0);
	assert_null(row(report, "messages", "AllToAll"));
	assert_int_equal(report->n_ops, 2); /* rank 0 gets more */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(report->ops[i].instances,
				 report->ops[i].bytes_class < 16384 ? 300 : 100);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
	/* A message less, of everybody: no exchange with all. */
	fresh();
	report = exchanges(0, 0, 0, MS, 1);
	assert_null(row(report, "messages", "AllToAll"));
	assert_int_equal(report->run.matched, 0);
	ct_report_free(report);
}

static void an_exchange_of_some_is_told_by_rank(void **state)
{
	struct ct_op ops[2 * JOB_MAX_RANKS];
	struct ct_report *report;

	(void)state;
	open_job(4, 0);
	for (uint64_t c = 0; c < 40; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		for (int r = 0; r < 4; r++) {
			uint32_t n = exchange(r, 1000, 0, 0, ops);

			/* Rank 3 does the same one after the other. */
			if (r < 3)
				launch(r, ops, n, at, at, at + MS);
			for (uint32_t i = 0; r == 3 && i < n; i++)
				launch(r, &ops[i], 1, at, at + i * 100 * US,
				       at + i * 100 * US + 90000);
		}
	}
	report = close_job(500 * MS);
	assert_null(row(report, "messages", "AllToAll"));
	assert_int_equal(row(report, "messages", NULL)->instances, 120);
	assert_int_equal(row(report, NULL, "Send")->instances, 120);
	assert_int_equal(report->run.matched, 0);
	ct_report_free(report);
}

static void exchanges_that_do_not_belong_together_are_no_all_to_all(void **state)
{
	struct ct_op ops[2 * JOB_MAX_RANKS];
	struct ct_report *report;

	(void)state;
	open_job(4, 0);
	for (uint64_t c = 0; c < 50; c++) {
		uint64_t at = c * 10 * MS + 2 * MS;

		for (int r = 0; r < 4; r++) {
			uint32_t n = exchange(r, 1000, 0, 0, ops);

			/* Rank 3's first one is not on record: from then on its second is the others' third. */
			if (r == 3 && c == 0) {
				for (int p = 0; p < 3; p++) {
					messages[3][p][0]++;
					messages[3][p][1]++;
				}
			} else {
				launch(r, ops, n, at, at + (r == 1 ? MS : 0), at + 2 * MS);
			}
		}
	}
	report = close_job(600 * MS);
	assert_null(row(report, "messages", "AllToAll"));
	assert_int_equal(row(report, "messages", NULL)->instances, 199);
	assert_true(is_near(row(report, "messages", NULL)->wait_ns, 49 * 3 * 1e6, 0.001));
	assert_int_equal(report->run.matched, 0);
	ct_report_free(report);
}

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
	assert_int_equal(report->n_inflight, 0);
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
	assert_non_null(strstr(f->line, "seq=10 "));
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
	/* Every other time rank 2's stream comes 2 ms late. Either what follows is as fast as ever: it was late. Or
	 * it takes three times as long as usual: then what made it late may be what makes it slow. */
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
		ON_DISK(launches_of_graphs_are_matched_and_their_time_is_not_communication),
		ON_DISK(graphs_that_differ_by_right_are_no_mismatch),
		ON_DISK(fused_collectives_are_one_operation_of_all_their_bytes),
		ON_DISK(lateness_to_a_group_costs_once),
		ON_DISK(what_cannot_be_told_apart_has_no_bandwidth),
		ON_DISK(group_of_which_a_part_is_lost_is_not_judged),
		ON_DISK(broadcasts_from_several_roots_are_not_judged_as_one),
		ON_DISK(members_that_group_differently_are_not_compared),
		ON_DISK(a_contradiction_inside_a_group_is_found),
		ON_DISK(grouped_messages_are_told_by_rank),
		ON_DISK(a_group_waits_once_for_the_last_of_its_partners),
		ON_DISK(equal_exchange_with_everybody_is_an_all_to_all),
		ON_DISK(other_exchanges_are_no_all_to_all),
		ON_DISK(an_exchange_of_some_is_told_by_rank),
		ON_DISK(exchanges_that_do_not_belong_together_are_no_all_to_all),
		ON_DISK(operations_without_a_time_are_neither_waits_nor_hangs),
		ON_DISK(contradictions_of_operations_without_a_time_are_found),
		ON_DISK(rank_that_is_not_timed_is_named_and_not_judged),
		ON_DISK(last_one_whose_transfer_is_slow_is_not_blamed),
		ON_DISK(errors_of_spans_reach_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
