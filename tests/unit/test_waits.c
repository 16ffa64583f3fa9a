/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank waited for which: instances made by hand, with an obvious answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/match/waits.h"
#include "analyzer/order/mismatch.h"
#include "trace/status.h"

#define MOST 8

struct made {
	struct ct_comm comm;
	struct ct_member members[MOST];
	struct ct_instance i;
	uint32_t hosts[MOST];
	struct ct_waits w;
};

/* Times of one member: start and end on its own clock; error of each. */
static void member(struct made *m, uint64_t start, uint64_t end, uint32_t err)
{
	uint32_t n = m->i.n++;

	m->members[n] = (struct ct_member){
		.start_ns = start,
		.end_ns = end,
		.start_err_ns = err,
		.end_err_ns = err,
		.slot = n,
		.index = n,
		.root = -1,
		.op = CT_OP_AllReduce,
		.free_ns = UINT64_MAX,
	};
	m->i.members = m->members;
	m->i.n_expected = m->i.n;
}

static void begin(struct made *m)
{
	memset(m, 0, sizeof(*m));
	m->i.src = m->i.dst = -1;
	m->i.comm = &m->comm;
}

static void all_call(struct made *m, unsigned op, int root)
{
	for (uint32_t n = 0; n < m->i.n; n++) {
		m->members[n].op = (uint8_t)op;
		m->members[n].root = root;
	}
}

static void judge(struct made *m, enum ct_judged want)
{
	assert_int_equal(ct_waits_judge(&m->i, m->hosts, 0, &m->w), CT_OK);
	assert_int_equal(m->w.judged, want);
}

static void synchronising_op_splits_into_wait_and_transfer_without_clocks(void **state)
{
	struct made m;
	struct ct_last last;

	(void)state;
	begin(&m);
	/* Three hosts whose clocks have nothing to do with each other. */
	member(&m, 1000000, 1900000, 100);
	member(&m, 777000000, 777500000, 100);
	member(&m, 5000, 205000, 100);
	m.hosts[1] = 1;
	m.hosts[2] = 2;
	judge(&m, CT_JUDGED_WAITS);
	assert_false(m.w.one_clock);
	assert_int_equal(m.w.transfer_ns, 200000);
	assert_int_equal(m.w.wait_ns[0], 700000);
	assert_int_equal(m.w.wait_ns[1], 300000);
	assert_int_equal(m.w.wait_ns[2], 0);
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.last, 2);
	assert_int_equal(last.solo_ns, 300000);
	assert_int_equal(last.err_ns, 400); /* two edges of each of two */
	assert_true(last.clear && last.waited_for);
	assert_int_equal(m.w.median_ns, 400000);
	ct_waits_fini(&m.w);
}

static void on_one_clock_the_starts_report_one_that_was_last(void **state)
{
	struct made m;
	struct ct_last last;

	(void)state;
	begin(&m);
	/* Member 1 comes last; member 0 has the shortest span because it leaves early. */
	member(&m, 10000, 400000, 33);
	member(&m, 200000, 600000, 33);
	member(&m, 50000, 600000, 33);
	judge(&m, CT_JUDGED_WAITS);
	assert_true(m.w.one_clock);
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.last, 1);
	assert_int_equal(last.solo_ns, 150000);
	assert_int_equal(last.err_ns, 66);
	assert_int_equal(m.w.exit_skew_ns, 200000);
	ct_waits_fini(&m.w);
}

static void arrivals_within_their_error_have_no_clear_last(void **state)
{
	struct made m;
	struct ct_last last;

	(void)state;
	begin(&m);
	member(&m, 1000, 300000, 5000);
	member(&m, 10000, 300000, 5000);
	judge(&m, CT_JUDGED_WAITS);
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.solo_ns, 9000);
	assert_false(last.clear);
	/* The same with clocks of their own, where the skew of the ends counts for each. */
	m.hosts[1] = 1;
	assert_int_equal(ct_waits_judge(&m.i, m.hosts, 70000, &m.w), CT_OK);
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.err_ns, 4 * 5000 + 2 * 70000);
	assert_false(last.clear);
	ct_waits_fini(&m.w);
}

static void span_without_measured_start_is_not_judged(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 1000, 300000, 1);
	member(&m, 0, 300000, 1);
	judge(&m, CT_JUDGED_NOTHING);
	m.members[1].start_ns = 2000;
	m.members[1].end_ns = 0;
	judge(&m, CT_JUDGED_NOTHING);
	m.members[1].end_ns = 1999; /* before its start */
	judge(&m, CT_JUDGED_NOTHING);
	ct_waits_fini(&m.w);
}

static void op_that_did_not_synchronise_is_not_judged(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 1000, 100000, 10);
	member(&m, 200000, 300000, 10); /* starts after the other has ended */
	judge(&m, CT_JUDGED_NOTHING);
	m.hosts[1] = 1; /* which cannot be known between two clocks */
	judge(&m, CT_JUDGED_WAITS);
	ct_waits_fini(&m.w);
}

