/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: what lies on one nests or follows, nothing moves further than its times are uncertain. And
 * who checks that of the writer: it complains about anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/render/perfetto.h"
#include "analyzer/timeline/budget.h"
#include "analyzer/timeline/lanes.h"

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

/* ---- lanes ---- */

static void assert_lies_well(const struct ct_lane_item *items, int64_t n, int nest)
{
	uint64_t ends[64];
	uint32_t lane = UINT32_MAX;
	uint64_t reached = 0;
	uint32_t depth = 0;

	for (int64_t i = 0; i < n; i++) {
		if (items[i].lane != lane) {
			lane = items[i].lane;
			depth = 0;
			reached = 0;
		}
		assert_true(items[i].depth <= depth);
		assert_true(nest || items[i].depth == 0);
		for (; depth > items[i].depth; depth--) {
			assert_true(ends[depth - 1] != UINT64_MAX);
			assert_true(ends[depth - 1] >= reached);
			reached = ends[depth - 1];
		}
		assert_true(items[i].begin_ns >= reached);
		assert_true(items[i].end_ns >= items[i].begin_ns);
		assert_true(!depth || items[i].end_ns <= ends[depth - 1]);
		reached = items[i].begin_ns;
		ends[depth++] = items[i].end_ns;
	}
}

/* Random intervals on a short line, so that every way of touching comes. */
static void random_lanes(int nest)
{
	for (state = 1; state < 20000; state += 7) {
		struct ct_lane_item items[40], before[40];
		uint32_t n = (uint32_t)(2 + draw(38)), lanes;
		uint64_t seed = state, line = 5 + draw(200);
		int64_t kept;

		for (uint32_t i = 0; i < n; i++) {
			items[i] = (struct ct_lane_item){ .begin_ns = draw(line),
							  .slack_ns = draw(4) ? 0 : draw(6),
							  .what = i };
			items[i].end_ns = draw(20) ? items[i].begin_ns + draw(line / 3 + 1)
						   : UINT64_MAX;
			before[i] = items[i];
		}
		kept = ct_lanes_lay(items, n, nest, &lanes);
		assert_int_equal(kept, n);
		assert_lies_well(items, n, nest);
		for (uint32_t i = 0; i < n; i++) {
			const struct ct_lane_item *was = &before[items[i].what];

			/* At most by its own slack and that of what it touches. */
			assert_in_range(items[i].begin_ns, was->begin_ns,
					was->begin_ns + was->slack_ns + 5);
			assert_true(items[i].end_ns == was->end_ns ||
				    (items[i].end_ns + was->slack_ns + 5 >= was->end_ns &&
				     items[i].end_ns <= was->end_ns + was->slack_ns + 5));
			assert_int_equal(items[i].end_ns == UINT64_MAX, was->end_ns == UINT64_MAX);
			before[items[i].what].what = UINT32_MAX; /* each comes once */
			assert_true(was->what == UINT32_MAX);
		}
		state = seed;
	}
}

static void rows_never_overlap(void **unused)
{
	(void)unused;
	random_lanes(0);
}

static void calls_nest(void **unused)
{
	(void)unused;
	random_lanes(1);
}

static void jitter_is_no_overlap_and_overlap_is_no_jitter(void **unused)
{
	struct ct_lane_item items[] = {
		{ .begin_ns = 0, .end_ns = 100, .slack_ns = 3 },
		{ .begin_ns = 95, .end_ns = 200, .slack_ns = 3, .what = 1 },
		{ .begin_ns = 190, .end_ns = 300, .slack_ns = 3, .what = 2 }
	};
	uint32_t lanes;

	(void)unused;
	assert_int_equal(ct_lanes_lay(items, 3, 0, &lanes), 3);
	assert_int_equal(lanes, 2);
	assert_int_equal(items[1].what, 1);
	assert_int_equal(items[1].begin_ns, 100);
	assert_int_equal(items[2].lane, 1);
	assert_int_equal(items[2].begin_ns, 190);
}

