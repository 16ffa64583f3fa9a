/* SPDX-License-Identifier: Apache-2.0 */
/* test_gpuspan.c — spans are reserved a block at a time and keep their events: nothing of that gets
 * lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "tests/interpose/gpu_fixture.h"

static void *launch_one(void *arg)
{
	(void)arg;
	fake_set_current(context);
	pass(stream);
	ct_gpu_thread_end();
	ct_lane_close(&ct_self.lane);
	return NULL;
}

/* More threads than there are blocks. */
static void a_thread_that_ends_gives_back_what_it_reserved(void **state)
{
	enum { THREADS = 100 };
	pthread_t thread;

	(void)state;
	wait_for_events();
	for (uint32_t i = 1; i <= THREADS; i++) {
		assert_int_equal(pthread_create(&thread, NULL, launch_one, NULL), 0);
		pthread_join(thread, NULL);
		if (i % 20 == 0)
			WAIT_FOR(!open_entry(i));
	}
	finish();
	for (uint32_t id = 1; id <= THREADS; id++)
		assert_int_equal(the_record(id).end_source, CT_SOURCE_EVENT);
	assert_no_losses();
}

/* More often than a context has events. */
static void events_of_another_context_are_given_back(void **state)
{
	enum { ROUNDS = 40, EACH = 100 };
	CUcontext other = fake_context(4);
	CUstream there = fake_stream(other);
	uint32_t id = 0;

	(void)state;
	wait_for_events();
	fake_set_current(other);
	wait_for_events_of(1);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < EACH; i++, id++)
			pass((i + round) % 2 ? stream : there);
		for (uint32_t k = id - EACH + 1; k <= id; k++)
			WAIT_FOR(!open_entry(k));
	}
	assert_no_losses();
	finish();
}

static void an_entry_that_another_backend_has_is_left_alone(void **state)
{
	const uint64_t words[8] = { 0 };
	struct ct_ring_open *theirs = ct_ring_open_add(&ct_recorder.ring, 1u << 31 | 1, words);

	(void)state;
	assert_ptr_equal(theirs, &ct_recorder.ring.opens[1]);
	wait_for_events();
	for (uint32_t id = 1; id <= 20; id++)
		pass(stream);
	assert_ptr_equal(open_entry(1u << 31 | 1), theirs);
	finish();
	for (uint32_t id = 1; id <= 20; id++)
		assert_int_equal(the_record(id).end_source, CT_SOURCE_EVENT);
	assert_ptr_equal(open_entry(1u << 31 | 1), theirs);
	assert_no_losses();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thread_that_ends_gives_back_what_it_reserved),
		TEST(events_of_another_context_are_given_back),
		TEST(an_entry_that_another_backend_has_is_left_alone),
	};

	return cmocka_run_group_tests_name("gpuspan", tests, NULL, NULL);
}
