/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes between ranks: the counters in the ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "trace/ring.h"
#include "trace/ring_traffic.h"

static struct ct_ring open_ring(void)
{
	const char *const nowhere[] = { NULL };
	struct ct_process process = { .pid = 1 };
	struct ct_ring ring;

	assert_int_equal(ct_ring_create(&ring, &process, nowhere, CT_RING_MIN_BYTES, NULL), CT_OK);
	return ring;
}

/* Of one key, over all its entries. */
static struct ct_traffic_rec total(const struct ct_ring *ring, uint32_t comm, int32_t peer,
				   uint32_t received)
{
	struct ct_traffic_rec sum = { 0 }, rec;

	for (uint32_t i = 0; i < ct_ring_traffic_entries(ring->header); i++) {
		if (!ct_ring_traffic_read(ring, i, &rec) || rec.comm != comm || rec.peer != peer ||
		    rec.received != received)
			continue;
		sum.messages += rec.messages;
		sum.bytes += rec.bytes;
	}
	return sum;
}

static uint64_t lost(const struct ct_ring *ring)
{
	return atomic_load(&ring->header->losses[CT_LOSS_TRAFFIC_FULL]);
}

enum { THREADS = 4, ROUNDS = 20000, PEERS = 20 };

static void *add_many(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		ct_ring_traffic_add(arg, 7, i & 1, i % PEERS, 3);
	return NULL;
}

static void threads_add_up_and_nothing_is_lost(void **state)
{
	struct ct_ring ring = open_ring();
	pthread_t threads[THREADS];

	(void)state;
	for (int t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, add_many, &ring), 0);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int peer = 0; peer < PEERS; peer++) {
		struct ct_traffic_rec rec = total(&ring, 7, peer, peer & 1);

		assert_int_equal(rec.messages, THREADS * ROUNDS / PEERS);
		assert_int_equal(rec.bytes, 3 * rec.messages);
		assert_int_equal(total(&ring, 7, peer, !(peer & 1)).messages, 0);
	}
	assert_int_equal(lost(&ring), 0);
	ct_ring_close(&ring, 1);
}

static void a_full_table_is_a_counted_loss_and_no_wrong_number(void **state)
{
	struct ct_ring ring = open_ring();
	uint32_t n = 4 * ct_ring_traffic_entries(ring.header);
	uint64_t found = 0;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		ct_ring_traffic_add(&ring, 1 + i, 0, -1, i);
	for (uint32_t i = 0; i < n; i++) {
		struct ct_traffic_rec rec = total(&ring, 1 + i, -1, 0);

		assert_true(rec.messages == 0 || (rec.messages == 1 && rec.bytes == i));
		found += rec.messages;
	}
	assert_true(found >= ct_ring_traffic_entries(ring.header) / 2);
	assert_int_equal(lost(&ring), n - found);
	ct_ring_close(&ring, 1);
}

static void a_freed_entry_begins_from_nothing(void **state)
{
	struct ct_ring ring = open_ring();
	struct ct_traffic_rec rec;

	(void)state;
	for (uint32_t comm = 1; comm < 5000; comm++) {
		ct_ring_traffic_add(&ring, comm, 0, 1, 10);
		ct_ring_traffic_add(&ring, comm, 1, 1, 10);
		assert_int_equal(total(&ring, comm, 1, 0).bytes, 10);
		for (uint32_t i = 0; i < ct_ring_traffic_entries(ring.header); i++)
			if (ct_ring_traffic_read(&ring, i, &rec) && rec.comm == comm)
				ct_ring_traffic_free(&ring, i);
		assert_int_equal(total(&ring, comm, 1, 0).bytes, 0);
	}
	assert_int_equal(lost(&ring), 0);
	ct_ring_close(&ring, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_add_up_and_nothing_is_lost),
		cmocka_unit_test(a_full_table_is_a_counted_loss_and_no_wrong_number),
		cmocka_unit_test(a_freed_entry_begins_from_nothing),
	};

	return cmocka_run_group_tests_name("ring_traffic", tests, NULL, NULL);
}
