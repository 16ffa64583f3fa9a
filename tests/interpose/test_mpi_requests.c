/* SPDX-License-Identifier: Apache-2.0 */
/* The table of MPI's requests by itself: what goes in comes out once, under any handle, from any
 * thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "interpose/channels.h"
#include "interpose/mpi/multi_request.h"
#include "interpose/mpi/requests.h"
#include "interpose/recorder.h"

static struct ct_mpi_request request(uint32_t launch, unsigned op, uint32_t flags)
{
	return (struct ct_mpi_request){
		.op = { .op = (uint8_t)op, .launch = launch, .enter_ns = launch, .comm = 1 },
		.flags = flags,
		.bytes = launch * 8ull,
	};
}

static void begin(uintptr_t handle, uint32_t launch, enum ct_mpi_handle_kind kind)
{
	const struct ct_mpi_request r = request(launch, CT_OP_Recv, 0);

	ct_mpi_requests_begun(handle, kind, &r, 1);
}

static uint32_t take(uintptr_t handle)
{
	const struct ct_mpi_held held = ct_mpi_requests_hold(handle);
	struct ct_mpi_request r;

	return ct_mpi_requests_take(&held, &r) ? r.op.launch : 0;
}

static void what_is_begun_is_taken_once(void **state)
{
	(void)state;
	begin(0x1000, 7, CT_MPI_HANDLE_OWN);
	assert_int_equal(ct_mpi_requests_receives(), 1);
	assert_int_equal(take(0x2000), 0);
	assert_int_equal(take(0x1000), 7);
	assert_int_equal(take(0x1000), 0);
	assert_int_equal(ct_mpi_requests_count(), 0);
	assert_int_equal(ct_mpi_requests_receives(), 0);
}

static void a_handle_of_what_is_complete_is_not_kept(void **state)
{
	(void)state;
	begin(0x6c000001, 1, CT_MPI_HANDLE_DONE);
	assert_int_equal(take(0x6c000001), 0);
}

/* The library gives a handle to the next request before the thread that waited has taken the entry.
 */
static void a_handle_that_comes_again_is_the_new_one(void **state)
{
	struct ct_mpi_held waited;
	struct ct_mpi_request r;

	(void)state;
	begin(0x1000, 1, CT_MPI_HANDLE_OWN);
	waited = ct_mpi_requests_hold(0x1000);
	begin(0x1000, 2, CT_MPI_HANDLE_OWN);
	assert_int_equal(take(0x1000), 2);
	assert_true(ct_mpi_requests_take(&waited, &r));
	assert_int_equal(r.op.launch, 1);
	assert_false(ct_mpi_requests_take(&waited, &r));
	assert_int_equal(ct_mpi_requests_count(), 0);
}

/* What was held is no other's, also where that has the same slot. */
static void what_was_held_and_taken_is_no_other(void **state)
{
	struct ct_mpi_held waited;
	struct ct_mpi_request r;

	(void)state;
	begin(0x1000, 1, CT_MPI_HANDLE_OWN);
	waited = ct_mpi_requests_hold(0x1000);
	assert_int_equal(take(0x1000), 1);
	begin(0x1000, 2, CT_MPI_HANDLE_OWN);
	assert_false(ct_mpi_requests_take(&waited, &r));
	assert_int_equal(take(0x1000), 2);
}

static void requests_that_end_unseen_do_not_pile_up(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 100; i++)
		begin(0x1000, i, CT_MPI_HANDLE_OWN);
	assert_int_equal(take(0x1000), 100);
	assert_true(ct_mpi_requests_count() <= 16);
	while (take(0x1000))
		;
	assert_int_equal(ct_mpi_requests_count(), 0);
}

static void of_a_shared_handle_the_oldest_comes_first(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 40; i++)
		begin(0x1000, i, CT_MPI_HANDLE_SHARED);
	for (uint32_t i = 1; i <= 40; i++)
		assert_int_equal(take(0x1000), i);
	assert_int_equal(take(0x1000), 0);
}

static void a_persistent_one_stays_until_it_is_forgotten(void **state)
{
	struct ct_mpi_request r = request(0, CT_OP_Recv, CT_MPI_REQUEST_PERSISTENT);
	struct ct_mpi_request *kept;

	(void)state;
	ct_mpi_requests_keep(0x3000, &r);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(take(0x3000), 0);
		kept = ct_mpi_requests_find(0x3000, 0);
		assert_non_null(kept);
		kept->op.launch = i;
		ct_mpi_requests_started(kept);
		assert_int_equal(ct_mpi_requests_receives(), 1);
		assert_int_equal(take(0x3000), i);
		assert_int_equal(ct_mpi_requests_receives(), 0);
	}
	ct_mpi_requests_forget(0x3000);
	assert_null(ct_mpi_requests_find(0x3000, 0));
	assert_int_equal(ct_mpi_requests_count(), 0);
}

