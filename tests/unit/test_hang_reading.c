/* SPDX-License-Identifier: Apache-2.0 */
/* The case of a hang does not depend on how the processes are read: in step or one after the other.
 */
#include <stdio.h>

#include "analyzer/hang/hang.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

#define OPS 600
#define EVERY_NS 20000000ull

static const int early[] = { 1, 3 }, late[] = { 0, 2 };

static uint64_t collectives(struct job *job, uint64_t at)
{
	for (int i = 0; i < OPS; i++, at += EVERY_NS)
		for (int r = 0; r < 4; r++)
			job_collective(job, r, CT_OP_AllReduce, 1000, at, at + 1000000);
	return at;
}

/* Rank 1 has its own communicator in its first block, rank 0 makes one in a later block. */
static void put_job(const char *run, int ranks_per_host)
{
	const struct job_options options = {
		.run = run, .ranks = 4, .ranks_per_host = ranks_per_host, .block_ops = 50
	};
	struct job job;
	uint64_t at;

	job_open(&job, &options);
	job_comm(&job, 2, 0xbbb, "second", early, 2);
	at = collectives(&job, 1000000000);
	for (int r = 0; r < 4; r++)
		job_flush(&job, r);
	job_comm(&job, 3, 0xaaa, "first", late, 2);
	at = collectives(&job, at);
	/* ranks 0 to 2 are inside one more than rank 3 has called */
	for (int r = 0; r < 3; r++)
		job_collective(&job, r, CT_OP_AllReduce, 1000, at, 0);
	job_close(&job, 0);
}

/* A run and what hang finds in it. */
struct judged {
	struct ct_run *run;
	struct ct_arena *memory;
	struct ct_hang_run *hang;
};

static void judge(struct judged *j, const char *name)
{
	const char *path = fx_path(name);

	j->memory = ct_arena_new();
	assert_int_equal(ct_run_open(&path, 1, NULL, &j->run, NULL), CT_OK);
	assert_int_equal(ct_hang_of_run(j->run, NULL, j->memory, &j->hang, NULL), CT_OK);
}

static void judged_fini(struct judged *j)
{
	ct_run_close(j->run);
	ct_arena_free(j->memory);
}

static void communicators_come_in_the_order_of_processes(void **state)
{
	static const int per_host[] = { 0, 2 };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		char name[16];
		struct judged j;
		const struct ct_hang_case *c;

		snprintf(name, sizeof(name), "run%zu", k);
		put_job(name, per_host[k]);
		judge(&j, name);
		c = &j.hang->hang_case;
		assert_int_equal(c->n_comms, 3);
		assert_true(c->comms[0].hash == JOB_COMM);
		assert_true(c->comms[1].hash == 0xaaa);
		assert_string_equal(c->comms[1].name, "first");
		assert_true(c->comms[2].hash == 0xbbb);
		for (uint32_t i = 0; i < c->n_ops; i++)
			assert_int_equal(c->ops[i].comm, 0);
		judged_fini(&j);
	}
}

/* The clocks of the hosts are hours apart; the case has simultaneous operations at the same time. */
static void clocks_of_hosts_come_of_the_same_reading(void **state)
{
	struct judged j;
	const struct ct_hang_case *c;
	uint64_t entered[4] = { 0 };

	(void)state;
	put_job("run", 2);
	judge(&j, "run");
	c = &j.hang->hang_case;
	assert_int_equal(j.hang->hosts, 2);
	assert_int_equal(c->n_ranks, 4);
	for (int r = 0; r < 4; r++)
		assert_true(c->ranks[r].err_ns < 1000000);
	/* not the reference's host; by the time of day alone the error would be unknown */
	assert_true(c->ranks[3].err_ns > 0);
	for (uint32_t i = 0; i < c->n_ops; i++)
		if (c->ops[i].seq == 2 * OPS - 1)
			entered[c->ops[i].rank] = c->ops[i].enter_ns;
	for (int r = 0; r < 4; r++)
		assert_in_range(entered[r], entered[0] - 1000000, entered[0] + 1000000);
	judged_fini(&j);
}

/* Two pairs, with unknown ranks in the job. */
static void processes_without_a_rank_are_distinguished(void **state)
{
	static const int pairs[2][2] = { { 0, 1 }, { 2, 3 } };
	const struct job_options options = { .run = "run", .ranks = 4, .nameless = 1 };
	uint32_t ops[4] = { 0 };
	struct judged j;
	struct job job;

	(void)state;
	job_open(&job, &options);
	for (uint32_t k = 0; k < 2; k++)
		job_comm(&job, 2, 0xaaa + k, "pair", pairs[k], 2);
	for (int r = 0; r < 4; r++)
		job_op(&job, r,
		       (struct ct_op){ .enter_ns = 1000000000,
				       .count = 1,
				       .comm = 2,
				       .peer = -1,
				       .op = CT_OP_Barrier });
	job_close(&job, 0);
	judge(&j, "run");
	assert_int_equal(j.hang->hang_case.n_ranks, 4);
	for (uint32_t i = 0; i < j.hang->hang_case.n_ops; i++)
		ops[j.hang->hang_case.ops[i].rank]++;
	for (int r = 0; r < 4; r++) {
		assert_int_equal(j.hang->hang_case.ranks[r].rank, -1);
		assert_int_equal(ops[r], 1);
	}
	judged_fini(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(communicators_come_in_the_order_of_processes,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(processes_without_a_rank_are_distinguished,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(clocks_of_hosts_come_of_the_same_reading, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