static void what_finds_no_lane_is_not_kept(void **unused)
{
	uint32_t n = CT_LANES_MAX + 5, lanes;
	struct ct_lane_item *items = calloc(n, sizeof(*items));

	(void)unused;
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct ct_lane_item){ .begin_ns = i, .end_ns = UINT64_MAX, .what = i };
	assert_int_equal(ct_lanes_lay(items, n, 0, &lanes), CT_LANES_MAX);
	assert_int_equal(lanes, CT_LANES_MAX);
	free(items);
}

/* ---- the writer's own check ---- */

#define INSTANT (UINT64_MAX - 1) /* as an end */

struct drawn {
	uint32_t track;
	uint64_t begin_ns, end_ns;
	uint8_t depth;
};

/* What ct_perfetto_check() says of these slices; "" nothing. */
static const char *complaint(const struct drawn *slices, size_t n)
{
	static struct ct_err err;
	struct ct_perfetto_size size;
	struct ct_texts texts;
	FILE *file = fopen("/dev/null", "we");
	struct ct_perfetto *perfetto = ct_perfetto_new(file, 1, 1);
	struct ct_timeline_sink sink = ct_perfetto_sink(perfetto);
	int status;

	assert_non_null(file);
	assert_int_equal(ct_texts_init(&texts), CT_OK);
	assert_int_equal(ct_texts_add(&texts, "slice"), 1);
	assert_int_equal(sink.begin(sink.arg, &texts, 1, NULL, 0), CT_OK);
	for (size_t i = 0; i < n; i++) {
		int is_instant = slices[i].end_ns == INSTANT;
		const struct ct_timeline_slice slice = { .track = slices[i].track,
							 .name = 1,
							 .begin_ns = slices[i].begin_ns,
							 .end_ns = is_instant ? slices[i].begin_ns
									      : slices[i].end_ns,
							 .depth = slices[i].depth,
							 .instant = (uint8_t)is_instant };

		assert_int_equal(sink.slice(sink.arg, &slice), CT_OK);
	}
	assert_int_equal(sink.end(sink.arg), CT_OK);
	err = (struct ct_err){ 0 };
	status = ct_perfetto_check(perfetto, &size, &err);
	assert_int_equal(status, err.text[0] ? CT_RANGE : CT_OK);
	ct_perfetto_free(perfetto);
	ct_texts_fini(&texts);
	fclose(file);
	return err.text;
}

#define COMPLAINT(...)                                                                             \
	complaint((const struct drawn[]){ __VA_ARGS__ },                                           \
		  sizeof((const struct drawn[]){ __VA_ARGS__ }) / sizeof(struct drawn))

static void the_writer_takes_what_nests(void **unused)
{
	(void)unused;
	assert_string_equal(COMPLAINT({ 1, 0, 10, 0 }, { 1, 0, 5, 1 }, { 1, 5, 10, 1 },
				      { 1, 10, 10, 0 }, { 1, 10, UINT64_MAX, 0 }, { 1, 12, 20, 1 },
				      { 2, 0, UINT64_MAX, 0 }, { 3, 0, 1, 0 }),
			    "");
}

/* The engine puts instants of one moment into each other. */
static void the_writer_takes_instants_that_lie_in_each_other(void **unused)
{
	(void)unused;
	assert_string_equal(COMPLAINT({ 1, 5, INSTANT, 0 }, { 1, 5, INSTANT, 1 },
				      { 1, 5, INSTANT, 2 }, { 1, 6, INSTANT, 0 }, { 1, 7, 9, 0 },
				      { 1, 8, INSTANT, 1 }, { 1, 8, INSTANT, 2 },
				      { 1, 9, INSTANT, 0 }),
			    "");
	assert_non_null(
		strstr(COMPLAINT({ 1, 5, INSTANT, 0 }, { 1, 5, INSTANT, 0 }), "has no parent"));
	assert_non_null(
		strstr(COMPLAINT({ 1, 5, INSTANT, 0 }, { 1, 6, INSTANT, 1 }), "has no parent"));
	assert_non_null(strstr(COMPLAINT({ 1, 5, INSTANT, 0 }, { 1, 5, 9, 0 }), "at an instant"));
}