static void a_message_and_a_request_may_have_the_same_handle(void **state)
{
	struct ct_mpi_request message = request(9, CT_OP_Recv, CT_MPI_REQUEST_MESSAGE), r;

	(void)state;
	ct_mpi_requests_keep(0xac000000, &message);
	begin(0xac000000, 3, CT_MPI_HANDLE_OWN);
	assert_int_equal(take(0xac000000), 3);
	assert_int_equal(take(0xac000000), 0);
	assert_true(ct_mpi_requests_take_message(0xac000000, &r));
	assert_int_equal(r.op.launch, 9);
	assert_int_equal(ct_mpi_requests_count(), 0);
}

/* As a program that posts all its receives first: every one is found, in any order, however the
 * handles lie. */
static void thousands_may_be_outstanding(void **state)
{
	enum { N = 12000 };
	static uint32_t order[N];

	(void)state;
	for (uintptr_t step = 8; step <= 832; step *= 2) {
		for (uint32_t i = 0; i < N; i++) {
			order[i] = i;
			begin(0x550000000000u + i * step, i + 1, CT_MPI_HANDLE_OWN);
		}
		assert_int_equal(ct_mpi_requests_count(), N);
		srand((unsigned)step);
		for (uint32_t i = N - 1; i > 0; i--) {
			uint32_t k = (uint32_t)rand() % (i + 1), t = order[i];

			order[i] = order[k];
			order[k] = t;
		}
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(take(0x550000000000u + order[i] * step), order[i] + 1);
		assert_int_equal(ct_mpi_requests_count(), 0);
	}
}

/* A table that is full refuses and counts; what is in it stays right. */
static void what_has_no_room_is_no_other(void **state)
{
	enum { N = 2 * CT_MPI_REQUESTS_MAX };
	uint32_t kept, taken = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		begin(0x10000 + i * 64ull, i + 1, CT_MPI_HANDLE_OWN);
	kept = ct_mpi_requests_count();
	assert_true(kept > CT_MPI_REQUESTS_MAX / 2 && kept <= CT_MPI_REQUESTS_MAX);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t launch = take(0x10000 + i * 64ull);

		assert_true(launch == 0 || launch == i + 1);
		taken += launch != 0;
	}
	assert_int_equal(taken, kept);
	assert_int_equal(ct_mpi_requests_count(), 0);
}

/* Of persistent requests that have no slot: messages get no number that another might have, and
 * collectives have space. */
static void what_is_lost_takes_no_ones_number(void **state)
{
	struct ct_mpi_request message = request(0, CT_OP_Recv, CT_MPI_REQUEST_PERSISTENT);
	struct ct_mpi_request collective = request(0, CT_OP_AllReduce, CT_MPI_REQUEST_PERSISTENT);

	(void)state;
	message.comm_id = collective.comm_id = 3;
	assert_int_equal(ct_channels_next(3, CT_SEND, 1, 5), 0);
	assert_int_equal(ct_channels_next(4, CT_SEND, 1, 5), 0);
	for (uint32_t i = 0; i < 2 * CT_MPI_REQUESTS_MAX; i++)
		ct_mpi_requests_keep(0x10000 + i * 64ull, &message);
	assert_true(ct_mpi_requests_lost() >= CT_MPI_REQUESTS_MAX);
	assert_true(ct_channels_next(3, CT_SEND, 1, 5) >= CT_SEQ_UNMATCHED);
	assert_true(ct_channels_next(3, CT_RECV, 2, 6) >= CT_SEQ_UNMATCHED);
	assert_int_equal(ct_channels_next(4, CT_SEND, 1, 5), 1);
	for (uint32_t i = 0; i < 100; i++) {
		collective.op.count = i;
		ct_mpi_requests_keep(0x7f0000000000u + i * 64ull, &collective);
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct ct_mpi_request *kept = ct_mpi_requests_find(0x7f0000000000u + i * 64ull, 0);

		assert_non_null(kept);
		assert_int_equal(kept->op.count, i);
		ct_mpi_requests_forget(0x7f0000000000u + i * 64ull);
	}
	for (uint32_t i = 0; i < 2 * CT_MPI_REQUESTS_MAX; i++)
		ct_mpi_requests_forget(0x10000 + i * 64ull);
	assert_int_equal(ct_mpi_requests_count(), 0);
}

/* Whose message a receive from any got that is given up is not known: nor is the number of the next
 * one. */
