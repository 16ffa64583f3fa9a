/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU half of launches that are timed, before a driver that does what the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/streams.h"
#include "tests/interpose/gpu_fixture.h"

static void a_launch_gets_its_times(void **state)
{
	struct ct_gpu_span *span;
	struct ct_launch launch;
	uint64_t start, end;

	(void)state;
	wait_for_events();
	for (uint32_t id = 1; id <= 20; id++) {
		span = begin(stream);
		usleep(3000);
		start = fake_advance(stream);
		ct_gpu_end(span);
		usleep(id * 1000);
		end = fake_advance(stream);
		WAIT_FOR(records(id, &launch));
		launch = the_record(id);
		assert_int_equal(launch.comm, 5);
		assert_int_equal(launch.n_ops, 2);
		assert_int_equal(launch.stream, 1);
		assert_int_equal(launch.device, 3);
		assert_int_equal(launch.start_source, CT_SOURCE_EVENT);
		assert_int_equal(launch.end_source, CT_SOURCE_EVENT);
		assert_near(launch.start_ns, launch.start_err_ns, start);
		assert_near(launch.end_ns, launch.end_err_ns, end);
		assert_null(open_entry(id));
	}
	finish();
	assert_no_losses();
	assert_int_equal(fake_lock()->relaxed, 1);
	fake_unlock();
}

static void while_it_runs_its_start_is_in_the_open_table(void **state)
{
	struct ct_gpu_span *span;
	struct ct_ring_open *open;
	uint64_t start;

	(void)state;
	wait_for_events();
	span = begin(stream);
	ct_gpu_end(span);
	open = open_entry(1);
	assert_non_null(open);
	assert_int_equal(atomic_load(&open->stream), 1ull << 32 | 3);
	assert_int_equal(atomic_load(&open->comm_op), 5ull << 32 | 2 << 8 | 1);
	assert_int_equal(atomic_load(&open->seq), 7);
	assert_int_equal(atomic_load(&open->bytes), 4096);
	assert_int_equal(atomic_load(&open->peer), UINT32_MAX);
	usleep(30000);
	assert_int_equal(atomic_load(&open->start_ns), 0);
	start = fake_advance(stream);
	WAIT_FOR(atomic_load(&open->start_ns));
	assert_near(atomic_load(&open->start_ns), 100000, start);
	assert_non_null(open_entry(1));
	fake_advance(stream);
	WAIT_FOR(!open_entry(1));
	the_record(1);
}

static void the_start_is_seen_while_the_call_is_still_inside(void **state)
{
	struct ct_gpu_span *span;

	(void)state;
	wait_for_events();
	span = begin(stream);
	fake_advance(stream);
	WAIT_FOR(atomic_load(&open_entry(1)->start_ns));
	ct_gpu_end(span);
	fake_advance(stream);
	finish();
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
}

static void one_that_is_never_ended_holds_up_no_one(void **state)
{
	(void)state;
	wait_for_events();
	begin(stream);
	fake_advance(stream);
	for (uint32_t id = 2; id <= 4; id++) {
		pass(stream);
		WAIT_FOR(!open_entry(id));
		assert_int_equal(the_record(id).end_source, CT_SOURCE_EVENT);
	}
	finish();
	assert_non_null(open_entry(1));
}

static void launches_of_two_devices_keep_their_contexts_apart(void **state)
{
	CUcontext other = fake_context(4);
	CUstream there = fake_stream(other);

	(void)state;
	wait_for_events();
	fake_set_current(other);
	wait_for_events_of(1);
	/* both while the other device is current */
	pass(stream);
	pass(there);
	finish();
	assert_no_losses();
	assert_int_equal(the_record(1).device, 3);
	assert_int_equal(the_record(2).device, 4);
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(2).end_source, CT_SOURCE_EVENT);
	assert_int_not_equal(the_record(1).stream, the_record(2).stream);
}

static void a_default_stream_is_the_current_contexts(void **state)
{
	(void)state;
	wait_for_events();
	for (uintptr_t handle = 0; handle <= 1; handle++) {
		ct_gpu_end(begin((CUstream)handle));
		fake_advance(stream);
		fake_advance(stream);
	}
	finish();
	assert_no_losses();
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(1).stream, the_record(2).stream);
}

