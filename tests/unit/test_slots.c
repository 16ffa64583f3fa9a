/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that drive several GPUs: who is which rank, and who is blamed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

#define MS 1000000ull
#define WORLD 0xabc0000ull
#define RANKS 8

static struct job job;
static int per_process;
static uint32_t launches[JOB_MAX_RANKS];
static uint64_t seqs[JOB_MAX_RANKS][16];

/* Processes that were given their own number and how many there are, as torchrun would. */
static void open_job(int ranks_per_process)
{
	per_process = ranks_per_process;
	memset(launches, 0, sizeof(launches));
	memset(seqs, 0, sizeof(seqs));
	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = RANKS / ranks_per_process,
					      .ranks_per_host = 1,
					      .backend = CT_BACKEND_NCCL });
}

/* Members of a communicator by global rank; ids in a process are comm * 16 + GPU. With device 0 the
 * GPU is unknown. */
static void make_comm(uint32_t comm, uint64_t key, const int *ranks, uint32_t n, int with_device)
{
	for (uint32_t i = 0; i < n; i++) {
		int gpu = ranks[i] % per_process;
		struct ct_comm_rec rec = {
			.id = comm * 16 + (uint32_t)gpu,
			.nranks = n,
			.rank = (int32_t)i,
			.key = key,
			.backend = CT_BACKEND_NCCL,
			.device = (uint16_t)(with_device ? gpu + 1 : 0),
		};

		job_rare(&job, ranks[i] / per_process, CT_KIND_COMM, &rec, sizeof(rec));
	}
}

static void make_world(int with_device)
{
	static const int all[RANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };

	make_comm(1, WORLD, all, RANKS, with_device);
}

static void reduce(int rank, uint32_t comm, uint64_t start, uint64_t end)
{
	int process = rank / per_process, gpu = rank % per_process;
	uint32_t id = ++launches[process];

	job_op(&job, process,
	       (struct ct_op){ .enter_ns = start - MS,
			       .return_ns = start - MS + 5000,
			       .count = 1000,
			       .seq = seqs[rank][comm]++,
			       .comm = comm * 16 + (uint32_t)gpu,
			       .peer = -1,
			       .launch = id,
			       .op = CT_OP_AllReduce,
			       .dtype = CT_DTYPE_float32 });
	job_launch(&job, process,
		   (struct ct_launch){ .id = id,
				       .comm = comm * 16 + (uint32_t)gpu,
				       .n_ops = 1,
				       .start_ns = start,
				       .end_ns = end,
				       .device = (uint32_t)gpu,
				       .start_err_ns = 2000,
				       .end_err_ns = 2000,
				       .start_source = CT_SOURCE_EVENT,
				       .end_source = CT_SOURCE_EVENT });
}

/* All-reduces of all ranks, to which `slow` comes 2 ms late. */
static uint64_t world_job(int slow, uint64_t at)
{
	for (uint64_t c = 0; c < 60; c++, at += 10 * MS) {
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1, at + (r == slow ? 2 * MS : (uint64_t)(r * 3) * 1000),
			       at + 3 * MS + (uint64_t)r * 500);
	}
	return at;
}

static struct ct_report *close_job(uint64_t end)
{
	job_close(&job, end);
	return job_report(&job, -1);
}

static void each_gpu_of_a_process_is_a_rank(void **state)
{
	const struct ct_finding *f;
	struct ct_report *report;
	char *text;

	(void)state;
	open_job(4);
	make_world(1);
	report = close_job(world_job(5, 10 * MS));
	assert_int_equal(report->run.ranks_seen, 8);
	assert_int_equal(report->run.ranks_expected, 8);
	assert_int_equal(report->run.n_missing, 0);
	assert_int_equal(report->n_ranks, 8);
	for (int r = 0; r < 8; r++) {
		assert_int_equal(report->ranks[r].rank, r);
		assert_int_equal(report->ranks[r].device, r % 4);
		assert_int_equal(report->ranks[r].pid, 4000000 + r / 4);
		assert_int_equal(report->ranks[r].ops, 60);
		assert_int_equal(report->comms[0].ranks[r], r);
	}
	assert_int_equal(report->ranks[5].last_count, 60);
	assert_int_equal(report->run.matched, 60);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 5);
	assert_string_equal(f->hosts[0], "host1");
	assert_int_equal(report->processes[1].n_ranks, 4);
	assert_int_equal(report->processes[1].ranks[3], 7);
	text = job_text(report, 1);
	assert_non_null(strstr(text, " 4-7 "));
	free(text);
	ct_report_free(report);
}

static void one_process_may_be_the_whole_job(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(8);
	make_world(1);
	report = close_job(world_job(6, 10 * MS));
	assert_int_equal(report->run.ranks_seen, 8);
	assert_int_equal(report->verdict.code, CT_VERDICT_STRAGGLER);
	assert_int_equal(report->findings[0].n_ranks, 1);
	assert_int_equal(report->findings[0].ranks[0], 6);
	ct_report_free(report);
}

static void several_slow_ranks_of_processes_are_weighed_together(void **state)
{
	struct ct_report *report;
	const struct ct_finding *f;
	uint64_t at = 10 * MS;

	(void)state;
	open_job(4);
	make_world(1);
	for (uint64_t c = 0; c < 60; c++, at += 10 * MS) {
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1,
			       at + (r == 1 || r == 6 ? 2 * MS + (c + (uint64_t)r) % 3 * 1000 : 0),
			       at + 3 * MS);
	}
	report = close_job(at);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 2);
	assert_int_equal(f->ranks[0], 1);
	assert_int_equal(f->ranks[1], 6);
	ct_report_free(report);
}

