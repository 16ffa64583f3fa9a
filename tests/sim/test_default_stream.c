/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

#define MS 1000000u

static int set_up(void **state)
{
	(void)state;
	use_device(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	OK(cuCtxSynchronize());
	assert_null(simFirstMisuse());
	return 0;
}

static void the_default_stream_waits_for_blocking_streams(void **state)
{
	CUstream blocking = new_stream(CU_STREAM_DEFAULT);
	struct gate gate = GATE;
	struct timed behind = { .ns = 5 };
	CUevent on_blocking, on_default;

	(void)state;
	OK(launch_gate(blocking, &gate));
	on_blocking = record_new(blocking);
	OK(launch_timed(NULL, &behind));
	on_default = record_new(CU_STREAM_LEGACY);
	assert_int_equal(cuEventQuery(on_default), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuStreamSynchronize(NULL));
	assert_int_equal(behind.start_ns, time_of(on_blocking));
	assert_int_equal(time_of(on_default), behind.start_ns + 5);
	OK(cuStreamQuery(NULL));
}

static void blocking_streams_wait_for_the_default_stream(void **state)
{
	CUstream blocking = new_stream(CU_STREAM_DEFAULT);
	struct gate gate = GATE;
	struct timed behind = { .ns = 1 };
	CUevent on_default;

	(void)state;
	OK(launch_gate(NULL, &gate));
	on_default = record_new(NULL);
	OK(launch_timed(blocking, &behind));
	assert_int_equal(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuStreamSynchronize(blocking));
	assert_int_equal(behind.start_ns, time_of(on_default));
}

static void blocking_streams_do_not_wait_for_each_other(void **state)
{
	CUstream a = new_stream(CU_STREAM_DEFAULT), b = new_stream(CU_STREAM_DEFAULT);
	struct gate gate = GATE;

	(void)state;
	OK(launch_gate(a, &gate));
	OK(cuEventQuery(record_new(b)));
	open_gate(&gate);
}

static void non_blocking_streams_do_not_care(void **state)
{
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
	struct gate on_a = GATE, on_default = GATE;

	(void)state;
	OK(launch_gate(a, &on_a));
	OK(cuEventQuery(record_new(NULL)));
	OK(launch_gate(NULL, &on_default));
	OK(cuEventQuery(record_new(b)));
	OK(cuStreamQuery(b));
	open_gate(&on_a);
	open_gate(&on_default);
}

static void synchronizing_a_stream_waits_for_its_own_work_only(void **state)
{
	CUstream s = new_stream(CU_STREAM_DEFAULT);
	struct gate gate = GATE;

	(void)state;
	OK(launch_gate(NULL, &gate));
	OK(cuStreamQuery(s));
	OK(cuStreamSynchronize(s));
	open_gate(&gate);
}

/* Computing is in order too, though nothing waits for it in a queue. */
static void order_holds_for_what_is_only_computed(void **state)
{
	CUstream a = new_stream(CU_STREAM_DEFAULT), b = new_stream(CU_STREAM_DEFAULT);
	CUevent on_a, on_default, on_b;

	(void)state;
	OK(simCompute(a, 3600u * 1000u * (uint64_t)MS));
	on_a = record_new(a);
	OK(simCompute(NULL, 10 * MS));
	on_default = record_new(NULL);
	OK(simCompute(b, 1 * MS));
	on_b = record_new(b);
	assert_int_equal(time_of(on_default), time_of(on_a) + 10 * MS);
	assert_int_equal(time_of(on_b), time_of(on_default) + 1 * MS);
}

struct threads_own {
	CUcontext context;
	CUevent event;
	CUresult result;
};

static void *use_own_default(void *arg)
{
	struct threads_own *t = arg;

	t->result = cuCtxSetCurrent(t->context);
	if (!t->result)
		t->result = cuEventCreate(&t->event, CU_EVENT_DEFAULT);
	if (!t->result)
		t->result = cuEventRecord(t->event, CU_STREAM_PER_THREAD);
	if (!t->result)
		t->result = cuEventQuery(t->event);
	return NULL;
}

static void each_thread_has_a_default_stream_of_its_own(void **state)
{
	struct gate gate = GATE;
	struct threads_own other = { .context = use_device(0) };
	pthread_t thread;

	(void)state;
	OK(launch_gate(CU_STREAM_PER_THREAD, &gate));
	assert_int_equal(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
	pthread_create(&thread, NULL, use_own_default, &other);
	pthread_join(thread, NULL);
	assert_int_equal(other.result, CUDA_SUCCESS);
	/* It is a blocking stream. */
	assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
}

static void each_context_has_default_streams_of_its_own(void **state)
{
	struct gate gate = GATE;
	CUcontext here = use_device(0), there, of;

	(void)state;
	OK(launch_gate(NULL, &gate));
	there = use_device(1);
	OK(cuEventQuery(record_new(NULL)));
	OK(cuEventQuery(record_new(CU_STREAM_PER_THREAD)));
	OK(cuStreamGetCtx(NULL, &of));
	assert_ptr_equal(of, there);
	OK(cuStreamGetCtx(CU_STREAM_PER_THREAD, &of));
	assert_ptr_equal(of, there);
	OK(cuCtxSetCurrent(here));
	OK(cuStreamGetCtx(NULL, &of));
	assert_ptr_equal(of, here);
	open_gate(&gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_default_stream_waits_for_blocking_streams,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(blocking_streams_wait_for_the_default_stream,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(blocking_streams_do_not_wait_for_each_other, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(non_blocking_streams_do_not_care, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_thread_has_a_default_stream_of_its_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_context_has_default_streams_of_its_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(synchronizing_a_stream_waits_for_its_own_work_only,
						set_up, tear_down),
		/* Leaves an hour of work behind. */
		cmocka_unit_test_setup(order_holds_for_what_is_only_computed, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
