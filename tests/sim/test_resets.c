/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that end while the process goes on, and those whose streams do not show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/kernels.h"
#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"

static int is_active(CUdevice device)
{
	unsigned int flags;
	int active;

	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	return active;
}

static void a_reset_ends_what_is_in_a_context(void **state)
{
	CUcontext before = use_device(0), after;
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent event = record_new(stream);

	(void)state;
	OK(cuDevicePrimaryCtxReset_v2(0));
	assert_false(is_active(0));
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	assert_int_equal(cuCtxPushCurrent_v2(before), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuDevicePrimaryCtxRetain(&after, 0));
	assert_ptr_equal(after, before);
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventQuery(record_new(new_stream(CU_STREAM_NON_BLOCKING))));
	OK(cuEventQuery(record_new(NULL)));
}

static void a_release_ends_a_context_only_if_it_is_the_last(void **state)
{
	CUcontext context;
	CUevent event;

	(void)state;
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	OK(cuCtxSetCurrent(context));
	event = record_new(NULL);
	OK(cuDevicePrimaryCtxRelease_v2(1));
	assert_true(is_active(1));
	OK(cuEventQuery(event));
	OK(cuDevicePrimaryCtxRelease_v2(1));
	assert_false(is_active(1));
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	use_device(0);
}

static void a_context_of_the_programs_own_can_be_destroyed(void **state)
{
	CUcontext primary = use_device(0), own, current;
	CUevent event;

	(void)state;
	OK(cuCtxCreate_v2(&own, 0, 0));
	OK(cuCtxGetCurrent(&current));
	assert_ptr_equal(current, own);
	event = record_new(NULL);
	OK(cuCtxDestroy_v2(own));
	OK(cuCtxGetCurrent(&current));
	assert_ptr_equal(current, primary);
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
	assert_null(simFirstMisuse());
	assert_int_equal(cuCtxDestroy_v2(primary), CUDA_ERROR_INVALID_CONTEXT);
}

static void the_runtime_makes_a_new_context_after_a_reset(void **state)
{
	cudaStream_t stream;
	int device;

	(void)state;
	OK(cudaSetDevice(2));
	OK(cudaStreamCreate(&stream));
	OK(cudaDeviceReset());
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 2);
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamSynchronize(stream));
}

static void a_green_stream_reports_its_context_only_the_new_way(void **state)
{
	CUcontext context = use_device(0), of = NULL;
	CUgreenCtx green, its;
	CUstream stream;
	CUevent event;

	(void)state;
	OK(cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
	assert_int_equal(cuStreamGetCtx(stream, &of), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuStreamGetCtx_v2(stream, &of, &its));
	assert_ptr_equal(of, context);
	assert_ptr_equal(its, green);
	event = record_new(stream);
	OK(cuEventSynchronize(event));
	OK(cuStreamGetCtx_v2(new_stream(CU_STREAM_NON_BLOCKING), &of, &its));
	assert_null(its);
}

static void a_stale_event_aborts_if_that_is_wanted(void **state)
{
	pid_t pid = fork();
	CUevent event;
	int status;

	(void)state;
	if (!pid) {
		setenv("SIM_GONE", "abort", 1);
		close(STDERR_FILENO);
		use_device(0);
		event = record_new(NULL);
		OK(cuDevicePrimaryCtxReset_v2(0));
		use_device(0);
		cuEventQuery(event);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first, while this process has no CUDA and its child may */
		cmocka_unit_test(a_stale_event_aborts_if_that_is_wanted),
		cmocka_unit_test(a_reset_ends_what_is_in_a_context),
		cmocka_unit_test(a_release_ends_a_context_only_if_it_is_the_last),
		cmocka_unit_test(a_context_of_the_programs_own_can_be_destroyed),
		cmocka_unit_test(the_runtime_makes_a_new_context_after_a_reset),
		cmocka_unit_test(a_green_stream_reports_its_context_only_the_new_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
