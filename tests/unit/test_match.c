/* SPDX-License-Identifier: Apache-2.0 */
/* Matching and what carries it: tables, histograms, unions of intervals, joins, instances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/arena.h"
#include "analyzer/blame/cover.h"
#include "analyzer/join.h"
#include "analyzer/match/classes.h"
#include "analyzer/match/hist.h"
#include "analyzer/match/match.h"
#include "analyzer/table.h"
#include "analyzer/units.h"
#include "trace/ops.h"
#include "trace/status.h"

static uint64_t rng = 88172645463325252ull;

static uint64_t next_random(void)
{
	rng += 0x9e3779b97f4a7c15ull;
	return ct_mix(rng);
}

/* ---- table ---- */

static void table_finds_what_was_put_and_forgets_what_was_removed(void **state)
{
	enum { KEYS = 500 };
	struct ct_table table = { 0 };
	char values[KEYS] = { 0 };
	int there[KEYS] = { 0 };

	(void)state;
	for (int step = 0; step < 100000; step++) {
		uint64_t key = next_random() % KEYS;

		if (next_random() % 2) {
			assert_int_equal(ct_table_put(&table, key * 64, &values[key]), CT_OK);
			there[key] = 1;
		} else {
			void *was = ct_table_remove(&table, key * 64);

			assert_ptr_equal(was, there[key] ? &values[key] : NULL);
			there[key] = 0;
		}
		key = next_random() % KEYS;
		assert_ptr_equal(ct_table_get(&table, key * 64), there[key] ? &values[key] : NULL);
	}
	ct_table_fini(&table);
}

/* ---- histogram ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void percentile_is_within_a_64th_of_the_true_one(void **state)
{
	enum { N = 5000 };
	static uint64_t values[N];
	static const double quantiles[] = { 0.01, 0.5, 0.9, 0.99, 1 };
	struct ct_hist hist = { 0 };

	(void)state;
	for (int i = 0; i < N; i++) {
		values[i] = next_random() >> (next_random() % 60);
		assert_int_equal(ct_hist_add(&hist, values[i]), CT_OK);
	}
	qsort(values, N, sizeof(values[0]), by_value);
	for (size_t q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]); q++) {
		uint64_t truth = values[(size_t)(quantiles[q] * N + 0.999999) - 1];
		uint64_t told = ct_hist_quantile(&hist, quantiles[q]);

		assert_true(told <= truth ? truth - told <= truth / 64
					  : told - truth <= truth / 64);
	}
	ct_hist_fini(&hist);
	assert_true(ct_hist_quantile(&hist, 0.5) == UINT64_MAX);
}

static void merged_histograms_are_the_histogram_of_both(void **state)
{
	struct ct_hist a = { 0 }, b = { 0 }, both = { 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint64_t value = next_random() >> (next_random() % 60);

		ct_hist_add(i % 3 ? &a : &b, value);
		ct_hist_add(&both, value);
	}
	assert_int_equal(ct_hist_merge(&a, &b), CT_OK);
	for (double q = 0.01; q < 1; q += 0.07)
		assert_true(ct_hist_quantile(&a, q) == ct_hist_quantile(&both, q));
	assert_true(a.n == both.n && a.sum == both.sum && a.max == both.max);
	ct_hist_fini(&a);
	ct_hist_fini(&b);
	ct_hist_fini(&both);
}

static void sum_without_the_largest_leaves_out_the_largest(void **state)
{
	struct ct_hist hist = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		ct_hist_add(&hist, 20);
	ct_hist_add(&hist, 1000000000);
	assert_true(ct_hist_sum_without_largest(&hist, 1) == 200);
	assert_true(ct_hist_sum_without_largest(&hist, 3) == 160);
	assert_true(ct_hist_sum_without_largest(&hist, 99) == 0);
	ct_hist_fini(&hist);
}

/* ---- union of intervals ---- */

static void union_counts_each_moment_once(void **state)
{
	struct ct_cover cover = { 0 };

	(void)state;
	assert_int_equal(ct_cover_add(&cover, 100, 200), 100);
	assert_int_equal(ct_cover_add(&cover, 150, 250), 50);
	assert_int_equal(ct_cover_add(&cover, 120, 130), 0);
	assert_int_equal(ct_cover_add(&cover, 400, 500), 100);
	assert_int_equal(ct_cover_add(&cover, 240, 410), 150);
	assert_int_equal(ct_cover_add(&cover, 50, 60), 10);
	assert_int_equal(ct_cover_add(&cover, 60, 50), 0);
	assert_int_equal(cover.total, 410);
}

