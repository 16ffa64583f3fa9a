/* SPDX-License-Identifier: Apache-2.0 */
/* A program on AMD's runtime: nothing can be asked of its streams, so whether one is captured is
 * unknown. Each case in a process of its own, since what there is is looked for once. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpose/gpu/capture_state.h"
#include "interpose/gpu/choice/mode.h"

static int asked_with(const char *library)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		CUcontext current;

		if (library && !dlopen(library, RTLD_NOW | RTLD_LOCAL))
			_exit(99);
		atomic_store(&ct_gpu_mode, CT_GPU_TIMED);
		_exit((int)ct_gpu_capture_state(NULL, 0, &current));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_cuda_a_stream_is_its_own(void **state)
{
	(void)state;
	assert_int_equal(asked_with(NULL), CT_GPU_FREE);
}

static void under_hip_nothing_is_known_of_a_stream(void **state)
{
	(void)state;
	assert_int_equal(asked_with(getenv("CT_FAKE_HIP")), CT_GPU_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_cuda_a_stream_is_its_own),
		cmocka_unit_test(under_hip_nothing_is_known_of_a_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