static void what_is_given_up_ends_and_takes_no_ones_number(void **state)
{
	struct ct_mpi_request r = request(5, CT_OP_Recv, CT_MPI_REQUEST_ANY_SOURCE);

	(void)state;
	r.comm_id = 6;
	begin(0x1000, 1, CT_MPI_HANDLE_OWN);
	ct_mpi_requests_give_up(0x1000);
	assert_int_equal(ct_channels_next(6, CT_RECV, 1, 5), 0);
	ct_mpi_requests_begun(0x1000, CT_MPI_HANDLE_OWN, &r, 1);
	ct_mpi_requests_give_up(0x1000);
	assert_int_equal(ct_mpi_requests_count(), 0);
	assert_true(ct_channels_next(6, CT_RECV, 1, 5) >= CT_SEQ_UNMATCHED);
}

enum { MANY = 200, WAITERS = 64 };
static pthread_barrier_t all_wait;
static _Atomic uint32_t without_room;

/* A call that begins twice was left in between. */
static void *wait_for_many(void *arg)
{
	static uintptr_t handles[WAITERS][MANY];
	uintptr_t me = (uintptr_t)arg;
	struct ct_mpi_multi s;
	_Atomic uintptr_t *left;
	void *statuses = NULL;

	for (uintptr_t i = 0; i < MANY; i++) {
		handles[me][i] = 0x550000000000u + (me * MANY + i) * 64;
		begin((uintptr_t)ct_mpi_key(handles[me][i]), 1, CT_MPI_HANDLE_OWN);
	}
	ct_mpi_multi_begin(&s, MANY, handles[me], &statuses);
	left = s.buffer;
	ct_mpi_multi_begin(&s, MANY, handles[me], &statuses);
	if (!s.held || s.buffer != left)
		atomic_fetch_add(&without_room, 1);
	pthread_barrier_wait(&all_wait);
	ct_mpi_multi_all(&s, handles[me], 2, 0);
	ct_mpi_multi_end(&s);
	return NULL;
}

static void many_threads_wait_for_many(void **state)
{
	pthread_t threads[WAITERS];

	(void)state;
	ct_mpi.is.handle_bytes = 8;
	ct_mpi.mask = UINTPTR_MAX;
	ct_mpi.flavour = CT_MPI_OPENMPI;
	ct_mpi.is.REQUEST_NULL = ct_mpi.is.STATUSES_IGNORE = 1;
	pthread_barrier_init(&all_wait, NULL, WAITERS);
	for (uintptr_t i = 0; i < WAITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_many, (void *)i), 0);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&without_room), 0);
	assert_int_equal(ct_mpi_requests_count(), 0);
}

enum { THREADS = 4, ROUNDS = 3000, SPREAD = 16 };
static _Atomic uint32_t wrong;
static _Atomic uint32_t shared_taken[THREADS * ROUNDS + 1];

/* Each thread has requests of its own, and all of them share one handle. */
static void *work(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	uintptr_t base = 0x7f0000000000u + me * 0x40u;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t id = me * ROUNDS + i + 1;
		uint32_t got;

		for (uint32_t k = 0; k < SPREAD; k++)
			begin(base + k * 0x1000u, id * SPREAD + k, CT_MPI_HANDLE_OWN);
		begin(0x6c000009, id, CT_MPI_HANDLE_SHARED);
		for (uint32_t k = SPREAD; k-- > 0;)
			if (take(base + k * 0x1000u) != id * SPREAD + k)
				atomic_fetch_add(&wrong, 1);
		got = take(0x6c000009);
		if (got == 0 || got > THREADS * ROUNDS ||
		    atomic_fetch_add(&shared_taken[got], 1) != 0)
			atomic_fetch_add(&wrong, 1);
	}
	return NULL;
}

static void threads_take_what_is_theirs(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(ct_mpi_requests_count(), 0);
	assert_int_equal(ct_mpi_requests_receives(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_begun_is_taken_once),
		cmocka_unit_test(a_handle_of_what_is_complete_is_not_kept),
		cmocka_unit_test(a_handle_that_comes_again_is_the_new_one),
		cmocka_unit_test(what_was_held_and_taken_is_no_other),
		cmocka_unit_test(requests_that_end_unseen_do_not_pile_up),
		cmocka_unit_test(of_a_shared_handle_the_oldest_comes_first),
		cmocka_unit_test(a_persistent_one_stays_until_it_is_forgotten),
		cmocka_unit_test(a_message_and_a_request_may_have_the_same_handle),
		cmocka_unit_test(thousands_may_be_outstanding),
		cmocka_unit_test(what_has_no_room_is_no_other),
		cmocka_unit_test(what_is_lost_takes_no_ones_number),
		cmocka_unit_test(what_is_given_up_ends_and_takes_no_ones_number),
		cmocka_unit_test(many_threads_wait_for_many),
		cmocka_unit_test(threads_take_what_is_theirs),
	};

	if (ct_mpi_requests_init() != 0 || ct_channels_init() != 0 || ct_mpi_multi_init() != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
