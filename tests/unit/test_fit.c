/* SPDX-License-Identifier: Apache-2.0 */
/* The line through transfer times: right where the truth is known, undisturbed by slow transfers,
 * and nothing where there is nothing to show it by.
 *
 * unit_fit --measure SEEDS prints how near the lines come and which transfers they show to be slow.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/fit.h"
#include "tests/unit/fixture.h"

#define OPS 600
#define ALPHA_NS 18000.0
#define NS_PER_BYTE (1 / 180.0)

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

struct outcome {
	double alpha_ratio, beta_ratio;
	unsigned slow, found, wrong;
};

/* 600 operations of 2^8 .. 2^29 bytes, 8 % noise, 5 % of them 2.2 times slower. */
static struct outcome play(unsigned seed)
{
	struct draw d = { seed * 7919u + 1 };
	struct ct_transfer t[OPS], copy[OPS];
	int slow[OPS];
	struct outcome out = { 0 };
	struct ct_fit fit;

	for (int i = 0; i < OPS; i++) {
		t[i].bytes = exp2(8 + 21 * uniform(&d));
		t[i].ns = (ALPHA_NS + NS_PER_BYTE * t[i].bytes) * exp(fabs(0.08 * normal(&d)));
		slow[i] = uniform(&d) < 0.05;
		if (slow[i])
			t[i].ns *= 2.2;
		copy[i] = t[i];
	}
	assert_int_equal(ct_fit(copy, OPS, &fit), 0);
	assert_true(fit.has_alpha);
	out.alpha_ratio = fit.lines[0].alpha_ns / ALPHA_NS;
	out.beta_ratio = fit.lines[fit.regimes - 1].ns_per_byte / NS_PER_BYTE;
	for (int i = 0; i < OPS; i++) {
		int is_found = ct_fit_expect(&fit, t[i].bytes) / t[i].ns < 0.6;

		out.slow += slow[i] != 0;
		out.found += is_found && slow[i];
		out.wrong += is_found && !slow[i];
	}
	return out;
}

static void slow_transfers_stand_out_from_the_line(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 20; seed++) {
		struct outcome out = play(seed);

		assert_int_equal(out.found, out.slow);
		assert_int_equal(out.wrong, 0);
		assert_true(out.alpha_ratio > 0.97 && out.alpha_ratio < 1.08);
		assert_true(out.beta_ratio > 0.97 && out.beta_ratio < 1.10);
	}
}

static void an_exact_line_is_found_exactly(void **state)
{
	struct ct_transfer t[60];
	struct ct_fit fit;

	(void)state;
	for (int i = 0; i < 60; i++) {
		t[i].bytes = exp2(12 + i / 10);
		t[i].ns = 5000 + 0.5 * t[i].bytes;
	}
	assert_int_equal(ct_fit(t, 60, &fit), 0);
	assert_int_equal(fit.regimes, 1);
	assert_int_equal(fit.classes, 6);
	assert_int_equal(fit.samples, 60);
	assert_true(fabs(fit.lines[0].alpha_ns - 5000) < 1e-3);
	assert_true(fabs(fit.lines[0].ns_per_byte - 0.5) < 1e-9);
	assert_true(fit.lines[0].alpha_err_ns < 50);
	assert_true(fabs(ct_fit_expect(&fit, 1e6) - 505000) < 1);
}

/* All transfers of one of seven sizes are 2.5 times slower: that size counts less, and stands out. */
static void a_disturbed_size_does_not_bend_the_line(void **state)
{
	struct ct_transfer t[70];
	struct ct_fit fit;

	(void)state;
	for (int i = 0; i < 70; i++) {
		t[i].bytes = exp2(14 + i / 10);
		t[i].ns = (5000 + 0.5 * t[i].bytes) * (i / 10 == 5 ? 2.5 : 1);
	}
	assert_int_equal(ct_fit(t, 70, &fit), 0);
	assert_true(fabs(fit.lines[0].alpha_ns / 5000 - 1) < 0.05);
	assert_true(fabs(fit.lines[0].ns_per_byte / 0.5 - 1) < 0.05);
	assert_true(ct_fit_expect(&fit, exp2(19)) / (2.5 * (5000 + 0.5 * exp2(19))) < 0.45);
}

/* Seven transfers an octave are one class, whose shorter ones are the smaller ones: not those that
 * were fast. */
static void sizes_within_a_class_do_not_bend_the_line(void **state)
{
	struct ct_transfer t[70];
	struct ct_fit fit;

	(void)state;
	for (int i = 0; i < 70; i++) {
		t[i].bytes = exp2(14 + (i + 0.5) / 7);
		t[i].ns = 5000 + 0.5 * t[i].bytes;
	}
	assert_int_equal(ct_fit(t, 70, &fit), 0);
	assert_int_equal(fit.classes, 10);
	assert_true(fabs(fit.lines[0].alpha_ns / 5000 - 1) < 0.03);
	assert_true(fabs(fit.lines[0].ns_per_byte / 0.5 - 1) < 0.03);
}

/* Two sizes within one octave, one half of the other: a line of its octave alone would not
 * distinguish them. */
