/* SPDX-License-Identifier: Apache-2.0 */
/* What the verdict is made of, by hand: which steps are stalls and whose, and two findings of one
 * cause. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/findings/one_cause.h"
#include "analyzer/lateness/stalled_steps.h"
#include "analyzer/steps/steps.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- steps in which a rank stalled ---- */

enum { STEPS = 40, SLOTS = 4, MS = 1000000 };

/* Steps of 20 ms; in number 10 one of 60 ms, for which each of the others waited `wait_ms`, and
 * slot 2 is charged with `charge_ms`, slot 1 with `other_ms`. */
static struct ct_stalled one_long_step(uint64_t wait_ms, uint64_t charge_ms, uint64_t other_ms)
{
	uint64_t cut[STEPS + 1] = { 0 }, waits[STEPS];
	struct ct_step_charge all[2] = {
		{ .step = 10, .slot = 1, .charged_ns = (float)(other_ms * MS) },
		{ .step = 10, .slot = 2, .charged_ns = (float)(charge_ms * MS) },
	};
	uint8_t kept[STEPS];
	struct ct_steps steps = { .cut_ns = cut, .n = STEPS, .median_ns = 20 * MS };
	struct ct_step_blame blame = {
		.all = all, .n = 2, .kept = kept, .wait_ns = waits, .n_steps = STEPS, .n_kept = STEPS
	};
	struct ct_stalled stalled;

	for (int k = 0; k < STEPS; k++) {
		cut[k + 1] = cut[k] + (k == 10 ? 60 : 20) * (uint64_t)MS + (uint64_t)(k % 3) * 1000;
		waits[k] = MS + (k == 10 ? (SLOTS - 1) * wait_ms * MS : 0);
		kept[k] = 1;
	}
	assert_int_equal(ct_stalled_find(&steps, &blame, SLOTS, &stalled), 0);
	assert_int_equal(stalled.of, STEPS);
	return stalled;
}

static void a_step_is_a_stall_if_the_others_waited_for_it(void **state)
{
	struct ct_stalled s = one_long_step(40, 35, 5);

	(void)state;
	assert_int_equal(s.n, 1);
	assert_in_range(s.sum_ns, 39 * MS, 41 * MS);
	assert_int_equal(s.longest_step, 10);
	assert_int_equal(s.longest_slot, 2);
	/* all did more, and no rank waited */
	assert_int_equal(one_long_step(4, 35, 5).n, 0);
	/* no rank is charged with most of it, or two with as much */
	assert_int_equal(one_long_step(40, 15, 1).longest_slot, CT_STALLED_UNKNOWN);
	assert_int_equal(one_long_step(40, 25, 14).longest_slot, CT_STALLED_UNKNOWN);
}

/* Every tenth step is 40 ms longer, and the others waited for it. Stalls that are alike are a
 * matter of patterns; but where no more than some steps were looked at, a pattern may not have been
 * found. */
static void stalls_that_are_alike_count_where_only_some_steps_were_looked_at(void **state)
{
	(void)state;
	for (uint32_t left_out = 0; left_out < 2; left_out++) {
		uint64_t cut[STEPS + 1] = { 0 }, waits[STEPS];
		uint8_t kept[STEPS];
		struct ct_steps steps = { .cut_ns = cut, .n = STEPS, .median_ns = 20 * MS };
		struct ct_step_blame blame = {
			.kept = kept, .wait_ns = waits, .n_steps = STEPS, .n_kept = STEPS - left_out
		};
		struct ct_stalled stalled;

		for (int k = 0; k < STEPS; k++) {
			int is_stall = k % 10 == 5;

			cut[k + 1] = cut[k] + (is_stall ? 60 : 20) * (uint64_t)MS +
				     (uint64_t)(k % 3) * 1000;
			waits[k] = MS + (is_stall ? (SLOTS - 1) * 40 * (uint64_t)MS : 0);
			kept[k] = k || !left_out;
		}
		assert_int_equal(ct_stalled_find(&steps, &blame, SLOTS, &stalled), 0);
		assert_int_equal(stalled.n, left_out ? 4 : 0);
	}
}

/* Steps of 20 ms, give or take 0.1; every second stretch of ten is not kept, and its steps take
 * `more_us` longer. */
static int hide(int more_us, double share)
{
	uint64_t cut[STEPS + 1] = { 0 };
	uint8_t kept[STEPS];
	struct ct_steps steps = { .cut_ns = cut, .n = STEPS, .kept = kept };
	double kept_ns = 0, others_ns = 0;
	int hides;

	for (int k = 0; k < STEPS; k++) {
		kept[k] = k / 10 % 2 == 0;
		cut[k + 1] = cut[k] + 20 * (uint64_t)MS + (k % 2 ? 100000u : 0u) +
			     (kept[k] ? 0u : (uint64_t)more_us * 1000);
	}
	hides = ct_steps_hide(&steps, share, &kept_ns, &others_ns);
	assert_float_equal(others_ns - kept_ns, more_us * 1000.0, 1);
	return hides;
}

static void steps_that_were_not_kept_are_longer_only_beyond_chance_and_share(void **state)
{
	(void)state;
	assert_int_equal(hide(300, 0.01), 1);
	assert_int_equal(hide(150, 0.01), 0);
	assert_int_equal(hide(150, 0.001), 1);
	assert_int_equal(hide(20, 0), 0);
}

