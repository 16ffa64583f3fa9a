/* SPDX-License-Identifier: Apache-2.0 */
/* Matching: ops with their launches, members with their instances, instances with their classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/load/join.h"
#include "analyzer/match/match.h"
#include "analyzer/model/op_classes.h"
#include "trace/ops.h"
#include "trace/status.h"

/* ---- join ---- */

struct joined {
	uint32_t ops, with_launch, together;
	uint64_t last_seq;
	int stop;
};

static int on_joined(void *arg, const struct ct_op *ops, uint32_t n, const struct ct_launch *launch)
{
	struct joined *j = arg;

	for (uint32_t i = 0; i < n; i++) {
		j->ops++;
		j->with_launch += launch != NULL;
		if (launch)
			assert_int_equal(launch->id, ops[i].launch);
		if (i > 0)
			assert_true(ops[i].seq > ops[i - 1].seq);
		j->last_seq = ops[i].seq;
	}
	j->together = n;
	return j->stop;
}

static void ops_of_one_launch_come_together_in_any_order(void **state)
{
	struct joined j = { 0 };
	struct ct_pool spare = { 0 };
	struct ct_join *join = ct_join_new(on_joined, &j, &spare);
	struct ct_op op = { .launch = 5, .seq = 1 };
	struct ct_launch launch = { .id = 5, .n_ops = 3 };

	(void)state;
	assert_int_equal(ct_join_op(join, &op), CT_OK);
	assert_int_equal(j.ops, 0);
	assert_int_equal(ct_join_launch(join, &launch), CT_OK);
	/* The group's other ops come out of a later block. */
	assert_int_equal(j.ops, 0);
	op.seq = 2;
	ct_join_op(join, &op);
	assert_int_equal(j.ops, 0);
	op.seq = 3;
	ct_join_op(join, &op);
	assert_int_equal(j.with_launch, 3);
	assert_int_equal(j.together, 3);
	/* All three have come: the id is free again. Launch first, ops behind it. */
	launch.n_ops = 2;
	ct_join_launch(join, &launch);
	op.seq = 4;
	ct_join_op(join, &op);
	assert_int_equal(j.ops, 3);
	op.seq = 5;
	ct_join_op(join, &op);
	assert_int_equal(j.ops, 5);
	assert_int_equal(j.together, 2);
	assert_int_equal(j.with_launch, 5);
	/* One that lost an op goes as it is, at the end; one without launch too. */
	launch.id = op.launch = 6;
	ct_join_launch(join, &launch);
	op.seq = 6;
	ct_join_op(join, &op);
	op.launch = 7;
	op.seq = 7;
	ct_join_op(join, &op);
	assert_int_equal(j.ops, 5);
	assert_int_equal(ct_join_finish(join), CT_OK);
	assert_int_equal(j.ops, 7);
	assert_int_equal(j.with_launch, 6);
	ct_join_free(join);
	ct_pool_fini(&spare);
}

static void joining_is_bounded_and_loses_no_op(void **state)
{
	struct joined j = { 0 };
	struct ct_pool spare = { 0 };
	struct ct_join *join = ct_join_new(on_joined, &j, &spare);
	const uint32_t n = CT_JOIN_MAX + 1000;

	(void)state;
	for (uint32_t i = 1; i <= CT_JOIN_MAX; i++)
		assert_int_equal(ct_join_op(join, &(struct ct_op){ .launch = i, .seq = i }), CT_OK);
	assert_int_equal(j.ops, 0);
	/* What is too much goes oldest first. */
	for (uint32_t i = CT_JOIN_MAX + 1; i <= n; i++)
		assert_int_equal(ct_join_op(join, &(struct ct_op){ .launch = i, .seq = i }), CT_OK);
	assert_int_equal(j.ops, 1000);
	assert_int_equal(j.last_seq, 1000);
	/* Launches whose ops never come count too. */
	for (uint32_t i = 1; i <= 500; i++)
		assert_int_equal(ct_join_launch(join, &(struct ct_launch){ .id = 0x80000000u + i,
									   .n_ops = 1 }),
				 CT_OK);
	assert_int_equal(j.ops, 1500);
	assert_int_equal(ct_join_finish(join), CT_OK);
	assert_int_equal(j.ops, n);
	assert_int_equal(j.last_seq, n);
	ct_join_free(join);
	ct_pool_fini(&spare);
}

