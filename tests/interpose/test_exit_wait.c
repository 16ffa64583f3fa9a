/* SPDX-License-Identifier: Apache-2.0 */
/* exit() waits for the last block for a bounded time, also if the process did not run for longer
 * than that meanwhile: it was stopped by SIGSTOP or a freezer, or its machine was suspended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpose/gpu/poll.h"
#include "interpose/writer.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded.h"

#define STOPPED_S 3600
#define BOUNDED 7 /* exit code */

static _Atomic long stopped_s; /* how long the process did not run, while it ended */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int status = __real_clock_gettime(clock, t);

	if (clock == CLOCK_MONOTONIC)
		t->tv_sec += atomic_load(&stopped_s);
	return status;
}

int __real_ct_poll_finish(uint64_t timeout_ns);
int __wrap_ct_poll_finish(uint64_t timeout_ns);
int __wrap_ct_poll_finish(uint64_t timeout_ns)
{
	int status = __real_ct_poll_finish(timeout_ns);

	atomic_store(&stopped_s, STOPPED_S);
	return status;
}

int __wrap_ct_writer_finish(int code, uint64_t timeout_ns);
int __wrap_ct_writer_finish(int code, uint64_t timeout_ns)
{
	_exit(code == 0 && timeout_ns == 0 ? BOUNDED : 1);
}

static void job(void)
{
	struct fake_context context = { .rank = 0, .size = 2 };
	struct fake_options barrier = { .context = &context };

	gloo_barrier(&barrier);
}

static void a_process_that_was_stopped_at_its_end_waits_no_longer(void **state)
{
	int status;

	(void)state;
	status = recorded_run(job, NULL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), BOUNDED);
	recorded_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_was_stopped_at_its_end_waits_no_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
