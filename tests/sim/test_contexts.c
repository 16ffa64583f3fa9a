/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

static CUcontext current(void)
{
	CUcontext c;

	OK(cuCtxGetCurrent(&c));
	return c;
}

static void a_device_has_one_context(void **state)
{
	CUcontext a, b, again;
	CUdevice device;

	(void)state;
	OK(cuInit(0));
	assert_null(current());
	OK(cuDevicePrimaryCtxRetain(&a, 0));
	OK(cuDevicePrimaryCtxRetain(&b, 1));
	OK(cuDevicePrimaryCtxRetain(&again, 0));
	assert_ptr_equal(a, again);
	assert_ptr_not_equal(a, b);
	OK(cuCtxSetCurrent(b));
	OK(cuCtxGetDevice(&device));
	assert_int_equal(device, 1);
	OK(cuCtxSetCurrent(NULL));
	assert_null(current());
}

static void contexts_are_pushed_and_popped(void **state)
{
	CUcontext a = use_device(0), b, popped;

	(void)state;
	OK(cuDevicePrimaryCtxRetain(&b, 1));
	OK(cuCtxPushCurrent_v2(b));
	OK(cuCtxPushCurrent_v2(a));
	assert_ptr_equal(current(), a);
	OK(cuCtxPopCurrent_v2(&popped));
	assert_ptr_equal(popped, a);
	assert_ptr_equal(current(), b);
	OK(cuCtxSetCurrent(a)); /* instead of the topmost */
	OK(cuCtxPopCurrent_v2(NULL));
	assert_ptr_equal(current(), a);
	OK(cuCtxSetCurrent(NULL));
	assert_null(current());
}

struct thread_state {
	CUcontext context;
	CUstreamCaptureMode mode;
	CUresult result;
};

static void *look(void *arg)
{
	struct thread_state *t = arg;

	t->result = cuCtxGetCurrent(&t->context);
	t->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	if (!t->result)
		t->result = cuThreadExchangeStreamCaptureMode(&t->mode);
	return NULL;
}

static void each_thread_has_its_own_current_context_and_mode(void **state)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
	struct thread_state other;
	CUcontext a = use_device(0);
	pthread_t thread;

	(void)state;
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	pthread_create(&thread, NULL, look, &other);
	pthread_join(thread, NULL);
	assert_int_equal(other.result, CUDA_SUCCESS);
	assert_null(other.context);
	assert_int_equal(other.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	assert_ptr_equal(current(), a);
	mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

static void a_stream_reports_its_context_flags_and_priority(void **state)
{
	CUcontext a = use_device(0), of;
	CUstreamCaptureStatus status = 9;
	CUstream s;
	unsigned int flags;
	int priority, least, greatest;

	(void)state;
	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	assert_true(greatest < least);
	OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -1000));
	use_device(1);
	OK(cuStreamGetCtx(s, &of));
	assert_ptr_equal(of, a);
	OK(cuStreamGetFlags(s, &flags));
	assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
	OK(cuStreamGetPriority(s, &priority));
	assert_int_equal(priority, greatest);
	OK(cuStreamIsCapturing(s, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuStreamIsCapturing(NULL, &status));
}

static void errors_have_names(void **state)
{
	const char *text;

	(void)state;
	OK(cuGetErrorName(CUDA_ERROR_NOT_READY, &text));
	assert_string_equal(text, "CUDA_ERROR_NOT_READY");
	OK(cuGetErrorString(CUDA_ERROR_NOT_READY, &text));
	assert_true(strlen(text) > 5);
	assert_int_equal(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
	assert_null(text);
}

static void devices_are_counted_and_named(void **state)
{
	char a[16], b[16];
	int n, version;

	(void)state;
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 8);
	OK(cuDeviceGetPCIBusId(a, sizeof(a), 0));
	OK(cuDeviceGetPCIBusId(b, sizeof(b), 7));
	assert_string_not_equal(a, b);
	OK(cuDriverGetVersion(&version));
	assert_int_equal(version, 13000);
}

static void nothing_of_this_was_misuse(void **state)
{
	(void)state;
	assert_null(simFirstMisuse());
}

struct waiter {
	CUcontext context;
	CUevent event;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	CUresult result = cuCtxSetCurrent(w->context);

	return (void *)(intptr_t)(result ? result : cuEventSynchronize(w->event));
}

/* Last: the context of device 2 is lost. */
static void a_failed_kernel_ends_its_context(void **state)
{
	struct timed bad = { .ns = 1, .error = CUDA_ERROR_LAUNCH_FAILED }, behind = { .ns = 1 };
	struct gate stuck = GATE, gate = GATE;
	CUcontext c = use_device(2);
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING), other = new_stream(CU_STREAM_NON_BLOCKING),
		 s2;
	CUevent e, e2;
	struct waiter waiter = { .context = c };
	pthread_t thread;
	void *result;

	(void)state;
	OK(launch_gate(other, &stuck));
	waiter.event = record_new(other);
	OK(launch_gate(s, &gate));
	OK(launch_timed(s, &bad));
	OK(launch_timed(s, &behind));
	e = record_new(s);
	pthread_create(&thread, NULL, wait_for_it, &waiter);
	open_gate(&gate);
	assert_int_equal(cuEventSynchronize(e), CUDA_ERROR_LAUNCH_FAILED);
	/* Ranks that wait behind the stuck kernel are reported too. */
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(cuStreamSynchronize(s), CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(cuStreamCreate(&s2, 0), CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
	while (!behind.done)
		simSleepUntil(simNow() + 100000);
	assert_int_equal(behind.ran, 0);
	/* Other contexts go on, and can be gone to; what is of the lost one answers there too. */
	use_device(0);
	e2 = record_new(NULL);
	OK(cuEventQuery(e2));
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_LAUNCH_FAILED);
	OK(cuCtxSetCurrent(c));
	assert_int_equal(cuEventQuery(e2), CUDA_ERROR_LAUNCH_FAILED);
	open_gate(&stuck);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_one_context),
		cmocka_unit_test(contexts_are_pushed_and_popped),
		cmocka_unit_test(each_thread_has_its_own_current_context_and_mode),
		cmocka_unit_test(a_stream_reports_its_context_flags_and_priority),
		cmocka_unit_test(errors_have_names),
		cmocka_unit_test(devices_are_counted_and_named),
		cmocka_unit_test(nothing_of_this_was_misuse),
		cmocka_unit_test(a_failed_kernel_ends_its_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
