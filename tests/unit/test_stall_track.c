/* SPDX-License-Identifier: Apache-2.0 */
/* When ranks waited: each moment once, whatever the order; where there is no space for all, their
 * sums are kept. And how call sites are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/timeline/stall_track.h"
#include "analyzer/timeline/texts.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

#define SLOTS 3u
#define LINE 400u

/* Random stalls on a short line: the union is counted moment by moment. */
static void each_moment_counts_once(void **unused)
{
	(void)unused;
	for (int round = 0; round < 3000; round++) {
		uint8_t stands[SLOTS][LINE] = { 0 };
		const uint32_t recorded[SLOTS] = { 1u << 1, 1u << 1 | 1u << 2, 0 };
		uint32_t n = (uint32_t)draw(60);
		struct ct_stall_track s;

		ct_stall_track_init(&s, 1000);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t begin = draw(LINE - 30), len = 1 + draw(30);
			struct ct_tracked_stall one = { .begin_ns = begin,
							.end_ns = begin + len,
							.length_ns = len,
							.err_ns = 1,
							.slot = (uint32_t)draw(SLOTS),
							.n = 1,
							.backend = 1 + (uint32_t)draw(2) };

			assert_int_equal(ct_stall_track_add(&s, &one), 0);
			for (uint64_t t = begin; t < begin + len; t++)
				stands[one.slot][t] |= recorded[one.slot] >> one.backend & 1;
		}
		assert_int_equal(ct_stall_track_close(&s, recorded, SLOTS), 0);
		assert_int_equal(s.width_ns, 0);
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			uint8_t got[LINE] = { 0 };
			uint64_t reached = 0;

			for (uint64_t i = s.first[slot]; i < s.first[slot + 1]; i++) {
				const struct ct_tracked_stall *one = &s.all[i];

				assert_int_equal(one->slot, slot);
				assert_int_equal(one->length_ns, one->end_ns - one->begin_ns);
				assert_true(i == s.first[slot] || one->begin_ns > reached);
				reached = one->end_ns;
				memset(got + one->begin_ns, 1, one->length_ns);
			}
			assert_memory_equal(got, stands[slot], LINE);
		}
		ct_stall_track_fini(&s);
	}
}

static void sums_are_kept_where_there_is_no_room_for_all(void **unused)
{
	const uint32_t recorded[SLOTS] = { 2, 2, 2 };
	uint64_t sums[SLOTS] = { 0 }, counts[SLOTS] = { 0 };
	struct ct_stall_track s;

	(void)unused;
	ct_stall_track_init(&s, 200);
	for (uint64_t i = 0; i < 100000; i++) {
		/* apart from each other, and not quite in order */
		uint64_t begin = 5000 * (i ^ draw(8)) + draw(3), len = 1 + draw(4000);
		struct ct_tracked_stall one = { .begin_ns = begin,
						.end_ns = begin + len,
						.length_ns = len,
						.slot = (uint32_t)(i % SLOTS),
						.n = 1,
						.backend = 1 };
		static uint8_t seen[100008];

		if (seen[begin / 5000]++)
			continue;
		sums[one.slot] += len;
		counts[one.slot]++;
		assert_int_equal(ct_stall_track_add(&s, &one), 0);
		assert_true(s.n <= 200);
	}
	assert_int_equal(ct_stall_track_close(&s, recorded, SLOTS), 0);
	assert_true(s.width_ns > 0);
	assert_true(s.n <= 200 && s.n > 50);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		for (uint64_t i = s.first[slot]; i < s.first[slot + 1]; i++) {
			sums[slot] -= s.all[i].length_ns;
			counts[slot] -= s.all[i].n;
			assert_true(s.all[i].length_ns <= s.all[i].end_ns - s.all[i].begin_ns);
		}
		assert_int_equal(sums[slot], 0);
		assert_int_equal(counts[slot], 0);
	}
	ct_stall_track_fini(&s);
}

static void call_sites_become_frames(void **unused)
{
	static const struct {
		const char *whose, *site, *function, *file;
		uint32_t line;
	} cases[] = {
		{ NULL, "train.py:41 step", "step", "train.py", 41 },
		{ "theirs", "train.py:41 step", "theirs: step", "train.py", 41 },
		{ NULL, "/a b/c:d.py:7 Model.forward", "Model.forward", "/a b/c:d.py", 7 },
		{ NULL, "train.py:41", "train.py:41", "train.py", 41 },
		{ NULL, "libtorch.so+0x1f2 (build 12ab)", "libtorch.so+0x1f2 (build 12ab)", "", 0 },
		{ "others", "step", "others: step", "", 0 },
		{ NULL, "a:1x b", "a:1x b", "", 0 },
		{ NULL, ":12 f", ":12 f", "", 0 },
		{ NULL, "f.py:99999999999 g", "f.py:99999999999 g", "", 0 },
		{ NULL, "a.py:3 f < b.py:4 g < c.py:5 h", "f", "a.py", 3 },
		{ "theirs", "a.py:3 f < b.py:4 g", "theirs: f", "a.py", 3 },
	};
	struct ct_texts texts;

	(void)unused;
	assert_int_equal(ct_texts_init(&texts), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ct_timeline_frame frame;

		ct_frame_of(&texts, cases[i].whose, cases[i].site, &frame);
		assert_string_equal(ct_texts_get(&texts, frame.function), cases[i].function);
		assert_string_equal(frame.file ? ct_texts_get(&texts, frame.file) : "",
				    cases[i].file);
		assert_int_equal(frame.line, cases[i].line);
	}
	ct_texts_fini(&texts);
}

/* The innermost is written first, and drawn last. */
static void call_sites_become_stacks(void **unused)
{
	struct ct_timeline_frame frames[CT_TIMELINE_FRAMES];
	struct ct_texts texts;
	uint8_t n;

	(void)unused;
	assert_int_equal(ct_texts_init(&texts), 0);
	n = ct_frames_of(&texts, "a.py:3 f < b.py:4 g < c.py:5 h", frames);
	assert_int_equal(n, CT_TIMELINE_FRAMES < 3 ? CT_TIMELINE_FRAMES : 3);
	assert_string_equal(ct_texts_get(&texts, frames[0].function), n == 3 ? "h" : "g");
	assert_string_equal(ct_texts_get(&texts, frames[n - 1].function), "f");
	assert_int_equal(frames[n - 1].line, 3);
	n = ct_frames_of(&texts, "libtorch.so+0x1f2 (build 12ab)", frames);
	assert_int_equal(n, 1);
	assert_string_equal(ct_texts_get(&texts, frames[0].function),
			    "libtorch.so+0x1f2 (build 12ab)");
	n = ct_frames_of(&texts, "a < b < c < d < e < f < g < h < i", frames);
	assert_int_equal(n, CT_TIMELINE_FRAMES);
	assert_string_equal(ct_texts_get(&texts, frames[n - 1].function), "a");
	ct_texts_fini(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_moment_counts_once),
		cmocka_unit_test(sums_are_kept_where_there_is_no_room_for_all),
		cmocka_unit_test(call_sites_become_frames),
		cmocka_unit_test(call_sites_become_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
