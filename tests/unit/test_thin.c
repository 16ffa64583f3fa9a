/* SPDX-License-Identifier: Apache-2.0 */
/* What a part keeps of a segment, and what it leaves out. */
#include "tools/commtrace/copy/thin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/job.h"

#define BLOCKS 10
#define BLOCK_OPS 1000u
#define STEP_NS 1000000ull
#define CALL_ID 9u

/* A call that does not return, and one that does, both in the first block; a heartbeat behind each
 * block. */
static void make(struct job *job)
{
	const struct job_options options = { .run = "run", .ranks = 1, .block_ops = 100000 };
	struct ct_host_rec stuck = { .tid = 999, .call = CALL_ID },
			   over = { .tid = 998, .call = CALL_ID };
	const struct ct_open_op_rec open = { .tid = 997 };
	uint64_t at = STEP_NS;

	job_open(job, &options);
	stuck.enter_ns = over.enter_ns = job->clock[0] + at;
	for (int k = 0; k < BLOCKS; k++) {
		struct ct_status_rec status;

		job_flush(job, 0);
		for (uint32_t i = 0; i < BLOCK_OPS; i++, at += STEP_NS)
			job_collective(job, 0, CT_OP_AllReduce, 1000, at, at + STEP_NS / 2);
		if (!k) {
			job_rare(job, 0, CT_KIND_HOST_BEGIN, &stuck, sizeof(stuck));
			job_rare(job, 0, CT_KIND_HOST_BEGIN, &over, sizeof(over));
			over.return_ns = over.enter_ns + 1000;
			job_rare(job, 0, CT_KIND_HOST_END, &over, sizeof(over));
			job_rare(job, 0, CT_KIND_OPEN_OP, &open, sizeof(open));
			/* so that more than operations are in it */
			job_rare(job, 0, CT_KIND_ENV, "a=b", 3);
		}
		job_flush(job, 0);
		status.beat_ns = status.flushed_ns = job->clock[0] + at;
		job_rare(job, 0, CT_KIND_STATUS, &status, sizeof(status));
		job->writers[0].block.type = CT_BLOCK_STATUS;
	}
	job_close(job, at);
}

struct held {
	uint64_t left_out, kept;      /* operations */
	uint32_t statuses;	      /* in blocks without their operations */
	uint32_t early_calls, begins; /* in these; and in the last of them: that of `stuck` alone */
	uint32_t others;	      /* in that one */
	uint32_t open_ops, facts;     /* in these before the last */
};

static void take(struct held *held, const struct ct_block *block, int is_last)
{
	struct ct_host_rec rec;

	held->kept += block->is_left_out ? 0 : block->n_ops;
	for (uint32_t i = 0; block->is_left_out && i < block->n_rares; i++) {
		const unsigned kind = block->rares[i].kind;

		held->statuses += kind == CT_KIND_STATUS;
		held->open_ops += !is_last && kind == CT_KIND_OPEN_OP;
		held->facts += kind == CT_KIND_ENV;
		if (kind != CT_KIND_HOST_BEGIN && kind != CT_KIND_HOST_END)
			continue;
		ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
		held->early_calls += !is_last;
		held->begins += is_last && kind == CT_KIND_HOST_BEGIN && rec.tid == 999;
		held->others += is_last && rec.tid != 999;
	}
}

/* Makes the part, and reads it. */
static struct held thin_out(uint64_t keep_ns)
{
	const char *from = fx_path("run"), *to = fx_path("part");
	struct ct_thin_calls calls = { 0 };
	struct ct_process_reader *reader;
	const struct ct_block *block;
	const char *const *paths;
	struct held held = { 0 };
	struct ct_thin thin;
	struct ct_run *run;
	char *name;
	size_t n;
	int fd;

	assert_int_equal(ct_run_open(&from, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	paths = ct_process_segments(reader, &n);
	assert_int_equal(n, 1);
	assert_int_equal(ct_thin_find(paths, n, keep_ns, &thin, NULL), CT_OK);
	held.left_out = thin.left_out;
	fx_mkdir("part");
	assert_true(asprintf(&name, "%s%s", to, strrchr(paths[0], '/')) > 0);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	if (thin.number)
		assert_int_equal(ct_thin_write(paths, 0, &thin, &calls, fd, NULL), CT_OK);
	close(fd);
	free(name);
	free(calls.open);
	ct_process_close(reader);
	ct_run_close(run);
	if (!thin.number) {
		free(thin.last);
		return held;
	}
	assert_int_equal(ct_run_open(&to, 1, NULL, &run, NULL), CT_OK);
	assert_true(run->processes[0].is_thinned);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	while (ct_process_next(reader, &block, NULL) == 1)
		take(&held, block, block->number == thin.before);
	assert_int_equal(ct_process_gaps(reader)->missing_blocks, 0);
	free(thin.last);
	ct_process_close(reader);
	ct_run_close(run);
	return held;
}

static void a_part_has_at_least_4096_operations(void **state)
{
	struct job job;
	struct held held;

	(void)state;
	make(&job);
	held = thin_out(0);
	assert_int_equal(held.kept + held.left_out, BLOCKS * BLOCK_OPS);
	assert_in_range(held.kept, 4096, 4096 + BLOCK_OPS);
}

static void calls_that_have_not_returned_are_in_the_last_block_that_lacks_operations(void **state)
{
	struct job job;
	struct held held;

	(void)state;
	make(&job);
	held = thin_out(0);
	assert_int_equal(held.begins, 1);
	assert_int_equal(held.others, 0);
	assert_int_equal(held.early_calls, 0);
	assert_in_range(held.statuses, 4, BLOCKS);
}

static void a_block_without_operations_keeps_what_is_about_the_process(void **state)
{
	struct job job;
	struct held held;

	(void)state;
	make(&job);
	held = thin_out(0);
	assert_int_equal(held.open_ops, 0);
	assert_in_range(held.facts, 1, UINT32_MAX);
}

static void a_short_run_stays_whole(void **state)
{
	struct job job;

	(void)state;
	make(&job);
	assert_int_equal(thin_out(3600000000000ull).left_out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_part_has_at_least_4096_operations, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(
			calls_that_have_not_returned_are_in_the_last_block_that_lacks_operations,
			fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			a_block_without_operations_keeps_what_is_about_the_process, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(a_short_run_stays_whole, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
