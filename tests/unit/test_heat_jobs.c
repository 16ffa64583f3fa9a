/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of jobs on GPUs that never ran, and of one as MPI runs it: who is slow in them is bright
 * in its gaps and dark in its waits, rows sum up to the truth, and sizes and rates are those that
 * were planted. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/gpu_job.h"
#include "tests/unit/launch_job.h"
#include "tests/unit/stencil_job.h"
#include "tools/synth/synth.h"

#define SLOW 5

static uint64_t sum_of_row(const uint64_t *cells, size_t row, size_t columns, size_t from,
			   size_t to)
{
	uint64_t sum = 0;

	for (size_t c = from; c < to; c++)
		sum += cells[row * columns + c] == CT_UNKNOWN ? 0 : cells[row * columns + c];
	return sum;
}

/* The row with the largest cell in a column, of those that are known. */
static size_t brightest(const struct ct_report_heat_steps *h, size_t column)
{
	size_t best = 0;

	for (size_t r = 1; r < h->rows.n; r++) {
		double ratio = h->outside_comm_ratio[r * h->columns + column];

		if (!isnan(ratio) && !(h->outside_comm_ratio[best * h->columns + column] >= ratio))
			best = r;
	}
	return best;
}

/* ---- whose row is bright ---- */

static void a_rank_that_is_slow_is_bright_while_it_is_slow(void **state)
{
	static const char *const workloads[] = { "ddp", "fsdp", "megatron", "moe", "decode" };

	(void)state;
	for (size_t w = 0; w < 5; w++) {
		const struct gpu_job o = { .workload = workloads[w],
					   .ranks = 8,
					   .nodes = 2,
					   .steps = 40,
					   .seed = 3,
					   .fault = "slow-rank:rank=5,pct=20,from=15,to=30" };
		struct ct_report *report = gpu_job_report(&o, NULL);
		const struct ct_report_heat_steps *h = &report->heat.steps;
		size_t blame = 0, hits_besides = 0;
		double slow = 0, others = 0;

		assert_int_equal(h->rows.n, 8);
		assert_int_equal(h->steps_each, 1);
		assert_true(h->columns >= 38);
		for (size_t c = 0; c < h->columns; c++) {
			int is_slow = c >= 16 && c < 28;
			double ratio = h->outside_comm_ratio[SLOW * h->columns + c];

			if (is_slow && brightest(h, c) == SLOW && ratio > 1.1)
				blame++;
			/* some steps at either side may be cut elsewhere */
			if ((c < 13 || c > 31) && fabs(ratio - 1) > 0.05)
				hits_besides++;
			for (size_t r = 0; is_slow && r < 8; r++)
				*(r == SLOW
					  ? &slow
					  : &others) += (double)h->outside_comm_ns[r * h->columns +
										   c];
		}
		assert_int_equal(blame, 12);
		assert_true(hits_besides <= 2);
		assert_true(slow > 1.1 * others / 7);
		ct_report_free(report);
		fresh();
	}
}

/* Of an MPI job: half of the computing is between posting and waiting, and counts. */
static void computing_while_messages_are_under_way_counts(void **state)
{
	const struct stencil o = { .ranks = 8,
				   .steps = 400,
				   .every = 10,
				   .step_ms = 5,
				   .overlap = 0.5,
				   .noise = 0.02,
				   .transfer_us = 50,
				   .slow = 1u << SLOW,
				   .slow_pct = 20,
				   .seed = 4 };
	struct ct_report *report = stencil_report(&o, NULL, NULL);
	const struct ct_report_heat_steps *h = &report->heat.steps;

	(void)state;
	assert_int_equal(h->steps_each, 1);
	assert_true(h->columns > 300);
	/* the steps found are the job's */
	for (size_t r = 0; r < 8; r++) {
		double sum = (double)sum_of_row(h->outside_comm_ns, r, h->columns, 1,
						h->columns - 10);
		double mean = sum / (double)(h->columns - 11) / (5.0 * MS);

		for (size_t c = 1; c < h->columns - 10; c++)
			assert_true(h->outside_comm_ns[r * h->columns + c] != CT_UNKNOWN);
		assert_true(fabs(mean - (r == SLOW ? 1.2 : 1)) < 0.01);
	}
	ct_report_free(report);
}

/* ---- the truth about waits ---- */