static void synchronised_within_the_errors_of_the_two_times(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 1000, 100000, 0);
	member(&m, 104000, 150000, 0); /* 4 us after the other has ended, as it seems */
	m.members[0].end_err_ns = 2500;
	m.members[1].start_err_ns = 2500;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.transfer_ns, 46000);
	/* Errors of other times do not help. */
	m.members[0].end_err_ns = 1000;
	m.members[0].start_err_ns = m.members[1].end_err_ns = 50000;
	judge(&m, CT_JUDGED_NOTHING);
	m.members[0].end_err_ns = 1500;
	judge(&m, CT_JUDGED_WAITS);
	ct_waits_fini(&m.w);
}

static void late_root_of_a_broadcast_keeps_the_others_waiting(void **state)
{
	struct made m;
	struct ct_last last;

	(void)state;
	begin(&m);
	member(&m, 300000, 400000, 10); /* root */
	member(&m, 100000, 420000, 10);
	member(&m, 350000, 450000, 10); /* later than the root: did not wait */
	all_call(&m, CT_OP_Broadcast, 0);
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.wait_ns[0], 0);
	assert_int_equal(m.w.wait_ns[1], 200000);
	assert_int_equal(m.w.wait_ns[2], 0);
	assert_int_equal(m.w.transfer_ns, 100000); /* 450000 - its own start */
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.last, 2);
	assert_false(last.waited_for); /* no rank needs a leaf to arrive */
	m.members[2].start_ns = 120000;
	judge(&m, CT_JUDGED_WAITS);
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.last, 0);
	assert_true(last.waited_for);
	assert_int_equal(last.solo_ns, 180000);
	ct_waits_fini(&m.w);
}

static void early_root_of_a_reduce_waits(void **state)
{
	struct made m;
	struct ct_last last;

	(void)state;
	begin(&m);
	member(&m, 100000, 500000, 10); /* root */
	member(&m, 150000, 160000, 10); /* gave its part and left */
	member(&m, 400000, 450000, 10);
	all_call(&m, CT_OP_Reduce, 0);
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.wait_ns[0], 300000);
	assert_int_equal(m.w.wait_ns[1], 0);
	assert_int_equal(m.w.wait_ns[2], 0);
	assert_int_equal(m.w.transfer_ns, 100000);
	ct_waits_last(&m.i, &m.w, &last);
	assert_int_equal(last.last, 2);
	assert_true(last.waited_for);
	assert_int_equal(last.solo_ns, 250000);
	ct_waits_fini(&m.w);
}

static void rooted_op_across_hosts_needs_clocks(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 300000, 400000, 10);
	member(&m, 100000, 420000, 10);
	m.hosts[1] = 1;
	all_call(&m, CT_OP_Broadcast, 0);
	judge(&m, CT_JUDGED_NOTHING);
	all_call(&m, CT_OP_Scan, -1);
	m.hosts[1] = 0;
	judge(&m, CT_JUDGED_NOTHING);
	ct_waits_fini(&m.w);
}

static void message_waits_for_its_late_end(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 300000, 350000, 10); /* sender, late */
	member(&m, 100000, 360000, 10); /* receiver */
	m.i.src = 0;
	m.i.dst = 1;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.wait_ns[0], 0);
	assert_int_equal(m.w.wait_ns[1], 200000);
	assert_int_equal(m.w.transfer_ns, 50000);
	/* Late receiver: the sender waits ... */
	m.members[1].start_ns = 330000;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.wait_ns[0], 30000);
	/* ... unless its message had left before. */
	m.members[1].start_ns = 355000;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.wait_ns[0], 0);
	/* The receiver stands first in the list. */
	m.members[0].index = 1;
	m.members[1].index = 0;
	m.members[1].start_ns = 100000;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.wait_ns[1], 200000);
	m.hosts[1] = 1;
	judge(&m, CT_JUDGED_TRANSFER);
	ct_waits_fini(&m.w);
}

/* A call may end several operations, or one that was over long before: then its end is not the
 * message's. */
static void transfer_needs_an_end_that_is_the_message_s(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 100000, 900000, 10); /* sender */
	member(&m, 200000, 800000, 10); /* receiver */
	m.i.src = 0;
	m.i.dst = 1;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.transfer_ns, 600000);
	/* both halves of an exchange with others ... */
	m.members[0].shared = m.members[1].shared = 1;
	judge(&m, CT_JUDGED_WAITS);
	assert_true(m.w.transfer_ns == CT_NO_TRANSFER);
	assert_int_equal(m.w.wait_ns[0], 100000);
	/* ... or the receiver only receives */
	m.members[1].shared = 0;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.transfer_ns, 600000);
	/* as long as it is known when both were there */
	m.hosts[1] = 1;
	judge(&m, CT_JUDGED_TRANSFER);
	assert_true(m.w.transfer_ns == CT_NO_TRANSFER);
	m.hosts[1] = 0;
	/* it had arrived when polled ... */
	m.members[1].posted = 1;
	m.members[1].asked_ns = 799000;
	judge(&m, CT_JUDGED_WAITS);
	assert_true(m.w.transfer_ns == CT_NO_TRANSFER);
	/* ... or the wait for its end */
	m.members[1].asked_ns = 700000;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.transfer_ns, 600000);
	m.members[1].start_ns = 50000;
	judge(&m, CT_JUDGED_WAITS);
	assert_int_equal(m.w.transfer_ns, 700000);
	ct_waits_fini(&m.w);
}

