/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that wait for each other in messages: the slow one is named although its neighbours hand
 * its lateness on, and no one else is.
 *
 * unit_stencil --measure SEEDS prints how often each case comes out right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "tests/unit/stencil_job.h"
#include "trace/ops.h"

static const struct stencil quiet = {
	.ranks = 4,
	.steps = 300,
	.every = 5,
	.step_ms = 20,
	.noise = 0.01,
	.transfer_us = 60,
	.skew_us = 20,
	.blocking = 1,
};

struct outcome {
	uint64_t blamed; /* mask of ranks */
	double time_lost_pct, true_pct;
	enum ct_verdict_code verdict;
	char text[200];
};

static struct outcome run(struct stencil o, unsigned seed)
{
	struct outcome out = { 0 };
	struct ct_report *report;
	uint64_t time_lost_ns, end_ns;
	void *state;

	assert_int_equal(fx_setup(&state), 0);
	o.seed = seed;
	report = stencil_report(&o, &time_lost_ns, &end_ns);
	snprintf(out.text, sizeof(out.text), "%s", report->verdict.text);
	out.verdict = report->verdict.code;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		for (size_t r = 0; r < f->n_ranks; r++)
			out.blamed |= 1ull << (f->ranks[r] >= 0 ? f->ranks[r] : 63);
		out.time_lost_pct += f->time_lost_pct;
		assert_false(f->at_most);
	}
	assert_int_equal(report->run.incomplete, 0);
	out.true_pct = 100 * (double)time_lost_ns / (double)report->run.duration_ns;
	ct_report_free(report);
	assert_int_equal(fx_teardown(&state), 0);
	return out;
}

#define SEEDS SOME_SEEDS(6)

static void expect(struct stencil o, uint64_t blamed)
{
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct outcome out = run(o, seed);

		if (out.blamed != blamed)
			fail_msg("%d ranks, seed %u: ranks %llx instead of %llx: %s", o.ranks, seed,
				 (unsigned long long)out.blamed, (unsigned long long)blamed,
				 out.text);
		if (!blamed && out.verdict == CT_VERDICT_STRAGGLER)
			fail_msg("seed %u: %s", seed, out.text);
		if (blamed && fabs(out.time_lost_pct - out.true_pct) > 0.35 * out.true_pct + 0.5)
			fail_msg("%d ranks, seed %u: loss %.2f %% instead of %.2f %%", o.ranks,
				 seed, out.time_lost_pct, out.true_pct);
	}
}

static void the_slow_rank_is_named_though_neighbours_hand_its_lateness_on(void **state)
{
	struct stencil o = quiet;

	(void)state;
	o.slow = 1 << 2;
	o.slow_pct = 10;
	expect(o, 1 << 2);
	o.blocking = 0;
	o.chain = 1;
	o.slow = 1;
	expect(o, 1);
	o.ranks = 16;
	o.slow = 1 << 9;
	expect(o, 1 << 9);
	o.ranks = 2;
	o.slow = 1 << 1;
	expect(o, 1 << 1);
}

/* What goes around by MPI_Sendrecv waits for the slow rank at both ends of the chain: that is no
 * time of its messages. */
static void at_the_end_of_a_chain_the_slow_rank_costs_what_it_costs(void **state)
{
	struct stencil o = quiet;

	(void)state;
	o.chain = 1;
	o.blocking = 1;
	o.ranks = 4;
	o.slow_pct = 400;
	for (int rank = 0; rank < o.ranks; rank++) {
		o.slow = 1ull << rank;
		expect(o, o.slow);
	}
}

/* Between posting and waiting it computes: that is not communication. */
static void computing_between_posting_and_waiting_is_computing(void **state)
{
	struct stencil o = quiet;

	(void)state;
	o.overlap = 0.6;
	expect(o, 0);
	o.slow = 1 << 1;
	o.slow_pct = 10;
	expect(o, 1 << 1);
}

static void hosts_without_a_common_clock_are_no_hindrance(void **state)
{
	struct stencil o = quiet;

	(void)state;
	o.ranks = 8;
	o.per_host = 2;
	expect(o, 0);
	o.slow = 1 << 5;
	o.slow_pct = 10;
	expect(o, 1 << 5);
	o.per_host = 1;
	expect(o, 1 << 5);
}

