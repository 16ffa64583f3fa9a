/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "interpose/gpu/clock/resolution.h"

/* What comes out after elapsed times up to `longest_ns` of a device with this tick. */
static double found(double tick_ns, double longest_ns)
{
	struct ct_gpu_resolution r = { 0 };

	for (int i = 0; i < 100; i++) {
		double ns = floor(longest_ns * (double)rand() / (double)RAND_MAX / tick_ns);

		ct_gpu_resolution_add(&r, (float)((i % 2 ? ns : -ns) * tick_ns / 1e6));
	}
	return ct_gpu_resolution_ns(&r);
}

static void it_is_what_divides_all_elapsed_times(void **state)
{
	static const double ticks[] = { 32, 500, 1000, 1024 };

	(void)state;
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 20; k++)
			assert_float_equal(found(ticks[i], 3.9e6), ticks[i], 1e-9);
}

static void a_tick_that_is_no_whole_number_is_the_coarsest(void **state)
{
	(void)state;
	assert_float_equal(found(1e9 / 27e6, 3.9e6), CT_GPU_COARSEST_NS, 1e-9);
}

static void it_is_the_coarsest_until_enough_is_known(void **state)
{
	struct ct_gpu_resolution r = { 0 };

	(void)state;
	assert_float_equal(ct_gpu_resolution_ns(&r), CT_GPU_COARSEST_NS, 1e-9);
	for (int i = 0; i < 1000; i++) {
		ct_gpu_resolution_add(&r, 0);
		ct_gpu_resolution_add(&r, 17.0f); /* rounded */
		ct_gpu_resolution_add(&r, NAN);
	}
	assert_false(ct_gpu_resolution_is_known(&r));
	assert_float_equal(ct_gpu_resolution_ns(&r), CT_GPU_COARSEST_NS, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_divides_all_elapsed_times),
		cmocka_unit_test(a_tick_that_is_no_whole_number_is_the_coarsest),
		cmocka_unit_test(it_is_the_coarsest_until_enough_is_known),
	};

	return cmocka_run_group_tests_name("gpuresolution", tests, NULL, NULL);
}
