/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

#define MS 1000000u

static CUstream stream;

static int set_up(void **state)
{
	(void)state;
	use_device(0);
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	OK(cuCtxSynchronize());
	simSetTiming(1);
	assert_null(simFirstMisuse());
	return 0;
}

static void a_pause_delays_what_is_still_to_come(void **state)
{
	CUevent past = record_new(stream), soon, late;
	uint64_t t_past = time_of(past), t_soon, t_late;

	(void)state;
	OK(simCompute(stream, 400 * MS));
	soon = record_new(stream);
	OK(simCompute(stream, 1 * MS));
	late = record_new(stream);
	t_soon = time_of(soon);
	t_late = time_of(late);
	OK(simPause(0, 40));
	assert_int_equal(time_of(past), t_past);
	/* Unless the machine itself was gone until that had happened. */
	if (simNow() < t_soon) {
		assert_int_equal(time_of(soon), t_soon + 40 * MS);
		assert_int_equal(time_of(late), t_late + 40 * MS);
	}
	OK(simPause(0, 5));
	if (simNow() >= t_soon)
		return;
	assert_int_equal(time_of(late), t_late + 45 * MS);
	OK(cuEventSynchronize(late));
	assert_true(simNow() >= t_late + 45 * MS);
}

static void nothing_happens_on_a_paused_device(void **state)
{
	struct timed kernel = { .ns = 1 * MS };
	uint64_t before = simNow();
	CUevent e, behind;
	CUresult early;

	(void)state;
	OK(simPause(0, 30));
	e = record_new(stream);
	OK(launch_timed(stream, &kernel));
	behind = record_new(stream);
	early = cuEventQuery(e);
	/* Unless the machine itself was gone for longer. */
	if (simNow() < before + 30 * MS)
		assert_int_equal(early, CUDA_ERROR_NOT_READY);
	OK(cuEventSynchronize(behind));
	assert_true(time_of(e) >= before + 30 * MS);
	assert_true(kernel.start_ns >= before + 30 * MS);
	assert_true(time_of(behind) >= kernel.start_ns + 1 * MS);
}

static void other_devices_go_on(void **state)
{
	CUevent here, there;

	(void)state;
	OK(simPause(0, 20));
	here = record_new(stream);
	use_device(1);
	there = record_new(NULL);
	OK(cuEventQuery(there));
	OK(cuStreamWaitEvent(NULL, here, 0));
	there = record_new(NULL);
	OK(cuEventSynchronize(there));
	assert_true(time_of(there) >= time_of(here));
	use_device(0);
}

/* It ends as if it had gone on where it stopped. */
static void a_kernel_that_runs_is_held(void **state)
{
	struct gate gate = GATE;
	CUevent e;
	uint64_t before, after, opened, done;

	(void)state;
	OK(launch_gate(stream, &gate));
	e = record_new(stream);
	while (!gate.timed.ran)
		simSleepUntil(simNow() + 100000);
	before = simNow();
	OK(simPause(0, 50));
	after = simNow();
	simSleepUntil(after + 10 * MS);
	opened = simNow();
	open_gate(&gate);
	done = simNow();
	OK(cuEventSynchronize(e));
	assert_true(time_of(e) >= before + 50 * MS);
	/* What it did during the pause it does after it. */
	if (done < before + 50 * MS)
		assert_true(time_of(e) >= before + 50 * MS + opened - after);
}

static void the_end_of_work_can_be_asked_for(void **state)
{
	uint64_t now = simNow() + 1000 * (uint64_t)MS;

	(void)state;
	assert_int_equal(simDeviceEnd(0, now, 5 * MS), now + 5 * MS);
	use_device(3);
	now = simNow();
	OK(simPause(3, 50));
	assert_int_equal(simDeviceEnd(3, now - 5 * MS, 2 * MS), now - 3 * MS);
	assert_int_equal(simDeviceEnd(3, now - 1 * MS, 2000 * MS), now + 2049 * MS);
	use_device(0);
}

static void a_starved_kernel_begins_late_behind_its_start_event(void **state)
{
	struct timed kernel = { .ns = 10 };
	uint64_t before = simNow(), after;
	CUevent start, end, computed;

	(void)state;
	OK(simStarve(0, 30));
	start = record_new(stream);
	OK(launch_timed(stream, &kernel));
	end = record_new(stream);
	assert_true(time_of(start) <= simNow());
	OK(cuEventQuery(start));
	/* Computing goes on. */
	OK(simCompute(NULL, 1 * MS));
	computed = record_new(NULL);
	assert_true(time_of(computed) <= simNow() + 1 * MS);
	OK(cuEventSynchronize(end));
	assert_true(kernel.start_ns >= before + 30 * MS);
	assert_true(time_of(end) >= kernel.start_ns + 10);
	/* It is over. */
	kernel = (struct timed){ .ns = 10 };
	OK(launch_timed(stream, &kernel));
	after = simNow();
	OK(cuStreamSynchronize(stream));
	assert_true(kernel.start_ns <= after);
}

struct holder {
	CUstream stream;
	CUevent event;
	uint64_t returned; /* by another thread */
};

static void *query(void *arg)
{
	struct holder *h = arg;

	use_device(0);
	cuEventQuery(h->event);
	h->returned = simNow();
	return NULL;
}

/* Every call waits, of every thread; what is on the device goes on. */
static void a_held_driver_lets_no_one_in(void **state)
{
	struct timed kernel = { .ns = 5 * MS };
	struct holder h = { .stream = stream };
	uint64_t before, until;
	CUcontext current;
	pthread_t thread;
	CUevent e;

	(void)state;
	OK(launch_timed(stream, &kernel));
	h.event = e = record_new(stream);
	before = simNow();
	simHoldDriver(60);
	until = before + 60 * MS;
	assert_int_equal(pthread_create(&thread, NULL, query, &h), 0);
	OK(cuEventRecord(e, stream));
	assert_true(simNow() >= until);
	pthread_join(thread, NULL);
	assert_true(h.returned >= until);
	if (kernel.start_ns < before + 10 * MS) /* the machine was not gone meanwhile */
		assert_true(kernel.done < until);

	before = simNow();
	simHoldDriver(20);
	OK(cuCtxGetCurrent(&current));
	assert_true(simNow() >= before + 20 * MS);
	OK(cuCtxGetCurrent(&current));
}

static void without_timing_only_the_order_is_left(void **state)
{
	struct timed kernel = { .ns = 3600u * 1000u * (uint64_t)MS };
	struct gate gate = GATE;
	CUevent e;

	(void)state;
	simSetTiming(0);
	assert_false(simTiming());
	OK(simPause(0, 100000));
	OK(simStarve(0, 100000));
	simHoldDriver(100000);
	OK(simCompute(stream, kernel.ns));
	OK(cuEventQuery(record_new(stream)));
	OK(launch_gate(stream, &gate));
	OK(launch_timed(stream, &kernel));
	e = record_new(stream);
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuEventSynchronize(e));
	assert_true(time_of(e) <= simNow());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pause_delays_what_is_still_to_come, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nothing_happens_on_a_paused_device, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(other_devices_go_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_that_runs_is_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_end_of_work_can_be_asked_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_starved_kernel_begins_late_behind_its_start_event,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_held_driver_lets_no_one_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_timing_only_the_order_is_left, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