static void union_of_disordered_intervals_is_exact_while_disorder_is_small(void **state)
{
	enum { LENGTH = 40000 };
	static uint8_t covered[LENGTH];
	struct ct_cover cover = { 0 };
	uint64_t truth = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		/* Goes forward, with jumps back over a few others. */
		uint64_t begin = (uint64_t)(i * 18) + next_random() % 120;
		uint64_t end = begin + next_random() % 30;

		ct_cover_add(&cover, begin, end);
		memset(covered + begin, 1, end - begin);
	}
	for (int i = 0; i < LENGTH; i++)
		truth += covered[i];
	assert_int_equal(cover.total, truth);
}

static void union_never_counts_too_much_in_any_order(void **state)
{
	enum { LENGTH = 100000 };
	static uint8_t covered[LENGTH + 100];
	struct ct_cover cover = { 0 };
	uint64_t truth = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint64_t begin = next_random() % LENGTH, end = begin + next_random() % 100;

		ct_cover_add(&cover, begin, end);
		memset(covered + begin, 1, end - begin);
	}
	for (int i = 0; i < LENGTH + 100; i++)
		truth += covered[i];
	assert_true(cover.total <= truth);
}

static void timeline_tells_where_the_losses_lie(void **state)
{
	struct ct_timeline timeline = { 0 };
	uint64_t begin, end;

	(void)state;
	for (uint64_t s = 500; s < 750; s++)
		ct_timeline_add(&timeline, s * 1000000000, 5);
	ct_timeline_add(&timeline, 1000000000, 5);
	ct_timeline_bounds(&timeline, &begin, &end);
	assert_true(begin >= 450000000000 && begin <= 510000000000);
	assert_true(end >= 740000000000 && end <= 800000000000);
}

/* ---- join ---- */

struct joined {
	uint32_t ops, with_launch;
	uint64_t last_seq;
	int stop;
};

static int on_joined(void *arg, const struct ct_op *op, const struct ct_launch *launch)
{
	struct joined *j = arg;

	j->ops++;
	j->with_launch += launch != NULL;
	if (launch)
		assert_int_equal(launch->id, op->launch);
	j->last_seq = op->seq;
	return j->stop;
}

static void ops_meet_their_launch_in_any_order(void **state)
{
	struct joined j = { 0 };
	struct ct_join *join = ct_join_new(on_joined, &j);
	struct ct_op op = { .launch = 5 };
	struct ct_launch launch = { .id = 5, .n_ops = 3 };

	(void)state;
	assert_int_equal(ct_join_op(join, &op), CT_OK);
	assert_int_equal(j.ops, 0);
	assert_int_equal(ct_join_launch(join, &launch), CT_OK);
	assert_int_equal(j.ops, 1);
	/* The group's other ops come out of another thread's chunk. */
	ct_join_op(join, &op);
	ct_join_op(join, &op);
	assert_int_equal(j.with_launch, 3);
	/* All three have come: the id is free again. */
	ct_join_op(join, &op);
	assert_int_equal(j.ops, 3);
	assert_int_equal(ct_join_finish(join), CT_OK);
	assert_int_equal(j.ops, 4);
	assert_int_equal(j.with_launch, 3);
	ct_join_free(join);
}

static void joining_is_bounded_and_loses_no_op(void **state)
{
	struct joined j = { 0 };
	struct ct_join *join = ct_join_new(on_joined, &j);
	const uint32_t n = CT_JOIN_MAX + 1000;

	(void)state;
	for (uint32_t i = 1; i <= n; i++) {
		struct ct_op op = { .launch = i, .seq = i };
		struct ct_launch launch = { .id = 0x80000000u + i, .n_ops = 1 };

		assert_int_equal(ct_join_op(join, &op), CT_OK);
		assert_int_equal(ct_join_launch(join, &launch), CT_OK);
	}
	assert_int_equal(j.ops, 1000);
	assert_int_equal(j.last_seq, 1000);
	assert_int_equal(ct_join_finish(join), CT_OK);
	assert_int_equal(j.ops, n);
	ct_join_free(join);
}

