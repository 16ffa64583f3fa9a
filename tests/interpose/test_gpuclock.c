/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "interpose/gpu/clock/clock.h"

/* A device and a host whose times are known: stamps are rounded down as a device does it,
 * differences to float. */
struct world {
	double ppm;
	double warming; /* ppm per second on top */
	uint64_t host_start_ns;
	double device_start_ns;
	double last_anchor; /* true host time of it, since host_start_ns */
	struct ct_gpu_clock clock;
};

static double device_ns(const struct world *w, double host_ns)
{
	double s = host_ns / 1e9;

	return w->device_start_ns + host_ns * (1 + w->ppm * 1e-6 + w->warming * 1e-6 * s / 2);
}

static double stamp(const struct world *w, double host_ns)
{
	return floor(device_ns(w, host_ns) / 500) * 500;
}

static float elapsed(const struct world *w, double from_ns, double to_ns)
{
	return (float)((stamp(w, to_ns) - stamp(w, from_ns)) / 1e6);
}

/* The event happens `before` after the first look at the clock and `after` before the second. */
static void anchor(struct world *w, double host_ns, double before, double after)
{
	ct_gpu_clock_add(&w->clock, elapsed(w, w->last_anchor, host_ns),
			 w->host_start_ns + (uint64_t)(host_ns - before),
			 w->host_start_ns + (uint64_t)(host_ns + after));
	w->last_anchor = host_ns;
}

static double uniform(double high)
{
	return high * (double)rand() / (double)RAND_MAX;
}

/* How wrong, and what was said about it. */
static double look(const struct world *w, double host_ns, double *err)
{
	uint64_t ns;

	assert_int_equal(ct_gpu_clock_at(&w->clock, elapsed(w, w->last_anchor, host_ns), &ns, err),
			 1);
	return fabs((double)(int64_t)(ns - w->host_start_ns) - host_ns);
}

static struct world make_world(double ppm, double warming)
{
	return (struct world){
		.ppm = ppm,
		.warming = warming,
		.host_start_ns = 86400ull * 1000000000 * 100,
		.device_start_ns = 3e15,
		.clock = { .resolution_ns = 500 },
	};
}

static void without_anchors_nothing_is_known(void **state)
{
	struct ct_gpu_clock clock = { .n = 0 };
	uint64_t ns;
	double err;

	(void)state;
	assert_int_equal(ct_gpu_clock_at(&clock, 1.0f, &ns, &err), 0);
}

static void one_anchor_is_as_good_as_it_is_narrow(void **state)
{
	struct world w = make_world(20, 0);
	double err;

	(void)state;
	anchor(&w, 0, 1000, 3000);
	assert_true(look(&w, 0, &err) <= err);
	assert_true(err >= 2000 && err < 3100);
	/* the rate is unknown: 250 ppm of 100 ms */
	assert_true(look(&w, 1e8, &err) <= err);
	assert_true(err > 25000 && err < 30000);
}

/* Anchors as they are taken: fast at first, then one a second. Returns the largest published error
 * from `from` on. */
static double run(struct world *w, double seconds, double width, double from)
{
	double worst = 0, err;
	double next = 0;

	for (double t = 0; t < seconds * 1e9; t += 5e6) {
		if (t >= next) {
			anchor(w, t, 500 + uniform(width), 500 + uniform(width));
			next = t + fmin(fmax(t / 4, 10e6), 1e9);
		}
		assert_true(look(w, t, &err) <= err);
		assert_true(look(w, t - uniform(10e6), &err) <= err);
		if (t >= from * 1e9)
			worst = fmax(worst, err);
	}
	return worst;
}

static void the_truth_lies_within_the_published_error(void **state)
{
	static const double ppms[] = { 0, 20, -20, 100, -100 };

	(void)state;
	srand(1);
	for (unsigned i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
		struct world w = make_world(ppms[i], 0);

		/* a quarter of a second after the start a rate is known */
		assert_true(run(&w, 60, 2000, 0.25) < 5000);
	}
}

