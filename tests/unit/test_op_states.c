/* SPDX-License-Identifier: Apache-2.0 */
/* What became of an operation, from what its call returned and what its launch came to. */
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

#define MS 1000000ull
enum { IN_PROGRESS = 7, REMOTE_ERROR = 6 }; /* NCCL's */

static const struct {
	const char *state;
	unsigned op;
	uint64_t count;
	int result;	   /* of the call */
	int launch_result; /* of its launch */
	int started, ended;
} cases[] = {
	{ "finished", CT_OP_AllReduce, 1, 0, 0, 1, 1 },
	{ "finished", CT_OP_AllReduce, 1, IN_PROGRESS, 0, 1, 1 },
	{ "started", CT_OP_AllReduce, 1, 0, 0, 1, 0 },
	{ "returned", CT_OP_AllReduce, 1, 0, 0, 0, 0 },
	{ "error", CT_OP_AllReduce, 1, REMOTE_ERROR, REMOTE_ERROR, 0, 0 },
	/* in a group the call itself succeeds */
	{ "error", CT_OP_AllReduce, 1, 0, REMOTE_ERROR, 0, 0 },
	{ "error", CT_OP_AllReduce, 1, 0, CT_RESULT_EXCEPTION, 0, 0 },
	{ "aborted", CT_OP_AllReduce, 1, 0, CT_RESULT_ABORTED, 1, 0 },
	{ "aborted", CT_OP_Recv, 1, IN_PROGRESS, CT_RESULT_ABORTED, 0, 0 },
	/* an empty collective is dropped, an empty message sent, a signal has no count */
	{ "finished", CT_OP_AllReduce, 0, 0, 0, 0, 0 },
	{ "returned", CT_OP_Send, 0, 0, 0, 0, 0 },
	{ "returned", CT_OP_WaitSignal, 0, 0, 0, 0, 0 },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static void record(struct job *job, uint32_t i)
{
	uint64_t at = (i + 1) * MS;

	job_op(job, 0,
	       (struct ct_op){ .op = (uint8_t)cases[i].op,
			       .count = cases[i].count,
			       .peer = ct_op_class(cases[i].op) == CT_CLASS_SYNC ? -1 : 0,
			       .dtype = CT_DTYPE_float32,
			       .seq = i,
			       .enter_ns = at,
			       .return_ns = at + 1000,
			       .result = (int16_t)cases[i].result,
			       .launch = i + 1 });
	job_launch(job, 0,
		   (struct ct_launch){
			   .id = i + 1,
			   .comm = 1,
			   .n_ops = 1,
			   .result = (int16_t)cases[i].launch_result,
			   .start_ns = cases[i].started ? at + 2000 : 0,
			   .end_ns = cases[i].ended ? at + 3000 : 0,
			   .start_source = cases[i].started ? CT_SOURCE_EVENT : CT_SOURCE_NONE,
			   .end_source = cases[i].ended ? CT_SOURCE_EVENT : CT_SOURCE_NONE });
}

static int check(const struct ct_joined_op *op, void *arg)
{
	uint32_t *n = arg;

	assert_string_equal(ct_op_state_name(op->state), cases[op->op->launch - 1].state);
	++*n;
	return 0;
}

static void states_follow_from_call_and_launch(void **state)
{
	static struct job job;
	struct ct_run *run;
	const char *path;
	uint32_t n = 0;

	(void)state;
	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = 1, .backend = CT_BACKEND_NCCL });
	for (uint32_t i = 0; i < CASES; i++)
		record(&job, i);
	job_close(&job, (CASES + 2) * MS);
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_ops_each(run, check, &n, NULL), 0);
	assert_int_equal(n, CASES);
	ct_run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(states_follow_from_call_and_launch, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests_name("op_states", tests, NULL, NULL);
}
