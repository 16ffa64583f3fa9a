/* SPDX-License-Identifier: Apache-2.0 */
/* A batch shows what a load reported, in the same order and with the same values: here of every
 * kind of record there is. */
#include "tests/unit/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/batch.h"
#include "trace/ops.h"

#define UNKNOWN_OP 250u
#define LAUNCHES 90

/* ---- what is reported, as text ---- */

static int log_op(void *log, const struct ct_load_op *op)
{
	const struct ct_joined_op *j = &op->joined;
	const struct ct_load_launch *l = op->launch;
	uint32_t itself = UINT32_MAX;
	uint64_t sum = 0;

	fprintf(log, "op %s seq %" PRIu64 " peer %d tag %u launch %u call %s comm %s at %u of %u",
		j->op_name, j->op->seq, j->op->peer, j->op->tag, j->op->launch,
		j->call ? j->call : "?", j->comm_name ? j->comm_name : "?", j->launch_at,
		j->launch_ops);
	fprintf(log, " span %" PRIu64 " %" PRIu64 " state %d bytes %" PRIu64, j->start_ns,
		j->end_ns, (int)j->state, j->bytes);
	fprintf(log, " device %u comm %u\n", op->comm ? op->comm->rec.device : 0,
		op->comm ? op->comm->rec.id : 0);
	for (uint32_t i = 0; l && i < l->n; i++) {
		sum += l->ops[i].seq;
		itself = j->op == &l->ops[i] ? i : itself;
	}
	fprintf(log, "  beside %u of %u, sum %" PRIu64 ", itself %u\n", l ? l->n : 0,
		l ? l->n_ops : 0, sum, itself);
	return 0;
}

static int log_comm(void *log, struct ct_load_comm *comm)
{
	fprintf(log, "comm %u %s ended %" PRIu64 "\n", comm->rec.id, comm->name ? comm->name : "?",
		comm->rec.ended_ns);
	return 0;
}

static int log_named(void *log, struct ct_load_comm *comm)
{
	fprintf(log, "named ");
	return log_comm(log, comm);
}

static int log_reached(void *log, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec)
{
	fprintf(log, "reached %" PRIu64 " ", rec->next_seq);
	return log_comm(log, comm);
}

static int log_host(void *log, const struct ct_host_rec *rec, const char *call, const char *site)
{
	(void)site;
	fprintf(log, "host %s %" PRIu64 " %" PRIu64 "\n", call ? call : "?", rec->enter_ns,
		rec->return_ns);
	return 0;
}

static int log_error(void *log, const struct ct_error_rec *rec, const char *call, const char *text)
{
	fprintf(log, "error %s %s %d\n", call ? call : "?", text ? text : "?", rec->result);
	return 0;
}

static int log_wait(void *log, const struct ct_wait_rec *rec)
{
	fprintf(log, "wait %" PRIu64 " via %u\n", rec->issued_ns, rec->via);
	return 0;
}

static int log_nvtx(void *log, const struct ct_nvtx_rec *rec)
{
	fprintf(log, "nvtx %s %" PRIu64 "\n", rec->name, rec->end_ns);
	return 0;
}

static int log_stack(void *log, const uint8_t *bytes, size_t len)
{
	fprintf(log, "stack %zu", len);
	for (size_t i = 0; i < len; i++)
		fprintf(log, " %02x", bytes[i]);
	fprintf(log, "\n");
	return 0;
}

/* ---- the process ---- */

static void string(struct job *job, uint32_t id, const char *text)
{
	char bytes[64];

	memcpy(bytes, &id, sizeof(id));
	memcpy(bytes + sizeof(id), text, strlen(text));
	job_rare(job, 0, CT_KIND_STRING, bytes, sizeof(id) + strlen(text));
}

static void name_op(struct job *job)
{
	const char bytes[] = { 0, 0, (char)UNKNOWN_OP, 0, 'A', 'l', 'l', 'F', 'o', 'l', 'd' };

	job_rare(job, 0, CT_KIND_NAME, bytes, sizeof(bytes));
}

