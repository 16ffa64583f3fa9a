/* SPDX-License-Identifier: Apache-2.0 */
/* Where a verdict on a hang comes of the tails of processes, and where only everything gives it. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/stuck_job.h"

#define SPLIT_ID 9u

static void a_rank_that_is_missing_at_the_end_is_reported_by_tails(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(1);
}

static void a_difference_long_ago_takes_everything(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 1);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(0);
}

static void a_difference_in_the_tail_is_reported_by_tails(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 1);
	get_stuck(&t, 1, 3);
	judge_twice(1);
}

static void files_without_sums_are_read_in_full(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	t.is_old = 1;
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(0);
}

static void too_few_operations_behind_a_mark_take_what_is_before_it(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, (int)LEAST - 10, 0);
	get_stuck(&t, 1, 3);
	judge_twice(0);
}

/* Nothing of it lies in the tails but what some have just entered. */
static void a_communicator_that_was_long_left_alone_takes_everything(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	job_comm(&t.job, 2, 0xabc, "second", all, RANKS);
	t.has_second = 1;
	together(&t, 2, 10, 0);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 2, 3);
	judge_twice(0);
}

static void one_that_stays_alone_takes_nothing(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	job_comm(&t.job, 2, 0xabc, "second", all, RANKS);
	t.has_second = 1;
	together(&t, 2, 10, 0);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(1);
}

/* Rank 1 sent it at the start; in the tails it seems never to have sent anything. */
static void a_message_sent_long_ago_takes_everything(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	message(&t, 1, CT_OP_Send, 0, 0, t.at + 1000);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	message(&t, 0, CT_OP_Recv, 1, 0, 0);
	get_stuck(&t, 1, 0);
	judge_twice(0);
}

static void a_message_that_the_tails_show_takes_nothing(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	for (uint64_t i = 0; i < 20; i++) {
		together(&t, 1, 15, 0);
		message(&t, 1, CT_OP_Send, 0, i, t.at + 1000);
		message(&t, 0, CT_OP_Recv, 1, i, t.at + 1000);
		t.at += EVERY_NS;
	}
	message(&t, 0, CT_OP_Recv, 1, 20, 0);
	get_stuck(&t, 1, 0);
	judge_twice(1);
}

/* A helper thread of rank 3 is inside a call that does not come back, while the others of its
 * process go on. */