static void a_default_stream_is_that_of_the_communicators_device(void **state)
{
	CUcontext other = fake_context(4);
	struct ct_gpu_launch launch = make_launch(NULL);
	CUcontext current;

	(void)state;
	wait_for_events();
	fake_set_current(other);
	launch.id = 1;
	launch.device = 3 + 1;
	ct_gpu_end(ct_gpu_begin(&launch));
	fake_advance(stream);
	fake_advance(stream);
	finish();
	assert_no_losses();
	assert_int_equal(the_record(1).device, 3);
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(ct_cuda()->ctx_get_current(&current), CUDA_SUCCESS);
	assert_ptr_equal(current, other);
}

static void a_thread_needs_no_context_of_its_own(void **state)
{
	(void)state;
	wait_for_events();
	fake_set_current(NULL);
	for (int i = 0; i < 2; i++)
		pass(stream);
	finish();
	assert_no_losses();
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(2).end_source, CT_SOURCE_EVENT);
}

static void a_handle_that_came_back_in_another_context_is_another_stream(void **state)
{
	CUcontext other = fake_context(4);

	(void)state;
	wait_for_events();
	pass(stream);
	fake_set_current(other);
	wait_for_events_of(1);
	fake_move_stream(stream, other);
	pass(stream);
	pass(stream);
	finish();
	assert_no_losses();
	assert_int_equal(the_record(2).device, 4);
	assert_int_equal(the_record(2).end_source, CT_SOURCE_EVENT);
	assert_int_not_equal(the_record(1).stream, the_record(2).stream);
	assert_int_equal(the_record(2).stream, the_record(3).stream);
}

static void check_bounds_of_polls(void)
{
	struct ct_gpu_span *span;
	struct ct_launch launch;
	uint64_t start, end;

	wait_for_events();
	span = begin(stream);
	start = fake_advance(stream);
	ct_gpu_end(span);
	usleep(30000);
	end = fake_advance(stream);
	WAIT_FOR(records(1, &launch));
	launch = the_record(1);
	assert_int_equal(launch.start_source, CT_SOURCE_POLL);
	assert_int_equal(launch.end_source, CT_SOURCE_POLL);
	assert_near(launch.start_ns, launch.start_err_ns, start);
	assert_near(launch.end_ns, launch.end_err_ns, end);
	assert_true(launch.end_err_ns > 5000);
}

static void without_an_anchor_the_polls_bound_the_end(void **state)
{
	(void)state;
	fake_lock()->anchors_hang = 1;
	fake_unlock();
	check_bounds_of_polls();
}

static void with_one_connection_no_anchor_is_tried(void **state)
{
	(void)state;
	assert_int_equal(ct_gpu_init(CT_GPU_UNANCHORED), CT_OK);
	check_bounds_of_polls();
	finish();
	assert_int_equal(fake_lock()->streams_made, 0);
	fake_unlock();
}

static int primary_is_active;

static CUresult tell_primary(CUdevice device, unsigned int *flags, int *active)
{
	(void)device;
	*flags = 0;
	*active = primary_is_active;
	return CUDA_SUCCESS;
}

/* Before CUDA 12 contexts have no numbers. */
static void a_primary_context_that_is_gone_shows_where_contexts_have_no_numbers(void **state)
{
	struct ct_cuda older = *ct_cuda();
	struct ct_gpu_context *c;

	(void)state;
	older.ctx_get_id = NULL;
	older.primary_ctx_state = tell_primary;
	primary_is_active = 1;
	c = ct_gpu_context(&older, context);
	assert_non_null(c);
	assert_true(ct_gpu_context_is_there(&older, c));
	primary_is_active = 0;
	assert_false(ct_gpu_context_is_there(&older, c));
	/* of a program that has none it says nothing */
	c = ct_gpu_context(&older, fake_context(3));
	assert_true(ct_gpu_context_is_there(&older, c));
	primary_is_active = 1;
	assert_true(ct_gpu_context_is_there(&older, c));
}

/* As after a reset within an untimed window. */
static void a_context_that_comes_while_nothing_is_timed_has_anchors_afterwards(void **state)
{
	uint32_t id = 0;

	(void)state;
	ct_gpu_sampling_pause(1);
	wait_for_events();
	WAIT_FOR(ct_gpu_context_nth(0)->ready);
	ct_gpu_sampling_pause(0);
	do {
		pass(stream);
		id++;
		WAIT_FOR(!open_entry(id));
		assert_false(ct_gpu_context_is_closed(ct_gpu_context_nth(0)));
		usleep(10000);
	} while (the_record(id).end_source != CT_SOURCE_EVENT);
	assert_no_losses();
}

