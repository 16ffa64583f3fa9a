/* SPDX-License-Identifier: Apache-2.0 */
/* What a part keeps of a segment, and what it leaves out. */
#include "tools/commtrace/copy/thin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/job.h"

#define BLOCKS 10
#define BLOCK_OPS 1000u
#define STEP_NS 1000000ull
#define CALL_ID 9u

/* What a test adds to the job. */
struct more {
	uint64_t idle_before_ns; /* but for a heartbeat, before its operations */
	uint64_t idle_after_ns;	 /* until the last launch has ended */
	uint32_t threads;	 /* that do not return, either */
	int next_segment;	 /* behind this block; 0: none */
};

/* Kinds of records that say nothing without their operation. */
static const uint8_t of_operations[] = { CT_KIND_VCOUNTS, CT_KIND_MATCH,  CT_KIND_WAIT,
					 CT_KIND_DETAIL,  CT_KIND_SUBMIT, CT_KIND_NVTX,
					 CT_KIND_OPEN_OP };
static const uint8_t no_bytes[64];

static void give_heartbeat(struct job *job, uint64_t at)
{
	const struct ct_status_rec status = { .beat_ns = job->clock[0] + at,
					      .flushed_ns = job->clock[0] + at };
	struct ct_open_launch_rec under_way = { { 0 } };

	job_flush(job, 0);
	job_rare(job, 0, CT_KIND_STATUS, &status, sizeof(status));
	job_rare(job, 0, CT_KIND_OPEN_LAUNCH, &under_way, sizeof(under_way));
	job->writers[0].block.type = CT_BLOCK_STATUS;
	job_flush(job, 0);
}

static void call_something(struct job *job, uint64_t at, uint32_t threads)
{
	struct ct_host_rec stuck = { .tid = 999, .call = CALL_ID },
			   over = { .tid = 998, .call = CALL_ID };

	stuck.enter_ns = over.enter_ns = job->clock[0] + at;
	job_rare(job, 0, CT_KIND_HOST_BEGIN, &stuck, sizeof(stuck));
	job_rare(job, 0, CT_KIND_HOST_BEGIN, &over, sizeof(over));
	over.return_ns = over.enter_ns + 1000;
	job_rare(job, 0, CT_KIND_HOST_END, &over, sizeof(over));
	/* the same thread, another call */
	over.tid = stuck.tid;
	over.enter_ns--;
	job_rare(job, 0, CT_KIND_HOST_END, &over, sizeof(over));
	for (; threads; threads--) {
		stuck.tid++;
		job_rare(job, 0, CT_KIND_HOST_BEGIN, &stuck, sizeof(stuck));
	}
}

/* A call that does not return, and one that does, both in the first block; a heartbeat behind each
 * block. */
static void make_job(struct job *job, const struct more *more)
{
	const struct job_options options = { .run = "run", .ranks = 1, .block_ops = 100000 };
	uint64_t at = STEP_NS;

	job_open(job, &options);
	if (more->idle_before_ns)
		give_heartbeat(job, at);
	at += more->idle_before_ns;
	for (int k = 0; k < BLOCKS; k++) {
		job_flush(job, 0);
		if (k && k == more->next_segment)
			fx_next_segment(&job->writers[0]);
		for (uint32_t i = 0; i < BLOCK_OPS; i++, at += STEP_NS)
			job_collective(job, 0, CT_OP_AllReduce, 1000, at, at + STEP_NS / 2);
		if (!k) {
			call_something(job, at, more->threads);
			/* so that more than operations are in it */
			job_rare(job, 0, CT_KIND_ENV, "a=b", 3);
			for (size_t i = 0; i < sizeof(of_operations); i++)
				job_rare(job, 0, of_operations[i], no_bytes, sizeof(no_bytes));
		}
		give_heartbeat(job, at);
	}
	at += more->idle_after_ns;
	if (more->idle_after_ns)
		job_launch(job, 0, (struct ct_launch){ .start_ns = at - 1000, .end_ns = at });
	job_close(job, at);
}

struct held {
	int is_thinned;
	uint64_t left_out, kept; /* operations */
	/* in blocks without their operations: */
	uint32_t statuses, settings, under_way, of_operations;
	uint32_t early_calls, begins; /* and in the last of them: that of `stuck` alone */
	uint32_t others;	      /* in that one */
};

static void hold_block(struct held *held, const struct ct_block *block, int is_last)
{
	struct ct_host_rec rec;

	held->kept += block->is_left_out ? 0 : block->n_ops;
	for (uint32_t i = 0; block->is_left_out && i < block->n_rares; i++) {
		const unsigned kind = block->rares[i].kind;

		held->statuses += kind == CT_KIND_STATUS;
		held->settings += kind == CT_KIND_ENV;
		held->under_way += kind == CT_KIND_OPEN_LAUNCH;
		held->of_operations += memchr(of_operations, (int)kind, sizeof(of_operations)) !=
				       NULL;
		if (kind != CT_KIND_HOST_BEGIN && kind != CT_KIND_HOST_END)
			continue;
		ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
		held->early_calls += !is_last;
		held->begins += is_last && kind == CT_KIND_HOST_BEGIN && rec.tid == 999;
		held->others += is_last && rec.tid != 999;
	}
}