/* Twice another name and its end in one block: a late reader must not get the last of it only. */
static void communicators(struct job *job)
{
	struct ct_comm_rec rec = {
		.id = 2, .nranks = 4, .key = 5, .device = 3, .backend = CT_BACKEND_NCCL
	};
	const struct ct_comm_status_rec reached = { .comm = 2, .next_seq = 17 };

	string(job, 61, "early");
	string(job, 62, "late");
	job_rare(job, 0, CT_KIND_COMM, &rec, sizeof(rec));
	job_rare(job, 0, CT_KIND_COMM_STATUS, &reached, sizeof(reached));
	rec.name = 61;
	job_rare(job, 0, CT_KIND_COMM, &rec, sizeof(rec));
	rec.name = 62;
	rec.ended_ns = 900;
	job_rare(job, 0, CT_KIND_COMM, &rec, sizeof(rec));
}

static void others(struct job *job)
{
	const struct ct_host_rec host = { .enter_ns = 500, .return_ns = 600, .tid = 1, .call = 70 };
	const struct ct_error_rec error = {
		.reported_ns = 700, .result = 6, .call = 70, .text = 71
	};
	const struct ct_wait_rec wait = { .issued_ns = 800, .via = 9, .waiter = 4 };
	const struct ct_nvtx_rec nvtx = { .begin_ns = 10, .end_ns = 30, .name = "step" };
	uint8_t stack[77];

	string(job, 70, "ncclCommAbort");
	string(job, 71, "remote error");
	job_rare(job, 0, CT_KIND_HOST_END, &host, sizeof(host));
	job_rare(job, 0, CT_KIND_ERROR, &error, sizeof(error));
	job_rare(job, 0, CT_KIND_WAIT, &wait, sizeof(wait));
	job_rare(job, 0, CT_KIND_NVTX, &nvtx, sizeof(nvtx));
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(3 * i);
	job_rare(job, 0, CT_KIND_STACK, stack, sizeof(stack));
}

/* Of `n` operations from number `seq` on; with what the second received. */
static void launch(struct job *job, uint32_t id, uint64_t seq, uint32_t n)
{
	const struct ct_match_rec match = {
		.comm = 2, .launch = id, .peer = 3, .tag = 8, .seq = 4711
	};
	const struct ct_launch launch = {
		.id = id,
		.comm = 2,
		.n_ops = n,
		.start_ns = 100 + seq,
		.end_ns = 200 + seq,
		.start_source = CT_SOURCE_EVENT,
		.end_source = CT_SOURCE_EVENT,
	};

	for (uint32_t i = 0; i < n; i++)
		job_op(job, 0,
		       (struct ct_op){ .op = i == 1 ? CT_OP_Recv : CT_OP_Send,
				       .comm = 2,
				       .launch = id,
				       .seq = seq + i,
				       .enter_ns = 100 + seq,
				       .return_ns = 101 + seq,
				       .count = 6,
				       .peer = i == 1 ? -1 : 2,
				       .call = 70 });
	if (n > 1)
		job_rare(job, 0, CT_KIND_MATCH, &match, sizeof(match));
	job_launch(job, 0, launch);
}

static void record(void)
{
	const struct job_options options = { .run = "run", .ranks = 1, .block_ops = 40 };
	struct job job;

	job_open(&job, &options);
	name_op(&job);
	communicators(&job);
	others(&job);
	job_op(&job, 0,
	       (struct ct_op){ .op = UNKNOWN_OP, .comm = 2, .enter_ns = 5, .return_ns = 6 });
	job_op(&job, 0,
	       (struct ct_op){ .op = CT_OP_AllReduce, .comm = 99, .enter_ns = 7, .return_ns = 8 });
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		launch(&job, 100 + i, 10 * i, 1 + i % 4);
		others(&job);
	}
	/* its copy is larger than a page of a batch */
	launch(&job, 1000, 10000, 6000);
	/* and one that never ended */
	job_op(&job, 0,
	       (struct ct_op){ .op = CT_OP_AllReduce,
			       .comm = 2,
			       .launch = 5000,
			       .seq = 9,
			       .enter_ns = 20000 });
	job_close(&job, 30000);
}

