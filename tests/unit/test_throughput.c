/* SPDX-License-Identifier: Apache-2.0 */
/* Samples per second, from marks whose times are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/steps/throughput.h"
#include "trace/status.h"

static struct ct_throughput throughput;
static struct ct_report report;

static int begin(void **state)
{
	(void)state;
	throughput = (struct ct_throughput){ 0 };
	report = (struct ct_report){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	ct_throughput_fini(&throughput);
	return 0;
}

static void mark(uint32_t slot, uint64_t at_ns, uint64_t step, uint64_t samples)
{
	struct ct_step_mark what = { CT_STEP_MARK_NAME, step, samples };
	struct ct_nvtx_rec rec = { .begin_ns = at_ns, .end_ns = at_ns, .how = CT_NVTX_STEP };
	struct ct_observer observer;

	memcpy(rec.name, &what, sizeof(what));
	ct_throughput_observe(&throughput, &observer);
	assert_int_equal(observer.nvtx(observer.arg, NULL, slot, slot, &rec), CT_OK);
}

static void is_about(double value, double expected)
{
	assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

static void ranks_add_up_and_the_first_mark_only_begins(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 33; step++)
		for (uint32_t rank = 0; rank < 4; rank++)
			mark(rank, 7000 + step * 1000000 + rank, step + 100, 8);
	ct_throughput_fill(&throughput, &report);
	is_about(report.throughput.per_s, 4 * 8 * 1e3);
	assert_int_equal(report.throughput.ranks, 4);
	assert_int_equal(report.throughput.samples, 32 * 4 * 8);
	assert_int_equal(report.throughput.marks, 32 * 4);
	assert_int_equal(report.throughput.n_blocks, 32);
	assert_true(report.throughput.err_per_s < 1e-3);
}

static void one_rank_may_mark_the_samples_of_all(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 20; step++)
		for (uint32_t rank = 0; rank < 4; rank++)
			mark(rank, 1 + step * 1000000, step, rank ? 0 : 32);
	ct_throughput_fill(&throughput, &report);
	is_about(report.throughput.per_s, 32e3);
}

static void steps_in_a_row_share_a_block_in_long_runs(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 1000; step++)
		mark(0, 1 + step * 1000000 + (step >= 500 ? (step - 500) * 1000000 : 0), step, 1);
	ct_throughput_fill(&throughput, &report);
	assert_int_equal(report.throughput.n_blocks, 63);
	is_about(report.throughput.blocks[0], 1e3);
	is_about(report.throughput.blocks[62], 500);
	/* two halves that differ: what neighbours share is not evidence that the mean is known */
	assert_true(report.throughput.err_per_s > 100);
}

static void few_steps_give_no_rate(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 8; step++)
		mark(0, 1 + step * 1000000, step, 1);
	ct_throughput_fill(&throughput, &report);
	assert_true(isnan(report.throughput.per_s));
	assert_int_equal(report.throughput.marks, 7);
}

static void skipped_steps_do_not_count(void **state)
{
	(void)state;
	throughput.skip = 10;
	for (uint64_t step = 0; step < 31; step++)
		mark(0, 1 + step * (step < 10 ? 9000000 : 1000000), step, 1);
	ct_throughput_fill(&throughput, &report);
	assert_int_equal(report.throughput.samples, 20);
}

static void strange_marks_end_the_program_nowhere(void **state)
{
	(void)state;
	mark(0, 5, UINT64_MAX, UINT64_MAX);
	mark(0, 4, 0, UINT64_MAX);
	mark(0, 6, 0, UINT64_MAX);
	mark(0, 7, UINT64_MAX, 0);
	mark(3, UINT64_MAX, 1, 1);
	mark(3, 0, 2, 1);
	ct_throughput_fill(&throughput, &report);
	assert_true(isnan(report.throughput.per_s));
}

static void samples_that_no_step_has_give_no_rate(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 40; step++)
		mark(0, 1 + step * 1000000, step, 0);
	ct_throughput_fill(&throughput, &report);
	assert_true(isnan(report.throughput.per_s));
	assert_int_equal(report.throughput.marks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(ranks_add_up_and_the_first_mark_only_begins),
		TEST(one_rank_may_mark_the_samples_of_all),
		TEST(steps_in_a_row_share_a_block_in_long_runs),
		TEST(few_steps_give_no_rate),
		TEST(skipped_steps_do_not_count),
		TEST(strange_marks_end_the_program_nowhere),
		TEST(samples_that_no_step_has_give_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
