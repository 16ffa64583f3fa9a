/* SPDX-License-Identifier: Apache-2.0 */
/* What recording cost, as the ranks reported: unknown is never shown as nothing. And how shares and
 * names are written. */
#include "tests/unit/job.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/model/names.h"
#include "analyzer/render/text.h"
#include "trace/ops.h"

static struct job job;

static void open_job(void)
{
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2 });
}

static void tell(int rank, const struct ct_cost_rec *cost)
{
	job_rare(&job, rank, CT_KIND_COST, cost, sizeof(*cost));
}

/* 20 all-reduces in 200 ms. */
static struct ct_report *report(void)
{
	for (int c = 0; c < 20; c++) {
		uint64_t at = (uint64_t)c * 10000000;

		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at, at + 1000000);
	}
	job_close(&job, 200000000);
	return job_report(&job, -1);
}

static void assert_texts(const struct ct_report *r, const char *in_report, const char *in_info)
{
	char *text = job_text(r, 0), *info = job_text(r, 1);

	if (!strstr(text, in_report))
		fail_msg("not in the report: %s\n%s", in_report, text);
	if (!strstr(info, in_info))
		fail_msg("not in info: %s\n%s", in_info, info);
	free(text);
	free(info);
}

static void what_no_one_reported_is_not_available(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job();
	r = report();
	assert_int_equal(r->n_overhead, 0);
	assert_int_equal(r->overhead_bytes, CT_UNKNOWN);
	assert_texts(r, "", "\noverhead of recording\nnot recorded\n");
	ct_report_free(r);
}

/* As in the checkpoint of a process whose disk was full from the start. */
static void an_account_from_before_anything_was_measured_is_none(void **state)
{
	const struct ct_cost_rec nothing = { 0 };
	struct ct_report *r;

	(void)state;
	open_job();
	tell(0, &nothing);
	tell(1, &nothing);
	r = report();
	assert_int_equal(r->n_overhead, 0);
	assert_true(isnan(r->overhead_pct));
	ct_report_free(r);
}

static void calls_that_were_not_counted_yet_cost_an_unknown_time(void **state)
{
	const struct ct_cost_rec early = { .write_cpu_ns = 2000000, .bytes_written = 512 };
	struct ct_report *r;

	(void)state;
	open_job();
	tell(0, &early);
	r = report();
	assert_int_equal(r->n_overhead, 1);
	assert_int_equal(r->overhead[0].calls, CT_UNKNOWN);
	assert_int_equal(r->overhead[0].wrapper_ns, CT_UNKNOWN);
	assert_true(isnan(r->overhead[0].wrapper_pct));
	assert_int_equal(r->overhead[0].write_cpu_ns, 2000000);
	assert_int_equal(r->overhead_bytes, 512);
	assert_texts(r, "", "    0       n/a        n/a      n/a 2.00 ms");
	ct_report_free(r);
}

static void switches_are_counted_and_an_older_record_has_none(void **state)
{
	const struct ct_cost_rec cost = { .calls = 20,
					  .wrapper_ns = 4000000,
					  .write_cpu_ns = 5000000,
					  .stacks_cpu_ns = 1000000,
					  .counters_cpu_ns = 2000000,
					  .around_cpu_ns = 500000,
					  .voluntary_and_1 = 46,
					  .involuntary = 3,
					  .start_ns = 9000000 };
	struct ct_report *r;

	(void)state;
	open_job();
	tell(0, &cost);
	/* as long as it was before it had switches */
	job_rare(&job, 1, CT_KIND_COST, &cost, offsetof(struct ct_cost_rec, stacks_cpu_ns));
	r = report();
	assert_int_equal(r->n_overhead, 2);
	assert_int_equal(r->overhead[0].stacks_cpu_ns, 1000000);
	assert_int_equal(r->overhead[0].counters_cpu_ns, 2000000);
	assert_int_equal(r->overhead[0].around_cpu_ns, 500000);
	assert_int_equal(r->overhead[0].voluntary, 45);
	assert_int_equal(r->overhead[0].involuntary, 3);
	assert_int_equal(r->overhead[0].start_ns, 9000000);
	assert_int_equal(r->overhead[1].write_cpu_ns, 5000000);
	assert_int_equal(r->overhead[1].stacks_cpu_ns, CT_UNKNOWN);
	assert_int_equal(r->overhead[1].counters_cpu_ns, CT_UNKNOWN);
	assert_int_equal(r->overhead[1].around_cpu_ns, CT_UNKNOWN);
	assert_int_equal(r->overhead[1].voluntary, CT_UNKNOWN);
	assert_int_equal(r->overhead[1].involuntary, CT_UNKNOWN);
	assert_int_equal(r->overhead[1].start_ns, CT_UNKNOWN);
	assert_true(fabs(r->overhead_switches_per_s - 48e9 / (double)r->run.duration_ns) < 1e-6);
	ct_report_free(r);
}

static void the_account_is_per_rank_and_in_shares_of_the_run(void **state)
{
	const struct ct_cost_rec first = { .calls = 20,
					   .wrapper_ns = 4000000,
					   .write_cpu_ns = 1000000,
					   .beat_cpu_ns = 500000,
					   .poll_cpu_ns = 500000,
					   .bytes_written = 1000 };
	const struct ct_cost_rec second = {
		.calls = 20, .wrapper_ns = 2000000, .write_cpu_ns = 8000000, .bytes_written = 500
	};
	struct ct_report *r;
	double run_ns;

	(void)state;
	open_job();
	tell(0, &first);
	tell(1, &second);
	r = report();
	run_ns = (double)r->run.duration_ns;
	assert_int_equal(r->n_overhead, 2);
	assert_true(fabs(r->overhead[0].wrapper_pct - 100 * 4e6 / run_ns) < 1e-9);
	assert_true(fabs(r->overhead[0].cpu_pct - 100 * 2e6 / run_ns) < 1e-9);
	/* the rank where each is largest */
	assert_true(r->overhead_pct == r->overhead[0].wrapper_pct);
	assert_true(r->overhead_cpu_pct == r->overhead[1].cpu_pct);
	assert_int_equal(r->overhead_bytes, 1500);
	ct_report_free(r);
}