static void sizes_of_one_octave_are_distinguished(void **state)
{
	struct ct_transfer t[40];
	struct ct_fit fit;

	(void)state;
	for (int i = 0; i < 40; i++) {
		t[i].bytes = i % 2 ? 1100e3 : 2000e3;
		t[i].ns = 100000 + t[i].bytes / 100;
	}
	assert_int_equal(ct_fit(t, 40, &fit), 0);
	assert_int_equal(fit.classes, 2);
	assert_true(fabs(ct_fit_expect(&fit, 1100e3) - 111000) < 1);
	assert_true(fabs(ct_fit_expect(&fit, 2000e3) - 120000) < 1);
}

static void one_size_reports_no_latency(void **state)
{
	struct ct_transfer t[30];
	struct ct_fit fit;

	(void)state;
	for (int i = 0; i < 30; i++)
		t[i] = (struct ct_transfer){ 1e6, 1e6 };
	assert_int_equal(ct_fit(t, 30, &fit), 0);
	assert_int_equal(fit.regimes, 1);
	assert_false(fit.has_alpha);
	assert_true(fabs(ct_fit_expect(&fit, 1e6) - 1e6) < 1);
	assert_true(isnan(fit.lines[0].ns_per_byte_err));
}

static void too_few_say_nothing(void **state)
{
	struct ct_transfer t[4] = { { 1e6, 1e6 }, { 1e6, 1e6 }, { 1e6, 1e6 }, { 1e6, 1e6 } };
	struct ct_fit fit;

	(void)state;
	assert_int_equal(ct_fit(t, 4, &fit), 0);
	assert_int_equal(fit.regimes, 0);
	assert_true(isnan(ct_fit_expect(&fit, 1e6)));
	assert_int_equal(ct_fit(t, 0, &fit), 0);
	assert_int_equal(fit.regimes, 0);
}

/* Below 256 KiB 4 us and 10 B/ns, from there 40 us and 100 B/ns. */
static double two_protocols(double bytes)
{
	return bytes < 262144 ? 4000 + bytes / 10 : 40000 + bytes / 100;
}

static void a_change_of_protocol_makes_two_lines(void **state)
{
	struct draw d = { 5 };
	struct ct_transfer t[400];
	struct ct_fit fit;

	(void)state;
	for (int i = 0; i < 400; i++) {
		t[i].bytes = exp2(10 + i % 20);
		t[i].ns = two_protocols(t[i].bytes) * exp(fabs(0.03 * normal(&d)));
	}
	assert_int_equal(ct_fit(t, 400, &fit), 0);
	assert_int_equal(fit.regimes, 2);
	assert_true(fit.split_bytes == 262144);
	for (int k = 10; k < 30; k++) {
		double ratio = ct_fit_expect(&fit, exp2(k)) / two_protocols(exp2(k));

		assert_true(ratio > 0.95 && ratio < 1.08);
	}
}

/* The truth lies within the error in most runs. */
static void the_error_covers_the_truth(void **state)
{
	unsigned alpha = 0, beta = 0;

	(void)state;
	for (unsigned seed = 0; seed < 100; seed++) {
		struct draw d = { seed + 31 };
		struct ct_transfer t[300];
		struct ct_fit fit;

		for (int i = 0; i < 300; i++) {
			t[i].bytes = exp2(12 + i % 15);
			t[i].ns = (20000 + t[i].bytes / 50) * (1 + 0.05 * (uniform(&d) - 0.25));
		}
		assert_int_equal(ct_fit(t, 300, &fit), 0);
		alpha += fabs(fit.lines[0].alpha_ns - 20000) < fit.lines[0].alpha_err_ns;
		beta += fabs(fit.lines[0].ns_per_byte - 0.02) < fit.lines[0].ns_per_byte_err;
		assert_true(fit.lines[0].alpha_err_ns < 1000);
	}
	if (alpha < 90 || beta < 90)
		fail_msg("within the error: alpha %u, beta %u of 100", alpha, beta);
}

static int measure(unsigned seeds)
{
	struct outcome sum = { 0 };
	double alpha[2] = { INFINITY, 0 }, beta[2] = { INFINITY, 0 };

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct outcome out = play(1000 + seed);

		sum.slow += out.slow;
		sum.found += out.found;
		sum.wrong += out.wrong;
		alpha[0] = fmin(alpha[0], out.alpha_ratio);
		alpha[1] = fmax(alpha[1], out.alpha_ratio);
		beta[0] = fmin(beta[0], out.beta_ratio);
		beta[1] = fmax(beta[1], out.beta_ratio);
	}
	printf("seeds %u: alpha told/true %.3f..%.3f beta %.3f..%.3f slow found %u/%u wrongly %u\n",
	       seeds, alpha[0], alpha[1], beta[0], beta[1], sum.found, sum.slow, sum.wrong);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_transfers_stand_out_from_the_line),
		cmocka_unit_test(an_exact_line_is_found_exactly),
		cmocka_unit_test(a_disturbed_size_does_not_bend_the_line),
		cmocka_unit_test(sizes_within_a_class_do_not_bend_the_line),
		cmocka_unit_test(sizes_of_one_octave_are_distinguished),
		cmocka_unit_test(one_size_reports_no_latency),
		cmocka_unit_test(too_few_say_nothing),
		cmocka_unit_test(a_change_of_protocol_makes_two_lines),
		cmocka_unit_test(the_error_covers_the_truth),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
