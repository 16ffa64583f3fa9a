/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU half of launches that are not timed, of many threads, and at the end of the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "interpose/gpu/event_prealloc.h"
#include "interpose/gpu/graph/graph_table.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/queue.h"
#include "interpose/gpu/stream_waits.h"
#include "tests/interpose/gpu_fixture.h"

/* ---- what is not measured
 * ------------------------------------------------------------------------------ */

static void without_a_ready_event_a_launch_is_untimed_and_counted(void **state)
{
	struct ct_launch launch;

	(void)state;
	fake_lock()->creates_fail = 1;
	fake_unlock();
	ct_gpu_end(begin(stream));
	launch = the_record(1);
	assert_untimed(&launch);
	assert_int_equal(launch.stream, 1);
	assert_int_equal(launch.device, 3);
	assert_int_equal(losses(CT_LOSS_EVENT_POOL_EMPTY), 1);
	assert_null(open_entry(1));
	assert_int_equal(ct_gpu_untimed(), 1);
}

static void while_capturing_nothing_is_recorded_on_the_stream(void **state)
{
	(void)state;
	wait_for_events();
	fake_lock()->capture_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	fake_unlock();
	ct_gpu_end(begin(stream));
	fake_lock()->capture_status = CU_STREAM_CAPTURE_STATUS_NONE;
	fake_unlock();
	fake_lock()->capture_result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	fake_unlock();
	ct_gpu_end(begin(NULL));
	for (uint32_t id = 1; id <= 2; id++) {
		struct ct_launch launch = the_record(id);

		assert_untimed(&launch);
	}
	assert_int_equal(fake_lock()->recorded, 0);
	fake_unlock();
	assert_no_losses();
}

static void unrelaxed_nothing_is_asked_once_the_program_captures(void **state)
{
	unsigned calls;

	(void)state;
	fake_lock()->exchange_result = CUDA_ERROR_UNKNOWN;
	fake_unlock();
	wait_for_events();
	pass(stream);
	WAIT_FOR(!open_entry(1));
	atomic_store(&ct_graph_used, 1);
	WAIT_FOR(ct_poll_gave_up());
	calls = fake_lock()->calls;
	fake_unlock();
	ct_gpu_end(begin(stream));
	usleep(50000);
	assert_int_equal(fake_lock()->calls, calls);
	fake_unlock();
	atomic_store(&ct_graph_used, 0);
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(2).end_source, CT_SOURCE_NONE);
}

/* As an older driver does for streams of a part of a GPU. */
static void a_stream_of_no_context_is_untimed_and_counted_once(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	fake_lock()->stream_ctx_result = CUDA_ERROR_NOT_SUPPORTED;
	fake_unlock();
	for (int i = 0; i < 3; i++)
		ct_gpu_end(begin(stream));
	for (uint32_t id = 1; id <= 3; id++) {
		launch = the_record(id);
		assert_untimed(&launch);
	}
	assert_int_equal(losses(CT_LOSS_CUDA_FAILED), 1);
	assert_int_equal(fake_lock()->recorded, 0);
	fake_unlock();
}

static void what_was_not_launched_is_recorded_at_once(void **state)
{
	unsigned created;

	(void)state;
	wait_for_events();
	created = fake_lock()->created;
	fake_unlock();
	for (uint32_t id = 1; id <= 500; id++) {
		struct ct_gpu_span *span = begin(stream);
		struct ct_launch launch;

		assert_non_null(span);
		ct_gpu_drop(span, 3);
		launch = the_record(id);
		assert_untimed(&launch);
		assert_int_equal(launch.result, 3);
		fake_advance(stream);
		WAIT_FOR(!open_entry(id));
	}
	/* the events come back */
	assert_int_equal(fake_lock()->created, created);
	fake_unlock();
	assert_no_losses();
}