/* A job that hangs records nothing more, and the recorder's threads go on: what they take is a
 * share of all that time. */
static void threads_are_shares_of_the_time_to_the_last_heartbeat(void **state)
{
	const struct ct_cost_rec cost = {
		.calls = 20, .wrapper_ns = 4000000, .write_cpu_ns = 2000000, .beat_cpu_ns = 6000000
	};
	struct ct_status_rec status;
	struct ct_report *r;

	(void)state;
	open_job();
	status = (struct ct_status_rec){ .beat_ns = job.clock[0] + 80000000000ull };
	job_rare(&job, 0, CT_KIND_STATUS, &status, sizeof(status));
	tell(0, &cost);
	r = report();
	assert_true(r->run.duration_ns < 1000000000);
	assert_true(fabs(r->overhead[0].cpu_pct - 0.01) < 1e-4);
	assert_texts(r, "threads 0.01 %;", ", last heartbeat at 80.0 s\n");
	ct_report_free(r);
}

static void shares_are_said_in_words_that_read_well(void **state)
{
	char said[64];

	(void)state;
	ct_text_share(said, sizeof(said), 1.234, "about ", "the run", "in calls");
	assert_string_equal(said, "about 1.23 % of the run in calls");
	ct_text_share(said, sizeof(said), 0.001, "about ", "the run", "in calls");
	assert_string_equal(said, "less than 0.01 % of the run in calls");
	ct_text_share(said, sizeof(said), NAN, "about ", "the run", "in calls");
	assert_string_equal(said, "n/a in calls");
}

static void a_value_and_its_error_have_one_unit(void **state)
{
	(void)state;
	assert_string_equal(ct_prose_ns_err(29.9e6, 4160).s, "29.9 ± <0.1 ms");
	assert_string_equal(ct_prose_ns_err(10e6, 2).s, "10.0 ± <0.1 ms");
	assert_string_equal(ct_prose_ns_err(759e3, 315.6e6).s, "1 ± 320 ms");
	assert_string_equal(ct_prose_Bps_err(25.2e9, 68.9e6).s, "25.2 ± 0.1 GB/s");
	assert_string_equal(ct_prose_ns_err(207e6, 30.8e6).s, "207 ± 31 ms");
	assert_string_equal(ct_prose_ns_err(5.06e6, 1.5e6).s, "5.1 ± 1.5 ms");
	assert_string_equal(ct_prose_ns_err(5.06e6, 0.9949e6).s, "5.06 ± 0.99 ms");
	assert_string_equal(ct_prose_ns_err(5.06e6, 0.9951e6).s, "5.1 ± 1.0 ms");
	assert_string_equal(ct_prose_pct_err(22.9, 0.0005).s, "22.9 ± <0.1 %");
	assert_string_equal(ct_prose_pct_err(22.9, 0.05).s, "22.9 ± 0.1 %");
	assert_string_equal(ct_prose_Bps_err(25.2e9, NAN).s, "25.2 GB/s");
	assert_string_equal(ct_prose_change(14, 13.96, 14.06).s, "+14.0 % (14.0 to 14.1)");
	assert_string_equal(ct_prose_change(-100, -102, -98.2).s, "-100 % (-102 to -98)");
}

static void hosts_lose_their_domain_before_they_are_cut_in_the_middle(void **state)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *fit;
	} hosts[] = {
		{ "node7.example.com", 20, "node7.example.com" },
		{ "node7.example.com", 8, "node7" },
		{ "gpu-worker-0123.rack-17.example.com", 12, "gpu-w..-0123" },
		{ "gpu-worker-0123", 15, "gpu-worker-0123" },
	};
	char to[84];

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		ct_host_fit(to, sizeof(to), hosts[i].name, hosts[i].columns);
		assert_string_equal(to, hosts[i].fit);
	}
}

static void short_names_keep_what_distinguishes_them(void **state)
{
	static const char *const names[][2] = {
		{ "MPI_COMM_WORLD", "WORLD" },	  { "MPI_COMM_SELF", "SELF" },
		{ "MPI_COMM_", "MPI..MM_" },	  { "world", "world" },
		{ "exactly8", "exactly8" },	  { "tensor_group_1", "ten..p_1" },
		{ "tensor_group_2", "ten..p_2" }, { "äöüäöüäöü", "äöü..äöü" },
	};
	char to[40];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ct_text_short_name(to, sizeof(to), names[i][0], 8);
		assert_string_equal(to, names[i][1]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
		TEST(what_no_one_reported_is_not_available),
		TEST(an_account_from_before_anything_was_measured_is_none),
		TEST(calls_that_were_not_counted_yet_cost_an_unknown_time),
		TEST(the_account_is_per_rank_and_in_shares_of_the_run),
		TEST(switches_are_counted_and_an_older_record_has_none),
		TEST(threads_are_shares_of_the_time_to_the_last_heartbeat),
		TEST(shares_are_said_in_words_that_read_well),
		TEST(a_value_and_its_error_have_one_unit),
		TEST(short_names_keep_what_distinguishes_them),
		TEST(hosts_lose_their_domain_before_they_are_cut_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