static void what_the_callback_returns_stops_the_join(void **state)
{
	struct joined j = { .stop = -77 };
	struct ct_pool spare = { 0 };
	struct ct_join *join = ct_join_new(on_joined, &j, &spare);
	struct ct_op op = { .launch = 1 };
	struct ct_launch launch = { .id = 1, .n_ops = 1 };

	(void)state;
	ct_join_op(join, &op);
	assert_int_equal(ct_join_launch(join, &launch), -77);
	ct_join_free(join);
	ct_pool_fini(&spare);
}

static void joins_that_share_entries_keep_their_ops_apart(void **state)
{
	struct ct_pool spare = { 0 };
	struct joined seen[2] = { { 0 }, { 0 } };
	struct ct_join *joins[2];

	(void)state;
	for (int k = 0; k < 2; k++)
		joins[k] = ct_join_new(on_joined, &seen[k], &spare);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t k = 0; k < 2; k++) {
			struct ct_op op = { .launch = 5, .seq = 10 * round + 1 };
			struct ct_launch alone = { .id = 9, .n_ops = 1 };

			/* of two operations the first; and a launch whose only one follows at once */
			assert_int_equal(ct_join_op(joins[k], &op), CT_OK);
			assert_int_equal(ct_join_launch(joins[k], &alone), CT_OK);
			op = (struct ct_op){ .launch = 9, .seq = 10 * round + 2 };
			assert_int_equal(ct_join_op(joins[k], &op), CT_OK);
			assert_int_equal(seen[k].ops, 3 * round + 1);
			assert_int_equal(seen[k].last_seq, 10 * round + 2);
		}
		for (uint32_t k = 0; k < 2; k++) {
			struct ct_launch pair = { .id = 5, .n_ops = 2 };
			struct ct_op op = { .launch = 5, .seq = 10 * round + 3 };

			assert_int_equal(ct_join_launch(joins[k], &pair), CT_OK);
			assert_int_equal(ct_join_op(joins[k], &op), CT_OK);
			assert_int_equal(seen[k].together, 2);
			assert_int_equal(seen[k].ops, 3 * round + 3);
			assert_int_equal(seen[k].with_launch, 3 * round + 3);
		}
	}
	ct_join_free(joins[0]);
	ct_join_free(joins[1]);
	ct_pool_fini(&spare);
}

/* ---- matching ---- */

struct seen {
	uint64_t complete, incomplete, members;
	uint64_t seqs[64];
	unsigned n_seqs;
};

static int on_instance(void *arg, struct ct_instance *i, int complete)
{
	struct seen *s = arg;

	s->complete += complete != 0;
	s->incomplete += !complete;
	s->members += i->n;
	if (s->n_seqs < 64)
		s->seqs[s->n_seqs++] = i->seq;
	if (complete)
		assert_int_equal(i->n, i->n_expected);
	return CT_OK;
}

static struct ct_comm *add_comm(struct ct_comms *comms, uint64_t key, uint32_t nranks)
{
	struct ct_comm *comm = NULL;

	for (uint32_t r = 0; r < nranks; r++) {
		struct ct_comm_rec rec = { .key = key, .nranks = nranks, .rank = (int32_t)r };

		assert_int_equal(ct_comms_add(comms, &rec, NULL, r, &comm), CT_OK);
	}
	return comm;
}