static struct ct_synth_outcome write_run(const struct ct_synth_options *o)
{
	struct ct_synth_outcome out;
	struct ct_err err = { 0 };
	int dirfd;

	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(o, dirfd, &out, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	return out;
}

/* Hosts' clocks are off by up to 50 ms and run apart. */
static void rows_of_waits_sum_up_to_what_ranks_waited(void **state)
{
	struct ct_synth_options o = ct_synth_defaults();
	const struct job job_of_run = { .o.run = "run" };
	const struct ct_report_heat_waits *w;
	struct ct_synth_outcome out;
	struct ct_report *report;
	char why[256];

	(void)state;
	o.job.name = "fsdp";
	o.job.nodes = 2;
	o.job.steps = 60;
	o.offset_ms = 50;
	o.drift_ppm = 20;
	assert_int_equal(ct_fault_parse("slow-rank:rank=5,pct=20,from=20,to=40", &o.faults[0], why,
					sizeof(why)),
			 0);
	o.job.n_faults = 1;
	out = write_run(&o);
	report = job_report(&job_of_run, -1);
	w = &report->heat.waits;
	assert_null(w->why);
	assert_int_equal(w->rows.n, 8);
	for (size_t r = 0; r < 8; r++) {
		uint64_t sum = sum_of_row(w->wait_ns, r, w->columns, 0, w->columns);
		uint64_t late = sum_of_row(w->lateness_ns, r, w->columns, 0, w->columns);
		double truth = (double)out.sums.ranks[r].wait_ns;

		/* a row is what the rank's sum is, but for where clocks stand */
		assert_true(llabs((long long)(sum - report->ranks[r].wait_ns)) < 100000);
		assert_true(fabs((double)sum - truth) <=
			    (double)report->ranks[r].err_ns + 0.01 * truth);
		for (size_t c = 0; c < w->columns; c++) {
			uint64_t cell = w->wait_ns[r * w->columns + c];

			assert_true(cell == CT_UNKNOWN || cell <= w->column_ns);
		}
		/* the culprit's row is dark in the one layer and bright in the other */
		if (r == SLOW)
			continue;
		assert_true(sum > 5 * sum_of_row(w->wait_ns, SLOW, w->columns, 0, w->columns));
		assert_true(20 * late <
			    sum_of_row(w->lateness_ns, SLOW, w->columns, 0, w->columns));
	}
	ct_report_free(report);
	ct_synth_outcome_free(&out);
}

static void of_many_ranks_hosts_are_shown(void **state)
{
	const struct gpu_job o = { .workload = "ddp",
				   .ranks = 520,
				   .nodes = 65,
				   .steps = 12,
				   .seed = 3,
				   .fault = "slow-host:host=7,pct=30" };
	struct ct_report *report = gpu_job_report(&o, NULL);
	const struct ct_report_heat_waits *w = &report->heat.waits;
	const struct ct_report_heat_steps *h = &report->heat.steps;

	(void)state;
	assert_null(w->rows.ranks);
	assert_int_equal(w->rows.n, 65);
	assert_int_equal(h->rows.n, 65);
	assert_true(w->columns > 200);
	for (size_t r = 0; r < 65; r++) {
		char name[16];

		snprintf(name, sizeof(name), "node%zu", r);
		assert_string_equal(w->rows.hosts[r], name);
		assert_string_equal(report->run.hosts[r], name);
		if (strcmp(w->rows.hosts[r], "node7") == 0)
			assert_int_equal(brightest(h, h->columns / 2), r);
		else
			assert_true(sum_of_row(w->wait_ns, r, w->columns, 0, w->columns) >
				    sum_of_row(w->wait_ns, brightest(h, h->columns / 2), w->columns,
					       0, w->columns));
	}
	ct_report_free(report);
}

/* ---- sizes and rates ---- */

#define ALPHA 20e3 /* ns */
#define BETA 10e9  /* bytes a second */

/* All-reduces of 2^14 .. 2^26 bytes on four ranks, X = alpha + 1.5 S / beta, of two element types. */
static struct ct_report *play_sizes(void)
{
	uint64_t at = 10 * MS;

	open_job(4, 4);
	for (int k = 0; k < 40 * 13; k++) {
		struct ct_op op = collective(CT_OP_AllReduce, 1ull << (12 + k % 13));
		uint64_t took = (uint64_t)(ALPHA + 1.5 * 4 * (double)op.count / BETA * 1e9);

		if (k % 2) {
			op.dtype = CT_DTYPE_float16;
			op.count *= 2;
		}
		for (int r = 0; r < 4; r++)
			launch(r, &op, 1, at - 50 * US, at, at + took);
		at += took + MS;
	}
	return close_job(at);
}

static void sizes_and_their_rates_are_those_that_were_planted(void **state)
{
	struct ct_report *report = play_sizes();
	const struct ct_report_curve *curve = &report->curves[0];

	(void)state;
	assert_int_equal(report->n_ops, 26);
	assert_int_equal(report->n_curves, 1);
	assert_int_equal(curve->n_points, 13);
	assert_int_equal(curve->n_fit, 13);
	assert_int_equal(curve->n_ranks, 4);
	assert_string_equal(curve->op_name, "AllReduce");
	assert_true(is_near(curve->alpha_ns, ALPHA, 0.05));
	assert_true(is_near(curve->beta_Bps, BETA, 0.05));
	for (size_t i = 0; i < 13; i++) {
		double S = 4096 * 4 * pow(2, (double)i);
		double busbw = 1.5 * S / (ALPHA + 1.5 * S / BETA * 1e9) * 1e9;

		assert_int_equal(curve->points[i].bytes, (uint64_t)S);
		assert_int_equal(curve->points[i].instances, 40);
		assert_true(is_near(curve->points[i].busbw_Bps, busbw, 0.04));
		assert_int_equal(curve->fit[i].bytes, (uint64_t)S);
		assert_true(is_near(curve->fit[i].busbw_Bps, busbw, 0.05));
	}
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(a_rank_that_is_slow_is_bright_while_it_is_slow),
		ON_DISK(computing_while_messages_are_under_way_counts),
		ON_DISK(rows_of_waits_sum_up_to_what_ranks_waited),
		ON_DISK(of_many_ranks_hosts_are_shown),
		ON_DISK(sizes_and_their_rates_are_those_that_were_planted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
