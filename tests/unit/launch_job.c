/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/launch_job.h"

#include <math.h>
#include <string.h>

struct job job;
static uint32_t launches[JOB_MAX_RANKS]; /* ids given out */
uint32_t lost_ops;
uint64_t messages[JOB_MAX_RANKS][JOB_MAX_RANKS][2];

void open_job(int ranks, int ranks_per_host)
{
	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = ranks,
					      .ranks_per_host = ranks_per_host,
					      .backend = CT_BACKEND_NCCL });
	lost_ops = 0;
	memset(launches, 0, sizeof(launches));
	memset(messages, 0, sizeof(messages));
}

void fresh(void)
{
	void *state;

	assert_int_equal(fx_teardown(&state), 0);
	assert_int_equal(fx_setup(&state), 0);
}

struct ct_report *close_job(uint64_t end)
{
	job_close(&job, end);
	return job_report(&job, -1);
}

struct ct_op collective(unsigned op, uint64_t count)
{
	return (struct ct_op){ .op = (uint8_t)op,
			       .count = count,
			       .peer = ct_op_class(op) == CT_CLASS_ROOTED ? 0 : -1,
			       .dtype = CT_DTYPE_float32 };
}

struct ct_op message(unsigned op, int peer, uint64_t count)
{
	return (struct ct_op){
		.op = (uint8_t)op, .count = count, .peer = peer, .dtype = CT_DTYPE_float32
	};
}

void launch(int rank, const struct ct_op *ops, uint32_t n, uint64_t enter, uint64_t start,
	    uint64_t end)
{
	uint32_t id = ops[0].launch == NO_LAUNCH ? 0 : ++launches[rank];

	for (uint32_t i = 0; i < n; i++) {
		struct ct_op op = ops[i];

		if (ct_op_class(op.op) == CT_CLASS_P2P)
			op.seq = messages[rank][op.peer][op.op == CT_OP_Recv]++;
		else if (!(op.flags & CT_OP_CAPTURED))
			op.seq = job.seq[rank]++;
		op.enter_ns = enter + i * 500;
		op.return_ns = op.enter_ns + 400;
		op.launch = id;
		job_op(&job, rank, op);
	}
	if (!id || ops[0].flags & CT_OP_CAPTURED)
		return;
	job_launch(&job, rank,
		   (struct ct_launch){ .id = id,
				       .comm = 1,
				       .n_ops = n + lost_ops,
				       .start_ns = start,
				       .end_ns = end,
				       .start_err_ns = start ? ERR : 0,
				       .end_err_ns = end ? ERR : 0,
				       .start_source = start ? CT_SOURCE_EVENT : CT_SOURCE_NONE,
				       .end_source = end ? CT_SOURCE_EVENT : CT_SOURCE_NONE });
}

int is_near(uint64_t value, double expected, double off)
{
	return fabs((double)value - expected) <= off * expected + 200;
}

const struct ct_report_op *row(const struct ct_report *report, const char *group, const char *name)
{
	for (size_t i = 0; i < report->n_ops; i++) {
		const struct ct_report_op *op = &report->ops[i];

		if ((!group != !op->group) || (group && strcmp(group, op->group) != 0) ||
		    (!name != !op->op_name) || (name && strcmp(name, op->op_name) != 0))
			continue;
		return op;
	}
	return NULL;
}
