/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

#define MS 1000000u

static int set_up(void **state)
{
	(void)state;
	use_device(0);
	return 0;
}

/* No kernel may be left behind for the next test. */
static int tear_down(void **state)
{
	(void)state;
	OK(cuCtxSynchronize());
	assert_null(simFirstMisuse());
	return 0;
}

static void kernels_of_a_stream_run_one_after_the_other(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct timed kernels[50] = { 0 };
	int order = 0;

	(void)state;
	for (int i = 0; i < 50; i++) {
		kernels[i].ns = 10000;
		kernels[i].order = &order;
		OK(launch_timed(s, &kernels[i]));
	}
	OK(cuStreamSynchronize(s));
	for (int i = 0; i < 50; i++) {
		assert_int_equal(kernels[i].turn, i);
		assert_int_equal(kernels[i].done, 1);
		if (i)
			assert_true(kernels[i].start_ns >= kernels[i - 1].start_ns + 10000);
	}
	OK(cuStreamDestroy_v2(s));
}

/* What was put there in time starts at the very moment at which its predecessor ends. */
static void times_are_computed_and_not_measured(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate first = GATE;
	struct timed a = { .ns = 12345 }, b = { .ns = 777 };
	CUevent at_gate, after_a, after_b;

	(void)state;
	OK(launch_gate(s, &first));
	at_gate = record_new(s);
	OK(launch_timed(s, &a));
	after_a = record_new(s);
	OK(simCompute(s, 2 * MS));
	OK(launch_timed(s, &b));
	after_b = record_new(s);
	open_gate(&first);
	OK(cuEventSynchronize(after_b));
	assert_int_equal(a.start_ns, time_of(at_gate));
	assert_int_equal(time_of(after_a), a.start_ns + 12345);
	assert_int_equal(b.start_ns, time_of(after_a) + 2 * MS);
	assert_int_equal(time_of(after_b), b.start_ns + 777);
	assert_true(simNow() >= time_of(after_b));
}

/* Those of streams that were destroyed end when they get to it. */
static int n_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void an_event_on_an_idle_stream_is_complete_inside_the_call(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	int threads = n_threads();
	CUevent e;

	(void)state;
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	for (int i = 0; i < 100; i++) {
		uint64_t before = simNow(), after;

		OK(cuEventRecord(e, s));
		after = simNow();
		OK(cuEventQuery(e));
		assert_in_range(time_of(e), before, after);
	}
	assert_true(n_threads() <= threads);
}

static void computing_needs_no_thread_and_is_known_ahead(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent before = record_new(s), after;
	int threads = n_threads();

	(void)state;
	OK(simCompute(s, 5 * MS));
	OK(simCompute(s, 3600u * 1000u * (uint64_t)MS));
	after = record_new(s);
	assert_true(time_of(after) >= time_of(before) + 5 * MS + 3600u * 1000u * (uint64_t)MS);
	assert_int_equal(cuEventQuery(after), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	assert_true(n_threads() <= threads);
}

static void a_stream_waits_for_an_event_of_another(void **state)
{
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate gate = GATE;
	struct timed behind = { .ns = 1 };
	CUevent e, on_b;

	(void)state;
	OK(launch_gate(a, &gate));
	OK(simCompute(a, 3 * MS));
	e = record_new(a);
	OK(cuStreamWaitEvent(b, e, 0));
	OK(launch_timed(b, &behind));
	on_b = record_new(b);
	assert_int_equal(cuEventQuery(on_b), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuEventSynchronize(on_b));
	assert_int_equal(behind.start_ns, time_of(e));
}

static void a_wait_takes_the_record_of_its_moment(void **state)
{
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate gate = GATE;
	CUevent e = record_new(a), on_b;

	(void)state;
	OK(cuStreamWaitEvent(b, e, 0));
	OK(launch_gate(a, &gate));
	OK(cuEventRecord(e, a));
	on_b = record_new(b);
	OK(cuEventQuery(on_b));
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
}

/* The waiting stream keeps the record, not the event. */
static void a_wait_outlives_its_event(void **state)
{
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate gate = GATE;
	CUevent e, on_b;

	(void)state;
	OK(launch_gate(a, &gate));
	e = record_new(a);
	OK(cuStreamWaitEvent(b, e, 0));
	OK(cuEventDestroy_v2(e));
	on_b = record_new(b);
	assert_int_equal(cuEventQuery(on_b), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuEventSynchronize(on_b));
}

static void a_wait_for_an_event_never_recorded_is_no_wait(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent e;

	(void)state;
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	OK(cuStreamWaitEvent(s, e, 0));
	OK(cuStreamQuery(s));
	OK(cuEventQuery(e));
	OK(cuEventSynchronize(e));
}

static void a_stream_waits_for_another_device(void **state)
{
	CUstream here = new_stream(CU_STREAM_NON_BLOCKING), there;
	struct timed behind = { .ns = 1 };
	CUevent e;

	(void)state;
	use_device(1);
	there = new_stream(CU_STREAM_NON_BLOCKING);
	OK(simCompute(there, 20 * MS));
	e = record_new(there);
	use_device(0);
	OK(cuStreamWaitEvent(here, e, 0));
	OK(launch_timed(here, &behind));
	OK(cuStreamSynchronize(here));
	assert_true(behind.start_ns >= time_of(e));
}

static void a_destroyed_stream_still_does_its_work(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate gate = GATE;
	struct timed behind = { .ns = 1 };
	CUevent e;

	(void)state;
	OK(launch_gate(s, &gate));
	OK(launch_timed(s, &behind));
	e = record_new(s);
	OK(cuStreamDestroy_v2(s));
	open_gate(&gate);
	OK(cuEventSynchronize(e));
	assert_int_equal(behind.ran, 1);
}

static void append(void *arg)
{
	int *n = arg;

	n[++n[0]] = 1;
}

static void a_host_function_has_its_turn(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate gate = GATE;
	struct timed behind = { .ns = 1 };
	int calls[8] = { 0 };

	(void)state;
	OK(launch_gate(s, &gate));
	OK(cuLaunchHostFunc(s, append, calls));
	OK(launch_timed(s, &behind));
	open_gate(&gate);
	OK(cuStreamSynchronize(s));
	assert_int_equal(calls[0], 1);
	assert_int_equal(behind.ran, 1);
}

static void synchronizing_a_context_waits_for_all_of_it(void **state)
{
	struct timed kernels[6] = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		CUstream s = new_stream(i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);

		kernels[i].ns = (uint64_t)(i + 1) * MS;
		OK(launch_timed(s, &kernels[i]));
	}
	OK(cuCtxSynchronize());
	for (int i = 0; i < 6; i++) {
		assert_int_equal(kernels[i].ran, 1);
		assert_true(simNow() >= kernels[i].start_ns + kernels[i].ns);
	}
}