/* ---- contradictions ---- */

static void set_bytes(struct made *m, uint64_t bytes)
{
	for (uint32_t n = 0; n < m->i.n; n++)
		m->members[n].bytes = bytes;
}

static void majority_reports_who_called_something_else(void **state)
{
	struct made m;
	struct ct_mismatches all;
	struct ct_arena *memory = ct_arena_new();
	const struct ct_member *usual;

	(void)state;
	ct_mismatches_init(&all, memory);
	begin(&m);
	for (int n = 0; n < 5; n++)
		member(&m, 1000, 2000, 1);
	m.comm.first_difference = UINT64_MAX;
	m.i.seq = 50;
	assert_int_equal(ct_mismatch_check(&all, &m.i, &usual), 0);
	m.members[0].op = CT_OP_Barrier;
	assert_int_equal(ct_mismatch_check(&all, &m.i, &usual), 1);
	assert_int_equal(usual->op, CT_OP_AllReduce);
	assert_non_null(all.first);
	assert_true(all.first->majority);
	assert_int_equal(all.first->field, CT_MISMATCH_OP);
	assert_int_equal(all.first->n_slots, 1);
	assert_int_equal(all.first->slots[0], 0);
	assert_int_equal(m.comm.first_difference, 50);
	/* What follows is counted, what came before is where it began. */
	m.i.seq = 51;
	ct_mismatch_check(&all, &m.i, &usual);
	m.i.seq = 49;
	m.members[0].op = CT_OP_AllReduce;
	m.members[3].redop = 1;
	for (int n = 0; n < 5; n++)
		m.members[n].redop = n == 3 ? 2 : 1;
	ct_mismatch_check(&all, &m.i, &usual);
	assert_int_equal(all.first->instances, 3);
	assert_int_equal(all.first->seq, 49);
	assert_int_equal(all.first->field, CT_MISMATCH_REDOP);
	assert_int_equal(all.first->slots[0], 3);
	assert_null(all.first->next);
	ct_mismatches_fini(&all);
	ct_arena_free(memory);
}

static void without_majority_no_rank_is_named_alone(void **state)
{
	struct made m;
	struct ct_mismatches all;
	struct ct_arena *memory = ct_arena_new();
	const struct ct_member *usual;

	(void)state;
	ct_mismatches_init(&all, memory);
	begin(&m);
	for (int n = 0; n < 4; n++)
		member(&m, 1000, 2000, 1);
	m.members[1].op = m.members[2].op = CT_OP_AllGather;
	assert_int_equal(ct_mismatch_check(&all, &m.i, &usual), 1);
	assert_false(all.first->majority);
	assert_int_equal(all.first->n_slots, 4);
	ct_mismatches_fini(&all);
	ct_arena_free(memory);
}

static void what_may_differ_is_no_contradiction(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	member(&m, 1000, 2000, 1);
	member(&m, 1000, 2000, 1);
	set_bytes(&m, 64);
	m.members[1].bytes = 128;
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_BYTES);
	all_call(&m, CT_OP_AllGather, -1);
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_BYTES);
	m.members[0].varying = m.members[1].varying = 1; /* allgatherv */
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_NONE);
	m.members[0].varying = m.members[1].varying = 0;
	all_call(&m, CT_OP_AllToAll, -1);
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_NONE);
	all_call(&m, CT_OP_Broadcast, 0);
	m.members[1].bytes = 64;
	m.members[1].root = 1;
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_ROOT);
	m.members[1].root = -1; /* beside the root of an intercommunicator */
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_NONE);
	m.members[1].root = 0;
	m.members[1].dtype = CT_DTYPE_int32; /* the other's is not known */
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_NONE);
	m.members[0].dtype = CT_DTYPE_float32;
	assert_int_equal(ct_mismatch_between(&m.members[0], &m.members[1]), CT_MISMATCH_DTYPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(synchronising_op_splits_into_wait_and_transfer_without_clocks),
		cmocka_unit_test(on_one_clock_the_starts_report_one_that_was_last),
		cmocka_unit_test(arrivals_within_their_error_have_no_clear_last),
		cmocka_unit_test(span_without_measured_start_is_not_judged),
		cmocka_unit_test(op_that_did_not_synchronise_is_not_judged),
		cmocka_unit_test(synchronised_within_the_errors_of_the_two_times),
		cmocka_unit_test(late_root_of_a_broadcast_keeps_the_others_waiting),
		cmocka_unit_test(early_root_of_a_reduce_waits),
		cmocka_unit_test(rooted_op_across_hosts_needs_clocks),
		cmocka_unit_test(message_waits_for_its_late_end),
		cmocka_unit_test(transfer_needs_an_end_that_is_the_message_s),
		cmocka_unit_test(majority_reports_who_called_something_else),
		cmocka_unit_test(without_majority_no_rank_is_named_alone),
		cmocka_unit_test(what_may_differ_is_no_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