/* The end of a step, where what was found are its parts; and stalls by chance. */
static void long_steps_that_belong_to_the_job_are_no_stalls(void **state)
{
	static const struct {
		unsigned steps[8], ms[8];
		uint32_t n;
	} cases[] = {
		{ { 2, 9, 11, 20, 33, 38 }, { 30, 31, 29, 30, 32, 30 }, 0 }, /* alike */
		{ { 3, 9, 15, 21, 27, 33 }, { 10, 90, 20, 40, 15, 60 }, 0 }, /* always after 6 */
		{ { 3, 7, 13, 17, 23, 27, 33, 37 },
		  { 10, 90, 10, 90, 20, 60, 15, 40 },
		  0 }, /* after 4 and 6 by turns */
		{ { 2, 9, 11, 20, 33, 38 }, { 10, 90, 20, 40, 15, 60 }, 6 },
	};
	uint64_t cut[STEPS + 1], waits[STEPS];
	uint8_t kept[STEPS];
	struct ct_steps steps = { .cut_ns = cut, .n = STEPS, .median_ns = 20 * MS };
	struct ct_step_blame blame = {
		.kept = kept, .wait_ns = waits, .n_steps = STEPS, .n_kept = STEPS
	};
	struct ct_stalled s;

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		cut[0] = 0;
		for (unsigned k = 0; k < STEPS; k++) {
			uint64_t more = 0;

			for (size_t i = 0; i < COUNT(cases[c].steps); i++)
				more += cases[c].steps[i] == k ? cases[c].ms[i] : 0;
			cut[k + 1] = cut[k] + (20 + more) * MS;
			waits[k] = (SLOTS - 1) * more * MS;
			kept[k] = 1;
		}
		assert_int_equal(ct_stalled_find(&steps, &blame, SLOTS, &s), 0);
		if (s.n != cases[c].n)
			fail_msg("case %zu: %u stalls", c, s.n);
	}
}

static void one_rank_has_the_stalls_if_chance_does_not_give_it_as_many(void **state)
{
	struct ct_stalled s = {
		.n = 9, .known_n = 9, .sum_ns = 900, .most_n = 9, .most_ns = 900, .slots = 1
	};

	(void)state;
	assert_true(ct_stalled_is_one(&s, 8));
	s.most_n = 3; /* of nine, among eight: one in twenty runs has that of some rank */
	assert_false(ct_stalled_is_one(&s, 8));
	s.known_n = s.most_n = 2; /* both */
	assert_false(ct_stalled_is_one(&s, 64));
	s.known_n = s.most_n = 9;
	s.most_ns = 400; /* but the long ones were others' */
	assert_false(ct_stalled_is_one(&s, 8));
}

/* ---- two findings of one cause ---- */

static struct ct_finding *add(struct ct_findings *list, enum ct_finding_kind kind, uint64_t first,
			      uint64_t last, uint64_t time_lost_ns)
{
	struct ct_finding *f = ct_findings_add(list, kind);

	assert_non_null(f);
	list->step_time = (struct ct_step_time){ 0, 1000000000, 1 };
	ct_finding_loss(list, f, time_lost_ns, time_lost_ns / 20, (double)time_lost_ns);
	f->step_first = first;
	f->step_last = last;
	f->begin_at_ns = first * 5000000;
	f->end_at_ns = (last + 1) * 5000000;
	return f;
}

static void a_change_that_a_named_rank_explains_is_no_finding_of_its_own(void **state)
{
	static const struct {
		uint64_t first, last, time_lost_ns;
		int explains;
	} cases[] = {
		{ 98, 198, 248000000, 1 }, /* then, and as much */
		{ 98, 198, 100000000, 0 }, /* then, but too little */
		{ 0, 198, 248000000, 0 },  /* all the time */
		{ 98, 140, 248000000, 0 }, /* over before */
	};

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct ct_findings list = { .memory = ct_arena_new() };
		struct ct_finding *change = add(&list, CT_FINDING_CHANGE_POINT, 96, 198, 262000000);

		ct_finding_evidence(&list, change, "step_before", 26e6, "ns", NAN);
		add(&list, CT_FINDING_STRAGGLER, cases[c].first, cases[c].last,
		    cases[c].time_lost_ns);
		ct_one_cause(&list);
		assert_false(ct_arena_failed(list.memory));
		assert_int_equal(list.n, cases[c].explains ? 1 : 2);
		if (cases[c].explains) {
			assert_int_equal(list.all[0].kind, CT_FINDING_STRAGGLER);
			assert_string_equal(list.all[0].pairs[0].key, "since_step");
			assert_string_equal(list.all[0].pairs[0].value, "96");
			assert_int_equal(list.all[0].n_evidence, 2);
			assert_string_equal(list.all[0].evidence[1].name, "step_before");
		}
		ct_arena_free(list.memory);
		ct_findings_fini(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_a_stall_if_the_others_waited_for_it),
		cmocka_unit_test(stalls_that_are_alike_count_where_only_some_steps_were_looked_at),
		cmocka_unit_test(steps_that_were_not_kept_are_longer_only_beyond_chance_and_share),
		cmocka_unit_test(long_steps_that_belong_to_the_job_are_no_stalls),
		cmocka_unit_test(one_rank_has_the_stalls_if_chance_does_not_give_it_as_many),
		cmocka_unit_test(a_change_that_a_named_rank_explains_is_no_finding_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
