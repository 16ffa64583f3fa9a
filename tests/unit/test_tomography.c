/* SPDX-License-Identifier: Apache-2.0 */
/* Who is behind slow communicators: exactly the cause, or several that include it, and never
 * another one.
 *
 * unit_tomography --measure TRIALS prints how often it is reported exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/tomography.h"
#include "tests/unit/fixture.h"

#define HOSTS 16
#define MEMBERS 4
#define MOST 32

struct draw {
	uint64_t state;
};

static double uniform(struct draw *d)
{
	d->state = d->state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(d->state >> 11) / 9007199254740992.0;
}

static double normal(struct draw *d)
{
	return sqrt(-2 * log(1 - uniform(d))) * cos(6.283185307179586 * uniform(d));
}

/* How the trials came out. */
struct score {
	unsigned exact, among, silent, wrong, out_of_sight;
};

static int holds(const struct ct_tomo_comm *comm, uint32_t unit)
{
	for (uint32_t i = 0; i < comm->n; i++)
		if (comm->units[i] == unit)
			return 1;
	return 0;
}

static void judge(struct ct_tomo_comm *comms, size_t n, uint32_t slow, struct draw *d,
		  struct score *score)
{
	double ratio[MOST], sorted[MOST], reference;
	struct ct_tomo out;
	int seen = 0, named = 0;

	for (size_t c = 0; c < n; c++) {
		seen |= holds(&comms[c], slow);
		ratio[c] = sorted[c] = (1 + 0.04 * normal(d)) * (holds(&comms[c], slow) ? 0.5 : 1);
	}
	if (!seen) {
		score->out_of_sight++;
		return;
	}
	reference = ct_tomo_reference(sorted, n);
	for (size_t c = 0; c < n; c++)
		comms[c].state = ct_tomo_state_of(ratio[c], reference);
	assert_int_equal(ct_tomo_solve(comms, n, HOSTS, &out), 0);
	for (uint32_t g = 0; g < out.n_groups; g++) {
		for (uint32_t i = 0; i < out.groups[g].n; i++)
			named |= out.suspects[out.groups[g].first + i] == slow;
	}
	if (!out.n_groups)
		score->silent++;
	else if (!named)
		score->wrong++;
	else if (out.n_groups == 1 && out.groups[0].n == 1)
		score->exact++;
	else
		score->among++;
	ct_tomo_fini(&out);
}

/* Communicators of four hosts each, drawn at random. */
static struct score at_random(unsigned n, unsigned trials, unsigned seed)
{
	struct score score = { 0 };
	struct draw d = { seed };

	for (unsigned t = 0; t < trials; t++) {
		uint32_t units[MOST][MEMBERS];
		struct ct_tomo_comm comms[MOST];

		for (unsigned c = 0; c < n; c++) {
			comms[c] = (struct ct_tomo_comm){ .units = units[c], .n = 0 };
			while (comms[c].n < MEMBERS) {
				uint32_t unit = (uint32_t)(HOSTS * uniform(&d));

				if (!holds(&comms[c], unit))
					units[c][comms[c].n++] = unit;
			}
		}
		judge(comms, n, (uint32_t)(HOSTS * uniform(&d)), &d, &score);
	}
	return score;
}

/* Data parallel by pipeline parallel: the rows and the columns of a 4 x 4 grid. */
static struct score in_a_grid(unsigned trials, unsigned seed)
{
	struct score score = { 0 };
	struct draw d = { seed };

	for (unsigned t = 0; t < trials; t++) {
		uint32_t units[8][4];
		struct ct_tomo_comm comms[8];

		for (uint32_t c = 0; c < 8; c++) {
			comms[c] = (struct ct_tomo_comm){ .units = units[c], .n = 4 };
			for (uint32_t i = 0; i < 4; i++)
				units[c][i] = c < 4 ? 4 * c + i : 4 * i + (c - 4);
		}
		judge(comms, 8, (uint32_t)(HOSTS * uniform(&d)), &d, &score);
	}
	return score;
}

static void a_slow_host_is_named_or_among_those_named(void **state)
{
	struct score score;

	(void)state;
	for (unsigned n = 4; n <= 32; n *= 2) {
		score = at_random(n, 500, n);
		assert_int_equal(score.wrong, 0);
		assert_int_equal(score.exact + score.among + score.silent + score.out_of_sight,
				 500);
		if (n == 8)
			assert_true(score.exact > 360 && score.silent < 10);
		if (n >= 16)
			assert_true(score.exact >= 485 && score.silent == 0);
	}
}

static void rows_and_columns_report_exactly(void **state)
{
	struct score score = in_a_grid(200, 3);

	(void)state;
	assert_int_equal(score.exact, 200);
}

