/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that were begun and not yet waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "interpose/pending.h"
#include "interpose/recorder.h"

enum { THREADS = 4, EACH = 16, ROUNDS = 1500 };

static uint64_t object;					    /* that all of them wait on */
static _Atomic uint32_t taken[ROUNDS * THREADS * EACH + 1]; /* by launch: how often */
static pthread_barrier_t barrier;

static void *take_some(void *arg)
{
	struct ct_pending pending;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&barrier); /* they are added */
		for (uint32_t i = 0; i < EACH; i++)
			if (ct_pending_take(&object, CT_SEND, &pending))
				atomic_fetch_add(&taken[pending.launch], 1);
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

/* As many waits as transfers, on several threads at once: each ends one. */
static void every_wait_takes_one_while_there_is_one(void **state)
{
	const char *const no_dirs[] = { NULL };
	struct ct_process process = { .pid = 1 };
	struct ct_pending pending = { .comm = 1, .launch = 0 };
	pthread_t threads[THREADS];

	(void)state;
	assert_int_equal(ct_ring_create(&ct_recorder.ring, &process, no_dirs, CT_RING_MIN_BYTES,
					NULL),
			 CT_OK);
	assert_int_equal(ct_pending_init(), CT_OK);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_some, NULL), 0);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < THREADS * EACH; i++) {
			pending.launch++;
			assert_int_equal(ct_pending_add(&object, CT_SEND, &pending), 1);
		}
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		assert_int_equal(ct_pending_count(), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t launch = 1; launch <= pending.launch; launch++)
		assert_int_equal(taken[launch], 1);
	pthread_barrier_destroy(&barrier);
	ct_ring_close(&ct_recorder.ring, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wait_takes_one_while_there_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
