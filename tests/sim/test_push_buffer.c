/* SPDX-License-Identifier: Apache-2.0 */
/* A hardware queue that holds no more: a thread that adds to it blocks inside the driver, and so
 * does every other thread that calls the driver meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

static int holds; /* entries of a queue */
static CUcontext context;
static CUstream stream, other;
static CUevent events[64];
static _Atomic int recorded;
static _Atomic uint64_t asked_ns, answered_ns;

static void *record(void *arg)
{
	if (cuCtxSetCurrent(context))
		abort();
	for (int i = 0; i < 2 * holds; i++) {
		if (cuEventRecord(events[i], arg))
			abort();
		recorded++;
	}
	return NULL;
}

static void *ask(void *arg)
{
	asked_ns = simNow();
	if (cuCtxSetCurrent(context) || cuStreamQuery(arg))
		abort();
	answered_ns = simNow();
	return NULL;
}

static void wait_until_full(void)
{
	/* the kernel takes the first entry, and one is inside the driver with an event more than
	 * fits */
	while (recorded < holds - 1)
		sched_yield();
}

static void set_current(void)
{
	context = use_device(0);
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	other = new_stream(CU_STREAM_NON_BLOCKING);
	for (int i = 0; i < 2 * holds; i++)
		OK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
}

static void a_writer_that_finds_it_full_waits_and_all_others_too(void **state)
{
	struct gate gate = GATE;
	pthread_t recorder, asker;
	uint64_t opened_ns;

	(void)state;
	set_current();
	OK(launch_gate(stream, &gate));
	recorded = 0;
	assert_int_equal(pthread_create(&recorder, NULL, record, stream), 0);
	wait_until_full();
	assert_int_equal(recorded, holds - 1);
	assert_int_equal(pthread_create(&asker, NULL, ask, other), 0);
	while (!asked_ns)
		sched_yield();
	simSleepUntil(asked_ns + 2000000);
	opened_ns = simNow();
	assert_int_equal(recorded, holds - 1);
	open_gate(&gate);
	pthread_join(recorder, NULL);
	pthread_join(asker, NULL);
	assert_int_equal(recorded, 2 * holds);
	assert_true(answered_ns >= opened_ns);
	assert_null(simFirstMisuse());
}

static void what_is_done_takes_no_entry(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * holds; i++)
		OK(cuEventRecord(events[i], other));
	OK(cuStreamSynchronize(other));
	assert_null(simFirstMisuse());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_that_finds_it_full_waits_and_all_others_too),
		cmocka_unit_test(what_is_done_takes_no_entry),
	};
	const char *buffer = getenv("SIM_PUSH_BUFFER");

	holds = buffer ? atoi(buffer) : 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