/* Some are looked at when there is a later anchor. */
static void times_before_an_anchor_are_reported_by_any_driver(void **state)
{
	(void)state;
	wait_for_events();
	for (uint32_t id = 1; id <= 30; id++) {
		struct ct_launch launch;
		uint64_t end;

		fake_lock()->elapsed_backwards = (int)id % 3;
		fake_unlock();
		ct_gpu_end(begin(stream));
		fake_advance(stream);
		end = fake_advance(stream);
		WAIT_FOR(!open_entry(id));
		launch = the_record(id);
		assert_int_equal(launch.end_source, CT_SOURCE_EVENT);
		assert_near(launch.end_ns, launch.end_err_ns, end);
		usleep(id * 1000);
	}
}

static void elapsed_is_asked_the_other_way_round_where_it_is_not_positive(void **state)
{
	const struct ct_cuda *cuda = ct_cuda();
	CUevent early, late;
	float ms;

	(void)state;
	assert_int_equal(cuda->event_create(&early, 0), CUDA_SUCCESS);
	assert_int_equal(cuda->event_create(&late, 0), CUDA_SUCCESS);
	assert_int_equal(cuda->event_record(early, stream), CUDA_SUCCESS);
	assert_int_equal(cuda->event_record(late, stream), CUDA_SUCCESS);
	fake_advance(stream);
	usleep(2000);
	fake_advance(stream);
	for (int backwards = 0; backwards < 3; backwards++) {
		fake_lock()->elapsed_backwards = backwards;
		fake_unlock();
		assert_true(ct_gpu_elapsed(cuda, early, late, &ms));
		assert_true(ms >= 2);
		assert_true(ct_gpu_elapsed(cuda, late, early, &ms));
		assert_true(ms <= -2);
		assert_true(ct_gpu_elapsed(cuda, late, late, &ms));
		assert_true(ms == 0);
	}
}

static void times_that_contradict_each_other_are_the_hosts(void **state)
{
	struct ct_cost_rec cost = { 0 };
	struct ct_launch launch;
	uint32_t id = 0;

	(void)state;
	fake_lock()->elapsed_off_ns = 2000; /* less than crystals may differ by in 10 ms */
	fake_unlock();
	wait_for_events();
	do {
		pass(stream);
		id++;
		WAIT_FOR(!open_entry(id));
		usleep(5000);
		ct_gpu_ledger(&cost);
	} while (cost.timed_why != CT_TIMED_WHY_CLOCK);
	for (uint32_t more = id + 1; more <= id + 20; more++) {
		pass(stream);
		WAIT_FOR(!open_entry(more));
		launch = the_record(more);
		assert_int_equal(launch.end_source, CT_SOURCE_POLL);
		assert_int_equal(launch.start_source, CT_SOURCE_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_launch_gets_its_times),
		TEST(while_it_runs_its_start_is_in_the_open_table),
		TEST(the_start_is_seen_while_the_call_is_still_inside),
		TEST(one_that_is_never_ended_holds_up_no_one),
		TEST(launches_of_two_devices_keep_their_contexts_apart),
		TEST(a_default_stream_is_the_current_contexts),
		TEST(a_default_stream_is_that_of_the_communicators_device),
		TEST(a_thread_needs_no_context_of_its_own),
		TEST(a_handle_that_came_back_in_another_context_is_another_stream),
		TEST(without_an_anchor_the_polls_bound_the_end),
		TEST(with_one_connection_no_anchor_is_tried),
		TEST(elapsed_is_asked_the_other_way_round_where_it_is_not_positive),
		TEST(a_primary_context_that_is_gone_shows_where_contexts_have_no_numbers),
		TEST(a_context_that_comes_while_nothing_is_timed_has_anchors_afterwards),
		TEST(times_before_an_anchor_are_reported_by_any_driver),
		TEST(times_that_contradict_each_other_are_the_hosts),
	};

	return cmocka_run_group_tests_name("gputime", tests, NULL, NULL);
}
