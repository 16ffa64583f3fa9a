/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/channels.h"
#include "interpose/recorder.h"
#include "interpose/sequence.h"

static struct ct_seq tags;
static ct_word next_seq;

static void begin(void)
{
	ct_seq_init(&tags);
	atomic_store(&next_seq, 0);
}

static uint64_t next(uint32_t tag)
{
	return ct_seq_next(&tags, &next_seq, tag);
}

static void a_tag_that_never_changes_is_counted(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(next(0), i);
	assert_int_equal(atomic_load(&next_seq), 1000);
	begin();
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(next(7), 7 + i);
}

static void tags_that_count_are_the_number(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(next((uint32_t)i), i);
	assert_int_equal(atomic_load(&next_seq), 1000);
}

/* What two threads of one communicator do to the order. */
static void tags_that_come_late_keep_their_number(void **state)
{
	uint32_t order[1000];

	(void)state;
	for (int seed = 0; seed < 200; seed++) {
		srand((unsigned)seed);
		begin();
		for (uint32_t i = 0; i < 1000; i++)
			order[i] = i;
		/* shuffled within groups of eight */
		for (uint32_t i = 0; i < 1000; i++) {
			uint32_t k = i / 8 * 8 + (uint32_t)rand() % 8, t = order[i];

			order[i] = order[k];
			order[k] = t;
		}
		for (uint32_t i = 0; i < 1000; i++)
			if (next(order[i]) != order[i])
				fail_msg("seed %d, tag %u", seed, order[i]);
		assert_int_equal(atomic_load(&next_seq), 1000);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whatever the tags are, the same order gives the same numbers on all ranks, and no number twice. */
static void no_number_comes_twice(void **state)
{
	static uint64_t seqs[20000], again[20000];

	(void)state;
	for (int kinds = 1; kinds <= 300; kinds += 13) {
		for (int round = 0; round < 2; round++) {
			uint64_t *out = round ? again : seqs;

			srand((unsigned)kinds);
			begin();
			for (int i = 0; i < 20000; i++)
				out[i] = next((uint32_t)(rand() % kinds) * 37u);
		}
		assert_memory_equal(seqs, again, sizeof(seqs));
		qsort(seqs, 20000, sizeof(seqs[0]), compare);
		for (int i = 1; i < 20000; i++)
			if (seqs[i] == seqs[i - 1])
				fail_msg("%d tags: %llu comes twice", kinds,
					 (unsigned long long)seqs[i]);
	}
}

static void channels_count_by_themselves(void **state)
{
	(void)state;
	assert_int_equal(ct_channels_init(), CT_OK);
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(ct_channels_next(1, CT_SEND, 2, 0), i);
		assert_int_equal(ct_channels_next(1, CT_RECV, 2, 0), i);
		assert_int_equal(ct_channels_next(1, CT_SEND, 3, 0), i);
		assert_int_equal(ct_channels_next(1, CT_SEND, 2, 1ull << 40), i);
		assert_int_equal(ct_channels_next(2, CT_SEND, 2, 0), i);
	}
}

/* A receive that was cancelled: only the latest number can be given again. */
static void a_number_taken_back_comes_again(void **state)
{
	(void)state;
	assert_int_equal(ct_channels_next(5, CT_RECV, 2, 9), 0);
	assert_int_equal(ct_channels_next(5, CT_RECV, 2, 9), 1);
	assert_false(ct_channels_return(5, CT_RECV, 2, 9, 0));
	assert_true(ct_channels_return(5, CT_RECV, 2, 9, 1));
	assert_false(ct_channels_return(5, CT_RECV, 2, 9, 1));
	assert_int_equal(ct_channels_next(5, CT_RECV, 2, 9), 1);
	assert_false(ct_channels_return(5, CT_RECV, 3, 9, 0));
}

static void too_many_channels_are_a_counted_loss(void **state)
{
	struct ct_ring_header *header = calloc(1, sizeof(*header));
	uint64_t seqs[2000];
	size_t lost = 0;

	(void)state;
	ct_recorder.ring.header = header;
	assert_int_equal(ct_channels_init(), CT_OK);
	for (uint64_t i = 0; i < 30000; i++) {
		uint64_t seq = ct_channels_next(1, CT_SEND, 2, i);

		if (seq && lost < 2000)
			seqs[lost++] = seq;
		/* those that have a slot keep it */
		assert_int_equal(ct_channels_next(1, CT_SEND, 2, 0), i + 1);
	}
	/* the numbers of the others are no one's */
	assert_true(atomic_load(&header->losses[CT_LOSS_SEQ_TABLE_FULL]) > 20000);
	assert_int_equal(lost, 2000);
	qsort(seqs, lost, sizeof(seqs[0]), compare);
	for (size_t i = 0; i < lost; i++) {
		assert_true(seqs[i] >= CT_SEQ_UNMATCHED);
		assert_true(i == 0 || seqs[i] != seqs[i - 1]);
	}
	ct_recorder.ring.header = NULL;
	free(header);
}

/* A communicator that lives long among many that do not. */
static void channels_of_an_ended_communicator_are_free_again(void **state)
{
	struct ct_ring_header *header = calloc(1, sizeof(*header));
	enum { PEERS = 512 };

	(void)state;
	ct_recorder.ring.header = header;
	assert_int_equal(ct_channels_init(), CT_OK);
	for (uint32_t round = 0; round < 100; round++) {
		uint32_t comm = 2 + round;

		for (int peer = 0; peer < PEERS; peer++) {
			assert_int_equal(ct_channels_next(1, CT_SEND, peer, 0), round);
			for (uint64_t n = 0; n < 2; n++)
				assert_int_equal(ct_channels_next(comm, CT_SEND, peer, 0), n);
		}
		ct_channels_end(comm);
	}
	assert_int_equal(atomic_load(&header->losses[CT_LOSS_SEQ_TABLE_FULL]), 0);
	ct_recorder.ring.header = NULL;
	free(header);
}

enum { THREADS = 4 };
static _Atomic uint32_t next_comm = 1000;

/* Communicators that come and go, each used by its thread; and one that all use. */
static void *use_channels(void *arg)
{
	uint64_t wrong = 0;

	for (int round = 0; round < 300; round++) {
		uint32_t comm = next_comm++;

		for (int peer = 0; peer < 40; peer++) {
			wrong += ct_channels_next(comm, CT_RECV, peer, 0) != 0;
			wrong += ct_channels_next(comm, CT_RECV, peer, 0) != 1;
			ct_channels_next(1, CT_SEND, peer, 0);
		}
		ct_channels_end(comm);
	}
	*(uint64_t *)arg = wrong;
	return NULL;
}

static void channels_that_come_and_go_disturb_no_other(void **state)
{
	struct ct_ring_header *header = calloc(1, sizeof(*header));
	pthread_t threads[THREADS];
	uint64_t wrong[THREADS];

	(void)state;
	ct_recorder.ring.header = header;
	assert_int_equal(ct_channels_init(), CT_OK);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_channels, &wrong[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(wrong[i], 0);
	}
	for (int peer = 0; peer < 40; peer++)
		assert_int_equal(ct_channels_next(1, CT_SEND, peer, 0), THREADS * 300);
	assert_int_equal(atomic_load(&header->losses[CT_LOSS_SEQ_TABLE_FULL]), 0);
	ct_recorder.ring.header = NULL;
	free(header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tag_that_never_changes_is_counted),
		cmocka_unit_test(tags_that_count_are_the_number),
		cmocka_unit_test(tags_that_come_late_keep_their_number),
		cmocka_unit_test(no_number_comes_twice),
		cmocka_unit_test(channels_count_by_themselves),
		cmocka_unit_test(a_number_taken_back_comes_again),
		cmocka_unit_test(too_many_channels_are_a_counted_loss),
		cmocka_unit_test(channels_of_an_ended_communicator_are_free_again),
		cmocka_unit_test(channels_that_come_and_go_disturb_no_other),
	};

	return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