static void slow_ranks_are_weighed_together(void **state)
{
	struct stencil o = quiet;

	(void)state;
	o.ranks = 8;
	o.slow = 1 << 1 | 1 << 6;
	o.slow_pct = 10;
	expect(o, 1 << 1 | 1 << 6);
}

static void no_rank_is_named_among_equals(void **state)
{
	struct stencil o = quiet;

	(void)state;
	expect(o, 0);
	o.noise = 0.2; /* two cores for four ranks */
	expect(o, 0);
	o.ranks = 2;
	expect(o, 0);
	o.chain = 1;
	o.ranks = 3; /* the middle one has twice the messages */
	o.transfer_us = 3000;
	expect(o, 0);
	o.noise = 0.01;
	o.hiccup = 0.05;
	o.hiccup_ms = 30;
	o.ranks = 4;
	expect(o, 0);
}

/* The first rank computes most of all and is never late: the others need longer for their messages.
 */
static void a_rank_that_computes_while_others_move_data_is_not_slow(void **state)
{
	struct stencil o = quiet;

	(void)state;
	o.ranks = 5;
	o.bulk_ms = 8;
	o.exchange_ms = 12;
	expect(o, 0);
}

/* Without recorded waits, waiting and computing cannot be separated. */
static void without_waits_on_record_no_rank_is_named(void **state)
{
	struct stencil o = quiet;
	struct outcome out;

	(void)state;
	o.quiet_waits = 1;
	o.blocking = 0;
	o.slow = 1 << 2;
	o.slow_pct = 30;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		out = run(o, seed);
		assert_int_equal(out.blamed, 0);
	}
}

/* What lies between posting and the call that waits is hidden, what is waited for is not, each
 * moment once although four messages are under way. */
static void exposed_is_what_the_host_stood_waiting(void **state)
{
	struct stencil o = quiet;
	void *dir;

	(void)state;
	o.noise = 0;
	o.blocking = 0;
	o.transfer_us = 2000;
	for (int k = 0; k < 4; k++) {
		struct ct_report *report;

		assert_int_equal(fx_setup(&dir), 0);
		o.overlap = k == 0 || k == 3 ? 0.5 : 0;
		o.transfer_us = k == 3 ? 14000 : 2000;
		o.quiet_waits = k == 2;
		report = stencil_report(&o, NULL, NULL);
		assert_int_equal(report->n_overlap, k == 2 ? 0 : 4);
		for (size_t i = 0; i < report->n_overlap; i++) {
			const struct ct_report_overlap *row = &report->overlap[i];

			assert_string_equal(row->method, "host-waits");
			assert_int_equal(row->measured, 300 * 4 + 60);
			assert_int_equal(row->measured, row->launches);
			assert_int_equal(row->comm_ns, row->hidden_ns + row->exposed_ns);
			/* 300 times 10 ms hidden, 2 ms waited for, or both: 10 and 4 ms */
			if (k != 1)
				assert_true(fabs((double)row->hidden_ns - 300 * 10e6) < 15e6);
			if (k != 0)
				assert_true(fabs((double)row->exposed_ns -
						 300 * (k == 3 ? 4e6 : 2e6)) < 15e6);
			assert_true(k == 3   ? fabs(row->overlap_ratio - 10.0 / 14) < 0.02
				    : k == 0 ? row->overlap_ratio > 0.97
					     : row->overlap_ratio < 0.03);
		}
		for (size_t r = 0; r < report->n_ranks; r++)
			assert_int_equal(report->ranks[r].exposed_ns == CT_UNKNOWN, k == 2);
		ct_report_free(report);
		assert_int_equal(fx_teardown(&dir), 0);
	}
}

/* Rank 2 computes all the longer: its neighbors wait for it in both halves of an exchange at once,
 * and in several requests. */
