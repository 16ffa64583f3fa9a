/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/sim/kernels.h"
#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"

static CUdevice driver_device(void)
{
	CUdevice device;

	OK(cuCtxGetDevice(&device));
	return device;
}

/* First: nothing is initialized yet. */
static void the_first_call_makes_device_0_current(void **state)
{
	cudaStream_t stream;
	int device, n;

	(void)state;
	OK(cudaGetDeviceCount(&n));
	assert_int_equal(n, 8);
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 0);
	OK(cudaStreamCreate(&stream));
	assert_int_equal(driver_device(), 0);
	OK(cudaFree(NULL));
}

static void *other_thread(void *arg)
{
	int *device = arg;

	if (cudaGetDevice(device))
		*device = -1;
	return NULL;
}

static void each_thread_chooses_its_device(void **state)
{
	pthread_t thread;
	int device;

	(void)state;
	OK(cudaSetDevice(3));
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 3);
	assert_int_equal(driver_device(), 3);
	pthread_create(&thread, NULL, other_thread, &device);
	pthread_join(thread, NULL);
	assert_int_equal(device, 0);
	/* What the driver was given counts. */
	use_device(1);
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 1);
	OK(cudaSetDevice(0));
}

static void streams_and_events_are_the_drivers(void **state)
{
	struct timed kernel = { .ns = 100000 };
	enum cudaStreamCaptureStatus status;
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	cudaStream_t stream;
	cudaEvent_t start, end;
	unsigned int flags;
	float ms;

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamGetFlags(stream, &flags));
	assert_int_equal(flags, cudaStreamNonBlocking);
	OK(cudaEventCreate(&start));
	OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
	OK(cudaEventRecord(start, stream));
	OK(launch_timed(stream, &kernel));
	OK(cudaEventRecordWithFlags(end, stream, 0));
	OK(cudaStreamWaitEvent(NULL, end, 0));
	OK(cudaStreamSynchronize(NULL));
	OK(cuEventQuery(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	assert_true((double)ms >= 0.0995);
	OK(cudaStreamIsCapturing(stream, &status));
	assert_int_equal(status, cudaStreamCaptureStatusNone);
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, cudaStreamCaptureModeGlobal);
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	OK(cudaEventDestroy(start));
	OK(cudaStreamDestroy(stream));
	OK(cudaDeviceSynchronize());
}

static void copies_take_their_direction(void **state)
{
	char from[64], to[64] = { 0 };
	void *a, *b;

	(void)state;
	memset(from, 5, sizeof(from));
	OK(cudaMalloc(&a, 64));
	OK(cudaMalloc(&b, 64));
	OK(cudaMemcpy(a, from, 64, cudaMemcpyHostToDevice));
	OK(cudaMemcpyAsync(b, a, 64, cudaMemcpyDeviceToDevice, NULL));
	OK(cudaMemset(b, 6, 1));
	OK(cudaMemcpy(to, b, 64, cudaMemcpyDefault));
	assert_int_equal(to[0], 6);
	assert_int_equal(to[63], 5);
	OK(cudaMemcpyAsync(to, a, 64, cudaMemcpyDeviceToHost, NULL));
	assert_int_equal(to[0], 5);
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaMallocHost(&a, 64));
	OK(cudaFreeHost(a));
	OK(cudaMalloc(&a, 0));
	assert_null(a);
}

static void nothing_of_this_was_misuse(void **state)
{
	(void)state;
	assert_null(simFirstMisuse());
}

static void the_last_error_stays_until_it_is_asked_for(void **state)
{
	struct gate gate = GATE;
	char host[8];

	(void)state;
	OK(cudaGetLastError());
	assert_int_equal(cudaSetDevice(8), cudaErrorInvalidDevice);
	OK(cudaDeviceSynchronize());
	assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
	OK(cudaGetLastError());
	assert_int_equal(cudaMemcpy(host, host, 8, (enum cudaMemcpyKind)9),
			 cudaErrorInvalidMemcpyDirection);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
	/* As in CUDA, this one is remembered too. */
	OK(launch_gate(NULL, &gate));
	assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady);
	assert_int_equal(cudaGetLastError(), cudaErrorNotReady);
	open_gate(&gate);
	OK(cudaDeviceSynchronize());
}

static void errors_have_names(void **state)
{
	(void)state;
	assert_string_equal(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady");
	assert_string_equal(cudaGetErrorName(cudaErrorInvalidMemcpyDirection),
			    "cudaErrorInvalidMemcpyDirection");
	assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
	assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_call_makes_device_0_current),
		cmocka_unit_test(each_thread_chooses_its_device),
		cmocka_unit_test(streams_and_events_are_the_drivers),
		cmocka_unit_test(copies_take_their_direction),
		cmocka_unit_test(nothing_of_this_was_misuse),
		cmocka_unit_test(the_last_error_stays_until_it_is_asked_for),
		cmocka_unit_test(errors_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