static void healthy_ones_have_no_suspects(void **state)
{
	struct draw d = { 11 };
	uint32_t units[8][2];

	(void)state;
	for (unsigned t = 0; t < 200; t++) {
		struct ct_tomo_comm comms[8];
		double ratio[8], sorted[8];
		struct ct_tomo out;

		for (uint32_t c = 0; c < 8; c++) {
			units[c][0] = 2 * c;
			units[c][1] = 2 * c + 1;
			comms[c] = (struct ct_tomo_comm){ .units = units[c], .n = 2 };
			ratio[c] = sorted[c] = 1 + 0.04 * normal(&d);
		}
		for (uint32_t c = 0; c < 8; c++)
			comms[c].state = ct_tomo_state_of(ratio[c], ct_tomo_reference(sorted, 8));
		assert_int_equal(ct_tomo_solve(comms, 8, HOSTS, &out), 0);
		assert_int_equal(out.n_groups, 0);
		ct_tomo_fini(&out);
	}
}

static struct ct_tomo_comm of(const uint32_t *units, uint32_t n, enum ct_tomo_state state)
{
	return (struct ct_tomo_comm){ .units = units, .n = n, .state = state };
}

/* 0 and 1 are both fast with others: what is slow is between them. */
static void a_slow_pair_of_cleared_ones_is_a_link(void **state)
{
	static const uint32_t pair[] = { 0, 1 }, left[] = { 0, 2 }, right[] = { 1, 3 };
	struct ct_tomo_comm comms[] = { of(pair, 2, CT_TOMO_SLOW_ONE),
					of(left, 2, CT_TOMO_GOOD_ONE),
					of(right, 2, CT_TOMO_GOOD_ONE) };
	struct ct_tomo out;

	(void)state;
	assert_int_equal(ct_tomo_solve(comms, 3, 4, &out), 0);
	assert_int_equal(out.n_groups, 0);
	assert_int_equal(out.n_unresolved, 1);
	assert_true(comms[0].unresolved);
	assert_false(comms[1].unresolved);
	ct_tomo_fini(&out);
}

static void between_slow_and_good_nothing_is_known(void **state)
{
	(void)state;
	assert_int_equal(ct_tomo_state_of(6.9, 10), CT_TOMO_SLOW_ONE);
	assert_int_equal(ct_tomo_state_of(7.1, 10), CT_TOMO_UNKNOWN);
	assert_int_equal(ct_tomo_state_of(8.9, 10), CT_TOMO_UNKNOWN);
	assert_int_equal(ct_tomo_state_of(9, 10), CT_TOMO_GOOD_ONE);
	assert_int_equal(ct_tomo_state_of(NAN, 10), CT_TOMO_UNKNOWN);
}

/* One neither slow nor good clears no member. */
static void a_middling_one_clears_no_one(void **state)
{
	static const uint32_t pair[] = { 0, 1 }, left[] = { 0, 2 };
	struct ct_tomo_comm comms[] = { of(pair, 2, CT_TOMO_SLOW_ONE),
					of(left, 2, CT_TOMO_UNKNOWN) };
	struct ct_tomo out;

	(void)state;
	assert_int_equal(ct_tomo_solve(comms, 2, 4, &out), 0);
	assert_int_equal(out.n_groups, 1);
	assert_int_equal(out.groups[0].n, 2);
	ct_tomo_fini(&out);
}

static void two_slow_ones_are_two_causes(void **state)
{
	static const uint32_t a[] = { 0, 1 }, b[] = { 0, 2 }, c[] = { 3, 4 }, d[] = { 3, 5 };
	static const uint32_t good[] = { 1, 2, 4, 5 };
	struct ct_tomo_comm comms[] = { of(a, 2, CT_TOMO_SLOW_ONE), of(b, 2, CT_TOMO_SLOW_ONE),
					of(c, 2, CT_TOMO_SLOW_ONE), of(d, 2, CT_TOMO_SLOW_ONE),
					of(good, 4, CT_TOMO_GOOD_ONE) };
	struct ct_tomo out;

	(void)state;
	assert_int_equal(ct_tomo_solve(comms, 5, 6, &out), 0);
	assert_int_equal(out.n_groups, 2);
	for (uint32_t g = 0; g < 2; g++) {
		assert_int_equal(out.groups[g].n, 1);
		assert_int_equal(out.groups[g].explains, 2);
		assert_int_equal(out.suspects[out.groups[g].first], 3 * g);
	}
	assert_int_equal(out.n_unresolved, 0);
	ct_tomo_fini(&out);
}

static void print(const char *what, unsigned trials, struct score s)
{
	printf("%-22s trials %u: out of sight %u, exact %u, among several %u, silent %u, wrong "
	       "%u\n",
	       what, trials, s.out_of_sight, s.exact, s.among, s.silent, s.wrong);
}

static int measure(unsigned trials)
{
	print("4 random communicators", trials, at_random(4, trials, 1004));
	print("8", trials, at_random(8, trials, 1008));
	print("16", trials, at_random(16, trials, 1016));
	print("32", trials, at_random(32, trials, 1032));
	print("rows and columns", trials, in_a_grid(trials, 1000));
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_host_is_named_or_among_those_named),
		cmocka_unit_test(rows_and_columns_report_exactly),
		cmocka_unit_test(healthy_ones_have_no_suspects),
		cmocka_unit_test(a_slow_pair_of_cleared_ones_is_a_link),
		cmocka_unit_test(between_slow_and_good_nothing_is_known),
		cmocka_unit_test(a_middling_one_clears_no_one),
		cmocka_unit_test(two_slow_ones_are_two_causes),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