/* ---- tests ---- */

static const struct ct_load_sink logging = {
	.op = log_op,
	.comm = log_comm,
	.named = log_named,
	.host = log_host,
	.error = log_error,
	.wait = log_wait,
	.nvtx = log_nvtx,
	.reached = log_reached,
	.stack = log_stack,
};

static const struct ct_load_sink keeping = {
	.op = ct_batch_op,
	.comm = ct_batch_comm,
	.named = ct_batch_named,
	.host = ct_batch_host,
	.error = ct_batch_error,
	.wait = ct_batch_wait,
	.nvtx = ct_batch_nvtx,
	.reached = ct_batch_reached,
	.stack = ct_batch_stack,
};

/* All that process 0 shows; through the batch, if there is one. To be freed. */
static char *read_process(struct ct_batch *batch)
{
	struct ct_op_names names = { .memory = ct_arena_new() };
	const char *path = fx_path("run");
	struct ct_load_sink sink = batch ? keeping : logging, to = logging;
	struct ct_load *load;
	struct ct_run *run;
	char *text;
	size_t len;
	int more;

	to.arg = open_memstream(&text, &len);
	sink.arg = batch ? (void *)batch : to.arg;
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_load_open(run, 0, &sink, &names, &load, NULL), CT_OK);
	do {
		more = ct_load_next(load, NULL);
		assert_true(more >= 0);
		if (!batch)
			continue;
		assert_int_equal(ct_batch_replay(batch, &to, &names), CT_OK);
		ct_batch_clear(batch);
	} while (more);
	ct_load_close(load);
	ct_run_close(run);
	ct_arena_free(names.memory);
	fclose(to.arg);
	return text;
}

static void it_reports_what_it_received(void **state)
{
	static const char *const kinds[] = { "op AllFold",
					     "comm 2 ? ended 0",
					     "named comm 2 early ended 0",
					     "named comm 2 late ended 900",
					     "reached 17 comm 2 ? ended 0",
					     "host ncclCommAbort",
					     "error ncclCommAbort remote error 6",
					     "wait 800 via 9",
					     "nvtx step 30",
					     "stack 77",
					     "seq 4711 peer 3 tag 8",
					     "at 3 of 4",
					     "at 5999 of 6000" };
	struct ct_batch batch = { 0 };
	char *told, *again;

	(void)state;
	record();
	told = read_process(NULL);
	again = read_process(&batch);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strstr(told, kinds[i]))
			fail_msg("nothing of '%s' was told", kinds[i]);
	}
	assert_string_equal(again, told);
	free(told);
	free(again);
	ct_batch_fini(&batch);
}

static int stop(void *arg, const struct ct_load_op *op)
{
	(void)op;
	return ++*(int *)arg == 2 ? -77 : 0;
}

static void what_the_sink_returns_ends_it(void **state)
{
	const struct ct_op op = { .op = CT_OP_AllReduce };
	const struct ct_load_op told = { .joined.op = &op };
	const struct ct_op_names names = { .memory = NULL };
	struct ct_batch batch = { 0 };
	int n = 0;
	const struct ct_load_sink sink = { .op = stop, .arg = &n };

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(ct_batch_op(&batch, &told), CT_OK);
	assert_int_equal(ct_batch_replay(&batch, &sink, &names), -77);
	assert_int_equal(n, 2);
	ct_batch_clear(&batch);
	assert_int_equal(ct_batch_replay(&batch, &sink, &names), CT_OK);
	assert_int_equal(n, 2);
	ct_batch_fini(&batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_reports_what_it_received, fx_setup, fx_teardown),
		cmocka_unit_test(what_the_sink_returns_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
