/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of communicators that were not seen being made: equal on all members, or unique. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpose/comms.h"
#include "interpose/recorder.h"

static _Atomic int
	is_held; /* 1: the next one to ask for the time stops, 2: it has stopped, 0: it goes on */

/* Instead of libc's: a communicator's end is stamped under the lock. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int asked = 1;

	if (atomic_compare_exchange_strong(&is_held, &asked, 2))
		while (atomic_load(&is_held))
			usleep(1000);
	return (int)syscall(SYS_clock_gettime, clock, t);
}

/* Instead of libc's: on a busy machine each would take long. */
int sched_yield(void)
{
	return 0;
}

/* As another process of the job. */
static void start(uint64_t who)
{
	const char *const no_dirs[] = { NULL };
	struct ct_process process = { .pid = (uint32_t)who };

	assert_int_equal(ct_ring_create(&ct_recorder.ring, &process, no_dirs, CT_RING_MIN_BYTES,
					NULL),
			 CT_OK);
	assert_int_equal(ct_comms_init("a job", who), CT_OK);
}

static void finish(void)
{
	ct_ring_close(&ct_recorder.ring, 1);
}

/* The key of the communicator with this handle, of two ranks by default; 0 if there was no slot
 * for it. */
static uint64_t made(uintptr_t handle, uint64_t key, uint32_t nranks)
{
	const struct ct_comm_spec spec = {
		.handle = { (const void *)handle, NULL },
		.key = key,
		.source = key ? CT_KEY_LIBRARY : CT_KEY_GUESSED,
		.nranks = nranks,
	};
	struct ct_traced_comm *comm = ct_comms_create(&spec);

	return comm ? comm->key : 0;
}

static void guess(uint64_t who, uint32_t nranks, uint64_t keys[2])
{
	start(who);
	keys[0] = made(8, 0, nranks);
	keys[1] = made(16, 0, nranks);
	finish();
	assert_true(keys[0] != keys[1]);
}

static void members_guess_the_same_key(void **state)
{
	uint64_t here[2], there[2];

	(void)state;
	guess(1, 2, here);
	guess(2, 2, there);
	assert_memory_equal(here, there, sizeof(here));
	guess(1, 1, here);
	guess(2, 1, there);
	assert_true(here[0] != there[0]);
}

/* Fill the tables; one more communicator than there are slots for. Then free slots as the write
 * thread does, and guess. */
static uint64_t guess_after_loss(uint64_t who)
{
	struct ct_traced_comm *comm;
	uintptr_t n = 1;
	uint64_t key;

	start(who);
	while (made(8 * n, n, 2) == n)
		n++;
	assert_int_equal(atomic_load(&ct_recorder.ring.header->losses[CT_LOSS_COMM_TABLE_FULL]), 1);
	comm = ct_comms_find((const void *)(uintptr_t)8);
	assert_non_null(comm);
	ct_comms_end((const void *)(uintptr_t)8);
	ct_ring_comm_free(&ct_recorder.ring, (uint32_t)(comm->entry - ct_recorder.ring.comms));
	key = made(8 * n, 0, 2);
	assert_true(key != 0);
	finish();
	return key;
}

/* Which communicators a process has lost is its own affair: the first that it guesses is not the
 * others' first. */
static void after_a_loss_no_two_guess_the_same_key(void **state)
{
	(void)state;
	assert_true(guess_after_loss(1) != guess_after_loss(2));
}

/* Communicators come and go, under any of many handles: those that are there are found, no others. */
static void what_is_there_is_found_however_many_went(void **state)
{
	enum { HANDLES = 4000, LIVE = 40, ROUNDS = 60000 };
	uintptr_t live[LIVE] = { 0 };
	struct ct_traced_comm *comms[LIVE] = { NULL };
	uint32_t random = 1;

	(void)state;
	start(1);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t at = i % LIVE, free_one = 1;
		uintptr_t handle;

		if (live[at]) {
			ct_comms_end((const void *)live[at]);
			assert_null(ct_comms_find((const void *)live[at]));
			ct_ring_comm_free(&ct_recorder.ring,
					  (uint32_t)(comms[at]->entry - ct_recorder.ring.comms));
		}
		random = random * 1664525u + 1013904223u;
		handle = 64 * (1 + (random >> 8) % HANDLES);
		for (uint32_t k = 0; k < LIVE; k++)
			free_one &= live[k] != handle || k == at;
		live[at] = free_one ? handle : 0;
		if (!live[at])
			continue;
		assert_int_equal(made(handle, i + 1, 2), i + 1);
		comms[at] = ct_comms_find((const void *)handle);
		for (uint32_t k = 0; k < LIVE; k++)
			if (live[k])
				assert_ptr_equal(ct_comms_find((const void *)live[k]), comms[k]);
	}
	finish();
}

static void *end_one(void *handle)
{
	ct_comms_end(handle);
	return NULL;
}

/* The thread that holds the lock does not run: the others go on, and what they could not enter is
 * counted. */
static void what_a_locked_table_costs_is_counted(void **state)
{
	const void *const other = (const void *)(uintptr_t)16;
	_Atomic uint64_t *lost;
	pthread_t holder;

	(void)state;
	start(1);
	lost = &ct_recorder.ring.header->losses[CT_LOSS_COMM_TABLE_FULL];
	assert_int_equal(made(8, 1, 2), 1);
	assert_int_equal(made(16, 2, 2), 2);
	atomic_store(&is_held, 1);
	assert_int_equal(pthread_create(&holder, NULL, end_one, (void *)(uintptr_t)8), 0);
	while (atomic_load(&is_held) != 2)
		usleep(1000);
	ct_comms_end(other);
	assert_int_equal(atomic_load(lost), 1);
	assert_non_null(ct_comms_find(other));
	assert_int_equal(made(24, 3, 2), 0);
	assert_int_equal(atomic_load(lost), 2);
	atomic_store(&is_held, 0);
	assert_int_equal(pthread_join(holder, NULL), 0);
	ct_comms_end(other);
	assert_null(ct_comms_find(other));
	assert_int_equal(atomic_load(lost), 2);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_locked_table_costs_is_counted),
		cmocka_unit_test(members_guess_the_same_key),
		cmocka_unit_test(after_a_loss_no_two_guess_the_same_key),
		cmocka_unit_test(what_is_there_is_found_however_many_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
