/* SPDX-License-Identifier: Apache-2.0 */
/* Bus bandwidth by hand, which series is fastest at which sizes, repetitions, and too few bursts.
 * Values are a fixed pattern. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/arena.h"
#include "analyzer/bench/bench.h"
#include "analyzer/model/report.h"
#include "trace/format.h"
#include "trace/ops.h"
#include "trace/status.h"

/* Bursts of ten iterations around `ns`, up to 2 % off it, in no order. */
static void add(struct ct_bench_samples *samples, unsigned op, enum ct_bench_form form,
		uint32_t ranks, uint64_t bytes, uint32_t bursts, double ns)
{
	static const double off[] = { 0.4, -1.1, 0.9, -0.2, 2, -1.7, 0.1, 1.3, -0.6, -2 };
	const struct ct_bench_kind like = {
		.backend = CT_BACKEND_MPI, .op = op, .form = form, .ranks = ranks, .bytes = bytes
	};
	struct ct_bench_kind *kind = ct_bench_samples_kind(samples, &like);

	assert_non_null(kind);
	for (uint32_t b = 0; b < bursts; b++) {
		double mean = ns * (1 + off[b % 10] / 100);

		kind->bursts[b] = (struct ct_bench_burst){ 10 * mean, 10 };
		for (int i = 0; i < 10; i++)
			assert_int_equal(ct_hist_add(&kind->ns, (uint64_t)mean), CT_OK);
	}
}

static void all_reduce(struct ct_bench_samples *samples, uint64_t bytes, double ns)
{
	add(samples, CT_OP_AllReduce, CT_BENCH_PLAIN, 4, bytes, 10, ns);
}

static const struct ct_bench_row *row_of(const struct ct_bench *bench, const char *op,
					 uint64_t bytes, const char *series)
{
	for (size_t i = 0; i < bench->n_rows; i++) {
		const struct ct_bench_row *row = &bench->rows[i];

		if (strcmp(row->op, op) == 0 && row->bytes == bytes &&
		    strcmp(row->series, series) == 0)
			return row;
	}
	fail_msg("no row");
	return NULL;
}

static int result_of(const struct ct_bench *bench, uint64_t bytes, const char *series)
{
	return (int)row_of(bench, "AllReduce", bytes, series)->result;
}

static void bus_bandwidth_is_that_of_nccl_tests(void **state)
{
	/* the factors in the documentation of nccl-tests, 8 ranks, 8 MB in 1 ms: algbw 8 GB/s,
	 * times its factor */
	static const struct {
		unsigned op;
		enum ct_bench_form form;
		const char *name;
		double busbw;
	} by_hand[] = {
		{ CT_OP_AllReduce, CT_BENCH_PLAIN, "AllReduce", 14e9 },
		{ CT_OP_ReduceScatter, CT_BENCH_PLAIN, "ReduceScatter", 7e9 },
		{ CT_OP_AllGather, CT_BENCH_PLAIN, "AllGather", 7e9 },
		{ CT_OP_AllToAll, CT_BENCH_PLAIN, "AllToAll", 7e9 },
		{ CT_OP_Gather, CT_BENCH_PLAIN, "Gather", 7e9 },
		{ CT_OP_Scatter, CT_BENCH_PLAIN, "Scatter", 7e9 },
		{ CT_OP_Broadcast, CT_BENCH_PLAIN, "Broadcast", 8e9 },
		{ CT_OP_Reduce, CT_BENCH_PLAIN, "Reduce", 8e9 },
		{ CT_OP_Send, CT_BENCH_SENDRECV, "SendRecv", 8e9 },
		{ CT_OP_Send, CT_BENCH_PINGPONG, "PingPong", 8e9 },
	};
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench_samples samples = { 0 };
	const struct ct_bench_run run = { "mpi", &samples };
	struct ct_bench bench;

	(void)state;
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++)
		add(&samples, by_hand[i].op, by_hand[i].form, 8, 8000000, 1, 1e6 / 1.004);
	add(&samples, CT_OP_Barrier, CT_BENCH_PLAIN, 8, 0, 1, 1e6);
	assert_int_equal(ct_bench_make(&run, 1, memory, &bench), CT_OK);
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
		const struct ct_bench_row *row = row_of(&bench, by_hand[i].name, 8000000, "mpi");

		assert_int_equal(row->ns, 1000000);
		assert_int_equal(row->algbw_Bps, 8000000000u);
		assert_int_equal(row->busbw_Bps, (uint64_t)by_hand[i].busbw);
		assert_int_equal(row->result, CT_BENCH_ALONE);
	}
	assert_int_equal(row_of(&bench, "Barrier", 0, "mpi")->busbw_Bps, CT_UNKNOWN);
	ct_bench_samples_fini(&samples);
	ct_arena_free(memory);
}

