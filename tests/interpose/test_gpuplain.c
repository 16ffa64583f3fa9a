/* SPDX-License-Identifier: Apache-2.0 */
/* A plain launch is recorded like any other, and what is not plain is noticed: of each condition
 * that plain.h looks at one launch that does not meet it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "interpose/gpu/ending.h"
#include "interpose/gpu/plain.h"
#include "interpose/gpu/stream_waits.h"
#include "tests/interpose/gpu_fixture.h"

/* All spans that the thread comes by know the stream and have its context's events. */
static uint32_t warm_up(void)
{
	uint32_t n = 0;

	wait_for_events();
	while (n++ < 3 * ct_gpu_per_block())
		pass(stream);
	for (uint32_t id = 1; id < n; id++)
		WAIT_FOR(!open_entry(id));
	usleep(5000);
	return n - 1;
}

/* As the wrapper of NCCL does. NULL: it is not plain. */
static struct ct_gpu_span *begin_plain(uint32_t id)
{
	struct ct_gpu_launch launch = make_launch(stream);
	struct ct_gpu_span *span = ct_gpu_plain_span(stream);

	launch.id = id;
	if (span)
		assert_true(ct_gpu_plain_begin(span, &launch));
	return span;
}

static int end_plain(struct ct_gpu_span *span, uint32_t id)
{
	uint64_t now_ns;

	return ct_gpu_plain_end(span, id, atomic_load(&span->open->opened_ns), &now_ns);
}

static void a_plain_launch_gets_its_times(void **state)
{
	uint32_t id = warm_up();

	(void)state;
	for (uint32_t last = id + 40; ++id <= last;) {
		struct ct_gpu_span *span;
		struct ct_launch launch;
		uint64_t start, end;

		/* the poll thread may just be inside the driver */
		WAIT_FOR(span = begin_plain(id));
		assert_int_equal(atomic_load(&open_entry(id)->stream), 1ull << 32 | 3);
		assert_int_equal(atomic_load(&open_entry(id)->comm_op), 5ull << 32 | 2 << 8 | 1);
		start = fake_advance(stream);
		while (!end_plain(span, id))
			usleep(500);
		end = fake_advance(stream);
		WAIT_FOR(!open_entry(id));
		launch = the_record(id);
		assert_int_equal(launch.n_ops, 2);
		assert_int_equal(launch.stream, 1);
		assert_int_equal(launch.end_source, CT_SOURCE_EVENT);
		assert_near(launch.start_ns, launch.start_err_ns, start);
		assert_near(launch.end_ns, launch.end_err_ns, end);
	}
	finish();
	assert_no_losses();
}

/* It is not plain, and not because the poll thread was inside the driver. */
static void assert_not_plain(CUstream on)
{
	for (int i = 0; i < 20; i++) {
		assert_null(ct_gpu_plain_span(on));
		usleep(500);
	}
}

static void assert_plain(void)
{
	WAIT_FOR(ct_gpu_plain_span(stream));
}

static void what_all_launches_have_in_common_may_change(void **state)
{
	static const enum ct_gpu_unusual_bit bits[] = { CT_GPU_NO_EVENTS, CT_GPU_SAMPLING,
							CT_GPU_PROBE, CT_GPU_NO_POLL };

	(void)state;
	warm_up();
	assert_plain();
	for (int i = 0; i < 4; i++) {
		ct_gpu_set_unusual(bits[i], 1);
		assert_not_plain(stream);
		ct_gpu_set_unusual(bits[i], 0);
		assert_plain();
	}
	ct_gpu_sampling_pause(1);
	assert_not_plain(stream);
	ct_gpu_sampling_pause(0);
	assert_plain();
}

static void a_captured_stream_is_not_plain(void **state)
{
	(void)state;
	warm_up();
	fake_lock()->capture_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	fake_unlock();
	assert_not_plain(stream);
	fake_lock()->capture_status = CU_STREAM_CAPTURE_STATUS_NONE;
	fake_unlock();
	assert_plain();
	assert_not_plain(NULL);
	assert_not_plain(CU_STREAM_PER_THREAD);
}

static void neither_is_another_stream_nor_another_context(void **state)
{
	CUcontext other = fake_context(4);

	(void)state;
	warm_up();
	assert_not_plain(fake_stream(context));
	fake_set_current(other);
	assert_not_plain(stream);
	fake_set_current(NULL);
	assert_not_plain(stream);
	fake_set_current(context);
	assert_plain();
}

