/* SPDX-License-Identifier: Apache-2.0 */
/* test_gpufirst.c — the first launches after a communicator was made are timed, however late the
 * poll thread gets a processor. Here it gets none until the test says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "interpose/gpu/event_prealloc.h"
#include "interpose/gpu/poll.h"
#include "interpose/threads.h"
#include "tests/interpose/gpu_fixture.h"

#define LAUNCHES (CT_GPU_FIRST_EVENTS / 2)

static void *(*late)(void *);
static void *late_arg;

int __real_ct_thread_start(void *(*body)(void *), void *arg);
int __wrap_ct_thread_start(void *(*body)(void *), void *arg);
int __wrap_ct_thread_start(void *(*body)(void *), void *arg)
{
	late = body;
	late_arg = arg;
	return 0;
}

static void let_it_run(void)
{
	assert_non_null(late);
	assert_int_equal(__real_ct_thread_start(late, late_arg), 0);
	late = NULL;
}

static int end(void **state)
{
	if (late)
		let_it_run();
	return tear_down(state);
}

static unsigned created(void)
{
	unsigned n = fake_lock()->created;

	fake_unlock();
	return n;
}

static int set_up_host(void **state)
{
	return set_up(state) != 0 ? -1 : ct_gpu_init(CT_GPU_HOST);
}

static void launch_all(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ct_gpu_span *span = begin(stream);

		assert_non_null(span);
		ct_gpu_end(span);
	}
}

/* The work of a new communicator is launched at once, and completes before any of our threads has
 * polled it. */
static void no_launch_is_untimed_while_the_poll_thread_is_late(void **state)
{
	(void)state;
	ct_gpu_prealloc_ask();
	ct_gpu_prealloc_events();
	launch_all(LAUNCHES);
	assert_no_losses();
	assert_int_equal(ct_gpu_untimed(), 0);
	for (uint32_t i = 0; i < 2 * LAUNCHES; i++)
		fake_advance(stream);
	let_it_run();
	WAIT_FOR(!open_entry(LAUNCHES));
	/* those that ran before its first anchor are timed by what it saw */
	launch_all(1);
	pass(stream);
	finish();
	for (uint32_t id = 1; id <= LAUNCHES + 1; id++) {
		struct ct_launch launch = the_record(id);

		assert_true(launch.start_source != CT_SOURCE_NONE);
		assert_true(launch.end_source != CT_SOURCE_NONE);
	}
	assert_int_equal(ct_gpu_untimed(), 0);
	assert_no_losses();
}

static void where_only_ends_are_timed_its_events_are_of_that_kind(void **state)
{
	unsigned untimed;

	(void)state;
	ct_gpu_prealloc_events();
	untimed = fake_lock()->untimed;
	fake_unlock();
	assert_int_equal(created(), CT_GPU_FIRST_EVENTS);
	assert_int_equal(untimed, CT_GPU_FIRST_EVENTS);
	launch_all(CT_GPU_FIRST_EVENTS);
	assert_no_losses();
	for (uint32_t i = 0; i < CT_GPU_FIRST_EVENTS; i++)
		fake_advance(stream);
}

/* Beyond these a launch is untimed and counted, as ever. */
static void they_are_made_once_per_context(void **state)
{
	(void)state;
	ct_gpu_prealloc_events();
	assert_int_equal(created(), CT_GPU_FIRST_EVENTS);
	ct_gpu_prealloc_events();
	assert_int_equal(created(), CT_GPU_FIRST_EVENTS);
	launch_all(LAUNCHES + 1);
	assert_int_equal(losses(CT_LOSS_EVENT_POOL_EMPTY), 1);
	fake_set_current(fake_context(4));
	ct_gpu_prealloc_events();
	assert_int_equal(created(), 2 * CT_GPU_FIRST_EVENTS);
}

static void where_the_poll_thread_has_made_some_there_are_no_more(void **state)
{
	unsigned before;

	(void)state;
	ct_gpu_prealloc_ask();
	let_it_run();
	wait_for_events();
	before = created();
	ct_gpu_prealloc_events();
	assert_int_equal(created(), before);
}

/* A capture of this thread or another one goes on, and the program's capture mode is what it was. */
static void a_capture_is_not_ended_by_it(void **state)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
	unsigned unrelaxed;

	(void)state;
	ct_cuda()->exchange_capture_mode(&mode);
	errno = 77;
	ct_gpu_prealloc_events();
	assert_int_equal(errno, 77);
	assert_int_equal(fake_capture_mode(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	unrelaxed = fake_lock()->unrelaxed;
	fake_unlock();
	assert_int_equal(created(), CT_GPU_FIRST_EVENTS);
	assert_int_equal(unrelaxed, 0);
}

static void without_memory_for_events_the_program_goes_on(void **state)
{
	(void)state;
	fake_lock()->creates_fail = 1;
	fake_unlock();
	ct_gpu_prealloc_events();
	fake_lock()->creates_fail = 0;
	fake_unlock();
	launch_all(1);
	assert_int_equal(losses(CT_LOSS_EVENT_POOL_EMPTY), 1);
	assert_int_equal(ct_poll_gave_up(), 0);
	let_it_run();
	WAIT_FOR(ct_gpu_events_ready(&ct_gpu_context_nth(0)->events) >= 512);
}

/* The poll thread is in there and does not come back: the program is not sent after it. */
static void while_somebody_holds_the_driver_nothing_is_made(void **state)
{
	(void)state;
	fake_lock()->creates_hang = 1;
	fake_unlock();
	ct_gpu_prealloc_ask();
	let_it_run();
	WAIT_FOR(ct_poll_is_held());
	ct_gpu_prealloc_events();
	assert_int_equal(created(), 0);
	fake_lock()->creates_hang = 0;
	fake_unlock();
	WAIT_FOR(!ct_poll_is_held());
}

#define FIRST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIRST_TEST(no_launch_is_untimed_while_the_poll_thread_is_late),
		cmocka_unit_test_setup_teardown(
			where_only_ends_are_timed_its_events_are_of_that_kind, set_up_host, end),
		FIRST_TEST(they_are_made_once_per_context),
		FIRST_TEST(where_the_poll_thread_has_made_some_there_are_no_more),
		FIRST_TEST(a_capture_is_not_ended_by_it),
		FIRST_TEST(without_memory_for_events_the_program_goes_on),
		FIRST_TEST(while_somebody_holds_the_driver_nothing_is_made),
	};

	return cmocka_run_group_tests_name("gpufirst", tests, NULL, NULL);
}