static void a_wait_counts_once_though_several_operations_wait(void **state)
{
	struct stencil o = quiet;
	struct ct_report *report;
	uint64_t ranks = 0, rows = 0;
	char *text;
	void *dir;

	(void)state;
	o.slow = 1 << 2;
	o.slow_pct = 400;
	o.steps = 60;
	assert_int_equal(fx_setup(&dir), 0);
	report = stencil_report(&o, NULL, NULL);
	for (size_t r = 0; r < report->n_ranks; r++) {
		assert_true(report->ranks[r].wait_ns <= report->run.duration_ns);
		/* 80 ms in each of 60 steps */
		if (r != 2)
			assert_true(fabs((double)report->ranks[r].wait_ns - 60 * 80e6) < 600e6);
		ranks += report->ranks[r].wait_ns;
	}
	for (size_t k = 0; k < report->n_ops; k++) {
		const struct ct_report_op *op = &report->ops[k];

		rows += op->wait_ns;
		/* its requests ended in one MPI_Waitall, or it is half of an MPI_Sendrecv */
		if (op->op == CT_OP_Send || op->op == CT_OP_Recv) {
			assert_true(op->transfer_ns == CT_UNKNOWN);
			assert_true(op->algbw_p50_Bps == CT_UNKNOWN);
		}
	}
	assert_int_equal(rows, ranks);
	/* each rank sends two and one a step */
	assert_int_equal(report->run.messages, 4 * 3 * 60);
	text = job_text(report, 0);
	if (!strstr(text, " 12 collectives, 720 P2P, 0 incomplete;"))
		fail_msg("%s", text);
	free(text);
	ct_report_free(report);
	assert_int_equal(fx_teardown(&dir), 0);
}

/* ---- figures for docs/dev/algorithms/lateness.md ---- */

static void measure(const char *what, struct stencil o, unsigned seeds)
{
	unsigned right = 0, wrong = 0, silent = 0;
	double loss = 0, truth = 0;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct outcome out = run(o, 1000 + seed);

		right += out.blamed == o.slow;
		wrong += (out.blamed & ~o.slow) != 0;
		silent += o.slow && !out.blamed;
		loss += out.time_lost_pct / seeds;
		truth += out.true_pct / seeds;
		if (out.blamed != o.slow)
			printf("    seed %u: %llx %s\n", 1000 + seed,
			       (unsigned long long)out.blamed, out.text);
	}
	printf("%-28s %2d ranks: right %u/%u wrong %u silent %u loss %.2f%% true %.2f%%\n", what,
	       o.ranks, right, seeds, wrong, silent, loss, truth);
	fflush(stdout);
}

static int measure_all(unsigned seeds)
{
	static const int ranks[] = { 2, 4, 16 };

	for (size_t k = 0; k < sizeof(ranks) / sizeof(ranks[0]); k++) {
		struct stencil o = quiet, p;

		o.ranks = ranks[k];
		measure("healthy", o, seeds);
		p = o;
		p.noise = 0.05;
		measure("healthy, noise 5 %", p, seeds);
		p.noise = 0.2;
		measure("healthy, noise 20 %", p, seeds);
		p = o;
		p.hiccup = 0.01;
		p.hiccup_ms = 20;
		measure("healthy, stalls", p, seeds);
		p = o;
		p.spread = 0.003;
		measure("healthy, +-0.3 %", p, seeds);
		p = o;
		p.slow = 1 << 1;
		p.slow_pct = 3;
		measure("one rank +3 %", p, seeds);
		p.slow_pct = 5;
		measure("one rank +5 %", p, seeds);
		p.overlap = 0.5;
		measure("one rank +5 %, overlap", p, seeds);
		p.overlap = 0;
		p.per_host = ranks[k] / 2;
		measure("one rank +5 %, two hosts", p, seeds);
		p.per_host = 0;
		p.noise = 0.05;
		measure("one rank +5 %, noise 5 %", p, seeds);
		p.slow_pct = 100;
		p.noise = 0.2;
		measure("one rank +100 %, noise 20 %", p, seeds);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slow_rank_is_named_though_neighbours_hand_its_lateness_on),
		cmocka_unit_test(at_the_end_of_a_chain_the_slow_rank_costs_what_it_costs),
		cmocka_unit_test(computing_between_posting_and_waiting_is_computing),
		cmocka_unit_test(hosts_without_a_common_clock_are_no_hindrance),
		cmocka_unit_test(slow_ranks_are_weighed_together),
		cmocka_unit_test(no_rank_is_named_among_equals),
		cmocka_unit_test(a_rank_that_computes_while_others_move_data_is_not_slow),
		cmocka_unit_test(without_waits_on_record_no_rank_is_named),
		cmocka_unit_test(exposed_is_what_the_host_stood_waiting),
		cmocka_unit_test(a_wait_counts_once_though_several_operations_wait),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure_all((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
