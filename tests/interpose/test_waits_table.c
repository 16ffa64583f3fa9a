/* SPDX-License-Identifier: Apache-2.0 */
/* What a wait brings that is new: handles that are used again, captures, full tables. And what is
 * put on a stream for it, before a driver that does what the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/gpu/stream_waits.h"
#include "tests/interpose/gpu_fixture.h"

static const struct ct_waits_key comms = { 0x1000, 0 }, comms2 = { 0x1001, 0 };
static const struct ct_waits_key compute = { 0x2000, 0 }, copy = { 0x2001, 0 };
enum { EVENT = 0x100, OTHER = 0x108 };

static struct ct_waits_launches on_comms, on_comms2;

/* What the last launch reported of its stream. */
static struct ct_stream_rec reported;

/* As time.c does it. */
static int launch(const struct ct_waits_key *key, uint32_t number, uintptr_t whose, uint32_t id)
{
	struct ct_waits_launches *launches = key == &comms ? &on_comms : &on_comms2;

	ct_waits_count(launches, id);
	return !launches->known && ct_waits_launched(key, number, whose, launches, &reported);
}

static int set_up_table(void **state)
{
	on_comms.known = on_comms2.known = 0;
	on_comms.last = on_comms2.last = 0;
	return set_up(state) || ct_waits_table_init() != CT_OK;
}

static uint32_t look(const struct ct_waits_key *waiter, uintptr_t event)
{
	struct ct_waits_new found;
	uint32_t n = ct_waits_look(waiter, event, &found);

	ct_waits_merge(waiter, 0, &found);
	return n ? found.on[0].launch : 0;
}

static void an_event_is_for_the_latest_launch_before_it(void **state)
{
	(void)state;
	launch(&comms, 1, 0, 11);
	ct_waits_recorded(&comms, EVENT, 0);
	launch(&comms, 1, 0, 12);
	assert_int_equal(look(&compute, EVENT), 11);
	assert_int_equal(look(&compute, EVENT), 0);
	ct_waits_recorded(&comms, EVENT, 0);
	assert_int_equal(look(&compute, EVENT), 12);
	assert_int_equal(look(&comms, EVENT), 0);
	assert_int_equal(look(&compute, OTHER), 0);
}

static void a_wait_brings_what_came_through_other_streams(void **state)
{
	struct ct_waits_new found;

	(void)state;
	launch(&comms, 1, 0, 11);
	launch(&comms2, 2, 0, 21);
	ct_waits_recorded(&comms, EVENT, 0);
	assert_int_equal(look(&copy, EVENT), 11);
	ct_waits_recorded(&comms2, EVENT, 0);
	assert_int_equal(look(&copy, EVENT), 21);
	ct_waits_recorded(&copy, OTHER, 0);
	assert_int_equal(ct_waits_look(&compute, OTHER, &found), 2);
	assert_false(found.is_direct);
	ct_waits_merge(&compute, 0, &found);
	assert_int_equal(look(&compute, EVENT), 0);
}

static void handles_that_come_again_are_others(void **state)
{
	(void)state;
	launch(&comms, 1, 0, 11);
	ct_waits_recorded(&comms, EVENT, 0);
	ct_waits_event_gone(EVENT);
	assert_int_equal(look(&compute, EVENT), 0);
	/* the stream goes, what was recorded on it stays */
	ct_waits_recorded(&comms, EVENT, 0);
	ct_waits_stream_gone(&comms);
	ct_waits_recorded(&comms, OTHER, 0);
	assert_int_equal(look(&copy, OTHER), 0);
	assert_int_equal(look(&compute, EVENT), 11);
	launch(&comms, 1, 0, 31);
	ct_waits_recorded(&comms, OTHER, 0);
	assert_int_equal(look(&compute, OTHER), 31);
}

