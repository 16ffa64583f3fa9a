/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of a communicator that is aborted while they are open: what their kernels do afterwards
 * is not theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "interpose/gpu/freeze.h"
#include "tests/interpose/gpu_fixture.h"

enum { COMM = 5 }; /* the fixture's */

static void a_kernel_that_completes_after_the_abort_is_aborted(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	fake_advance(stream);
	WAIT_FOR(atomic_load(&open_entry(1)->start_ns));
	usleep(2000);
	ct_freeze(COMM);
	usleep(2000);
	fake_advance(stream);
	WAIT_FOR(records(1, &launch));
	launch = the_record(1);
	assert_int_equal(launch.result, CT_RESULT_ABORTED);
	assert_int_equal(launch.end_source, CT_SOURCE_NONE);
	assert_int_equal(launch.end_ns, 0);
	/* it had begun before */
	assert_int_equal(launch.start_source, CT_SOURCE_EVENT);
	finish();
	assert_no_losses();
}

static void one_that_begins_after_the_abort_never_began(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	usleep(2000);
	ct_freeze(COMM);
	usleep(2000);
	fake_advance(stream);
	fake_advance(stream);
	WAIT_FOR(records(1, &launch));
	launch = the_record(1);
	assert_int_equal(launch.result, CT_RESULT_ABORTED);
	assert_untimed(&launch);
	finish();
}

/* The poll thread, asking of it, does not come back before the abort. */
static void one_that_had_ended_is_finished_though_it_is_seen_later(void **state)
{
	struct ct_gpu_span *span;
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	pass(stream);
	WAIT_FOR(records(1, &launch));
	span = begin(stream);
	fake_advance(stream);
	fake_lock()->queries_hang = 1;
	fake_unlock();
	ct_gpu_end(span);
	fake_advance(stream);
	usleep(20000);
	ct_freeze(COMM);
	fake_lock()->queries_hang = 0;
	fake_unlock();
	WAIT_FOR(records(2, &launch));
	launch = the_record(2);
	assert_int_equal(launch.result, 0);
	assert_int_equal(launch.end_source, CT_SOURCE_EVENT);
	finish();
}

static void a_call_that_comes_back_after_the_abort_is_frozen_too(void **state)
{
	struct ct_gpu_span *span;

	(void)state;
	wait_for_events();
	span = begin(stream);
	usleep(1000);
	ct_freeze(COMM);
	usleep(1000);
	ct_gpu_end(span);
	fake_advance(stream);
	fake_advance(stream);
	finish();
	assert_int_equal(the_record(1).result, CT_RESULT_ABORTED);
}

static void others_go_on(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	usleep(1000);
	/* neither another communicator, nor one of the same slot in the table; and the library may
	 * refuse */
	ct_freeze_undo(COMM, ct_freeze(COMM));
	ct_freeze(COMM + 1);
	ct_freeze(COMM + 4096);
	usleep(1000);
	fake_advance(stream);
	fake_advance(stream);
	WAIT_FOR(records(1, &launch));
	/* what is called afterwards (a shrunk communicator's parent lives on) */
	ct_freeze(COMM);
	usleep(1000);
	pass(stream);
	finish();
	for (uint32_t id = 1; id <= 2; id++) {
		assert_int_equal(the_record(id).result, 0);
		assert_int_equal(the_record(id).end_source, CT_SOURCE_EVENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_that_completes_after_the_abort_is_aborted),
		TEST(one_that_begins_after_the_abort_never_began),
		TEST(one_that_had_ended_is_finished_though_it_is_seen_later),
		TEST(a_call_that_comes_back_after_the_abort_is_frozen_too),
		TEST(others_go_on),
	};

	return cmocka_run_group_tests_name("gpufreeze", tests, NULL, NULL);
}
