/* SPDX-License-Identifier: Apache-2.0 */
/* What an interpreter of 3.13 or 3.14 publishes of itself is understood, without the GIL too: a
 * made-up one in memory, all of whose offsets differ, reported in the order of the words of either
 * release. What cannot be true is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "interpose/python/published.h"
#include "interpose/python/python.h"

/* Words before each structure, from the releases' headers: cookie, version, free_threaded; runtime
 * 3 words; interpreter 13, in 3.14 also threads_main, code_object_generation and tlbc_generation;
 * thread 9; frame 6, also stackpointer and tlbc_index; code 10, also co_tlbc; object 2. */
enum { RUNTIME = 3, INTERP = 6, THREAD_313 = 19, THREAD_314 = 22, PUBLISHED_WORDS = 96 };

static unsigned char memory[1 << 16];
static uint64_t words[PUBLISHED_WORDS];

static int read_memory(uintptr_t from, void *to, size_t len)
{
	uintptr_t begin = (uintptr_t)memory;

	if (from < begin || from - begin > sizeof(memory) || len > sizeof(memory) - (from - begin))
		return -1;
	memcpy(to, (const void *)from, len);
	return 0;
}

static void put(size_t at, const void *what, size_t len)
{
	memcpy(memory + at, what, len);
}

static void put_word(size_t at, uint64_t word)
{
	put(at, &word, sizeof(word));
}

static uint64_t address(size_t at)
{
	return (uintptr_t)memory + at;
}

enum {
	INTERPRETER = 0x1000,
	STATE = 0x2000,
	FRAMES = 0x3000,
	CODE = 0x4000,
	TEXTS = 0x5000,
	LINES = 0x6000
};

static void put_text(size_t at, uint32_t object_type, const char *text, uint32_t shift)
{
	put_word(at + object_type, 0x1234);
	put_word(at + object_type + 8, strlen(text));
	put_word(at + object_type + 24, (uint64_t)(1 | 1 << 3 | 1 << 4) << shift | 1);
	put(at + object_type + 32, text, strlen(text));
}

static void publish(size_t *at, size_t n, const uint64_t *offsets, size_t known)
{
	words[*at] = 4096; /* its size */
	for (size_t i = 1; i < n; i++)
		words[*at + i] = i <= known ? offsets[i - 1] : 8 * i;
	*at += n;
}

/* An interpreter with one thread in f() at line 43 of user.py, called by a frame of the
 * interpreter's own. */
static void make(uint32_t version, int free_threaded)
{
	int is_314 = version >> 16 == 0x030e;
	uint32_t object_type = free_threaded ? 24 : 8, shift = free_threaded ? 8 : 2;
	const uint64_t runtime[] = { 16, 800 }, interp[] = { 8, 72, 136 },
		       state[] = { 8, 24, 40, 56, 88, 104 }, frame[] = { 16, 48, 32, 80, 73 },
		       code[] = { 120, 128, 136, 144, 96, 100, 104, 108, 200 },
		       object[] = { object_type };
	/* 3.14: line +1, then f's call of one instruction at line + 42 */
	const unsigned char lines[] = { 0x80 | (11 << 3), 0x80 | (13 << 3) | 1,
					((41 << 1) & 63) | 64, 1, 0 };
	size_t at = 3;

	memset(memory, 0, sizeof(memory));
	memset(words, 0, sizeof(words));
	memcpy(words, "xdebugpy", 8);
	words[1] = version;
	words[2] = (uint64_t)free_threaded;
	publish(&at, 3, runtime, 2);
	assert_int_equal(at, INTERP);
	publish(&at, is_314 ? 16 : 13, interp, 3);
	assert_int_equal(at, is_314 ? THREAD_314 : THREAD_313);
	publish(&at, 9, state, 6);
	publish(&at, is_314 ? 8 : 6, frame, 5);
	publish(&at, is_314 ? 11 : 10, code, 9);
	publish(&at, 2, object, 1);
	put(0, words, sizeof(words));

	put_word(800, address(INTERPRETER));
	put_word(INTERPRETER + 136, address(STATE));
	put_word(STATE + 104, 4711);
	put_word(STATE + 56, address(FRAMES));
	/* the interpreter's own frame in between has no code that could be read */
	put_word(FRAMES + 48, 0xdeadbeef & ~7ull);
	put_word(FRAMES + 16, address(FRAMES + 0x100));
	memory[FRAMES + 73] = 3;
	put_word(FRAMES + 0x100 + 48, address(CODE) | (is_314 ? 1 : 0)); /* 3.14 tags references */
	put_word(FRAMES + 0x100 + 32, address(CODE + 200 + 2));
	put_word(CODE + object_type, 0x5678);
	put_word(CODE + 120, address(TEXTS));
	put_word(CODE + 136, address(TEXTS + 0x100));
	put_word(CODE + 144, address(LINES));
	memory[CODE + 96] = 1;
	put_text(TEXTS, object_type, "user.py", shift);
	put_text(TEXTS + 0x100, object_type, "Model.f", shift);
	put_word(LINES + object_type + 8, sizeof(lines));
	put(LINES + object_type + 24, lines, sizeof(lines));
}