static void an_event_of_a_capture_is_for_nothing(void **state)
{
	(void)state;
	launch(&comms, 1, 0, 11);
	assert_int_equal(ct_waits_recorded(&comms, EVENT, -1), 1);
	assert_int_equal(look(&compute, EVENT), 0);
	ct_waits_recorded(&comms, EVENT, 0);
	ct_waits_recorded(&comms, EVENT, 1);
	assert_int_equal(look(&compute, EVENT), 0);
	/* no query for a stream with nothing after it */
	assert_int_equal(ct_waits_recorded(&copy, EVENT, -1), 0);
}

static void the_host_waits_once_for_a_launch(void **state)
{
	struct ct_waits_new found;

	(void)state;
	launch(&comms, 1, 77, 11);
	launch(&comms2, 2, 78, 21);
	assert_int_equal(ct_waits_look_device(77, &found), 1);
	assert_int_equal(found.on[0].launch, 11);
	assert_int_equal(ct_waits_look_stream(&comms, &found), 1);
	ct_waits_host_has(&found);
	assert_int_equal(ct_waits_look_stream(&comms, &found), 0);
	assert_int_equal(ct_waits_look_device(77, &found), 0);
	launch(&comms, 1, 77, 12);
	assert_int_equal(ct_waits_look_stream(&comms, &found), 1);
	assert_int_equal(found.after[0], 11);
}

/* What has no space is counted, and waits after it say that there may have been others. */
static void what_finds_no_room_leaves_a_gap(void **state)
{
	struct ct_waits_new found;
	uint64_t lost;

	(void)state;
	launch(&comms, 1, 0, 11);
	ct_waits_recorded(&comms, EVENT, 0);
	assert_int_equal(ct_waits_look(&compute, EVENT, &found), 1);
	assert_int_equal(found.flags & CT_WAIT_GAP, 0);
	ct_waits_merge(&compute, 0, &found);
	for (uintptr_t i = 0; i < 20000; i++)
		ct_waits_recorded(&comms, 0x10000 + 64 * i, 0);
	lost = losses(CT_LOSS_WAITS_FULL);
	assert_in_range(lost, 1, 20000);
	launch(&comms, 1, 0, 12);
	ct_waits_recorded(&comms, EVENT, 0);
	assert_int_equal(ct_waits_look(&compute, EVENT, &found), 1);
	assert_int_equal(found.flags & CT_WAIT_GAP, CT_WAIT_GAP);
	ct_waits_merge(&compute, 0, &found);
	launch(&comms, 1, 0, 13);
	ct_waits_recorded(&comms, EVENT, 0);
	assert_int_equal(ct_waits_look(&compute, EVENT, &found), 1);
	assert_int_equal(found.flags & CT_WAIT_GAP, 0);
}

static _Atomic int is_stopped, may_go_on;

static void stop_here(int number)
{
	(void)number;
	atomic_store(&is_stopped, 1);
	while (!atomic_load(&may_go_on))
		usleep(500);
}

static void *record_event(void *unused)
{
	(void)unused;
	ct_waits_recorded(&comms, EVENT, 0);
	return NULL;
}

/* A thread that lost its core at the worst moment, holding a stream and an event: it is stopped
 * where it reads how many launches the stream has, by taking them away. */