static void an_error_that_sticks_ends_the_use_of_cuda(void **state)
{
	struct ct_gpu_span *inside;
	struct ct_launch launch;
	unsigned calls;

	(void)state;
	wait_for_events();
	ct_gpu_end(begin(stream));
	inside = begin(stream);
	fake_lock()->query_result = CUDA_ERROR_ILLEGAL_ADDRESS;
	fake_unlock();
	WAIT_FOR(records(1, &launch));
	usleep(30000);
	calls = fake_lock()->calls;
	fake_unlock();
	ct_gpu_end(inside);
	ct_gpu_end(begin(stream));
	WAIT_FOR(records(2, &launch));
	finish();
	assert_int_equal(fake_lock()->calls, calls);
	fake_unlock();
	for (uint32_t id = 1; id <= 3; id++) {
		launch = the_record(id);
		assert_untimed(&launch);
		assert_null(open_entry(id));
	}
	assert_int_equal(losses(CT_LOSS_CUDA_FAILED), 3);
}

static void a_driver_that_is_gone_is_noticed_by_the_call_too(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	fake_lock()->record_result = CUDA_ERROR_DEINITIALIZED;
	fake_unlock();
	ct_gpu_end(begin(stream));
	launch = the_record(1);
	assert_untimed(&launch);
	assert_int_equal(ct_poll_gave_up(), 1);
	WAIT_FOR(!open_entry(1));
}

enum { EACH_STREAM = CT_GPU_QUEUE_MOST / 2 };

static void a_full_open_table_costs_the_timing_of_one(void **state)
{
	struct ct_gpu_span *spans[1024];
	uint32_t n = ct_recorder.ring.header->n_opens;
	struct ct_launch launch;
	CUstream streams[1024 / EACH_STREAM];

	(void)state;
	wait_for_events();
	for (uint32_t i = 0; i < n; i++) {
		WAIT_FOR(ct_gpu_events_ready(&ct_gpu_context_nth(0)->events) >= 2);
		/* on each as many as may be on their way */
		if (i % EACH_STREAM == 0)
			streams[i / EACH_STREAM] = fake_stream(context);
		spans[i] = begin(streams[i / EACH_STREAM]);
		assert_non_null(spans[i]);
		ct_gpu_end(spans[i]);
	}
	assert_null(begin(stream));
	ct_gpu_end(NULL);
	ct_gpu_drop(NULL, 1);
	launch = the_record(n + 1);
	assert_untimed(&launch);
	assert_int_equal(losses(CT_LOSS_OPEN_TABLE_FULL), 1);
	for (uint32_t i = 0; i < 2 * n; i++)
		fake_advance(streams[i / 2 / EACH_STREAM]);
	WAIT_FOR(!open_entry(n));
	pass(stream);
	finish();
	for (uint32_t id = 1; id <= n + 2; id++)
		the_record(id);
	assert_int_equal(the_record(n).end_source, CT_SOURCE_EVENT);
	assert_int_equal(the_record(n + 2).end_source, CT_SOURCE_EVENT);
}

static void what_two_threads_counted_as_one_makes_no_room_later(void **state)
{
	struct ct_gpu_stream both;

	(void)state;
	memset(&both, 0, sizeof(both));
	for (int i = 0; i < 1000; i++) {
		ct_gpu_queue_add(&both, 2, NULL); /* one of two */
		ct_gpu_queue_over(&both, 2);
		ct_gpu_queue_over(&both, 2);
		assert_int_equal(ct_gpu_queue_events(&both), 0);
	}
	ct_gpu_queue_add(&both, CT_GPU_QUEUE_MOST, NULL);
	assert_false(ct_gpu_queue_has_room(ct_cuda(), &both));
	ct_gpu_queue_over(&both, 1);
	assert_true(ct_gpu_queue_has_room(ct_cuda(), &both));
}

