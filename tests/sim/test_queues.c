/* SPDX-License-Identifier: Apache-2.0 */
/* Timed and untimed events where streams of a device share a hardware queue, and where they do not:
 * how many there are stands in the environment. Times are computed, so that they are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

#define MS 1000000u

/* so far behind the present that a machine seldom catches up with it; then it is done again */
#define LONG (500 * (uint64_t)MS)

static CUstream comm, compute;
static int queues; /* of a device */

static int set_up(void **state)
{
	const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");

	(void)state;
	queues = connections ? atoi(connections) : 8;
	use_device(0);
	comm = new_stream(CU_STREAM_NON_BLOCKING);
	compute = new_stream(CU_STREAM_NON_BLOCKING);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	OK(cuCtxSynchronize());
	assert_null(simFirstMisuse());
	return 0;
}

static CUevent record(CUstream stream, unsigned int flags)
{
	CUevent event;

	OK(cuEventCreate(&event, flags));
	OK(cuEventRecord(event, stream));
	return event;
}

/* When computing of 1 ms on one stream is done, after `flags` says what was recorded behind a long
 * kernel on another: before that kernel's end, or after it. */
static int waits(CUstream on, unsigned int flags)
{
	CUevent long_end, done;

	do {
		OK(simCompute(comm, LONG));
		long_end = record(comm, flags);
		OK(simCompute(on, 1 * MS));
		done = record(on, CU_EVENT_DISABLE_TIMING);
	} while (simNow() >= time_of(long_end));
	assert_true(time_of(done) < time_of(long_end) ||
		    time_of(done) == time_of(long_end) + 1 * MS);
	return time_of(done) > time_of(long_end);
}

static void a_timed_event_holds_up_other_streams_of_one_queue(void **state)
{
	(void)state;
	assert_int_equal(waits(compute, CU_EVENT_DEFAULT), queues == 1);
}

static void an_untimed_event_holds_up_no_one(void **state)
{
	(void)state;
	assert_false(waits(compute, CU_EVENT_DISABLE_TIMING));
}

static void streams_beyond_the_queues_share_them(void **state)
{
	static const int looked_at[] = { 2, 3, 8 };
	CUstream nth[9]; /* made after `comm` */

	(void)state;
	for (int i = 2; i < 9; i++)
		nth[i] = new_stream(CU_STREAM_NON_BLOCKING);
	for (int i = 0; i < 3; i++)
		assert_int_equal(waits(nth[looked_at[i]], CU_EVENT_DEFAULT),
				 looked_at[i] % queues == 0);
}

static void other_devices_have_other_queues(void **state)
{
	CUevent here, there;

	(void)state;
	do {
		use_device(0);
		OK(simCompute(comm, LONG));
		here = record(comm, CU_EVENT_DEFAULT);
		use_device(1);
		there = record(new_stream(CU_STREAM_NON_BLOCKING), CU_EVENT_DEFAULT);
	} while (simNow() >= time_of(here));
	assert_true(time_of(there) < time_of(here));
	use_device(0);
}

/* The end of the kernel before it is not known when the second stream gets its work. */
static void a_timed_event_behind_a_running_kernel_holds_up_too(void **state)
{
	struct gate gate = GATE;
	struct timed kernel = { .ns = 1 * MS };
	CUevent behind;

	(void)state;
	OK(launch_gate(comm, &gate));
	behind = record(comm, CU_EVENT_DEFAULT);
	OK(launch_timed(compute, &kernel));
	if (queues == 1) {
		simSleepUntil(simNow() + 20 * MS);
		assert_false(kernel.ran);
	} else {
		OK(cuStreamSynchronize(compute));
		assert_int_equal(cuEventQuery(behind), CUDA_ERROR_NOT_READY);
	}
	open_gate(&gate);
	OK(cuStreamSynchronize(compute));
	assert_int_equal(kernel.start_ns >= time_of(behind), (queues == 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_timed_event_holds_up_other_streams_of_one_queue,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_untimed_event_holds_up_no_one, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(streams_beyond_the_queues_share_them, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(other_devices_have_other_queues, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_timed_event_behind_a_running_kernel_holds_up_too,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
