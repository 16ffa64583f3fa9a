/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's lock is held. The poll thread waits for it; the program's threads are not sent after
 * it, since its own NCCL calls may need no driver: what they launch then is untimed and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "interpose/gpu/event_prealloc.h"
#include "interpose/gpu/poll.h"
#include "tests/interpose/gpu_fixture.h"

static unsigned calls(void)
{
	unsigned n = fake_lock()->calls;

	fake_unlock();
	return n;
}

/* The poll thread hangs, with a launch on its way that it asks for. Every other call of the fake
 * answers. */
static void hold(void)
{
	fake_lock()->queries_hang = 1;
	fake_unlock();
	WAIT_FOR(ct_poll_is_held());
}

static void release(void)
{
	fake_lock()->queries_hang = 0;
	fake_unlock();
	WAIT_FOR(!ct_poll_is_held());
}

static void while_it_is_held_the_program_calls_no_cuda_for_us(void **state)
{
	struct ct_launch launch;
	unsigned before;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	hold();
	before = calls();
	for (int i = 0; i < 5; i++)
		ct_gpu_end(begin(stream));
	ct_gpu_end(begin(NULL));
	ct_gpu_drop(begin(stream), 3);
	ct_gpu_prealloc_ask();
	assert_int_equal(calls(), before);
	assert_int_equal(losses(CT_LOSS_DRIVER_HELD), 7);
	for (uint32_t id = 2; id <= 8; id++) {
		launch = the_record(id);
		assert_untimed(&launch);
		assert_null(open_entry(id));
	}
	/* a stream that is known is known without CUDA */
	assert_int_equal(the_record(2).stream, the_record(6).stream);
	assert_int_equal(the_record(7).stream, 0);
	release();
}

static void afterwards_launches_are_timed_again(void **state)
{
	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	hold();
	ct_gpu_end(begin(stream));
	release();
	fake_advance(stream);
	fake_advance(stream);
	WAIT_FOR(!open_entry(1));
	pass(stream);
	finish();
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(2).end_source, CT_SOURCE_NONE);
	assert_int_equal(the_record(3).start_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(3).end_source, CT_SOURCE_EVENT);
	assert_int_equal(losses(CT_LOSS_DRIVER_HELD), 1);
}

static void a_launch_that_began_before_has_a_start_and_no_end(void **state)
{
	struct ct_gpu_span *span;
	unsigned before;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	span = begin(stream);
	hold();
	before = calls();
	ct_gpu_end(span);
	assert_int_equal(calls(), before);
	release();
	for (int i = 0; i < 3; i++)
		fake_advance(stream);
	WAIT_FOR(!open_entry(2));
	finish();
	assert_int_equal(the_record(2).start_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(2).end_source, CT_SOURCE_NONE);
	assert_int_equal(losses(CT_LOSS_DRIVER_HELD), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(while_it_is_held_the_program_calls_no_cuda_for_us),
		TEST(afterwards_launches_are_timed_again),
		TEST(a_launch_that_began_before_has_a_start_and_no_end),
	};

	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