static void a_crystal_that_warms_up_is_followed(void **state)
{
	struct world w = make_world(20, 0.1);

	(void)state;
	srand(2);
	assert_true(run(&w, 60, 2000, 0.25) < 5000);
}

/* Faster than any crystal: the anchors contradict each other, and the older ones go. */
static void anchors_that_contradict_each_other_go(void **state)
{
	struct world w = make_world(20, 0);
	double err;

	(void)state;
	srand(5);
	run(&w, 15, 1000, 15);
	w.host_start_ns += 1000000; /* as if the device had lost a millisecond */
	for (int i = 1; i <= 3; i++)
		anchor(&w, 15e9 + i * 1e9, 1000, 1000);
	assert_true(w.clock.n <= 3);
	assert_true(look(&w, 18e9 + 1e6, &err) <= err);
	assert_true(err < 5000);
}

static void a_wide_anchor_does_no_harm(void **state)
{
	struct world w = make_world(20, 0);
	double before, after;

	(void)state;
	srand(3);
	run(&w, 5, 1000, 5);
	look(&w, w.last_anchor + 1e6, &before);
	anchor(&w, w.last_anchor + 1e6, 1e5, 9e5);
	assert_true(look(&w, w.last_anchor, &after) <= after);
	assert_true(after < before + 1000);
}

static void after_a_long_pause_the_clock_begins_anew(void **state)
{
	struct world w = make_world(-20, 0);
	double err;

	(void)state;
	srand(4);
	run(&w, 10, 1000, 10);
	anchor(&w, 1000e9, 1000, 1000);
	assert_int_equal(w.clock.n, 1);
	assert_true(look(&w, 1000e9 + 5e6, &err) <= err);
	assert_true(err < 5000);
}

/* The least error that any of the anchors allow. */
static double least_error(struct world w, double host_ns)
{
	double err, least = INFINITY;
	unsigned best = 0;

	for (unsigned i = 0; i < w.clock.n; i++) {
		w.clock.near = (struct ct_gpu_bounding){ i, 0 };
		look(&w, host_ns, &err);
		best = err < least ? i : best;
		least = err < least ? err : least;
	}
	for (unsigned i = 0; i < w.clock.n; i++) {
		w.clock.near = (struct ct_gpu_bounding){ best, i };
		look(&w, host_ns, &err);
		least = err < least ? err : least;
	}
	return least;
}

/* Where nearly all events are, only two anchors are asked. */
static void near_the_last_anchor_two_say_as_much_as_all(void **state)
{
	double err;

	(void)state;
	srand(6);
	for (int seconds = 1; seconds <= 30; seconds++) {
		struct world w = make_world(20, 0);

		run(&w, seconds, 2000, seconds);
		for (double t = -10e6; t <= 1.2e9; t += 7e6) {
			look(&w, w.last_anchor + t, &err);
			assert_true(err <= 1.05 * least_error(w, w.last_anchor + t));
		}
	}
}

static void a_float_is_wrong_by_half_of_its_last_bit(void **state)
{
	(void)state;
	for (double ms = 0.001; ms < 1e7; ms *= 1.37) {
		float f = (float)ms;
		double err;

		assert_true(fabs(ct_gpu_elapsed_ns(f, &err) - ms * 1e6) <= err + 1e-9 * ms);
		assert_true(err * 4 > (double)(nextafterf(f, INFINITY) - f) * 1e6 / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_anchors_nothing_is_known),
		cmocka_unit_test(one_anchor_is_as_good_as_it_is_narrow),
		cmocka_unit_test(the_truth_lies_within_the_published_error),
		cmocka_unit_test(a_crystal_that_warms_up_is_followed),
		cmocka_unit_test(anchors_that_contradict_each_other_go),
		cmocka_unit_test(a_wide_anchor_does_no_harm),
		cmocka_unit_test(after_a_long_pause_the_clock_begins_anew),
		cmocka_unit_test(near_the_last_anchor_two_say_as_much_as_all),
		cmocka_unit_test(a_float_is_wrong_by_half_of_its_last_bit),
	};

	return cmocka_run_group_tests_name("gpuclock", tests, NULL, NULL);
}
