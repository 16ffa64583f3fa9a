/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of several operations: what the report says of them together, and of each. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/launch_job.h"

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
	assert_true(is_near(f->time_lost_ns, 99e6, 0.02));
	assert_string_equal(f->op_name, "AllGather");
	ct_report_free(report);
}

static void what_cannot_be_distinguished_has_no_bandwidth(void **state)
{
	/* Kinds that do not end together: the parts of the span are unknown. */
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
	assert_non_null(strstr(job_pairs(f), "seq=61 field=count"));
	ct_report_free(report);
}

/* ---- groups of messages ---- */

static void grouped_messages_are_reported_by_rank(void **state)
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
	op = row(report, "P2P", NULL);
	assert_non_null(op);
	assert_int_equal(op->instances, 30);
	assert_int_equal(op->bytes, 30 * 2000000ull); /* the larger of 2 MB in and 1 MB out */
	assert_true(is_near(op->transfer_p50_ns, 1e6, 0.02));
	assert_true(is_near(op->busbw_p50_Bps, 2e6 / 1e-3, 0.03));
	assert_true(is_near(op->wait_ns, 0, 0)); /* all the others were there when it came */
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
	assert_true(is_near(row(report, "P2P", "Recv")->wait_ns, 30 * 3e6, 0.001));
	assert_true(is_near(report->ranks[0].wait_ns, 30 * 3e6, 0.001));
	assert_int_equal(row(report, "P2P", "Recv")->bytes, 30 * 12000);
	ct_report_free(report);
}

/* `rank`'s side of an exchange: `count` to every rank and from every rank, rank 0 gets `more` more
 * from each. */
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

/* `steps` exchanges; rank 2 comes `late` late. */
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
		op = row(report, "P2P", "AllToAll");
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
		assert_true(is_near(f->time_lost_ns, 99 * 985e3, 0.03));
		ct_report_free(report);
	}
}

static void other_exchanges_are_no_all_to_all(void **state)
{
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	/* Unequal parts: the least busy rank's span is not the transfer; only playing the run again
	 * shows who was late. */
	report = exchanges(0, 500, 0, MS, 0);
	assert_null(row(report, "P2P", "AllToAll"));
	assert_int_equal(report->n_ops, 2); /* rank 0 gets more */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(report->ops[i].instances,
				 report->ops[i].size_range < 16384 ? 300 : 100);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 2);
	assert_true(is_near(f->time_lost_ns, 99 * 985e3, 0.05));
	ct_report_free(report);
	/* One message less from every rank: not an exchange with all. */
	fresh();
	report = exchanges(0, 0, 0, MS, 1);
	assert_null(row(report, "P2P", "AllToAll"));
	assert_int_equal(report->run.matched, 0);
	ct_report_free(report);
}

static void an_exchange_of_some_is_reported_by_rank(void **state)
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
	assert_null(row(report, "P2P", "AllToAll"));
	assert_int_equal(row(report, "P2P", NULL)->instances, 120);
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

			/* Rank 3's first one is not on record: from then on its second is the
			 * others' third. */
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
	assert_null(row(report, "P2P", "AllToAll"));
	assert_int_equal(row(report, "P2P", NULL)->instances, 199);
	assert_true(is_near(row(report, "P2P", NULL)->wait_ns, 49 * 3 * 1e6, 0.001));
	assert_int_equal(report->run.matched, 0);
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(fused_collectives_are_one_operation_of_all_their_bytes),
		ON_DISK(lateness_to_a_group_costs_once),
		ON_DISK(what_cannot_be_distinguished_has_no_bandwidth),
		ON_DISK(group_of_which_a_part_is_lost_is_not_judged),
		ON_DISK(broadcasts_from_several_roots_are_not_judged_as_one),
		ON_DISK(members_that_group_differently_are_not_compared),
		ON_DISK(a_contradiction_inside_a_group_is_found),
		ON_DISK(grouped_messages_are_reported_by_rank),
		ON_DISK(a_group_waits_once_for_the_last_of_its_partners),
		ON_DISK(equal_exchange_with_everybody_is_an_all_to_all),
		ON_DISK(other_exchanges_are_no_all_to_all),
		ON_DISK(an_exchange_of_some_is_reported_by_rank),
		ON_DISK(exchanges_that_do_not_belong_together_are_no_all_to_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