/* Tensor-parallel pairs and data-parallel fours, made before the communicator of all:
 * sub-communicators alone cannot show who is who, the GPU can. Rank 5 computes longer. */
static void peers_of_a_slow_rank_are_not_blamed(void **state)
{
	static const int pairs[4][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } };
	static const int fours[2][4] = { { 0, 2, 4, 6 }, { 1, 3, 5, 7 } };
	uint64_t now[RANKS];
	struct ct_report *report;

	(void)state;
	open_job(4);
	for (uint32_t p = 0; p < 4; p++)
		make_comm(2 + p, 0x200 + p, pairs[p], 2, 1);
	for (uint32_t p = 0; p < 2; p++)
		make_comm(6 + p, 0x600 + p, fours[p], 4, 1);
	make_world(1);
	for (int r = 0; r < RANKS; r++) {
		now[r] = 10 * MS;
		reduce(r, 1, now[r], 11 * MS);
		now[r] = 11 * MS;
	}
	for (uint64_t c = 0; c < 80; c++) {
		for (int layer = 0; layer < 4; layer++) {
			for (uint32_t p = 0; p < 4; p++) {
				uint64_t come[2], last = 0;

				for (int i = 0; i < 2; i++) {
					int r = pairs[p][i];

					come[i] = now[r] + 4 * MS +
						  (c * 7 + (uint64_t)r * 5) % 11 * 1000 +
						  (r == 5 ? 400000 : 0);
					last = come[i] > last ? come[i] : last;
				}
				for (int i = 0; i < 2; i++) {
					reduce(pairs[p][i], 2 + p, come[i], last + MS);
					now[pairs[p][i]] = last + MS;
				}
			}
		}
		for (uint32_t p = 0; p < 2; p++) {
			uint64_t last = 0;

			for (int i = 0; i < 4; i++) {
				now[fours[p][i]] += 50000 + (c + (uint64_t)i) % 5 * 1000;
				last = now[fours[p][i]] > last ? now[fours[p][i]] : last;
			}
			for (int i = 0; i < 4; i++) {
				reduce(fours[p][i], 6 + p, now[fours[p][i]], last + 2 * MS);
				now[fours[p][i]] = last + 2 * MS;
			}
		}
	}
	report = close_job(now[0]);
	assert_int_equal(report->n_findings, 1);
	assert_int_equal(report->findings[0].n_ranks, 1);
	assert_int_equal(report->findings[0].ranks[0], 5);
	assert_true(fabs((double)report->findings[0].time_lost_ns - 80 * 4 * 0.4e6) <
		    0.05 * 80 * 4 * 0.4e6);
	ct_report_free(report);
}

static void ranks_that_cannot_be_distinguished_are_not_judged(void **state)
{
	static const int pair[2] = { 1, 5 };
	struct ct_report *report;
	uint64_t at;

	(void)state;
	open_job(4);
	make_world(0);
	/* Nor where one rank of each process is a member: it could be any. */
	make_comm(2, 0x200, pair, 2, 0);
	at = world_job(5, 10 * MS);
	for (int c = 0; c < 60; c++, at += 10 * MS) {
		reduce(1, 2, at, at + 3 * MS);
		reduce(5, 2, at + 2 * MS, at + 3 * MS);
	}
	report = close_job(at);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_int_equal(report->comms[0].incomplete, 0);
	assert_true(report->n_invisible > 0);
	assert_non_null(strstr(report->invisible[0].why, "several ranks"));
	ct_report_free(report);
}

/* Without a communicator of all ranks, rank numbers are unknown and stay unknown. */
static void rank_without_a_number_is_not_named(void **state)
{
	static const int all[2][4] = { { 0, 2, 4, 6 }, { 1, 3, 5, 7 } };
	struct ct_report *report;
	uint64_t at = 10 * MS;

	(void)state;
	open_job(4);
	make_comm(1, 0x100, all[0], 4, 1);
	make_comm(2, 0x200, all[1], 4, 1);
	for (uint64_t c = 0; c < 60; c++, at += 10 * MS) {
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1 + (uint32_t)r % 2, at + (r == 5 ? 2 * MS : (uint64_t)r * 2000),
			       at + 3 * MS);
	}
	report = close_job(at);
	assert_int_equal(report->run.ranks_seen, 8);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_null(strstr(report->verdict.text, "rank 5"));
	for (int r = 0; r < 8; r++)
		assert_int_equal(report->ranks[r].rank, -1);
	ct_report_free(report);
}

/* ---- dump ---- */

static int check_rank(const struct ct_joined_op *op, void *arg)
{
	unsigned *seen = arg;
	int expected = (int)(op->process->id.pid - 4000000) * per_process + (int)op->device;

	assert_int_equal(op->rank, expected);
	assert_int_equal(op->launch_ops, 1);
	seen[op->rank]++;
	return 0;
}

static void every_op_knows_its_rank(void **state)
{
	unsigned seen[RANKS] = { 0 };
	struct ct_run *run;
	const char *path;

	(void)state;
	open_job(4);
	make_world(1);
	job_close(&job, world_job(5, 10 * MS));
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_ops_each(run, check_rank, seen, NULL), 0);
	for (int r = 0; r < RANKS; r++)
		assert_int_equal(seen[r], 60);
	ct_run_close(run);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(each_gpu_of_a_process_is_a_rank),
		ON_DISK(one_process_may_be_the_whole_job),
		ON_DISK(several_slow_ranks_of_processes_are_weighed_together),
		ON_DISK(peers_of_a_slow_rank_are_not_blamed),
		ON_DISK(ranks_that_cannot_be_distinguished_are_not_judged),
		ON_DISK(rank_without_a_number_is_not_named),
		ON_DISK(every_op_knows_its_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