static void members_meet_whatever_the_order_of_ranks(void **state)
{
	struct ct_comms comms;
	struct seen seen = { 0 };
	struct ct_match *match = ct_match_new(1 << 20, on_instance, &seen);
	struct ct_comm *a, *b;

	(void)state;
	ct_comms_init(&comms);
	a = add_comm(&comms, 10, 3);
	b = add_comm(&comms, 11, 3);
	for (uint32_t r = 0; r < 3; r++) {
		struct ct_member member = { .index = r };

		for (uint64_t seq = 0; seq < 100; seq++) {
			assert_int_equal(ct_match_collective(match, a, seq, &member), CT_OK);
			assert_int_equal(ct_match_collective(match, b, 99 - seq, &member), CT_OK);
		}
	}
	assert_int_equal(seen.complete, 200);
	assert_int_equal(seen.incomplete, 0);
	assert_int_equal(ct_match_waiting(match), 0);
	ct_match_free(match);
	ct_comms_fini(&comms);
}

static void memory_follows_skew_not_length(void **state)
{
	struct ct_comms comms;
	struct seen seen = { 0 };
	struct ct_match *match = ct_match_new(1 << 20, on_instance, &seen);
	struct ct_comm *comm;
	size_t most = 0;

	(void)state;
	ct_comms_init(&comms);
	comm = add_comm(&comms, 10, 4);
	for (uint64_t block = 0; block < 200; block++) {
		for (uint32_t r = 0; r < 4; r++) {
			struct ct_member member = { .index = r };

			for (uint64_t seq = 0; seq < 50; seq++)
				ct_match_collective(match, comm, block * 50 + seq, &member);
			most = ct_match_waiting(match) > most ? ct_match_waiting(match) : most;
		}
	}
	assert_int_equal(seen.complete, 10000);
	assert_true(most <= 3 * 50);
	ct_match_free(match);
	ct_comms_fini(&comms);
}

static void rank_without_trace_leaves_incomplete_instances_within_bounds(void **state)
{
	struct ct_comms comms;
	struct seen seen = { 0 };
	struct ct_match *match = ct_match_new(200000, on_instance, &seen);
	struct ct_comm *comm;

	(void)state;
	ct_comms_init(&comms);
	comm = add_comm(&comms, 10, 3);
	for (uint64_t seq = 0; seq < 20000; seq++) {
		for (uint32_t r = 0; r < 2; r++) {
			struct ct_member member = { .index = r };

			ct_match_collective(match, comm, seq, &member);
		}
		assert_true(ct_match_waiting(match) * sizeof(struct ct_member) <= 200000);
	}
	assert_int_equal(ct_match_finish(match), CT_OK);
	assert_int_equal(seen.complete, 0);
	assert_int_equal(seen.incomplete, 20000);
	assert_int_equal(seen.members, 40000);
	/* oldest first */
	for (unsigned i = 0; i < seen.n_seqs; i++)
		assert_int_equal(seen.seqs[i], i);
	ct_match_free(match);
	ct_comms_fini(&comms);
}

static void numbers_that_begin_anew_make_new_instances(void **state)
{
	struct ct_comms comms;
	struct seen seen = { 0 };
	struct ct_match *match = ct_match_new(1 << 20, on_instance, &seen);
	struct ct_comm *comm;
	struct ct_member first = { .index = 0 }, second = { .index = 1 };

	(void)state;
	ct_comms_init(&comms);
	comm = add_comm(&comms, 10, 2);
	ct_match_collective(match, comm, 5, &first);
	ct_match_collective(match, comm, 5, &first); /* again, without its partner */
	assert_int_equal(seen.incomplete, 1);
	ct_match_collective(match, comm, 5, &second);
	assert_int_equal(seen.complete, 1);
	ct_match_collective(match, comm, 5, &second);
	ct_match_collective(match, comm, 5, &first);
	assert_int_equal(seen.complete, 2);
	ct_match_free(match);
	ct_comms_fini(&comms);
}

