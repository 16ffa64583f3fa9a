/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "interpose/recorder.h"
#include "interpose/tags.h"

static struct ct_tags tags;
static ct_word next_seq;

static void begin(void)
{
	ct_tags_init(&tags);
	atomic_store(&next_seq, 0);
}

static uint64_t next(uint32_t tag)
{
	return ct_tags_next(&tags, &next_seq, tag);
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

static void too_many_channels_are_a_counted_loss(void **state)
{
	struct ct_ring_header *header = calloc(1, sizeof(*header));

	(void)state;
	ct_recorder.ring.header = header;
	assert_int_equal(ct_channels_init(), CT_OK);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(ct_channels_next(1, CT_SEND, 2, i), 0);
	assert_true(atomic_load(&header->losses[CT_LOSS_SEQ_TABLE_FULL]) > 90000);
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
		cmocka_unit_test(too_many_channels_are_a_counted_loss),
	};

	return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
