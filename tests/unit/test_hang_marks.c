/* SPDX-License-Identifier: Apache-2.0 */
/* At which heartbeat of a process a verdict on a hang begins to decode. */
#include "tests/unit/stuck_job.h"

#define FEW_MARKS 4   /* before a hang */
#define MANY_MARKS 40 /* behind it: more than are kept */

/* Nothing is before it, so that everything is read. */
static void a_heartbeat_before_all_operations_is_no_mark(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(0);
}

/* The others wait on a thread of their own, and the job goes on for long: a mark from before that
 * is still there. */
static void a_hang_far_back_is_reported_by_tails(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	job_comm(&t.job, 2, 0xabc, "second", all, RANKS);
	t.has_second = 1;
	for (int i = 0; i < FEW_MARKS; i++) {
		together(&t, 1, 10, 0);
		together(&t, 2, 10, 0);
		sign(&t);
	}
	together(&t, 2, (int)LEAST, 0);
	for (int r = 0; r < RANKS - 1; r++)
		call(&t, r, 2, 1000, 0);
	for (int i = 0; i < MANY_MARKS; i++) {
		together(&t, 1, 10, 0);
		sign(&t);
	}
	t.at += STUCK_NS;
	end(&t);
	judge_twice(1);
}

/* Nothing but collectives was called before: a message that was not sent was never sent. */
static void a_message_that_was_never_sent_is_reported_by_tails(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	message(&t, 0, CT_OP_Recv, 1, 0, 0);
	get_stuck(&t, 1, 0);
	judge_twice(1);
}

/* Rank 0 began to wait before the latest mark, and goes on with other calls. */
static void a_receive_that_began_before_a_mark_takes_an_earlier_one(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	together(&t, 1, SOME, 0);
	sign(&t);
	receive(&t, 0, 0, 1);
	together(&t, 1, SOME, 0);
	sign(&t);
	receive(&t, 0, 1, 2);
	together(&t, 1, SOME, 0);
	t.at += STUCK_NS;
	end(&t);
	judge_twice(1);
}

/* Each heartbeat says anew what is under way. */
static void work_that_has_ended_takes_nothing(void **state)
{
	struct stuck_job t;

	(void)state;
	begin(&t);
	for (int r = 0; r < RANKS; r++)
		open_work(&t, r, 0, 1, CT_OP_AllReduce, 10 * SOME);
	together(&t, 1, SOME, 0);
	sign(&t);
	memset(t.open, 0, sizeof(t.open));
	together(&t, 1, SOME, 0);
	sign(&t);
	together(&t, 1, SOME, 0);
	get_stuck(&t, 1, 3);
	judge_twice(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(a_heartbeat_before_all_operations_is_no_mark),
		ON_DISK(a_hang_far_back_is_reported_by_tails),
		ON_DISK(a_message_that_was_never_sent_is_reported_by_tails),
		ON_DISK(a_receive_that_began_before_a_mark_takes_an_earlier_one),
		ON_DISK(work_that_has_ended_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