static void an_old_call_of_another_thread_takes_everything(void **state)
{
	const uint32_t id = SPLIT_ID;
	struct ct_host_rec rec = { .tid = 999, .call = SPLIT_ID };
	struct stuck_job t;

	(void)state;
	begin(&t);
	assert_int_equal(ct_block_add_text(&t.job.writers[3].block, CT_KIND_STRING, &id, sizeof(id),
					   "ncclMemAlloc"),
			 CT_OK);
	together(&t, 1, SOME, 0);
	sign(&t);
	/* a block of operations, which a reading of tails leaves out */
	rec.enter_ns = t.job.clock[3] + t.at;
	job_rare(&t.job, 3, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(0);
}

/* Others may have been in it at any time. */
static void a_call_in_which_all_meet_takes_everything(void **state)
{
	const uint32_t id = SPLIT_ID;
	struct ct_host_rec rec = {
		.tid = 999, .call = SPLIT_ID, .nranks = RANKS, .rank = 0, .comm = 1, .key = JOB_COMM
	};
	struct stuck_job t;

	(void)state;
	begin(&t);
	assert_int_equal(ct_block_add_text(&t.job.writers[0].block, CT_KIND_STRING, &id, sizeof(id),
					   "ncclCommSplit"),
			 CT_OK);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	rec.enter_ns = t.job.clock[0] + t.at;
	job_rare(&t.job, 0, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	get_stuck(&t, 1, 0);
	judge_twice(0);
}

/* ---- of several segments ---- */

/* Another segment of each rank, which begins with its communicators. */
static void next_segments(struct stuck_job *t)
{
	sign(t);
	for (int r = 0; r < RANKS; r++) {
		fx_next_segment(&t->job.writers[r]);
		for (uint32_t id = 1; id <= 1 + (uint32_t)t->has_second; id++) {
			const struct ct_comm_rec rec = { .id = id,
							 .nranks = RANKS,
							 .rank = r,
							 .key = id == 1 ? JOB_COMM : 0xabc,
							 .backend = CT_BACKEND_GLOO };

			if (id == 1 || r != 3 || !t->has_left)
				job_rare(&t->job, r, CT_KIND_COMM, &rec, sizeof(rec));
		}
		t->job.writers[r].block.type = CT_BLOCK_CHECKPOINT;
	}
	sign(t);
}

static void the_last_segments_name_a_rank(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	next_segments(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(1);
	assert_true(skipped);
}

static void too_little_in_the_last_segment_takes_those_before_it(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	next_segments(&t);
	together(&t, 1, 10, 0);
	get_stuck(&t, 1, 3);
	judge_twice(1);
	assert_false(skipped);
}

/* All use a second communicator, and rank 3 leaves it. */
static void begin_second_without_3(struct stuck_job *t)
{
	struct ct_comm_rec rec = {
		.id = 2, .nranks = RANKS, .rank = 3, .key = 0xabc, .backend = CT_BACKEND_GLOO
	};

	job_comm(&t->job, 2, 0xabc, "second", all, RANKS);
	t->has_second = 1;
	together(t, 2, 50, 0);
	rec.ended_ns = t->job.clock[3] + t->at;
	job_rare(&t->job, 3, CT_KIND_COMM, &rec, sizeof(rec));
	t->has_left = 1;
}

/* Rank 3 left the communicator in a segment that is not read, and the others wait for it there. */
static void a_member_that_left_long_ago_takes_all_segments(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	begin_second_without_3(&t);
	next_segments(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 2, 3);
	judge_twice(0);
	assert_false(skipped);
}

static void a_message_sent_in_an_earlier_segment_takes_everything(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	message(&t, 1, CT_OP_Send, 0, 0, t.at + 1000);
	together(&t, 1, SOME, 0);
	next_segments(&t);
	together(&t, 1, SOME, 0);
	message(&t, 0, CT_OP_Recv, 1, 0, 0);
	get_stuck(&t, 1, 0);
	judge_twice(0);
}

/* Rank 0 waits for a message of it. */
static void a_peer_that_left_long_ago_takes_everything(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	begin_second_without_3(&t);
	next_segments(&t);
	together(&t, 1, SOME, 0);
	job_op(&t.job, 0,
	       (struct ct_op){ .enter_ns = t.at,
			       .count = 10,
			       .comm = 2,
			       .peer = 3,
			       .tag = 7,
			       .op = CT_OP_Recv,
			       .dtype = CT_DTYPE_float32 });
	get_stuck(&t, 1, 0);
	judge_twice(0);
}

/* ---- of files without their earlier operations ---- */

/* What says in a segment that it has such blocks. */
static void mark_thinned(void)
{
	struct ct_segment_header header;
	const struct dirent *entry;
	DIR *dir = opendir(fx_path("run"));

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		int fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC);

		if (strstr(entry->d_name, ".seg")) {
			assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
			header.flags |= CT_SEGMENT_THINNED;
			header.crc = 0;
			header.crc = ct_crc32c(0, &header, sizeof(header));
			assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
		}
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
}

/* Operations, a heartbeat, operations and a heartbeat that are not in the files; then some that
 * are, and a heartbeat. */
static void begin_thinned(struct stuck_job *t)
{
	begin(t);
	t->leaves_out = 1;
	together(t, 1, SOME, 0);
	sign(t);
	together(t, 1, SOME, 0);
	sign(t);
	t->leaves_out = 0;
	together(t, 1, 10, 0);
	sign(t);
}

static void judge_thinned(int expected)
{
	const struct ct_hang_options options = { .restart = -1, .least_tail = LEAST };
	const char *path = fx_path("run");
	struct ct_arena *memory = ct_arena_new();
	struct ct_hang_run *hang;
	struct ct_run *run;

	mark_thinned();
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_hang_of_run(run, &options, memory, &hang, NULL), expected);
	if (expected == CT_OK) {
		assert_int_equal(hang->result->n_verdicts, 1);
		assert_int_equal(hang->result->verdicts[0].ranks[0], 3);
	}
	ct_run_close(run);
	ct_arena_free(memory);
}

static void a_rank_is_named_by_what_is_there(void **state)
{
	struct stuck_job t;

	(void)state;
	begin_thinned(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_thinned(CT_OK);
}

/* The only heartbeat with enough behind it is one whose operations are not there. */
static void what_is_not_there_is_no_tail(void **state)
{
	struct stuck_job t;

	(void)state;
	begin_thinned(&t);
	together(&t, 1, (int)LEAST - 20, 0);
	get_stuck(&t, 1, 3);
	judge_thinned(CT_EMPTY);
}

/* Two ranks have many operations, and two too few. */
static void a_tail_of_each_rank_is_needed(void **state)
{
	struct stuck_job t;

	(void)state;
	begin_thinned(&t);
	for (uint64_t i = 0; i < LEAST - 20; i++) {
		together(&t, 1, 1, 0);
		message(&t, 1, CT_OP_Send, 0, i, t.at + 1000);
		message(&t, 0, CT_OP_Recv, 1, i, t.at + 1000);
	}
	get_stuck(&t, 1, 3);
	judge_thinned(CT_EMPTY);
}

/* One called something else where nothing is on record any more: which one is not known. */
static void a_difference_that_is_not_there_gives_no_verdict(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	t.leaves_out = 1;
	together(&t, 1, SOME, 1);
	sign(&t);
	t.leaves_out = 0;
	together(&t, 1, 10, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_thinned(CT_EMPTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(a_rank_that_is_missing_at_the_end_is_reported_by_tails),
		ON_DISK(a_difference_long_ago_takes_everything),
		ON_DISK(a_difference_in_the_tail_is_reported_by_tails),
		ON_DISK(files_without_sums_are_read_in_full),
		ON_DISK(too_few_operations_behind_a_mark_take_what_is_before_it),
		ON_DISK(a_communicator_that_was_long_left_alone_takes_everything),
		ON_DISK(one_that_stays_alone_takes_nothing),
		ON_DISK(a_message_sent_long_ago_takes_everything),
		ON_DISK(a_message_that_the_tails_show_takes_nothing),
		ON_DISK(an_old_call_of_another_thread_takes_everything),
		ON_DISK(a_call_in_which_all_meet_takes_everything),
		ON_DISK(the_last_segments_name_a_rank),
		ON_DISK(too_little_in_the_last_segment_takes_those_before_it),
		ON_DISK(a_member_that_left_long_ago_takes_all_segments),
		ON_DISK(a_message_sent_in_an_earlier_segment_takes_everything),
		ON_DISK(a_peer_that_left_long_ago_takes_everything),
		ON_DISK(a_rank_is_named_by_what_is_there),
		ON_DISK(what_is_not_there_is_no_tail),
		ON_DISK(a_tail_of_each_rank_is_needed),
		ON_DISK(a_difference_that_is_not_there_gives_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