static void the_writer_complains_about_anything_else(void **unused)
{
	(void)unused;
	assert_non_null(strstr(COMPLAINT({ 1, 0, 10, 0 }, { 1, 9, 20, 0 }), "elder sibling"));
	assert_non_null(
		strstr(COMPLAINT({ 1, 0, 10, 0 }, { 1, 5, 11, 1 }), "after the one around"));
	assert_non_null(strstr(COMPLAINT({ 1, 0, 10, 0 }, { 1, 5, 8, 2 }), "no parent"));
	assert_non_null(strstr(COMPLAINT({ 1, 0, 10, 0 }, { 2, 0, 1, 0 }, { 1, 20, 30, 0 }),
			       "left already"));
	assert_non_null(strstr(COMPLAINT({ 1, 5, 4, 0 }), "before it begins"));
	assert_non_null(
		strstr(COMPLAINT({ 1, 0, UINT64_MAX, 0 }, { 1, 20, 30, 0 }), "did not end"));
	assert_non_null(strstr(COMPLAINT({ 1, 0, 9, 0 }, { 1, 2, 3, 1 }, { 1, 2, 3, 1 }),
			       "1 slices do not nest"));
}

/* What no browser opens is not written. */
static void the_writer_stops_at_its_limit(void **unused)
{
	struct ct_texts texts;
	FILE *file = fopen("/dev/null", "we");
	struct ct_perfetto *perfetto = ct_perfetto_new(file, 0, 1);
	struct ct_timeline_sink sink = ct_perfetto_sink(perfetto);
	struct ct_timeline_arg args[CT_TIMELINE_ARGS];
	struct ct_timeline_slice slice = {
		.track = 1, .name = 1, .args = args, .n_args = CT_TIMELINE_ARGS
	};
	struct ct_perfetto_size size;
	uint64_t n = 0;
	int st = CT_OK;

	(void)unused;
	assert_non_null(file);
	assert_int_equal(ct_texts_init(&texts), CT_OK);
	assert_int_equal(ct_texts_add(&texts, "slice"), 1);
	for (unsigned i = 0; i < CT_TIMELINE_ARGS; i++)
		args[i] = (struct ct_timeline_arg){ .type = CT_VALUE_INT, .i = -1 };
	assert_int_equal(sink.begin(sink.arg, &texts, 1, NULL, 0), CT_OK);
	for (; st == CT_OK && n < 10000000; n++) {
		slice.begin_ns = slice.end_ns = n;
		st = sink.slice(sink.arg, &slice);
	}
	assert_int_equal(st, CT_FULL);
	assert_int_equal(ct_perfetto_check(perfetto, &size, NULL), CT_OK);
	assert_in_range(size.bytes, CT_PERFETTO_MAX_BYTES - (1u << 20), CT_PERFETTO_MAX_BYTES);
	ct_perfetto_free(perfetto);
	ct_texts_fini(&texts);
	fclose(file);
}

/* ---- the limit ---- */

static void the_end_of_a_run_fits_the_limit(void **unused)
{
	struct ct_budget *budget = ct_budget_new();
	uint64_t from, n = 0;

	(void)unused;
	assert_non_null(budget);
	for (uint64_t i = 0; i < 100000; i++)
		ct_budget_add(budget, i * 1000003, 3);
	ct_budget_add(budget, UINT64_MAX, 7);
	assert_true(ct_budget_fit(budget, 300007, &from));
	assert_int_equal(from, 0);
	assert_true(ct_budget_fit(budget, 60000, &from));
	for (uint64_t i = 0; i < 100000; i++)
		n += i * 1000003 >= from ? 3 : 0;
	assert_in_range(n + 7, 59000, 60000);
	assert_true(ct_budget_fit(budget, 8, &from));
	assert_in_range(from, 99999 * 1000003ull, UINT64_MAX);
	assert_false(ct_budget_fit(budget, 6, &from));
	free(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_never_overlap),
		cmocka_unit_test(calls_nest),
		cmocka_unit_test(jitter_is_no_overlap_and_overlap_is_no_jitter),
		cmocka_unit_test(what_finds_no_lane_is_not_kept),
		cmocka_unit_test(the_writer_takes_what_nests),
		cmocka_unit_test(the_writer_takes_instants_that_lie_in_each_other),
		cmocka_unit_test(the_writer_complains_about_anything_else),
		cmocka_unit_test(the_writer_stops_at_its_limit),
		cmocka_unit_test(the_end_of_a_run_fits_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