/* The poll thread had no core for a while. */
static void the_driver_reports_what_is_reached_where_no_one_has_counted(void **state)
{
	CUstream own = fake_stream(context);
	struct ct_gpu_stream full;
	CUevent mark;

	(void)state;
	memset(&full, 0, sizeof(full));
	assert_int_equal(ct_cuda()->event_create(&mark, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
	assert_int_equal(ct_cuda()->event_record(mark, own), CUDA_SUCCESS);
	ct_gpu_queue_add(&full, CT_GPU_QUEUE_MOST / 2, mark);
	ct_gpu_queue_add(&full, CT_GPU_QUEUE_MOST / 2, NULL);
	assert_false(ct_gpu_queue_has_room(ct_cuda(), &full));
	fake_advance(own);
	assert_true(ct_gpu_queue_has_room(ct_cuda(), &full));
	/* the next one is half a cap later */
	ct_gpu_queue_add(&full, CT_GPU_QUEUE_MOST / 2, NULL);
	assert_false(ct_gpu_queue_has_room(ct_cuda(), &full));
}

static void an_event_of_a_wait_is_on_its_way_until_it_is_reached(void **state)
{
	CUstream computing = fake_stream(context);
	struct ct_gpu_stream *s;
	CUevent done;

	(void)state;
	wait_for_events();
	assert_int_equal(ct_cuda()->event_create(&done, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
	for (uint32_t id = 1; id <= 3; id++) {
		ct_gpu_end(begin(stream));
		ct_waits_event(done, stream);
		ct_waits_stream(computing, done);
		s = ct_gpu_stream(ct_cuda(), computing, -1);
		assert_non_null(s);
		assert_int_equal(ct_gpu_queue_events(s), 1);
		fake_advance(stream);
		fake_advance(stream);
		WAIT_FOR(!open_entry(id));
		assert_int_equal(ct_gpu_queue_events(s), 1);
		fake_advance(computing);
		WAIT_FOR(ct_gpu_queue_events(s) == 0);
	}
	finish();
	assert_no_losses();
}

static void switched_off_cuda_is_left_alone(void **state)
{
	struct ct_launch launch;

	(void)state;
	assert_int_equal(ct_gpu_op_flags, 0);
	assert_int_equal(ct_gpu_init(CT_GPU_UNTIMED), 0);
	assert_int_equal(ct_gpu_op_flags, CT_OP_UNTIMED);
	ct_gpu_prealloc_ask();
	ct_gpu_end(begin(stream));
	assert_int_equal(records(1, &launch), 0);
	assert_null(open_entry(1));
	assert_int_equal(fake_lock()->calls, 0);
	fake_unlock();
	assert_no_losses();
}

static void *end_it(void *span)
{
	fake_set_current(context);
	ct_gpu_end(span);
	ct_lane_close(&ct_self.lane);
	return NULL;
}

static void a_threads_own_stream_is_not_ended_by_another(void **state)
{
	CUstream own = fake_stream(context);
	struct ct_gpu_span *span;
	struct ct_launch launch;
	pthread_t thread;

	(void)state;
	wait_for_events();
	span = begin(CU_STREAM_PER_THREAD);
	fake_advance(own);
	assert_int_equal(pthread_create(&thread, NULL, end_it, span), 0);
	pthread_join(thread, NULL);
	finish();
	launch = the_record(1);
	assert_int_equal(launch.start_source, CT_SOURCE_EVENT);
	assert_int_equal(launch.end_source, CT_SOURCE_NONE);
	assert_int_equal(fake_lock()->recorded, 1);
	fake_unlock();
}

/* ---- the end
 * ------------------------------------------------------------------------------------------- */

static void what_is_not_done_at_the_end_stays_open(void **state)
{
	struct ct_launch launch;

	(void)state;
	wait_for_events();
	for (int i = 0; i < 3; i++)
		ct_gpu_end(begin(stream));
	/* the first is done and the second is reached just before the end */
	fake_advance(stream);
	fake_advance(stream);
	fake_advance(stream);
	finish();
	assert_int_equal(the_record(1).end_source, CT_SOURCE_EVENT);
	assert_int_equal(records(2, &launch), 0);
	assert_int_equal(records(3, &launch), 0);
	assert_true(atomic_load(&open_entry(2)->start_ns) > 0);
	assert_int_equal(atomic_load(&open_entry(3)->start_ns), 0);
	assert_no_losses();
}

static void a_driver_that_hangs_hangs_the_poll_thread_only(void **state)
{
	struct ct_launch launch;
	uint64_t timed = 0;

	(void)state;
	wait_for_events();
	fake_lock()->queries_hang = 1;
	fake_unlock();
	usleep(20000);
	for (int i = 0; i < 10; i++)
		pass(stream);
	assert_int_equal(ct_poll_finish(SECOND_NS / 20), 0);
	if (!losses(CT_LOSS_DRIVER_HELD)) {
		assert_int_equal(records(1, &launch), 0);
		assert_non_null(open_entry(10));
	}
	fake_lock()->queries_hang = 0;
	fake_unlock();
	finish();
	for (uint32_t id = 1; id <= 10; id++)
		timed += the_record(id).end_source == CT_SOURCE_EVENT;
	/* on a slow machine some of them came after it was noticed: test_held.c */
	assert_int_equal(timed + losses(CT_LOSS_DRIVER_HELD), 10);
}

/* ---- many threads
 * -------------------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 300 };

static void *launch_many(void *arg)
{
	CUstream own = arg;
	static _Atomic uint32_t id;

	fake_set_current(context);
	for (int i = 0; i < EACH; i++) {
		struct ct_gpu_launch launch = make_launch(own);

		launch.id = atomic_fetch_add(&id, 1) + 1;
		ct_gpu_end(ct_gpu_begin(&launch));
		fake_advance(own);
		fake_advance(own);
		usleep(200);
	}
	ct_lane_close(&ct_self.lane);
	return NULL;
}

static void every_launch_of_many_threads_gets_one_record(void **state)
{
	pthread_t threads[THREADS];
	uint64_t timed = 0;

	(void)state;
	wait_for_events();
	for (int i = 0; i < THREADS; i++) /* two threads share a stream */
		assert_int_equal(pthread_create(&threads[i], NULL, launch_many,
						i % 2 ? stream : fake_stream(context)),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2 * THREADS * EACH; i++)
		fake_advance(stream);
	finish();
	for (uint32_t id = 1; id <= THREADS * EACH; id++)
		timed += the_record(id).end_source == CT_SOURCE_EVENT;
	assert_int_equal(timed + losses(CT_LOSS_EVENT_POOL_EMPTY) + losses(CT_LOSS_OPEN_TABLE_FULL),
			 THREADS * EACH);
	assert_true(timed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_ready_event_a_launch_is_untimed_and_counted),
		TEST(while_capturing_nothing_is_recorded_on_the_stream),
		TEST(unrelaxed_nothing_is_asked_once_the_program_captures),
		TEST(a_stream_of_no_context_is_untimed_and_counted_once),
		TEST(what_was_not_launched_is_recorded_at_once),
		TEST(an_error_that_sticks_ends_the_use_of_cuda),
		TEST(a_driver_that_is_gone_is_noticed_by_the_call_too),
		cmocka_unit_test_setup_teardown(a_full_open_table_costs_the_timing_of_one,
						set_up_small, tear_down),
		TEST(what_two_threads_counted_as_one_makes_no_room_later),
		TEST(the_driver_reports_what_is_reached_where_no_one_has_counted),
		TEST(an_event_of_a_wait_is_on_its_way_until_it_is_reached),
		TEST(switched_off_cuda_is_left_alone),
		TEST(a_threads_own_stream_is_not_ended_by_another),
		TEST(what_is_not_done_at_the_end_stays_open),
		TEST(a_driver_that_hangs_hangs_the_poll_thread_only),
		TEST(every_launch_of_many_threads_gets_one_record),
	};

	return cmocka_run_group_tests_name("gpuloss", tests, NULL, NULL);
}
