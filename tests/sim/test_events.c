/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

#define MS 1000000u

/* As the environment says it: the resolution of stamps, and what comes of elapsed time backwards. */
static int64_t tick_ns(void)
{
	const char *text = getenv("SIM_STAMP_NS");

	return text ? atoi(text) : 1024;
}

static int backwards_is(const char *what)
{
	const char *text = getenv("SIM_BACKWARDS");

	return text && strcmp(text, what) == 0;
}

static int64_t floor_tick(int64_t ns)
{
	return ns - (ns % tick_ns() + tick_ns()) % tick_ns();
}

/* What the device's clock, read to its resolution, says between two moments of sim time; in ms. */
static float by_clock(uint64_t start, uint64_t end, int64_t offset_ns)
{
	int64_t a = floor_tick((int64_t)start + offset_ns);
	int64_t b = floor_tick((int64_t)end + offset_ns);

	return (float)((double)(b - a) / 1e6);
}

static void elapsed_time_is_in_ticks(void **state)
{
	CUstream s;
	CUevent start;
	int whole = 0;

	(void)state;
	use_device(0);
	s = new_stream(CU_STREAM_NON_BLOCKING);
	start = record_new(s);
	for (int i = 0; i < 200; i++) {
		CUevent end;
		float ms;
		double ticks;

		OK(simCompute(s, 137));
		end = record_new(s);
		OK(cuEventSynchronize(end));
		OK(cuEventElapsedTime(&ms, start, end));
		assert_true(ms == by_clock(time_of(start), time_of(end), 0));
		ticks = (double)ms * 1e6 / (double)tick_ns();
		/* a float is good to its 2^24th part */
		assert_true(fabs(ticks - round(ticks)) < 0.01 + ticks / (1 << 23));
		whole += (time_of(end) - time_of(start)) % (uint64_t)tick_ns() == 0;
		OK(cuEventDestroy_v2(end));
	}
	/* Not because everything happened to fall there. */
	assert_true(whole < 100);
}

static void elapsed_time_runs_backwards_too(void **state)
{
	CUstream s;
	CUevent start, end;
	float ms, back = 7;
	CUresult result;

	(void)state;
	use_device(0);
	s = new_stream(CU_STREAM_NON_BLOCKING);
	start = record_new(s);
	OK(simCompute(s, 2 * MS));
	end = record_new(s);
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime_v2(&ms, start, end));
	result = cuEventElapsedTime_v2(&back, end, start);
	assert_int_equal(result, backwards_is("error") ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
	assert_true(ms >= 2 - (double)tick_ns() / 1e6);
	if (!result)
		assert_true(back == (backwards_is("zero") ? 0 : -ms));
}

/* The clock's rate is blown up until float32 has no space for the digits. */
static void elapsed_time_is_a_float(void **state)
{
	double ppm = 1e10;
	CUstream s;
	CUevent start, end;
	float ms;
	double exact;

	(void)state;
	OK(simSetClock(1, 0, ppm));
	use_device(1);
	s = new_stream(CU_STREAM_NON_BLOCKING);
	start = record_new(s);
	OK(simCompute(s, 12345679));
	end = record_new(s);
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime(&ms, start, end));
	exact = (double)(time_of(end) - time_of(start)) * (1 + ppm / 1e6) / 1e6;
	assert_true(exact > 100000);
	assert_true(fabs((double)ms - exact) <= exact / (1 << 23));
}

static void the_clock_drifts(void **state)
{
	double ppm = 10000; /* a hundredth */
	CUstream s;
	CUevent start, end;
	float ms;

	(void)state;
	OK(simSetClock(2, -123456789012345, ppm));
	use_device(2);
	s = new_stream(CU_STREAM_NON_BLOCKING);
	start = record_new(s);
	OK(simCompute(s, 50 * MS));
	end = record_new(s);
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime(&ms, start, end));
	assert_true(fabs((double)ms - (double)(time_of(end) - time_of(start)) * 1.01 / 1e6) <=
		    1.02 * (double)tick_ns() / 1e6);
}

/* Stamps fall into other halves of a microsecond, below zero too. */
static void an_offset_moves_the_stamps(void **state)
{
	const int64_t offsets[] = { 77777777777250, -7777777777777250 };

	(void)state;
	for (int device = 3; device < 5; device++) {
		int64_t offset = offsets[device - 3];
		int differs = 0;
		CUstream s;

		OK(simSetClock(device, offset, 0));
		use_device(device);
		s = new_stream(CU_STREAM_NON_BLOCKING);
		for (unsigned int i = 0; i < 100; i++) {
			CUevent start = record_new(s), end;
			float ms;

			OK(simCompute(s, 10250 + i * 37));
			end = record_new(s);
			OK(cuEventSynchronize(end));
			OK(cuEventElapsedTime(&ms, start, end));
			assert_true(ms == by_clock(time_of(start), time_of(end), offset));
			differs += ms != by_clock(time_of(start), time_of(end), 0);
		}
		assert_true(differs > 0);
	}
}

static void a_clock_is_set_before_the_first_context(void **state)
{
	(void)state;
	use_device(0);
	assert_int_equal(simSetClock(0, 1, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simSetClock(99, 1, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simSetDeviceCount(2), CUDA_ERROR_INVALID_VALUE);
}

static void elapsed_time_of_unfinished_events_is_not_ready(void **state)
{
	struct gate gate = GATE;
	CUstream s;
	CUevent start, end, later;
	float ms;

	(void)state;
	use_device(0);
	s = new_stream(CU_STREAM_NON_BLOCKING);
	start = record_new(s);
	OK(launch_gate(s, &gate));
	end = record_new(s);
	assert_int_equal(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuEventElapsedTime(&ms, end, start), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime(&ms, start, end));
	/* Known already, and yet to come. */
	OK(simCompute(s, 3600u * 1000u * (uint64_t)MS));
	later = record_new(s);
	assert_true(time_of(later) > simNow());
	assert_int_equal(cuEventElapsedTime(&ms, start, later), CUDA_ERROR_NOT_READY);
}

static void the_last_record_counts(void **state)
{
	CUstream s;
	CUevent e;
	uint64_t first;

	(void)state;
	use_device(0);
	s = new_stream(CU_STREAM_NON_BLOCKING);
	e = record_new(s);
	first = time_of(e);
	OK(simCompute(s, 1 * MS));
	OK(cuEventRecordWithFlags(e, s, 0));
	assert_true(time_of(e) >= first + 1 * MS);
	OK(cuEventSynchronize(e));
	OK(cuEventQuery(e));
}

static void nothing_of_this_was_misuse(void **state)
{
	(void)state;
	assert_int_equal(simMisuse(), 0);
	assert_null(simFirstMisuse());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elapsed_time_is_in_ticks),
		cmocka_unit_test(elapsed_time_runs_backwards_too),
		cmocka_unit_test(elapsed_time_is_a_float),
		cmocka_unit_test(the_clock_drifts),
		cmocka_unit_test(an_offset_moves_the_stamps),
		cmocka_unit_test(a_clock_is_set_before_the_first_context),
		cmocka_unit_test(elapsed_time_of_unfinished_events_is_not_ready),
		cmocka_unit_test(the_last_record_counts),
		cmocka_unit_test(nothing_of_this_was_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
