/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles held against reports that the test fills in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/arena.h"
#include "analyzer/link/expect.h"
#include "trace/ops.h"

static struct ct_report report;
static struct ct_report_op ops[8];
static struct ct_report_comm comms[3] = {
	{ .hash = 1, .n_hosts = 1, .peak = { .Bps = 450e9, .from = "NVLink" } },
	{ .hash = 2, .n_hosts = 2, .peak = { .Bps = 50e9, .from = "one port" } },
	{ .hash = 3 },
};

static int set_up(void **state)
{
	(void)state;
	memset(&report, 0, sizeof(report));
	comms[2].peak.Bps = NAN;
	report.memory = ct_arena_new();
	report.ops = ops;
	report.comms = comms;
	report.n_comms = 3;
	return report.memory ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ct_arena_free(report.memory);
	return 0;
}

/* A row: busbw in GB/s, transfer in us, and the error of that. */
static void row(uint64_t comm, unsigned op, uint64_t bytes, double busbw, double us, double err_us)
{
	ops[report.n_ops++] = (struct ct_report_op){
		.comm_hash = comm,
		.comm_name = comm == 1 ? "tp" : NULL,
		.backend = CT_BACKEND_NCCL,
		.op = op,
		.op_name = ct_op_name(op),
		.instances = 100,
		.bytes_each = bytes,
		.busbw_p50_Bps = busbw < 0 ? CT_UNKNOWN : (uint64_t)(busbw * 1e9),
		.algbw_p50_Bps = busbw < 0 ? CT_UNKNOWN : (uint64_t)(busbw * 0.5e9),
		.transfer_p50_ns = us < 0 ? CT_UNKNOWN : (uint64_t)(us * 1000),
		.time_err_ns = us < 0 ? CT_UNKNOWN : (uint64_t)(err_us * 1000),
	};
}

