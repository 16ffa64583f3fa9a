/* SPDX-License-Identifier: Apache-2.0 */
/* STACK records: in a ring that its writer may die in, and as a reader puts them together, damaged
 * ones too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/stacks.h"
#include "trace/ring_stacks.h"

#define BUFFER 4096u

/* A ring that has nothing but buffers for stacks. */
struct small_ring {
	struct ct_ring_header header;
	uint8_t buffers[2 * BUFFER] __attribute__((aligned(8)));
	struct ct_ring ring;
};

static struct ct_ring *make_ring(struct small_ring *r)
{
	memset(r, 0, sizeof(*r));
	r->ring.header = &r->header;
	r->ring.stacks = (char *)r->buffers;
	atomic_store(&r->header.stacks,
		     (uint64_t)BUFFER << 32 | offsetof(struct small_ring, buffers));
	return &r->ring;
}

static void put(struct ct_ring *ring, const char *text, int again)
{
	const uint32_t len = (uint32_t)strlen(text);

	ct_ring_stacks_put(ring, (const uint8_t *)text, &len, 1, again);
}

/* The records of the ring are these, one behind the other. */
static void assert_ring(const struct ct_ring *ring, const char *expected)
{
	struct ct_block block = { 0 };
	char text[BUFFER] = "";

	assert_int_equal(ct_ring_stacks_read(ring, BUFFER, &block), CT_OK);
	for (uint32_t i = 0; i < block.n_rares; i++) {
		assert_int_equal(block.rares[i].kind, CT_KIND_STACK);
		strncat(text, (const char *)block.bytes + block.rares[i].at, block.rares[i].len);
		strcat(text, "|");
	}
	assert_string_equal(text, expected);
	ct_block_fini(&block);
}

static void ring_keeps_the_last_two_looks(void **state)
{
	static struct small_ring r;
	struct ct_ring *ring = make_ring(&r);

	(void)state;
	assert_ring(ring, "");
	put(ring, "first", 0);
	assert_ring(ring, "first|");
	put(ring, "first, with names", 1);
	assert_ring(ring, "first, with names|");
	put(ring, "second", 0);
	assert_ring(ring, "first, with names|second|");
	put(ring, "third is a longer one", 0);
	assert_ring(ring, "second|third is a longer one|");
}

static void ring_leaves_out_what_finds_no_room(void **state)
{
	static struct small_ring r;
	static uint8_t records[2 * BUFFER];
	const uint32_t len[] = { 3, BUFFER, 5 };
	struct ct_ring *ring = make_ring(&r);

	(void)state;
	memcpy(records, "one", 3);
	memcpy(records + 3 + BUFFER, "three", 5);
	ct_ring_stacks_put(ring, records, len, 3, 0);
	assert_ring(ring, "one|three|");
}

static void writer_that_died_in_it_leaves_the_other_look(void **state)
{
	static struct small_ring r;
	struct ct_ring *ring = make_ring(&r);
	struct ct_ring_stacks *second = (struct ct_ring_stacks *)(void *)(r.buffers + BUFFER);

	(void)state;
	put(ring, "first", 0);
	put(ring, "second", 0);
	atomic_fetch_sub(&second->version, 1); /* odd: half written */
	assert_ring(ring, "first|");
}

static void damaged_ring_is_read_within_its_bounds(void **state)
{
	static struct small_ring r;
	struct ct_ring *ring = make_ring(&r);
	struct ct_ring_stacks *first = (struct ct_ring_stacks *)(void *)r.buffers;
	uint64_t len;

	(void)state;
	put(ring, "first", 0);
	atomic_store(&first->words, UINT64_MAX);
	assert_ring(ring, "");
	atomic_store(&first->words, 1);
	assert_ring(ring, "");
	atomic_store(&first->words, 2);
	len = 60000;
	memcpy(first + 1, &len, sizeof(len));
	assert_ring(ring, "");
}

/* ---- reading ---- */

struct bytes {
	uint8_t at[2048];
	size_t n;
};

static void begin(struct bytes *b, uint32_t tid, uint32_t take, uint16_t flags, uint16_t n_frames)
{
	struct ct_stack_rec rec = { .taken_ns = 1000 * take,
				    .since_ns = 10,
				    .cpu_ns = 100 * take,
				    .tid = tid,
				    .take = take,
				    .flags = flags,
				    .n_frames = n_frames,
				    .thread = "worker" };

	memcpy(b->at, &rec, sizeof(rec));
	b->n = sizeof(rec);
}

