/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"

enum { BYTES = 100000 };

static CUstream stream;
static CUdeviceptr device;
static unsigned char *pinned;

static int set_up(void **state)
{
	void *p;

	(void)state;
	use_device(0);
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuMemAlloc_v2(&device, BYTES));
	OK(cuMemHostAlloc(&p, BYTES, 0));
	pinned = p;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	OK(cuMemFree_v2(device));
	OK(cuMemFreeHost(pinned));
	assert_null(simFirstMisuse());
	return 0;
}

static void bytes_go_there_and_back(void **state)
{
	unsigned char there[BYTES], back[BYTES];
	CUdeviceptr other;

	(void)state;
	for (int i = 0; i < BYTES; i++)
		there[i] = (unsigned char)(i * 31);
	OK(cuMemAlloc_v2(&other, BYTES));
	OK(cuMemcpyHtoD_v2(device, there, BYTES));
	OK(cuMemcpyDtoD_v2(other, device, BYTES));
	OK(cuMemsetD8_v2(other + 10, 0xee, 5));
	OK(cuMemcpyDtoH_v2(back, other, BYTES));
	memset(there + 10, 0xee, 5);
	assert_memory_equal(there, back, BYTES);
	OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, device, 20));
	assert_int_equal(back[12], (unsigned char)(12 * 31));
	OK(cuMemFree_v2(other));
}

static void copies_have_their_turn_on_the_stream(void **state)
{
	struct gate gate = GATE;

	(void)state;
	memset(pinned, 1, BYTES);
	OK(cuMemsetD8Async(device, 7, BYTES, stream));
	OK(cuStreamSynchronize(stream));
	OK(launch_gate(stream, &gate));
	OK(cuMemcpyDtoHAsync_v2(pinned, device, BYTES, stream));
	OK(cuMemsetD8Async(device, 9, BYTES, stream));
	assert_int_equal(pinned[5], 1);
	open_gate(&gate);
	OK(cuStreamSynchronize(stream));
	assert_int_equal(pinned[5], 7);
	OK(cuMemcpyDtoHAsync_v2(pinned, device, BYTES, stream));
	OK(cuStreamSynchronize(stream));
	assert_int_equal(pinned[5], 9);
}

/* Pinned memory is read when the copy has its turn, any other before the call returns. */
static void pageable_memory_may_be_used_again_at_once(void **state)
{
	struct gate gate = GATE;
	unsigned char *pageable = malloc(BYTES), back[2];

	(void)state;
	memset(pageable, 1, BYTES);
	memset(pinned, 1, BYTES);
	OK(launch_gate(stream, &gate));
	OK(cuMemcpyHtoDAsync_v2(device, pageable, 10, stream));
	OK(cuMemcpyAsync(device + 10, (CUdeviceptr)(uintptr_t)pinned, 10, stream));
	memset(pageable, 2, BYTES);
	free(pageable);
	memset(pinned, 2, BYTES);
	open_gate(&gate);
	OK(cuMemcpyDtoHAsync_v2(back, device, 1, stream));
	assert_int_equal(back[0], 1);
	OK(cuMemcpyDtoHAsync_v2(back, device + 10, 1, stream));
	assert_int_equal(back[0], 2);
}

static void a_copy_takes_as_long_as_the_model_says(void **state)
{
	CUevent start, end, again;

	(void)state;
	start = record_new(stream);
	OK(cuMemcpyDtoDAsync_v2(device, device + BYTES / 2, BYTES / 2, stream));
	end = record_new(stream);
	OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)pinned, device, BYTES, stream));
	again = record_new(stream);
	OK(cuStreamSynchronize(stream));
	assert_true(time_of(end) >= time_of(start) + 1000 + BYTES / 2 / 2000);
	assert_true(time_of(again) >= time_of(end) + 2000 + BYTES / 50);
}

/* CUDA frees nothing that a kernel may still use. */
static void freeing_waits_for_the_work(void **state)
{
	struct timed kernel = { .ns = 3000000 };
	CUdeviceptr p;

	(void)state;
	OK(cuMemAlloc_v2(&p, 100));
	OK(launch_timed(stream, &kernel));
	OK(cuMemFree_v2(p));
	assert_int_equal(kernel.ran, 1);
	assert_true(simNow() >= kernel.start_ns + kernel.ns);
}

static void ranges_are_known(void **state)
{
	char *p = (char *)(uintptr_t)device;
	CUdeviceptr many[100];
	int local;

	(void)state;
	OK(simCheckRange(p, BYTES));
	OK(simCheckRange(p + 1, BYTES - 1));
	OK(simCheckRange(p + BYTES - 1, 0));
	OK(simCheckRange(pinned, BYTES));
	assert_int_equal(simCheckRange(p, BYTES + 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simCheckRange(p + 5, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simCheckRange(p + BYTES, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simCheckRange(p - 1, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simCheckRange(&local, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(simCheckRange(NULL, 1), CUDA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 100; i++)
		OK(cuMemAlloc_v2(&many[i], (size_t)(i + 1) * 7));
	for (int i = 0; i < 100; i += 2)
		OK(cuMemFree_v2(many[i]));
	for (int i = 0; i < 100; i++) {
		void *at = (void *)(uintptr_t)many[i];
		size_t bytes = (size_t)(i + 1) * 7;

		assert_int_equal(simCheckRange(at, bytes),
				 i % 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
		assert_int_equal(simCheckRange(at, bytes + 1), CUDA_ERROR_INVALID_VALUE);
	}
	for (int i = 1; i < 100; i += 2)
		OK(cuMemFree_v2(many[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bytes_go_there_and_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies_have_their_turn_on_the_stream, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(pageable_memory_may_be_used_again_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_copy_takes_as_long_as_the_model_says, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(freeing_waits_for_the_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ranges_are_known, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