static void messages_match_by_ends_tag_and_number(void **state)
{
	struct ct_comms comms;
	struct seen seen = { 0 };
	struct ct_match *match = ct_match_new(1 << 20, on_instance, &seen);
	struct ct_comm *comm;
	struct ct_member send = { .index = 0, .op = CT_OP_Send };
	struct ct_member recv = { .index = 1, .op = CT_OP_Recv };

	(void)state;
	ct_comms_init(&comms);
	comm = add_comm(&comms, 10, 4);
	ct_match_message(match, comm, 0, 1, 7, 0, &send);
	ct_match_message(match, comm, 1, 0, 7, 0, &recv); /* the other way */
	ct_match_message(match, comm, 0, 2, 7, 0, &recv); /* to another rank */
	ct_match_message(match, comm, 0, 1, 8, 0, &recv); /* another tag */
	ct_match_message(match, comm, 0, 1, 7, 1, &recv); /* the one after */
	ct_match_collective(match, comm, 0, &recv);
	assert_int_equal(seen.complete, 0);
	ct_match_message(match, comm, 0, 1, 7, 0, &recv);
	assert_int_equal(seen.complete, 1);
	ct_match_free(match);
	ct_comms_fini(&comms);
}

static void communicators_of_one_key_are_one(void **state)
{
	struct ct_comms comms;
	struct ct_comm *a, *b, *c;

	(void)state;
	ct_comms_init(&comms);
	a = add_comm(&comms, 10, 3);
	b = add_comm(&comms, 10, 3);
	c = add_comm(&comms, 10, 4); /* another size: another communicator */
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_false(a->clash || a->shared_slot);
	ct_comms_add(&comms, &(struct ct_comm_rec){ .key = 10, .nranks = 3, .rank = 1 }, NULL, 9,
		     &a);
	assert_true(a->clash);
	ct_comms_add(&comms, &(struct ct_comm_rec){ .key = 20, .nranks = 3, .rank = 0 }, NULL, 1,
		     &b);
	ct_comms_add(&comms, &(struct ct_comm_rec){ .key = 20, .nranks = 3, .rank = 1 }, NULL, 1,
		     &b);
	assert_true(b->shared_slot);
	ct_comms_fini(&comms);
}

static void classes_are_powers_of_two(void **state)
{
	struct ct_comms comms;
	struct ct_classes classes;
	struct ct_comm *comm;

	(void)state;
	ct_comms_init(&comms);
	ct_classes_init(&classes);
	comm = add_comm(&comms, 10, 2);
	assert_int_equal(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, 0)->size_range, 0);
	assert_int_equal(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, 1)->size_range, 1);
	assert_int_equal(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, 4095)->size_range, 2048);
	assert_ptr_equal(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, 4096),
			 ct_classes_get(&classes, comm, CT_ALONE, 1, 1, 8191));
	assert_ptr_not_equal(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, 4096),
			     ct_classes_get(&classes, comm, CT_ALONE, 1, 2, 4096));
	assert_true(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, UINT64_MAX - 1)->size_range ==
		    1ull << 63);
	/* sizes that are not known */
	assert_true(ct_classes_get(&classes, comm, CT_ALONE, 1, 1, UINT64_MAX)->size_range ==
		    UINT64_MAX);
	assert_int_equal(classes.n, 7);
	ct_classes_fini(&classes);
	ct_comms_fini(&comms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ops_of_one_launch_come_together_in_any_order),
		cmocka_unit_test(joining_is_bounded_and_loses_no_op),
		cmocka_unit_test(what_the_callback_returns_stops_the_join),
		cmocka_unit_test(joins_that_share_entries_keep_their_ops_apart),
		cmocka_unit_test(members_meet_whatever_the_order_of_ranks),
		cmocka_unit_test(memory_follows_skew_not_length),
		cmocka_unit_test(rank_without_trace_leaves_incomplete_instances_within_bounds),
		cmocka_unit_test(numbers_that_begin_anew_make_new_instances),
		cmocka_unit_test(messages_match_by_ends_tag_and_number),
		cmocka_unit_test(communicators_of_one_key_are_one),
		cmocka_unit_test(classes_are_powers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