static void add(struct bytes *b, enum ct_frame_kind kind, const char *function, const char *file,
		uint32_t line)
{
	struct ct_stack_frame frame = { .kind = (uint8_t)kind, .line = line };

	memcpy(b->at + b->n, &frame, sizeof(frame));
	b->n += sizeof(frame);
	memcpy(b->at + b->n, function, strlen(function) + 1);
	b->n += strlen(function) + 1;
	memcpy(b->at + b->n, file, strlen(file) + 1);
	b->n += strlen(file) + 1;
}

static struct bytes sleeper(uint32_t tid, uint32_t take, uint32_t line)
{
	struct bytes b;

	begin(&b, tid, take, CT_STACK_MAIN, 3);
	add(&b, CT_FRAME_NATIVE, "", "libc.so.6", 0);
	add(&b, CT_FRAME_NATIVE, "nanosleep", "libc.so.6", 0);
	add(&b, CT_FRAME_PYTHON, "Loader.batch", "train.py", line);
	return b;
}

static void latest_look_of_each_thread_counts(void **state)
{
	static struct ct_stack_list list;
	struct bytes b;

	(void)state;
	list = (struct ct_stack_list){ .memory = ct_arena_new() };
	b = sleeper(7, 2, 36);
	assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	b = sleeper(7, 1, 11);
	assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.stacks[0].before_ns, 0);
	b = sleeper(7, 3, 36);
	assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	assert_int_equal(list.stacks[0].before_ns, 2000);
	assert_int_equal(list.stacks[0].is_same, 1);
	assert_int_equal(list.stacks[0].cpu_since_ns, 100);
	b = sleeper(7, 4, 37);
	assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	assert_int_equal(list.stacks[0].is_same, 0);
	assert_string_equal(list.stacks[0].rec.thread, "worker");
	assert_int_equal(list.damaged, 0);
	ct_arena_free(list.memory);
}

static void threads_in_calls_come_first_and_the_main_thread_next(void **state)
{
	static struct ct_stack_list list;
	static const uint16_t flags[] = { 0, CT_STACK_MAIN, CT_STACK_IN_CALL };
	struct bytes b;

	(void)state;
	list = (struct ct_stack_list){ .memory = ct_arena_new() };
	for (uint32_t i = 0; i < 3; i++) {
		begin(&b, 10 + i, 1, flags[i], 0);
		assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	}
	ct_stack_list_sort(&list);
	assert_int_equal(list.stacks[0].rec.tid, 12);
	assert_int_equal(list.stacks[1].rec.tid, 11);
	assert_int_equal(list.stacks[2].rec.tid, 10);
	ct_arena_free(list.memory);
}

/* However short a record is cut, its whole frames are what is there, and it says that there were
 * more. */
static void cut_records_keep_their_whole_frames(void **state)
{
	static struct ct_stack_list list;
	struct bytes whole = sleeper(7, 1, 36);

	(void)state;
	for (size_t len = 0; len < whole.n; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		list = (struct ct_stack_list){ .memory = ct_arena_new() };
		memcpy(exact, whole.at, len);
		assert_int_equal(ct_stack_list_take(&list, exact, len), CT_OK);
		assert_int_equal(list.damaged, 1);
		assert_int_equal(list.n, len >= sizeof(struct ct_stack_rec));
		if (list.n) {
			assert_true(list.stacks[0].n < 3);
			assert_true(list.stacks[0].rec.flags & CT_STACK_CUT);
		}
		ct_arena_free(list.memory);
		free(exact);
	}
}

static void more_threads_than_there_is_room_for_drop_the_oldest(void **state)
{
	static struct ct_stack_list list;
	struct bytes b;

	(void)state;
	list = (struct ct_stack_list){ .memory = ct_arena_new() };
	for (uint32_t i = 1; i <= CT_STACK_THREADS + 5; i++) {
		begin(&b, i, i, 0, 0);
		assert_int_equal(ct_stack_list_take(&list, b.at, b.n), CT_OK);
	}
	ct_stack_list_sort(&list);
	assert_int_equal(list.n, CT_STACK_THREADS);
	assert_int_equal(list.stacks[0].rec.tid, CT_STACK_THREADS + 5);
	assert_int_equal(list.stacks[CT_STACK_THREADS - 1].rec.tid, 6);
	ct_arena_free(list.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_keeps_the_last_two_looks),
		cmocka_unit_test(ring_leaves_out_what_finds_no_room),
		cmocka_unit_test(writer_that_died_in_it_leaves_the_other_look),
		cmocka_unit_test(damaged_ring_is_read_within_its_bounds),
		cmocka_unit_test(latest_look_of_each_thread_counts),
		cmocka_unit_test(threads_in_calls_come_first_and_the_main_thread_next),
		cmocka_unit_test(cut_records_keep_their_whole_frames),
		cmocka_unit_test(more_threads_than_there_is_room_for_drop_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