static void the_crossover_is_where_the_fastest_changes(void **state)
{
	struct ct_bench_samples gloo = { 0 }, mpi = { 0 };
	const struct ct_bench_run runs[] = { { "gloo", &gloo }, { "mpi", &mpi } };
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench bench;

	(void)state;
	for (uint64_t kib = 1; kib <= 64; kib *= 2) {
		all_reduce(&gloo, kib * 1024, kib < 16 ? 10e3 : 30e3);
		all_reduce(&mpi, kib * 1024, kib == 16 ? 30e3 : 20e3);
	}
	all_reduce(&mpi, 131072, 20e3); /* of one series alone nothing is said */
	assert_int_equal(ct_bench_make(runs, 2, memory, &bench), CT_OK);
	assert_int_equal(result_of(&bench, 8192, "gloo"), CT_BENCH_FASTEST);
	assert_int_equal(result_of(&bench, 8192, "mpi"), CT_BENCH_SLOWER);
	assert_true(fabs(row_of(&bench, "AllReduce", 8192, "mpi")->slower_pct - 100) < 2);
	assert_int_equal(result_of(&bench, 65536, "gloo"), CT_BENCH_SLOWER);
	assert_int_equal(result_of(&bench, 131072, "mpi"), CT_BENCH_ALONE);
	assert_int_equal(bench.n_ranges, 3);
	assert_int_equal(bench.ranges[0].from_bytes, 1024);
	assert_int_equal(bench.ranges[0].to_bytes, 8192);
	assert_int_equal(bench.ranges[0].n_series, 1);
	assert_string_equal(bench.ranges[0].series[0], "gloo");
	assert_int_equal(bench.ranges[1].from_bytes, 16384);
	assert_int_equal(bench.ranges[1].n_series, 2);
	assert_int_equal(bench.ranges[2].from_bytes, 32768);
	assert_int_equal(bench.ranges[2].to_bytes, 65536);
	assert_string_equal(bench.ranges[2].series[0], "mpi");
	assert_true(bench.ranges[0].is_first && bench.ranges[2].is_last);
	ct_bench_samples_fini(&gloo);
	ct_bench_samples_fini(&mpi);
	ct_arena_free(memory);
}

static void what_repetitions_differ_by_is_no_difference(void **state)
{
	/* 20 % apart, but the repetitions of b are, too; c's are not */
	static const double ns[6] = { 10e3, 10.1e3, 11e3, 13e3, 12e3, 12.1e3 };
	static const char *const names[6] = { "a", "a", "b", "b", "c", "c" };
	struct ct_bench_samples samples[6] = { { .n_slots = 0 } };
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench_run runs[6];
	struct ct_bench bench;

	(void)state;
	for (int r = 0; r < 6; r++) {
		all_reduce(&samples[r], 1024, ns[r]);
		runs[r] = (struct ct_bench_run){ names[r], &samples[r] };
	}
	assert_int_equal(ct_bench_make(runs, 4, memory, &bench), CT_OK);
	assert_int_equal(bench.fewest_runs, 2);
	assert_int_equal(bench.series, 2);
	assert_int_equal(result_of(&bench, 1024, "b"), CT_BENCH_SAME);
	runs[2] = runs[4];
	runs[3] = runs[5];
	assert_int_equal(ct_bench_make(runs, 4, memory, &bench), CT_OK);
	assert_int_equal(result_of(&bench, 1024, "c"), CT_BENCH_SLOWER);
	for (int r = 0; r < 6; r++)
		ct_bench_samples_fini(&samples[r]);
	ct_arena_free(memory);
}