/* Many threads, a device and two streams each, all of them in each other's way. */
enum { CROWD = 8, ROUNDS = 100 };

static CUevent shared_events[CROWD];

static void *one_of_the_crowd(void *arg)
{
	int me = (int)(intptr_t)arg;
	struct timed kernel = { .ns = 1000 };
	CUstream a, b;
	CUevent e, done;
	CUcontext c;
	intptr_t bad = 0;

	bad += cuDevicePrimaryCtxRetain(&c, me % 4) || cuCtxSetCurrent(c);
	bad += cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) || cuStreamCreate(&b, CU_STREAM_DEFAULT);
	bad += cuEventCreate(&e, CU_EVENT_DEFAULT) || cuEventCreate(&done, CU_EVENT_DEFAULT);
	for (int i = 0; i < ROUNDS; i++) {
		bad += !!launch_timed(a, &kernel);
		bad += !!cuEventRecord(e, a);
		bad += !!cuStreamWaitEvent(b, e, 0);
		bad += !!cuStreamWaitEvent(b, shared_events[(me + 1) % CROWD], 0);
		bad += !!launch_timed(b, &kernel);
		bad += !!cuEventRecord(done, b);
		if (i % 10 == 0)
			bad += !!cuEventRecord(done, NULL);
		cuEventQuery(shared_events[(me + 2) % CROWD]);
		if (i % 20 == 0)
			bad += !!cuEventSynchronize(done);
	}
	bad += !!cuCtxSynchronize();
	bad += kernel.ran != 2 * ROUNDS;
	bad += cuStreamDestroy_v2(a) || cuStreamDestroy_v2(b);
	bad += cuEventDestroy_v2(e) || cuEventDestroy_v2(done);
	return (void *)bad;
}

static void many_threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[CROWD];

	(void)state;
	for (int i = 0; i < CROWD; i++) {
		use_device(i % 4);
		shared_events[i] = record_new(NULL);
	}
	use_device(0);
	for (int i = 0; i < CROWD; i++)
		pthread_create(&threads[i], NULL, one_of_the_crowd, (void *)(intptr_t)i);
	for (int i = 0; i < CROWD; i++) {
		void *bad;

		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels_of_a_stream_run_one_after_the_other, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(times_are_computed_and_not_measured, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			an_event_on_an_idle_stream_is_complete_inside_the_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stream_waits_for_an_event_of_another, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_wait_takes_the_record_of_its_moment, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_wait_outlives_its_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_wait_for_an_event_never_recorded_is_no_wait,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stream_waits_for_another_device, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_destroyed_stream_still_does_its_work, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_host_function_has_its_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(synchronizing_a_context_waits_for_all_of_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(many_threads_do_not_disturb_each_other, set_up,
						tear_down),
		/* Leaves an hour of work behind. */
		cmocka_unit_test_setup(computing_needs_no_thread_and_is_known_ahead, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