static void a_stopped_thread_is_in_the_way_of_its_own_stream_only(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ct_waits_launches *launches = mmap(NULL, page, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_handler = stop_here }, before;
	struct ct_waits_new found;
	pthread_t thread;

	(void)state;
	assert_ptr_not_equal(launches, MAP_FAILED);
	is_stopped = may_go_on = 0;
	ct_waits_count(launches, 11);
	ct_waits_launched(&comms, 1, 77, launches, &reported);
	ct_waits_recorded(&comms, OTHER, 0);
	assert_int_equal(look(&copy, OTHER), 11);
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(mprotect(launches, page, PROT_NONE), 0);
	assert_int_equal(pthread_create(&thread, NULL, record_event, NULL), 0);
	WAIT_FOR(atomic_load(&is_stopped));

	launch(&comms2, 2, 78, 21);
	ct_waits_recorded(&comms2, OTHER, 0);
	assert_int_equal(look(&compute, OTHER), 21);
	assert_int_equal(ct_waits_look_device(78, &found), 1);
	ct_waits_host_has(&found);
	assert_int_equal(ct_waits_look_device(78, &found), 0);
	ct_waits_event_gone(OTHER);
	ct_waits_stream_gone(&comms2);
	assert_int_equal(losses(CT_LOSS_WAITS_FULL), 0);
	/* its own: not waited for either */
	assert_int_equal(ct_waits_look_stream(&comms, &found), 0);
	assert_int_equal(losses(CT_LOSS_WAITS_FULL), 1);

	assert_int_equal(mprotect(launches, page, PROT_READ | PROT_WRITE), 0);
	atomic_store(&may_go_on, 1);
	pthread_join(thread, NULL);
	sigaction(SIGSEGV, &before, NULL);
	assert_int_equal(look(&compute, EVENT), 11);
	munmap(launches, page);
}

/* What records show a stream with launches: once for each thing that is new. */
static void it_is_reported_whose_streams_are_fed(void **state)
{
	(void)state;
	assert_int_equal(launch(&comms, 1, 0, 11), 0);
	ct_waits_recorded(&comms, EVENT, 0);
	assert_int_equal(launch(&comms, 1, 0, 12), 1);
	assert_int_equal(reported.stream, 1);
	assert_int_equal(reported.flags, 0);
	assert_int_equal(launch(&comms, 1, 0, 13), 0);
	look(&comms, EVENT);
	assert_int_equal(launch(&comms, 1, 0, 14), 0);
	ct_waits_recorded(&compute, OTHER, 0);
	look(&comms, OTHER);
	assert_int_equal(launch(&comms, 1, 0, 15), 1);
	assert_int_equal(reported.stream, 1);
	assert_int_equal(reported.flags, CT_STREAM_FED);
	assert_int_equal(launch(&comms, 1, 0, 16), 0);
}

/* ---- what is put on streams ---- */

static unsigned recorded(void)
{
	unsigned n = fake_lock()->recorded;

	fake_unlock();
	return n;
}

static void capture(int yes)
{
	fake_lock()->capture_status = yes ? CU_STREAM_CAPTURE_STATUS_ACTIVE
					  : CU_STREAM_CAPTURE_STATUS_NONE;
	fake_unlock();
}

/* One event before a wait that brings something; none where there is nothing to wait for, or a
 * capture. */
static void only_waits_for_communication_get_an_event(void **state)
{
	CUstream waiter = fake_stream(context);
	CUevent event = (CUevent)(uintptr_t)EVENT;
	unsigned before;

	(void)state;
	wait_for_events();
	pass(stream);
	before = recorded();
	ct_waits_event(event, waiter);
	ct_waits_stream(stream, event);
	ct_waits_stream(waiter, event);
	assert_int_equal(recorded(), before);
	ct_waits_event(event, stream);
	capture(1);
	ct_waits_stream(waiter, event);
	assert_int_equal(recorded(), before);
	capture(0);
	ct_waits_stream(waiter, event);
	assert_int_equal(recorded(), before + 1);
	ct_waits_stream(waiter, event);
	assert_int_equal(recorded(), before + 1);
	fake_advance(waiter);
	finish();
	assert_int_equal(losses(CT_LOSS_WAITS_FULL), 0);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_table, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(an_event_is_for_the_latest_launch_before_it),
		TABLE_TEST(a_wait_brings_what_came_through_other_streams),
		TABLE_TEST(handles_that_come_again_are_others),
		TABLE_TEST(an_event_of_a_capture_is_for_nothing),
		TABLE_TEST(the_host_waits_once_for_a_launch),
		TABLE_TEST(what_finds_no_room_leaves_a_gap),
		TABLE_TEST(a_stopped_thread_is_in_the_way_of_its_own_stream_only),
		TABLE_TEST(it_is_reported_whose_streams_are_fed),
		TEST(only_waits_for_communication_get_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