static void few_bursts_are_not_tested(void **state)
{
	struct ct_bench_samples a = { 0 }, b = { 0 };
	const struct ct_bench_run runs[] = { { "a", &a }, { "b", &b } };
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench bench;

	(void)state;
	add(&a, CT_OP_AllReduce, CT_BENCH_PLAIN, 4, 1024, 7, 10e3);
	add(&b, CT_OP_AllReduce, CT_BENCH_PLAIN, 4, 1024, 10, 20e3);
	assert_int_equal(ct_bench_make(runs, 2, memory, &bench), CT_OK);
	assert_int_equal(result_of(&bench, 1024, "b"), CT_BENCH_TOO_FEW);
	assert_int_equal(bench.tested, 0);
	ct_bench_samples_fini(&a);
	ct_bench_samples_fini(&b);
	ct_arena_free(memory);
}

static void less_than_a_measurement_may_be_off_is_no_difference(void **state)
{
	struct ct_bench_samples a = { 0 }, b = { 0 };
	const struct ct_bench_run runs[] = { { "a", &a }, { "b", &b } };
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench bench;

	(void)state;
	all_reduce(&a, 1024, 10e3);
	all_reduce(&b, 1024, 12e3);
	assert_int_equal(ct_bench_make(runs, 2, memory, &bench), CT_OK);
	assert_int_equal(result_of(&bench, 1024, "b"), CT_BENCH_SLOWER);
	((struct ct_bench_kind *)b.kinds.all[0])
		->err_ns = 100 * 2400; /* of the 100 iterations: 20 % of each */
	assert_int_equal(ct_bench_make(runs, 2, memory, &bench), CT_OK);
	assert_int_equal(result_of(&bench, 1024, "b"), CT_BENCH_SAME);
	ct_bench_samples_fini(&a);
	ct_bench_samples_fini(&b);
	ct_arena_free(memory);
}

static void one_of_many_sizes_may_differ_by_chance(void **state)
{
	struct ct_bench_samples a = { 0 }, b = { 0 };
	const struct ct_bench_run runs[] = { { "a", &a }, { "b", &b } };
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench bench;

	(void)state;
	/* eight bursts that are all longer than eight others: 1 in 1000 */
	for (uint64_t size = 0; size < 40; size++) {
		add(&a, CT_OP_AllReduce, CT_BENCH_PLAIN, 4, 1024 + 4 * size, 8, 10e3);
		add(&b, CT_OP_AllReduce, CT_BENCH_PLAIN, 4, 1024 + 4 * size, 8, size ? 10e3 : 12e3);
	}
	assert_int_equal(ct_bench_make(runs, 2, memory, &bench), CT_OK);
	assert_int_equal(bench.tested, 40);
	assert_true(row_of(&bench, "AllReduce", 1024, "b")->low_pct > 10);
	assert_int_equal(bench.differ, 0);
	ct_bench_samples_fini(&a);
	ct_bench_samples_fini(&b);
	ct_arena_free(memory);
}

static void a_run_that_slows_down_says_so(void **state)
{
	struct ct_bench_samples samples = { 0 };
	const struct ct_bench_run run = { "a", &samples };
	struct ct_arena *memory = ct_arena_new();
	struct ct_bench_kind *kind;
	struct ct_bench bench;

	(void)state;
	add(&samples, CT_OP_AllReduce, CT_BENCH_PLAIN, 4, 1024, 40, 10e3);
	assert_int_equal(ct_bench_make(&run, 1, memory, &bench), CT_OK);
	assert_true(isnan(bench.rows[0].drift_pct));
	kind = samples.kinds.all[0];
	for (int b = 20; b < 40; b++)
		kind->bursts[b].ns *= 1.1;
	assert_int_equal(ct_bench_make(&run, 1, memory, &bench), CT_OK);
	assert_true(fabs(bench.rows[0].drift_pct - 10) < 1);
	ct_bench_samples_fini(&samples);
	ct_arena_free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bus_bandwidth_is_that_of_nccl_tests),
		cmocka_unit_test(the_crossover_is_where_the_fastest_changes),
		cmocka_unit_test(what_repetitions_differ_by_is_no_difference),
		cmocka_unit_test(few_bursts_are_not_tested),
		cmocka_unit_test(less_than_a_measurement_may_be_off_is_no_difference),
		cmocka_unit_test(one_of_many_sizes_may_differ_by_chance),
		cmocka_unit_test(a_run_that_slows_down_says_so),
	};

	return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
