/* SPDX-License-Identifier: Apache-2.0 */
/* How processes with CUDA end, and what is left of it in their children. */
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
#include "tests/sim/late.h"
#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"

/* The exit code of a child that does this; a hang ends the test program by its time limit. */
static int child(int (*what)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		exit(what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct gate for_ever = GATE;
static CUevent after_gate;

static int leave_stuck_work(void)
{
	CUcontext c;
	CUstream s;

	if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c))
		return 1;
	if (cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) || launch_gate(s, &for_ever))
		return 2;
	if (simCompute(NULL, 3600000000000) || cuEventCreate(&after_gate, 0) ||
	    cuEventRecord(after_gate, s))
		return 3;
	while (!for_ever.timed.ran)
		simSleepUntil(simNow() + 100000);
	return 7;
}

/* First, while this process has no CUDA and its children may. */
static void stuck_work_keeps_no_process_from_ending(void **state)
{
	(void)state;
	assert_int_equal(child(leave_stuck_work), 7);
}

static void query_and_end(void)
{
	_exit(cuEventQuery(after_gate) == CUDA_ERROR_DEINITIALIZED && simMisuse() == 0 ? 8 : 9);
}

static int call_while_ending(void)
{
	late_call = query_and_end;
	return leave_stuck_work();
}

static void a_process_that_ends_is_reported_so(void **state)
{
	(void)state;
	assert_int_equal(child(call_while_ending), 8);
}

/* Registered before cuInit(), so that it runs after the driver's own handler. */
static void query_late(void)
{
	_exit(cuEventQuery(after_gate) == CUDA_ERROR_DEINITIALIZED ? 8 : 9);
}

static int call_in_an_earlier_handler(void)
{
	return atexit(query_late) ? 1 : leave_stuck_work();
}

/* Registered after it. */
static void query_early(void)
{
	_exit(cuEventQuery(after_gate) == CUDA_ERROR_NOT_READY ? 8 : 9);
}

static int call_in_a_later_handler(void)
{
	int status = leave_stuck_work();

	return atexit(query_early) ? 1 : status;
}

static void handlers_older_than_the_driver_find_it_gone(void **state)
{
	(void)state;
	assert_int_equal(child(call_in_an_earlier_handler), 8);
	assert_int_equal(child(call_in_a_later_handler), 8);
}

static void or_abort_if_that_is_wanted(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		setenv("SIM_GONE", "abort", 1);
		close(STDERR_FILENO);
		exit(call_in_an_earlier_handler());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static int has_no_cuda(void)
{
	CUcontext c;
	int n;

	return cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
	       cuCtxGetCurrent(&c) == CUDA_ERROR_NOT_INITIALIZED &&
	       cuEventQuery(after_gate) == CUDA_ERROR_NOT_INITIALIZED &&
	       simCompute(NULL, 1) == CUDA_ERROR_NOT_INITIALIZED &&
	       cudaSetDevice(0) == cudaErrorInitializationError &&
	       cudaGetDeviceCount(&n) == cudaErrorInitializationError;
}

static void a_forked_child_has_no_cuda(void **state)
{
	(void)state;
	assert_int_equal(leave_stuck_work(), 7);
	assert_int_equal(child(has_no_cuda), 1);
	assert_int_equal(cuEventQuery(after_gate), CUDA_ERROR_NOT_READY);
	open_gate(&for_ever);
	OK(cuEventSynchronize(after_gate));
	assert_null(simFirstMisuse());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stuck_work_keeps_no_process_from_ending),
		cmocka_unit_test(a_process_that_ends_is_reported_so),
		cmocka_unit_test(handlers_older_than_the_driver_find_it_gone),
		cmocka_unit_test(or_abort_if_that_is_wanted),
		cmocka_unit_test(a_forked_child_has_no_cuda),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
