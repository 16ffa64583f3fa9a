/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of misuse gives CUDA's error and is counted; what is not a misuse is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

/* The call answers so, and is the program's fault. */
#define BLAMED(call, error)                                                                        \
	do {                                                                                       \
		uint64_t before = simMisuse();                                                     \
                                                                                                   \
		assert_int_equal(call, error);                                                     \
		assert_int_equal(simMisuse(), before + 1);                                         \
	} while (0)

static CUcontext first, second;
static CUstream stream, second_stream;
static CUevent event, second_event, untimed;
static CUdeviceptr memory;

static void nothing_works_before_init(void **state)
{
	CUcontext c;
	int n;

	(void)state;
	BLAMED(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	assert_string_equal(simFirstMisuse(), "cuDeviceGetCount: before cuInit");
	BLAMED(cuCtxGetCurrent(&c), CUDA_ERROR_NOT_INITIALIZED);
	BLAMED(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	assert_string_equal(simFirstMisuse(), "cuDeviceGetCount: before cuInit");
}

static void nothing_works_without_a_context(void **state)
{
	CUcontext c;
	CUevent e;
	CUstream s;
	CUdevice d;

	(void)state;
	OK(cuInit(0));
	OK(cuCtxGetCurrent(&c));
	assert_null(c);
	BLAMED(cuCtxGetDevice(&d), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuEventCreate(&e, CU_EVENT_DEFAULT), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuStreamCreate(&s, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuEventQuery((CUevent)0x1230), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(simCompute(NULL, 1), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuCtxPopCurrent_v2(&c), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuCtxPushCurrent_v2((CUcontext)&c), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuCtxSetCurrent((CUcontext)0x10), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuCtxPushCurrent_v2(NULL), CUDA_ERROR_INVALID_CONTEXT);
	BLAMED(cuDevicePrimaryCtxRetain(&c, 8), CUDA_ERROR_INVALID_DEVICE);
	BLAMED(cuDeviceGet(&d, -1), CUDA_ERROR_INVALID_DEVICE);
}

static int make_all(void **state)
{
	(void)state;
	second = use_device(1);
	second_stream = new_stream(CU_STREAM_NON_BLOCKING);
	second_event = record_new(second_stream);
	first = use_device(0);
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	event = record_new(stream);
	OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
	OK(cuEventRecord(untimed, stream));
	OK(cuMemAlloc_v2(&memory, 1000));
	return 0;
}

static void a_handle_must_be_one(void **state)
{
	CUstreamCaptureStatus status;
	int on_stack;
	float ms;

	(void)state;
	BLAMED(cuEventQuery(NULL), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventQuery((CUevent)&on_stack), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventQuery((CUevent)stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventRecord((CUevent)first, stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventRecord(event, (CUstream)event), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventSynchronize((CUevent)0x7), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime(&ms, event, NULL), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuStreamQuery((CUstream)0x3), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuStreamWaitEvent(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuStreamIsCapturing((CUstream)&on_stack, &status), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuCtxSetCurrent((CUcontext)event), CUDA_ERROR_INVALID_CONTEXT);
}

static void a_destroyed_handle_is_none_for_ever(void **state)
{
	CUstream dead_stream = new_stream(CU_STREAM_DEFAULT);
	CUevent dead = record_new(stream);
	float ms;

	(void)state;
	OK(cuStreamDestroy_v2(dead_stream));
	OK(cuEventDestroy_v2(dead));
	/* More than would fit, so that its slot is taken again. */
	for (int i = 0; i < 5000; i++) {
		CUevent e;

		OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
		assert_ptr_not_equal(e, dead);
		assert_ptr_not_equal(e, dead_stream);
		if (i % 2)
			OK(cuEventDestroy_v2(e));
	}
	BLAMED(cuEventDestroy_v2(dead), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventQuery(dead), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventRecord(dead, stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime(&ms, event, dead), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuStreamWaitEvent(stream, dead, 0), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuStreamDestroy_v2(dead_stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventRecord(event, dead_stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(simCompute(dead_stream, 1), CUDA_ERROR_INVALID_HANDLE);
}

static void an_event_belongs_to_its_context(void **state)
{
	float ms;

	(void)state;
	BLAMED(cuEventRecord(event, second_stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventRecord(second_event, stream), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventRecord(second_event, NULL), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime(&ms, event, second_event), CUDA_ERROR_INVALID_HANDLE);
}

static void kernels_go_to_the_current_context(void **state)
{
	struct timed t = { .ns = 1 };

	(void)state;
	BLAMED(launch_timed(second_stream, &t), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(simCompute(second_stream, 1), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(t.done, 0);
	BLAMED(simLaunch(stream, NULL), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuLaunchHostFunc(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void elapsed_time_needs_two_recorded_timed_events(void **state)
{
	CUevent never;
	float ms;

	(void)state;
	OK(cuEventCreate(&never, CU_EVENT_DEFAULT));
	BLAMED(cuEventElapsedTime(&ms, event, never), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime_v2(&ms, never, event), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime(&ms, untimed, event), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime(&ms, event, untimed), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuEventElapsedTime(NULL, event, event), CUDA_ERROR_INVALID_VALUE);
}

static void flags_must_be_known(void **state)
{
	CUstreamCaptureMode mode = 3;
	CUstream s;
	CUevent e;

	(void)state;
	BLAMED(cuEventCreate(&e, 8), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuEventCreate(&e, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
	OK(cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	BLAMED(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuStreamWaitEvent(stream, event, 2), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuEventRecordWithFlags(event, stream, 1), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
	BLAMED(cuStreamDestroy_v2(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
}

static void memory_has_an_end(void **state)
{
	char host[2000] = { 0 };
	CUdeviceptr freed;

	(void)state;
	OK(cuMemAlloc_v2(&freed, 10));
	OK(cuMemFree_v2(freed));
	BLAMED(cuMemFree_v2(freed), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemFree_v2(memory + 1), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemAlloc_v2(&freed, 0), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemcpyHtoD_v2(memory, host, 1001), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemcpyDtoH_v2(host, memory + 999, 2), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)host, host + 1000, 10),
	       CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemcpyDtoH_v2(host, (CUdeviceptr)(uintptr_t)host, 10), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)memory, memory, 10, stream),
	       CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemsetD8Async(memory + 900, 0, 101, stream), CUDA_ERROR_INVALID_VALUE);
	BLAMED(cuMemFreeHost((void *)(uintptr_t)memory), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpyHtoD_v2(memory, host, 1000));
}

static CUresult inside;

static void call_cuda(void *arg)
{
	inside = cuEventQuery(arg);
}

static void host_functions_make_no_calls(void **state)
{
	uint64_t before = simMisuse();

	(void)state;
	OK(cuLaunchHostFunc(stream, call_cuda, event));
	OK(cuStreamSynchronize(stream));
	assert_int_equal(inside, CUDA_ERROR_NOT_PERMITTED);
	assert_int_equal(simMisuse(), before + 1);
}

static void others_may_add_theirs(void **state)
{
	uint64_t before = simMisuse();

	(void)state;
	simBlame("ncclSend", "no such peer");
	assert_int_equal(simMisuse(), before + 1);
}

static void what_is_no_misuse_is_not_counted(void **state)
{
	uint64_t before = simMisuse();
	struct gate gate = GATE;
	CUevent e;
	float ms;

	(void)state;
	OK(launch_gate(stream, &gate));
	e = record_new(stream);
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuEventElapsedTime(&ms, event, e), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	/* Across contexts and from another one, as CUDA has it. */
	OK(cuEventQuery(second_event));
	OK(cuEventSynchronize(second_event));
	OK(cuStreamSynchronize(second_stream));
	OK(cuStreamWaitEvent(stream, second_event, 0));
	OK(cuStreamWaitEvent(second_stream, event, 0));
	OK(cuCtxPushCurrent_v2(second));
	OK(cuEventRecord(event, stream));
	OK(cuCtxPopCurrent_v2(NULL));
	assert_int_equal(simMisuse(), before);
}

int main(void)
{
	/* In this order: the first two are about what was not done yet. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_works_before_init),
		cmocka_unit_test(nothing_works_without_a_context),
		cmocka_unit_test_setup(a_handle_must_be_one, make_all),
		cmocka_unit_test_setup(a_destroyed_handle_is_none_for_ever, make_all),
		cmocka_unit_test_setup(an_event_belongs_to_its_context, make_all),
		cmocka_unit_test_setup(kernels_go_to_the_current_context, make_all),
		cmocka_unit_test_setup(elapsed_time_needs_two_recorded_timed_events, make_all),
		cmocka_unit_test_setup(flags_must_be_known, make_all),
		cmocka_unit_test_setup(memory_has_an_end, make_all),
		cmocka_unit_test_setup(host_functions_make_no_calls, make_all),
		cmocka_unit_test(others_may_add_theirs),
		cmocka_unit_test_setup(what_is_no_misuse_is_not_counted, make_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