/* Its segments: those up to the cut thinned, the others as they are. */
static void write_part(const char *const *paths, size_t n, const char *to,
		       const struct ct_thin *thin)
{
	struct ct_thin_calls calls = { 0 };
	char *name;
	int fd;

	for (size_t i = 0; i < n; i++) {
		assert_true(asprintf(&name, "%s%s", to, strrchr(paths[i], '/')) > 0);
		if (i <= thin->segment) {
			fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
			assert_true(fd >= 0);
			assert_int_equal(ct_thin_write(paths, i, thin, &calls, fd, NULL), CT_OK);
			close(fd);
		} else {
			assert_int_equal(link(paths[i], name), 0);
		}
		free(name);
	}
	free(calls.open);
}

static void read_part(const char *path, const struct ct_thin *thin, struct held *held)
{
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct ct_run *run;

	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_true(run->processes[0].is_thinned);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	while (ct_process_next(reader, &block, NULL) == 1)
		hold_block(held, block, block->number == thin->before);
	assert_int_equal(ct_process_gaps(reader)->missing_blocks, 0);
	ct_process_close(reader);
	ct_run_close(run);
}

/* Makes the part `to`, and reads it. */
static struct held thin_again(const char *from, const char *to, uint64_t keep_ns)
{
	struct ct_process_reader *reader;
	const char *const *paths;
	struct held held = { 0 };
	struct ct_thin thin;
	struct ct_run *run;
	size_t n;

	assert_int_equal(ct_run_open(&from, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	paths = ct_process_segments(reader, &n);
	assert_int_equal(ct_thin_find(paths, n, keep_ns, &thin, NULL), CT_OK);
	held.left_out = thin.left_out;
	held.is_thinned = thin.number != 0;
	if (thin.number) {
		assert_int_equal(mkdir(to, 0700), 0);
		write_part(paths, n, to, &thin);
		read_part(to, &thin, &held);
	}
	free(thin.last);
	ct_process_close(reader);
	ct_run_close(run);
	return held;
}

static struct held thin_out(const struct more *more, uint64_t keep_ns)
{
	struct job job;

	make_job(&job, more);
	return thin_again(fx_path("run"), fx_path("part"), keep_ns);
}

static const struct more nothing;

static void a_part_has_at_least_4096_operations(void **state)
{
	struct held held = thin_out(&nothing, 0);

	(void)state;
	assert_int_equal(held.kept + held.left_out, BLOCKS * BLOCK_OPS);
	assert_in_range(held.kept, 4096, 4096 + BLOCK_OPS);
}

static void calls_that_have_not_returned_are_in_the_last_block_that_lacks_operations(void **state)
{
	struct held held = thin_out(&nothing, 0);

	(void)state;
	assert_int_equal(held.begins, 1);
	assert_int_equal(held.others, 0);
	assert_int_equal(held.early_calls, 0);
	assert_in_range(held.statuses, 4, BLOCKS);
}

static void a_block_without_operations_keeps_what_is_about_the_process(void **state)
{
	struct held held = thin_out(&nothing, 0);

	(void)state;
	assert_int_equal(held.of_operations, 0);
	assert_int_equal(held.settings, 1);
}

static void calls_of_256_threads_are_enough(void **state)
{
	struct held held = thin_out(&(struct more){ .threads = 300 }, 0);

	(void)state;
	assert_int_equal(held.begins + held.others, 256);
}

static void a_short_run_stays_whole(void **state)
{
	(void)state;
	assert_int_equal(thin_out(&nothing, 3600000000000ull).left_out, 0);
}

/* The time that is kept is that before the last operation, however late its work ends. */
static void a_wait_at_the_end_costs_no_operations(void **state)
{
	const struct more more = { .idle_after_ns = 3600000000000ull };
	struct held held = thin_out(&more, 7000 * STEP_NS);

	(void)state;
	assert_in_range(held.kept, 7000, 7000 + 2 * BLOCK_OPS);
}

static void where_no_operation_is_left_out_nothing_is(void **state)
{
	const struct more more = { .idle_before_ns = 3600000000000ull };

	(void)state;
	assert_false(thin_out(&more, 600000000000ull).is_thinned);
}

static void a_part_of_a_part_leaves_out_no_more(void **state)
{
	(void)state;
	assert_true(thin_out(&nothing, 0).is_thinned);
	assert_false(thin_again(fx_path("part"), fx_path("again"), 0).is_thinned);
}

/* What was under way is of interest at the end of a segment, and where operations begin. */
static void the_earlier_segments_lack_all_their_operations(void **state)
{
	struct held held = thin_out(&(struct more){ .next_segment = 3 }, 0);

	(void)state;
	assert_int_equal(held.kept + held.left_out, BLOCKS * BLOCK_OPS);
	assert_int_equal(held.under_way, 2);
	assert_int_equal(held.begins, 1);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(a_part_has_at_least_4096_operations),
		ON_DISK(calls_that_have_not_returned_are_in_the_last_block_that_lacks_operations),
		ON_DISK(a_block_without_operations_keeps_what_is_about_the_process),
		ON_DISK(calls_of_256_threads_are_enough),
		ON_DISK(a_short_run_stays_whole),
		ON_DISK(a_wait_at_the_end_costs_no_operations),
		ON_DISK(where_no_operation_is_left_out_nothing_is),
		ON_DISK(a_part_of_a_part_leaves_out_no_more),
		ON_DISK(the_earlier_segments_lack_all_their_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