static struct ct_python found(void)
{
	struct ct_python py = { .runtime = (uintptr_t)memory };

	assert_int_equal(ct_python_published(&py, read_memory), 0);
	py.code_type = 0x5678;
	py.text_type = 0x1234;
	return py;
}

static void check(uint32_t version, int free_threaded)
{
	struct ct_python_thread threads[4];
	struct ct_python_cursor cursor;
	struct ct_python_frame frame;
	struct ct_python py;

	make(version, free_threaded);
	py = found();
	assert_int_equal(py.version, version);
	assert_int_equal(py.free_threaded, free_threaded);
	assert_int_equal(ct_python_threads(&py, read_memory, threads, 4), 1);
	assert_int_equal(threads[0].tid, 4711);
	ct_python_first(&py, read_memory, threads[0].state, &cursor);
	assert_int_equal(ct_python_next(&py, read_memory, &cursor, &frame), 1);
	assert_string_equal(frame.file, "user.py");
	assert_string_equal(frame.func, "Model.f");
	assert_int_equal(frame.line, 43);
	assert_int_equal(ct_python_next(&py, read_memory, &cursor, &frame), 0);

	/* the instruction lies in a copy of the code that belongs to the thread: the line is not
	 * known */
	put_word(FRAMES + 0x100 + 32, address(CODE - 64));
	ct_python_first(&py, read_memory, threads[0].state, &cursor);
	assert_int_equal(ct_python_next(&py, read_memory, &cursor, &frame), 1);
	assert_int_equal(frame.line, 0);
	/* what is not a code object ends the walk */
	py.code_type = 0x9999;
	ct_python_first(&py, read_memory, threads[0].state, &cursor);
	assert_int_equal(ct_python_next(&py, read_memory, &cursor, &frame), -1);
}

static void both_releases_are_understood(void **state)
{
	(void)state;
	check(0x030d00f0, 0);
	check(0x030d05f0, 1);
	check(0x030e00f0, 0);
	check(0x030e02f0, 1);
}

static void what_cannot_be_true_is_refused(void **state)
{
	struct ct_python py = { .runtime = (uintptr_t)memory };

	(void)state;
	make(0x030e00f0, 0);
	put(0, "xdebugpx", 8);
	assert_int_equal(ct_python_published(&py, read_memory), -1);
	assert_int_equal(py.version, 0);
	make(0x030f00a0, 0); /* no one knows its order */
	assert_int_equal(ct_python_published(&py, read_memory), -1);
	assert_int_equal(py.version, 0x030f00a0);
	make(0x030e00f0, 0);
	put_word(8 * (THREAD_314 + 4), 1ull << 40); /* outside what it is in */
	assert_int_equal(ct_python_published(&py, read_memory), -1);
	py.runtime = (uintptr_t)memory + sizeof(memory) - 8;
	assert_int_equal(ct_python_published(&py, read_memory), -1);
}

/* Frames that call one another in a circle, as torn memory may show them. */
static void a_circle_of_frames_ends(void **state)
{
	struct ct_python_cursor cursor;
	struct ct_python_frame frame;
	struct ct_python py;
	unsigned n = 0;

	(void)state;
	make(0x030d00f0, 0);
	py = found();
	put_word(FRAMES + 0x100 + 16, address(FRAMES));
	ct_python_first(&py, read_memory, (uintptr_t)memory + STATE, &cursor);
	while (ct_python_next(&py, read_memory, &cursor, &frame) > 0)
		n++;
	assert_int_equal(n, CT_PYTHON_STEPS / 2);
	put_word(STATE + 8 * 3, address(STATE)); /* threads likewise */
	{
		static struct ct_python_thread threads[100000];

		assert_true(ct_python_threads(&py, read_memory, threads, 100000) <= 65536);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_releases_are_understood),
		cmocka_unit_test(what_cannot_be_true_is_refused),
		cmocka_unit_test(a_circle_of_frames_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
