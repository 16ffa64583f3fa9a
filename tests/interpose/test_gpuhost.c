/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of which only the end is timed, by asking: COMMTRACE_TIMING=host, and what `auto`
 * decides between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/event_prealloc.h"
#include "interpose/gpu/poll.h"
#include "tests/interpose/gpu_fixture.h"

static int set_up_host(void **state)
{
	return set_up(state) || ct_gpu_init(CT_GPU_HOST) != CT_OK;
}

static int set_up_auto(void **state)
{
	return set_up(state) || ct_gpu_init(CT_GPU_PLUGIN_OR_HOST) != CT_OK;
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_host, tear_down)
#define AUTO_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_auto, tear_down)

static void assert_end_only(const struct ct_launch *l)
{
	assert_int_equal(l->start_source, CT_SOURCE_NONE);
	assert_int_equal(l->start_ns, 0);
	assert_int_equal(l->start_err_ns, 0);
	assert_int_equal(l->end_source, CT_SOURCE_POLL);
}

static void an_end_lies_between_two_looks(void **state)
{
	struct ct_launch launch;
	unsigned seen_undone = 0;
	uint64_t end, launched;

	(void)state;
	wait_for_events();
	for (uint32_t id = 1; id <= 10; id++) {
		launched = ct_gpu_end(begin(stream));
		usleep(id * 4000);
		end = fake_advance(stream);
		WAIT_FOR(records(id, &launch));
		launch = the_record(id);
		assert_end_only(&launch);
		assert_near(launch.end_ns, launch.end_err_ns, end);
		seen_undone += launch.end_ns - launch.end_err_ns > launched;
		assert_int_equal(launch.stream, 1);
		assert_int_equal(launch.device, 3);
		assert_null(open_entry(id));
	}
	/* the error is what the looks leave open, not the whole of the launch */
	assert_true(seen_undone > 0);
	finish();
	assert_no_losses();
}

static void one_event_without_timing_is_all_it_takes(void **state)
{
	struct fake_driver driver;

	(void)state;
	wait_for_events();
	for (uint32_t id = 1; id <= 50; id++) {
		ct_gpu_end(begin(stream));
		fake_advance(stream);
	}
	finish();
	for (uint32_t id = 1; id <= 50; id++)
		assert_int_equal(the_record(id).end_source, CT_SOURCE_POLL);
	driver = *fake_lock();
	fake_unlock();
	assert_int_equal(driver.recorded, 50);
	assert_int_equal(driver.untimed, driver.created);
	/* no anchors either */
	assert_int_equal(driver.streams_made, 0);
	assert_no_losses();
}

static void one_that_never_comes_back_holds_up_no_one(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	begin(stream);
	for (uint32_t id = 2; id <= 4; id++) {
		ct_gpu_end(begin(stream));
		fake_advance(stream);
		WAIT_FOR(records(id, &launch));
	}
	ct_gpu_drop(begin(stream), 3);
	WAIT_FOR(!open_entry(5));
	finish();
	assert_non_null(open_entry(1));
	assert_int_equal(the_record(5).result, 3);
}

/* No anchor notices it. */
static void an_error_that_sticks_ends_the_use_of_cuda_without_anchors(void **state)
{
	struct ct_launch launch;
	unsigned calls;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	fake_lock()->query_result = CUDA_ERROR_ILLEGAL_ADDRESS;
	fake_unlock();
	WAIT_FOR(records(1, &launch));
	assert_untimed(&launch);
	assert_true(ct_poll_gave_up());
	calls = fake_lock()->calls;
	fake_unlock();
	ct_gpu_end(begin(stream));
	usleep(30000);
	assert_int_equal(fake_lock()->calls, calls);
	fake_unlock();
	assert_int_equal(losses(CT_LOSS_CUDA_FAILED), 2);
}

static void an_end_event_that_cannot_be_recorded_leaves_a_record_without_times(void **state)
{
	struct ct_gpu_span *span;
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	span = begin(stream);
	fake_lock()->record_result = CUDA_ERROR_INVALID_VALUE;
	fake_unlock();
	ct_gpu_end(span);
	WAIT_FOR(records(1, &launch));
	assert_untimed(&launch);
	assert_int_equal(losses(CT_LOSS_CUDA_FAILED), 1);
}

static void without_a_plugin_auto_is_host(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	assert_int_equal(ct_gpu_timing(), CT_GPU_PLUGIN_OR_HOST);
	ct_gpu_end(begin(stream));
	assert_int_equal(ct_gpu_timing(), CT_GPU_HOST);
	/* too late */
	ct_gpu_plugin_loaded();
	assert_int_equal(ct_gpu_timing(), CT_GPU_HOST);
	fake_advance(stream);
	WAIT_FOR(records(1, &launch));
	assert_end_only(&launch);
}

static void with_a_plugin_auto_is_plugin_and_cuda_is_left_alone(void **state)
{
	struct ct_cost_rec cost = { 0 };
	struct ct_launch launch;

	(void)state;
	ct_gpu_plugin_loaded();
	assert_int_equal(ct_gpu_timing(), CT_GPU_PLUGIN);
	ct_gpu_prealloc_ask();
	ct_gpu_prealloc_events();
	ct_gpu_end(begin(stream));
	launch = the_record(1);
	assert_untimed(&launch);
	assert_int_equal(fake_lock()->created, 0);
	fake_unlock();
	ct_gpu_ledger(&cost);
	assert_int_equal(cost.timed_by, CT_TIMED_BY_PLUGIN);
	assert_int_equal(cost.plugin_loaded, 1);
}

static void a_plugin_changes_nothing_that_was_asked_for(void **state)
{
	(void)state;
	ct_gpu_plugin_loaded();
	assert_int_equal(ct_gpu_timing(), CT_GPU_HOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOST_TEST(an_end_lies_between_two_looks),
		HOST_TEST(one_event_without_timing_is_all_it_takes),
		HOST_TEST(one_that_never_comes_back_holds_up_no_one),
		HOST_TEST(an_error_that_sticks_ends_the_use_of_cuda_without_anchors),
		HOST_TEST(an_end_event_that_cannot_be_recorded_leaves_a_record_without_times),
		AUTO_TEST(without_a_plugin_auto_is_host),
		AUTO_TEST(with_a_plugin_auto_is_plugin_and_cuda_is_left_alone),
		HOST_TEST(a_plugin_changes_nothing_that_was_asked_for),
	};

	return cmocka_run_group_tests_name("gpuhost", tests, NULL, NULL);
}
