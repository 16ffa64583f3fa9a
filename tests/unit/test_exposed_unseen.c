/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed communication where the recorder puts nothing on streams that wait: when NCCL shows the
 * times, and with one connection to the GPU. The host's waits are on record then, and those of the
 * streams that compute are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/job.h"
#include "tools/synth/synth.h"
#include "trace/ops.h"

#define US 1000ull
#define MS (1000 * US)

enum { RANKS = 8 };

/* *exposed_ns: what each rank was exposed. */
static struct ct_report *play(const char *workload, uint64_t *exposed_ns)
{
	const struct job job = { .o.run = "run" };
	struct ct_synth_options o = ct_synth_defaults();
	struct ct_synth_outcome outcome;
	struct ct_err err = { 0 };
	struct ct_report *report;
	int dirfd;

	o.job.name = workload;
	o.job.ranks = RANKS;
	o.job.nodes = 2;
	o.job.steps = 15;
	o.job.seed = 5;
	o.timing = CT_SYNTH_PLUGIN;
	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(&o, dirfd, &outcome, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	for (int r = 0; r < RANKS; r++)
		exposed_ns[r] = outcome.sums.ranks[r].exposed_ns;
	ct_synth_outcome_free(&outcome);
	report = job_report(&job, -1);
	return report;
}

/* Ranks of which it is reported, all of them within their error. */
static uint32_t told_rightly(const char *workload)
{
	uint64_t truth[RANKS];
	struct ct_report *report = play(workload, truth);
	uint32_t waits_known = 0;

	for (size_t r = 0; r < report->n_ranks; r++) {
		uint64_t ns = report->ranks[r].exposed_ns;
		uint64_t off = ns > truth[r] ? ns - truth[r] : truth[r] - ns;

		if (ns == CT_UNKNOWN)
			continue;
		waits_known++;
		if (off > report->ranks[r].exposed_err_ns)
			fail_msg("%s, rank %zu: %llu±%llu, true %llu", workload, r,
				 (unsigned long long)ns,
				 (unsigned long long)report->ranks[r].exposed_err_ns,
				 (unsigned long long)truth[r]);
	}
	ct_report_free(report);
	return waits_known;
}

/* Their computing streams wait for streams of communication. */
static void waits_of_streams_that_are_not_on_record_leave_exposed_time_unknown(void **state)
{
	static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe" };

	(void)state;
	for (size_t w = 0; w < sizeof(workloads) / sizeof(workloads[0]); w++) {
		void *fixture;

		assert_int_equal(fx_setup(&fixture), 0);
		assert_int_equal(told_rightly(workloads[w]), 0);
		assert_int_equal(fx_teardown(&fixture), 0);
	}
}

/* Nothing has to be known of waits: the stream that computes communicates itself. */
static void what_runs_where_computing_does_is_exposed_whoever_reports_the_times(void **state)
{
	(void)state;
	assert_int_equal(told_rightly("decode"), RANKS);
}

enum { OPS = 40, COMMS = 1, ERR = 1000 };

static struct job job;

static void put(int rank, uint32_t id, uint64_t at, uint64_t end)
{
	const struct ct_op op = { .op = CT_OP_AllReduce,
				  .count = 1000,
				  .peer = -1,
				  .dtype = CT_DTYPE_float32,
				  .seq = job.seq[rank]++,
				  .enter_ns = at,
				  .return_ns = at + 400,
				  .launch = id };
	const struct ct_launch launch = { .id = id,
					  .comm = 1,
					  .stream = COMMS,
					  .n_ops = 1,
					  .start_ns = at + 10 * US,
					  .end_ns = end,
					  .start_err_ns = ERR,
					  .end_err_ns = ERR,
					  .start_source = CT_SOURCE_EVENT,
					  .end_source = CT_SOURCE_EVENT };

	job_op(&job, rank, op);
	job_launch(&job, rank, launch);
}

/* The host synchronizes with the stream of each operation in the last 100 us of it; of the one
 * numbered `lost`, that is not on record. `seen`: calls of the program on the stream are. */
static struct ct_report *run(const char *connections, uint32_t lost, int seen)
{
	const int all[2] = { 0, 1 };
	uint64_t at = 10 * MS;

	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = 2, .backend = CT_BACKEND_NCCL });
	job_comm(&job, 1, JOB_COMM, "world", all, 2);
	for (int r = 0; r < 2; r++) {
		char text[80];

		snprintf(text, sizeof(text), "env.CUDA_DEVICE_MAX_CONNECTIONS=%s", connections);
		job_rare(&job, r, CT_KIND_ENV, text, strlen(text));
	}
	for (uint32_t i = 0; i < OPS; i++, at += 5 * MS) {
		for (int r = 0; r < 2; r++) {
			const struct ct_stream_rec stream = { .stream = COMMS,
							      .flags = CT_STREAM_FED };
			const struct ct_wait_rec host = {
				.begin_ns = at + MS - 100 * US + job.clock[r],
				.issued_ns = at + MS + 20 * US + job.clock[r],
				.launch = i + 1,
				.after = i,
				.via = COMMS,
				.tid = 1,
				.flags = CT_WAIT_HOST,
			};

			put(r, i + 1, at, at + MS);
			if (seen)
				job_rare(&job, r, CT_KIND_STREAM, &stream, sizeof(stream));
			if (i != lost)
				job_rare(&job, r, CT_KIND_WAIT, &host, sizeof(host));
		}
	}
	job_close(&job, at);
	return job_report(&job, -1);
}