/* The first limit of the profile. */
static const struct ct_report_expectation *hold(const char *rules)
{
	struct ct_expect *expect;
	struct ct_err err = { 0 };
	char text[1000];

	snprintf(text, sizeof(text), "{\"rules\": [%s]}", rules);
	if (ct_expect_read(text, strlen(text), &expect, &err) != CT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(ct_expect_check(expect, &report), CT_OK);
	ct_expect_free(expect);
	return report.expect.items;
}

static void a_row_fails_only_if_it_misses_by_more_than_its_error(void **state)
{
	const struct ct_report_expectation *e;

	(void)state;
	/* 1 % from the clocks, 1/64 from the histogram: 78 may be up to 80.0 */
	row(2, CT_OP_AllReduce, 1 << 20, 78, 100, 1);
	e = hold("{\"min_busbw_GBps\": 77}");
	assert_int_equal(e->result, CT_EXPECT_PASS);
	assert_null(e->why);
	e = hold("{\"min_busbw_GBps\": 79.9}");
	assert_int_equal(e->result, CT_EXPECT_NA);
	assert_non_null(strstr(e->why, "error"));
	assert_true(e->within_error);
	assert_int_equal(report.expect.failed, 0);
	/* who has to be sure is not: exit code, text and counts say so alike */
	e = hold("{\"min_busbw_GBps\": 79.9, \"required\": true}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	assert_true(e->within_error && e->required);
	assert_non_null(strstr(e->why, "required, and it misses the limit by less than its error"));
	assert_int_equal(report.expect.failed, 1);
	assert_int_equal(report.expect.not_applicable, 0);
	e = hold("{\"op\": \"Barrier\", \"max_latency_us\": 50, \"required\": true}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	assert_false(e->within_error);
	assert_non_null(strstr(e->why, "required, and the run has no such operations"));
	assert_int_equal(report.expect.failed, 1);
	e = hold("{\"min_busbw_GBps\": 80.1}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	assert_true(e->value == 78e9);
	assert_true(fabs(e->err - 78e9 * (0.01 + 1 / 64.0)) < 1);
	assert_true(e->limit == 80.1e9);
	assert_int_equal(e->comm_hash, 2);
	e = hold("{\"max_latency_us\": 101}");
	assert_int_equal(e->result, CT_EXPECT_PASS);
	e = hold("{\"max_latency_us\": 98}");
	assert_int_equal(e->result, CT_EXPECT_NA);
	e = hold("{\"max_latency_us\": 97}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	e = hold("{\"min_algbw_GBps\": 45}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	assert_true(e->value == 39e9);
}

static void a_rule_is_about_the_rows_that_it_says(void **state)
{
	(void)state;
	row(1, CT_OP_AllReduce, 1 << 20, 300, 10, 0);
	row(2, CT_OP_AllReduce, 1 << 20, 40, 10, 0);
	row(2, CT_OP_AllReduce, 1 << 10, 1, 10, 0);
	row(2, CT_OP_AllGather, 1 << 20, 30, 10, 0);
	row(3, CT_OP_AllGather, 1 << 20, 20, 10, 0);
	ops[2].instances = 4;
	assert_int_equal(hold("{\"op\": \"AllReduce\", \"min_busbw_GBps\": 1}")->rows, 2);
	assert_int_equal(
		hold("{\"op\": \"AllReduce\", \"min_op_count\": 1, \"min_busbw_GBps\": 1}")->rows,
		3);
	assert_int_equal(hold("{\"scope\": \"host\", \"min_busbw_GBps\": 1}")->rows, 1);
	assert_int_equal(hold("{\"scope\": \"cross\", \"min_busbw_GBps\": 1}")->rows, 2);
	assert_int_equal(hold("{\"min_busbw_GBps\": 1}")->rows, 4);
	assert_int_equal(hold("{\"comm\": \"tp\", \"min_busbw_GBps\": 1}")->rows, 1);
	assert_int_equal(hold("{\"comm\": \"0000000000000003\", \"min_busbw_GBps\": 1}")->rows, 1);
	assert_int_equal(hold("{\"backend\": \"gloo\", \"min_busbw_GBps\": 1}")->rows, 0);
	assert_int_equal(
		hold("{\"max_bytes\": 1024, \"min_op_count\": 1, \"min_busbw_GBps\": 1}")->rows, 1);
	assert_int_equal(hold("{\"min_bytes\": 1048577, \"min_busbw_GBps\": 1}")->rows, 0);
	assert_int_equal(report.expect.items->result, CT_EXPECT_NA);
}

static void the_worst_row_decides_and_rows_without_times_do_not(void **state)
{
	const struct ct_report_expectation *e;

	(void)state;
	row(2, CT_OP_AllReduce, 10, -1, -1, -1);
	row(2, CT_OP_AllReduce, 20, 90, 10, 0);
	row(2, CT_OP_AllReduce, 30, 50, 10, 0);
	row(2, CT_OP_AllReduce, 40, 60, 10, 0);
	row(2, CT_OP_AllReduce, 50, 79.9, 10, 0);
	e = hold("{\"min_busbw_GBps\": 80}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	assert_int_equal(e->bytes_each, 30);
	assert_int_equal(e->rows, 5);
	e = hold("{\"min_bytes\": 50, \"min_busbw_GBps\": 80}");
	assert_int_equal(e->result, CT_EXPECT_NA);
	e = hold("{\"min_busbw_GBps\": 40}");
	assert_int_equal(e->result, CT_EXPECT_PASS);
	assert_int_equal(e->bytes_each, 30);
	e = hold("{\"max_bytes\": 10, \"min_busbw_GBps\": 40}");
	assert_int_equal(e->result, CT_EXPECT_NA);
	assert_non_null(strstr(e->why, "no times"));
	assert_true(isnan(e->value));
}

static void utilization_is_the_share_of_what_can_be_expected(void **state)
{
	const struct ct_report_expectation *e;

	(void)state;
	row(1, CT_OP_AllReduce, 10, 360, 10, 0);
	row(2, CT_OP_AllReduce, 10, 30, 10, 0);
	row(3, CT_OP_AllReduce, 10, 1, 10, 0);
	e = hold("{\"scope\": \"host\", \"min_utilization_pct\": 79}");
	assert_int_equal(e->result, CT_EXPECT_PASS);
	assert_true(fabs(e->value - 80) < 0.001);
	e = hold("{\"min_utilization_pct\": 79}");
	assert_int_equal(e->result, CT_EXPECT_FAIL);
	assert_true(fabs(e->value - 60) < 0.001);
	assert_string_equal(e->unit, "pct");
	e = hold("{\"comm\": \"0000000000000003\", \"min_utilization_pct\": 1}");
	assert_int_equal(e->result, CT_EXPECT_NA);
	assert_non_null(strstr(e->why, "start records"));
}

static void every_limit_of_every_rule_has_its_result(void **state)
{
	(void)state;
	row(2, CT_OP_AllReduce, 10, 50, 10, 0);
	hold("{\"name\": \"a\", \"min_busbw_GBps\": 40, \"max_latency_us\": 5},"
	     "{\"op\": \"Send\", \"min_busbw_GBps\": 40}");
	assert_int_equal(report.expect.n, 3);
	assert_int_equal(report.expect.passed, 1);
	assert_int_equal(report.expect.failed, 1);
	assert_int_equal(report.expect.not_applicable, 1);
	assert_string_equal(report.expect.items[0].name, "a");
	assert_string_equal(report.expect.items[0].metric, "busbw");
	assert_string_equal(report.expect.items[1].metric, "latency");
	assert_int_equal(report.expect.items[2].rule, 2);
	assert_string_equal(report.expect.items[2].op, "Send");
	assert_null(report.expect.items[0].op);
}

static void too_many_rules_are_refused(void **state)
{
	static char text[CT_EXPECT_BYTES];
	struct ct_expect *expect;
	struct ct_err err = { 0 };
	size_t at = (size_t)sprintf(text, "{\"rules\": [");

	(void)state;
	for (unsigned i = 0; i <= CT_EXPECT_RULES; i++)
		at += (size_t)sprintf(text + at, "%s{\"min_busbw_GBps\": 1}", i ? "," : "");
	at += (size_t)sprintf(text + at, "]}");
	assert_int_equal(ct_expect_read(text, at, &expect, &err), CT_FORMAT);
	assert_null(expect);
	assert_non_null(strstr(err.text, "1001 rules"));
}

/* Bytes changed in a good profile: read or refused, with a reason. */
static void whatever_a_file_holds_is_survived(void **state)
{
	static const char good[] = "{\"rules\": [{\"op\": \"AllReduce\", \"scope\": \"cross\", "
				   "\"min_bytes\": 1048576, "
				   "\"min_busbw_GBps\": 80, \"required\": true, \"name\": \"x\"}]}";
	const char *seed_text = getenv("CT_SEED");
	unsigned seed = seed_text ? (unsigned)atoi(seed_text) : (unsigned)time(NULL);
	int refused = 0;

	(void)state;
	print_message("CT_SEED=%u\n", seed);
	srandom(seed);
	for (int i = 0; i < 20000; i++) {
		size_t len = i % 3 ? sizeof(good) - 1 : (size_t)random() % sizeof(good);
		char *copy = malloc(len ? len : 1);
		struct ct_expect *expect;
		struct ct_err err = { 0 };

		memcpy(copy, good, len);
		for (int k = 0; len && k < i % 4; k++)
			copy[(size_t)random() % len] = (char)random();
		if (ct_expect_read(copy, len, &expect, &err) == CT_OK) {
			assert_int_equal(ct_expect_check(expect, &report), CT_OK);
		} else {
			assert_true(err.text[0] != '\0');
			refused++;
		}
		ct_expect_free(expect);
		free(copy);
	}
	assert_true(refused > 1000);
}

/* ---- what is installed ---- */

/* Holds the report against tools/commtrace/profiles/NAME.json. */
static void hold_profile(const char *name)
{
	struct ct_expect *expect;
	struct ct_err err = { 0 };
	char path[512], text[4096];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tools/commtrace/profiles/%s.json", getenv("CT_ROOT"),
		 name);
	file = fopen(path, "re");
	assert_non_null(file);
	len = fread(text, 1, sizeof(text), file);
	fclose(file);
	if (ct_expect_read(text, len, &expect, &err) != CT_OK)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(ct_expect_check(expect, &report), CT_OK);
	ct_expect_free(expect);
}

static void each_threshold_of_each_profile_is_met_and_missed(void **state)
{
	enum { NVLINK, PCIE, INFINIBAND, DECLARED };
	static struct ct_report_comm of[] = {
		{ .hash = 1,
		  .n_hosts = 1,
		  .peak = { .Bps = 450e9, .from = "NVLink", .via = "nvlink" } },
		{ .hash = 2, .n_hosts = 1, .peak = { .Bps = 24e9, .from = "PCIe", .via = "pcie" } },
		{ .hash = 3,
		  .n_hosts = 2,
		  .peak = { .Bps = 50e9, .from = "one port", .via = "infiniband" } },
		{ .hash = 4,
		  .n_hosts = 2,
		  .peak = { .Bps = 50e9,
			    .from = "declared",
			    .via = "infiniband",
			    .is_declared = 1 } },
	};
	static const struct {
		const char *profile, *rule;
		int comm;
		unsigned backend, op;
		uint64_t bytes;
		double busbw, us;  /* that fulfil it ... */
		double slow, late; /* ... and that miss it */
	} all[] = {
		{ "general", "utilization", DECLARED, CT_BACKEND_NCCL, CT_OP_AllReduce, 32 << 20,
		  43, 900, 41, 1000 },
		{ "general", "latency", INFINIBAND, CT_BACKEND_GLOO, CT_OP_Barrier, 8, 1, 14000, 1,
		  16000 },
		{ "7b", "gradients of 7B", INFINIBAND, CT_BACKEND_NCCL, CT_OP_AllReduce, 32 << 20,
		  81, 900, 78, 1000 },
		{ "235b", "gradients of 235B", INFINIBAND, CT_BACKEND_NCCL, CT_OP_AllReduce,
		  32 << 20, 121, 900, 117, 1000 },
		{ "hardware", "PCIe", PCIE, CT_BACKEND_NCCL, CT_OP_AllReduce, 32 << 20, 24.1, 900,
		  23, 1000 },
		{ "hardware", "NVLink", NVLINK, CT_BACKEND_NCCL, CT_OP_AllReduce, 32 << 20, 301,
		  900, 290, 1000 },
		{ "hardware", "InfiniBand", INFINIBAND, CT_BACKEND_MPI, CT_OP_Send, 8, 1, 1.1, 1,
		  1.3 },
	};

	(void)state;
	report.comms = of;
	report.n_comms = 4;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct ct_report_expectation *failed = NULL;

		for (int misses = 0; misses < 2; misses++) {
			report.n_ops = 0;
			row((uint64_t)all[i].comm + 1, all[i].op, all[i].bytes,
			    misses ? all[i].slow : all[i].busbw, misses ? all[i].late : all[i].us,
			    0);
			ops[0].backend = all[i].backend;
			hold_profile(all[i].profile);
			assert_int_equal(report.expect.failed, misses);
			assert_int_equal(report.expect.passed, !misses);
		}
		for (size_t k = 0; k < report.expect.n; k++)
			if (report.expect.items[k].result == CT_EXPECT_FAIL)
				failed = &report.expect.items[k];
		assert_string_equal(failed->name, all[i].rule);
		assert_true(failed->source && failed->not_for);
	}
	/* what a nominal peak promises is no one's fault, and what is not connected so is not asked
	 */
	report.n_ops = 0;
	row(3, CT_OP_AllReduce, 32 << 20, 20, 1000, 0);
	hold_profile("general");
	assert_int_equal(report.expect.failed, 0);
	hold_profile("hardware");
	assert_int_equal(report.expect.failed, 0);
	assert_int_equal(report.expect.not_applicable, 3);
}

static void a_benchmark_is_a_profile(void **state)
{
	static struct ct_report_op reached[4];
	static struct ct_report bench;
	struct ct_expect *expect;
	struct ct_err err = { 0 };
	static const char none[] = "{\"peaks\": [{\"busbw_GBps\": 1}]}";

	(void)state;
	row(2, CT_OP_AllReduce, 1 << 25, 40, 1000, 0);
	row(2, CT_OP_AllReduce, 1 << 22, 10, 1000, 0);
	row(1, CT_OP_AllReduce, 1 << 25, 400, 100, 0);
	row(2, CT_OP_AllGather, 1 << 25, 400, 100, 0);
	for (int i = 0; i < 4; i++)
		ops[i].size_range = ops[i].bytes_each;
	memcpy(reached, ops, sizeof(reached));
	bench = report;
	bench.ops = reached;
	assert_int_equal(ct_expect_read(none, sizeof(none) - 1, &expect, &err), CT_OK);
	assert_int_equal(ct_expect_add_bench(expect, &bench), CT_OK);
	assert_int_equal(ct_expect_check(expect, &report), CT_OK);
	assert_int_equal(report.expect.passed, 4);
	/* 29 of 40 GB/s are more than 70 %, 27 are less; of another size nothing is expected */
	ops[0].busbw_p50_Bps = 29000000000;
	assert_int_equal(ct_expect_check(expect, &report), CT_OK);
	assert_int_equal(report.expect.passed, 4);
	ops[0].busbw_p50_Bps = 27000000000;
	assert_int_equal(ct_expect_check(expect, &report), CT_OK);
	assert_int_equal(report.expect.failed, 1);
	assert_true(report.expect.items[0].limit == 0.7 * 40e9);
	ops[0].bytes_each = 1 << 26;
	assert_int_equal(ct_expect_check(expect, &report), CT_OK);
	assert_int_equal(report.expect.failed, 0);
	ct_expect_free(expect);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_row_fails_only_if_it_misses_by_more_than_its_error),
		TEST(a_rule_is_about_the_rows_that_it_says),
		TEST(the_worst_row_decides_and_rows_without_times_do_not),
		TEST(utilization_is_the_share_of_what_can_be_expected),
		TEST(every_limit_of_every_rule_has_its_result),
		TEST(each_threshold_of_each_profile_is_met_and_missed),
		TEST(a_benchmark_is_a_profile),
		TEST(too_many_rules_are_refused),
		TEST(whatever_a_file_holds_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