static void neither_is_one_whose_driver_is_held(void **state)
{
	(void)state;
	warm_up();
	finish();
	ct_poll_inside(0);
	ct_gpu_set_unusual(CT_GPU_NO_POLL, 0);
	assert_non_null(ct_gpu_plain_span(stream));
	ct_poll_inside(ct_now_ns());
	assert_null(ct_gpu_plain_span(stream));
	ct_poll_inside(0);
}

static void neither_is_one_on_a_full_queue(void **state)
{
	struct ct_gpu_stream *on;

	(void)state;
	warm_up();
	assert_plain();
	on = ct_gpu_stream(ct_cuda(), stream, -1);
	assert_non_null(on);
	atomic_fetch_add(&on->begun, CT_GPU_QUEUE_MOST);
	assert_not_plain(stream);
	atomic_fetch_sub(&on->begun, CT_GPU_QUEUE_MOST);
	assert_plain();
}

/* The handle comes again in another context, as after the program destroyed the stream and made
 * one: the driver refuses the event, and from then on it is another stream. */
static void a_handle_that_came_back_elsewhere_is_another_stream(void **state)
{
	struct ct_gpu_launch launch = make_launch(stream);
	CUcontext other = fake_context(4);
	struct ct_gpu_span *span;
	uint32_t id = warm_up() + 1;
	int status;

	(void)state;
	fake_set_current(other);
	wait_for_events_of(1);
	fake_set_current(context);
	fake_move_stream(stream, other);
	WAIT_FOR(span = ct_gpu_plain_span(stream));
	launch.id = id;
	status = ct_gpu_plain_begin(span, &launch);
	assert_false(status);
	assert_not_plain(stream);
	fake_advance(stream);
	ct_gpu_end(span);
	fake_advance(stream);
	finish();
	assert_no_losses();
	assert_int_equal(the_record(id).device, 4);
	assert_int_equal(the_record(id).stream, 2);
	assert_int_equal(the_record(id).end_source, CT_SOURCE_EVENT);
}

/* As after a reset, which ends the context with its events and streams, whose handles come again. */
static void a_context_that_was_ended_is_not_touched(void **state)
{
	struct ct_gpu_span *span;
	uint32_t id = warm_up() + 1, which, recorded;

	(void)state;
	WAIT_FOR(span = begin_plain(id));
	which = ct_gpu_ending_context(context);
	ct_gpu_ended(which, 1);
	recorded = fake_lock()->recorded;
	fake_unlock();
	for (int i = 0; i < 20; i++) {
		assert_false(end_plain(span, id));
		usleep(500);
	}
	assert_not_plain(stream);
	assert_int_equal(fake_lock()->recorded, recorded);
	fake_unlock();
}

/* Other events from now on: the contexts are closed, and launches get new ones. */
static void a_closed_context_has_no_plain_launches(void **state)
{
	static struct ct_gpu_context former;
	struct ct_gpu_context *now;
	struct ct_gpu_span *span;

	(void)state;
	warm_up();
	WAIT_FOR(span = ct_gpu_plain_span(stream));
	/* a span that has events of the former one yet */
	now = span->events.context;
	atomic_store(&former.handle, context);
	span->events.context = &former;
	assert_not_plain(stream);
	span->events.context = now;
	assert_plain();
	atomic_store(&now->closed, CT_GPU_CLOSED);
	assert_not_plain(stream);
}

static void the_end_looks_again(void **state)
{
	CUcontext other = fake_context(4);
	struct ct_gpu_span *span;
	uint32_t id = warm_up() + 1;

	(void)state;
	WAIT_FOR(span = begin_plain(id));
	fake_set_current(other);
	for (int i = 0; i < 20; i++) {
		assert_false(end_plain(span, id));
		usleep(500);
	}
	fake_set_current(context);
	atomic_store(&span->stream->launches.known, 0);
	for (int i = 0; i < 20; i++) {
		assert_false(end_plain(span, id));
		usleep(500);
	}
	atomic_store(&span->stream->launches.known, 1);
	WAIT_FOR(end_plain(span, id));
	fake_advance(stream);
	fake_advance(stream);
	finish();
	assert_int_equal(the_record(id).end_source, CT_SOURCE_EVENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plain_launch_gets_its_times),
		TEST(what_all_launches_have_in_common_may_change),
		TEST(a_captured_stream_is_not_plain),
		TEST(neither_is_another_stream_nor_another_context),
		TEST(neither_is_one_whose_driver_is_held),
		TEST(neither_is_one_on_a_full_queue),
		TEST(a_handle_that_came_back_elsewhere_is_another_stream),
		TEST(a_context_that_was_ended_is_not_touched),
		TEST(a_closed_context_has_no_plain_launches),
		TEST(the_end_looks_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