static void what_the_callback_returns_stops_the_join(void **state)
{
	struct joined j = { .stop = -77 };
	struct ct_join *join = ct_join_new(on_joined, &j);
	struct ct_op op = { .launch = 1 };
	struct ct_launch launch = { .id = 1, .n_ops = 1 };

	(void)state;
	ct_join_op(join, &op);
	assert_int_equal(ct_join_launch(join, &launch), -77);
	ct_join_free(join);
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
	ct_match_message(match, comm, 0, 2, 7, 0, &recv); /* to somebody else */
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
	assert_false(a->clash || a->shared_seat);
	ct_comms_add(&comms, &(struct ct_comm_rec){ .key = 10, .nranks = 3, .rank = 1 }, NULL, 9,
		     &a);
	assert_true(a->clash);
	ct_comms_add(&comms, &(struct ct_comm_rec){ .key = 20, .nranks = 3, .rank = 0 }, NULL, 1,
		     &b);
	ct_comms_add(&comms, &(struct ct_comm_rec){ .key = 20, .nranks = 3, .rank = 1 }, NULL, 1,
		     &b);
	assert_true(b->shared_seat);
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
	assert_int_equal(ct_classes_get(&classes, comm, 1, 1, 0)->bytes_class, 0);
	assert_int_equal(ct_classes_get(&classes, comm, 1, 1, 1)->bytes_class, 1);
	assert_int_equal(ct_classes_get(&classes, comm, 1, 1, 4095)->bytes_class, 2048);
	assert_ptr_equal(ct_classes_get(&classes, comm, 1, 1, 4096),
			 ct_classes_get(&classes, comm, 1, 1, 8191));
	assert_ptr_not_equal(ct_classes_get(&classes, comm, 1, 1, 4096),
			     ct_classes_get(&classes, comm, 1, 2, 4096));
	assert_true(ct_classes_get(&classes, comm, 1, 1, UINT64_MAX)->bytes_class == 1ull << 63);
	assert_int_equal(classes.n, 6);
	ct_classes_fini(&classes);
	ct_comms_fini(&comms);
}

/* ---- texts ---- */

static void foreign_bytes_become_printable(void **state)
{
	static const struct {
		const char *from, *to;
	} texts[] = {
		{ "plain", "plain" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "a\033[31mb\nc\x7f", "a?[31mb?c?" },
		{ "\xff\xc3(\xe2\x82", "?"
				       "?(?"
				       "?" },
		{ "\xc0\xaf\xed\xa0\x80", "?????" },		/* overlong, surrogate */
		{ "x\xe2\x80\xa8y\xe2\x80\xaez", "x???y???z" }, /* line separator, right-to-left */
		{ "\xf0\x9f\x98\x80\xf4\x90\x80\x80", "\xf0\x9f\x98\x80????" },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ct_text_clean(out, sizeof(out), texts[i].from, strlen(texts[i].from));
		assert_string_equal(out, texts[i].to);
	}
	/* Cut at a whole character. */
	ct_text_clean(out, 4, "ab\xc3\xbc", 4);
	assert_string_equal(out, "ab");
}

static void figures_have_three_digits_and_a_unit(void **state)
{
	(void)state;
	assert_string_equal(ct_text_ns(0).s, "0ns");
	assert_string_equal(ct_text_ns(999).s, "999ns");
	assert_string_equal(ct_text_ns(1000).s, "1.00us");
	assert_string_equal(ct_text_ns(9996000).s, "10.0ms");
	assert_string_equal(ct_text_ns(410400).s, "410us");
	assert_string_equal(ct_text_ns(999600).s, "1.00ms");
	assert_string_equal(ct_text_ns(38240000000).s, "38.2s");
	assert_string_equal(ct_text_ns(86400000000000).s, "86400s");
	assert_string_equal(ct_text_ns(UINT64_MAX).s, "n/a");
	assert_string_equal(ct_text_bytes(4194304).s, "4.19MB");
	assert_string_equal(ct_text_Bps(1230000000).s, "1.23GB/s");
	assert_string_equal(ct_text_count(99999).s, "99999");
	assert_string_equal(ct_text_count(1234567).s, "1.23M");
	assert_string_equal(ct_text_pct(6.123).s, "6.12%");
	assert_string_equal(ct_text_pct(0.001).s, "<0.01%");
	assert_string_equal(ct_text_pct(100).s, "100.0%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_finds_what_was_put_and_forgets_what_was_removed),
		cmocka_unit_test(percentile_is_within_a_64th_of_the_true_one),
		cmocka_unit_test(merged_histograms_are_the_histogram_of_both),
		cmocka_unit_test(sum_without_the_largest_leaves_out_the_largest),
		cmocka_unit_test(union_counts_each_moment_once),
		cmocka_unit_test(union_of_disordered_intervals_is_exact_while_disorder_is_small),
		cmocka_unit_test(union_never_counts_too_much_in_any_order),
		cmocka_unit_test(timeline_tells_where_the_losses_lie),
		cmocka_unit_test(ops_meet_their_launch_in_any_order),
		cmocka_unit_test(joining_is_bounded_and_loses_no_op),
		cmocka_unit_test(what_the_callback_returns_stops_the_join),
		cmocka_unit_test(members_meet_whatever_the_order_of_ranks),
		cmocka_unit_test(memory_follows_skew_not_length),
		cmocka_unit_test(rank_without_trace_leaves_incomplete_instances_within_bounds),
		cmocka_unit_test(numbers_that_begin_anew_make_new_instances),
		cmocka_unit_test(messages_match_by_ends_tag_and_number),
		cmocka_unit_test(communicators_of_one_key_are_one),
		cmocka_unit_test(classes_are_powers_of_two),
		cmocka_unit_test(foreign_bytes_become_printable),
		cmocka_unit_test(figures_have_three_digits_and_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