static void with_one_connection_the_hosts_waits_do_not_stand_for_the_streams(void **state)
{
	struct ct_report *report = run("1", OPS, 1);

	(void)state;
	assert_true(report->ranks[0].exposed_ns == CT_UNKNOWN);
	assert_int_equal(report->overlap[0].measured, 0);
	assert_string_equal(report->overlap[0].method, "n/a");
	ct_report_free(report);
}

static void with_several_the_hosts_waits_are_all_that_there_were(void **state)
{
	struct ct_report *report = run("32", OPS, 1);

	(void)state;
	assert_int_equal(report->ranks[0].exposed_ns, OPS * 100 * US);
	assert_true(report->ranks[0].exposed_err_ns < 10 * OPS * ERR);
	assert_int_equal(report->overlap[0].measured, OPS);
	ct_report_free(report);
}

static void the_hosts_waits_do_not_stand_for_a_stream_that_may_compute(void **state)
{
	struct ct_report *report = run("32", OPS, 0);

	(void)state;
	assert_true(report->ranks[0].exposed_ns == CT_UNKNOWN);
	assert_int_equal(report->overlap[0].measured, 0);
	ct_report_free(report);
}

static void what_one_wait_that_is_lost_may_have_been_is_in_the_error(void **state)
{
	struct ct_report *report = run("32", 7, 1);

	(void)state;
	assert_int_equal(report->overlap[0].measured, OPS - 1);
	assert_int_equal(report->ranks[0].exposed_ns, (OPS - 1) * 100 * US);
	assert_true(report->ranks[0].exposed_err_ns >= MS - 10 * US);
	assert_int_equal(report->n_ops, 1);
	assert_true(report->ops[0].exposed_err_ns >= 2 * (MS - 10 * US));
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			waits_of_streams_that_are_not_on_record_leave_exposed_time_unknown),
		ON_DISK(what_runs_where_computing_does_is_exposed_whoever_reports_the_times),
		ON_DISK(with_one_connection_the_hosts_waits_do_not_stand_for_the_streams),
		ON_DISK(with_several_the_hosts_waits_are_all_that_there_were),
		ON_DISK(the_hosts_waits_do_not_stand_for_a_stream_that_may_compute),
		ON_DISK(what_one_wait_that_is_lost_may_have_been_is_in_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
