/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that the program shows by NVTX ranges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/steps/markers.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

#define MS 1000000ull
enum { RANKS = 4, STEPS = 40, OPS = 5 };

static struct job job;

static void put(struct ct_markers *m, const char *name, uint32_t tid, uint32_t how, uint64_t begin,
		uint64_t end)
{
	struct ct_nvtx_rec rec = { .tid = tid, .how = how };

	memcpy(rec.name, name, strnlen(name, sizeof(rec.name) - 1));
	assert_int_equal(ct_markers_add(m, &rec, begin, end), CT_OK);
}

static void cuts_are(struct ct_markers *m, const char *name, const uint64_t *cuts, uint32_t n)
{
	uint64_t *cut_ns = NULL;
	const char *got = NULL;
	uint32_t count = 0;

	assert_int_equal(ct_markers_cut(m, &cut_ns, &count, &got), CT_OK);
	assert_string_equal(got, name);
	assert_int_equal(count, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(cut_ns[i], cuts[i]);
	free(cut_ns);
	ct_markers_fini(m);
}

static void no_cuts(struct ct_markers *m)
{
	uint64_t *cut_ns = NULL;
	const char *name = NULL;
	uint32_t n = 0;

	assert_int_equal(ct_markers_cut(m, &cut_ns, &n, &name), CT_NOTFOUND);
	assert_null(cut_ns);
	ct_markers_fini(m);
}

/* ---- which ranges ---- */

static void steps_that_the_program_marks_come_before_any_range(void **state)
{
	static const uint64_t cuts[] = { 150, 250, 350 };
	struct ct_markers m = { 0 };

	(void)state;
	for (uint64_t step = 0; step < 3; step++) {
		struct ct_step_mark mark = { CT_STEP_MARK_NAME, step, UINT64_MAX };
		struct ct_nvtx_rec rec = { .tid = (uint32_t)step + 1, .how = CT_NVTX_STEP };

		memcpy(rec.name, &mark, sizeof(mark));
		put(&m, "step", 1, CT_NVTX_PUSHED, step * 100, step * 100 + 90);
		/* by any thread */
		assert_int_equal(ct_markers_add(&m, &rec, cuts[step], cuts[step]), CT_OK);
	}
	cuts_are(&m, "commtrace.mark", cuts, 3);
}

static void numbers_in_names_do_not_separate_ranges(void **state)
{
	struct ct_markers m = { 0 };

	(void)state;
	put(&m, "ProfilerStep#12", 1, CT_NVTX_PUSHED, 300, 390);
	put(&m, "ProfilerStep#9", 1, CT_NVTX_PUSHED, 100, 190);
	put(&m, "ProfilerStep#100", 1, CT_NVTX_PUSHED, 500, 590);
	cuts_are(&m, "ProfilerStep", (uint64_t[]){ 100, 300, 500 }, 3);
	put(&m, "step 9 of 12 (warm)", 1, CT_NVTX_PUSHED, 1, 2);
	put(&m, "step 10 of 12 (warm)", 1, CT_NVTX_PUSHED, 3, 4);
	put(&m, "step 11 of 12 (warm)", 1, CT_NVTX_PUSHED, 5, 6);
	cuts_are(&m, "step # of # (warm", (uint64_t[]){ 1, 3, 5 }, 3);
}

static void the_outermost_of_nested_ranges_cuts(void **state)
{
	struct ct_markers m = { 0 };

	(void)state;
	for (uint64_t k = 0; k < 3; k++) {
		uint64_t at = 1000 * k;

		/* as they end: the inner ones first, of them three in each outer one */
		for (uint64_t i = 0; i < 3; i++)
			put(&m, "step", 1, CT_NVTX_PUSHED, at + 100 + i * 200, at + 250 + i * 200);
		put(&m, "iteration", 1, CT_NVTX_PUSHED, at + 200, at + 300);
		put(&m, "iteration", 1, CT_NVTX_PUSHED, at, at + 900);
	}
	cuts_are(&m, "iteration", (uint64_t[]){ 0, 1000, 2000 }, 3);
}

static void threads_are_distinguished(void **state)
{
	struct ct_markers m = { 0 };

	(void)state;
	for (uint64_t k = 0; k < 4; k++) {
		put(&m, "step", 1, CT_NVTX_PUSHED, 100 * k, 100 * k + 90);
		put(&m, "step", 2, CT_NVTX_PUSHED, 100 * k + 50, 100 * k + 60);
	}
	cuts_are(&m, "step", (uint64_t[]){ 0, 100, 200, 300 }, 4);
	/* but a range that is not pushed may end on any */
	for (uint32_t k = 0; k < 3; k++)
		put(&m, "step", k, CT_NVTX_STARTED, 100 * k, 100 * k + 90);
	cuts_are(&m, "step", (uint64_t[]){ 0, 100, 200 }, 3);
}

static void marks_cut_where_there_are_no_ranges(void **state)
{
	struct ct_markers m = { 0 };

	(void)state;
	for (uint64_t k = 0; k < 5; k++)
		put(&m, "step", 1, CT_NVTX_MARK, 10 * k + 7, 10 * k + 7);
	cuts_are(&m, "step", (uint64_t[]){ 7, 17, 27, 37, 47 }, 5);
	for (uint64_t k = 0; k < 5; k++)
		put(&m, "step", 1, CT_NVTX_MARK, 10 * k + 7, 10 * k + 7);
	for (uint64_t k = 0; k < 3; k++)
		put(&m, "iteration", 1, CT_NVTX_PUSHED, 20 * k, 20 * k + 1);
	cuts_are(&m, "iteration", (uint64_t[]){ 0, 20, 40 }, 3);
}

static void what_comes_less_than_three_times_cuts_nothing(void **state)
{
	struct ct_markers m = { 0 };

	(void)state;
	no_cuts(&m);
	put(&m, "step", 1, CT_NVTX_PUSHED, 0, 90);
	put(&m, "step", 1, CT_NVTX_PUSHED, 100, 190);
	put(&m, "step", 2, CT_NVTX_PUSHED, 200, 290);
	put(&m, "step", 1, CT_NVTX_PUSHED, 190, 100); /* damaged */
	no_cuts(&m);
	/* three, of which one contains the others */
	put(&m, "step", 1, CT_NVTX_PUSHED, 0, 90);
	put(&m, "step", 1, CT_NVTX_PUSHED, 10, 20);
	put(&m, "step", 1, CT_NVTX_PUSHED, 30, 40);
	no_cuts(&m);
}

static void memory_is_bounded(void **state)
{
	struct ct_markers m = { 0 };
	char name[32];

	(void)state;
	for (uint32_t k = 0; k < CT_MARKERS + 10; k++)
		put(&m, "step", 1, CT_NVTX_PUSHED, 10 * k, 10 * k + 9);
	assert_int_equal(m.n, CT_MARKERS);
	assert_int_equal(m.cut_short, 1);
	ct_markers_fini(&m);
	for (uint32_t k = 0; k < 1000; k++) {
		snprintf(name, sizeof(name), "step %c%c", 'a' + (int)(k % 26), 'a' + (int)(k / 26));
		put(&m, name, 1, CT_NVTX_PUSHED, 10 * k, 10 * k + 9);
	}
	assert_int_equal(m.n_lanes, CT_MARKER_LANES);
	no_cuts(&m);
}

/* ---- a whole run ---- */

/* In each step OPS equal all-reduces, 2 ms apart, then 3 ms of nothing. The steps [first, last) are
 * marked by ranges that begin 500 us before the first of them. */
static struct ct_report *run(int marked_by, int first, int last, const char *name,
			     const char *wanted)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	struct ct_report *report = NULL;
	struct ct_run *read = NULL;
	struct ct_err err = { 0 };
	uint64_t at = 5 * MS;
	const char *path, *dir = marked_by ? "other" : "run";

	job_open(&job, &(struct job_options){ .run = dir, .ranks = RANKS });
	for (int r = 0; r < RANKS; r++)
		job_comm(&job, 1, JOB_COMM, "world", (const int[]){ 0, 1, 2, 3 }, RANKS);
	for (int s = 0; s < STEPS; s++, at += 13 * MS) {
		struct ct_nvtx_rec rec = { .begin_ns = at - MS / 2, .end_ns = at + 10 * MS };

		for (int r = 0; r < RANKS; r++)
			for (uint64_t i = 0; i < OPS; i++)
				job_collective(&job, r, CT_OP_AllReduce, 1000, at + 2 * i * MS,
					       at + (2 * i + 1) * MS);
		memcpy(rec.name, name, strlen(name));
		rec.begin_ns += job.clock[marked_by];
		rec.end_ns += job.clock[marked_by];
		rec.tid = 77;
		if (s >= first && s < last)
			job_rare(&job, marked_by, CT_KIND_NVTX, &rec, sizeof(rec));
	}
	job_close(&job, at);
	options.step_anchor = wanted;
	path = fx_path(dir);
	assert_int_equal(ct_run_open(&path, 1, NULL, &read, &err), CT_OK);
	assert_int_equal(ct_analyze(read, &options, &report, &err), CT_OK);
	ct_run_close(read);
	return report;
}

static void ranges_of_the_first_rank_cut_the_run(void **state)
{
	struct ct_report *report = run(0, 0, STEPS, "train_step", NULL);
	const struct ct_report_steps *c = &report->steps;
	char *text = job_text(report, 0);

	(void)state;
	assert_string_equal(c->marker, "train_step");
	assert_null(c->anchor_op);
	assert_int_equal(c->anchor_comm_key, 0);
	assert_int_equal(c->count, STEPS - 1);
	assert_int_equal(c->time_p50_ns, 13 * MS);
	assert_int_equal(c->time_p99_ns, 13 * MS);
	for (size_t i = 1; i < c->n_items; i++)
		assert_int_equal(c->items[i].begin_at_ns - c->items[i - 1].begin_at_ns, 13 * MS);
	assert_int_equal(c->items[0].begin_at_ns, 5 * MS - MS / 2);
	assert_non_null(strstr(text, "train_step\n"));
	free(text);
	ct_report_free(report);
}

static void the_anchor_of_the_user_wins(void **state)
{
	struct ct_report *report = run(0, 0, STEPS, "step", "*:AllReduce");

	(void)state;
	assert_null(report->steps.marker);
	assert_string_equal(report->steps.anchor_op, "AllReduce");
	assert_int_equal(report->steps.count, STEPS * OPS - 1);
	ct_report_free(report);
}

static void a_few_marked_steps_do_not_report_those_of_the_run(void **state)
{
	struct ct_report *report = run(0, 3, 9, "step", NULL);

	(void)state;
	assert_null(report->steps.marker);
	ct_report_free(report);
	report = run(2, 0, STEPS, "step", NULL); /* nor does another rank */
	assert_null(report->steps.marker);
	ct_report_free(report);
}

static void hostile_names_harm_no_one(void **state)
{
	struct ct_report *report = run(0, 0, STEPS, "</s>\033[2J\xff\n\"\\ evil", NULL);
	char *text = job_text(report, 0);

	(void)state;
	assert_non_null(report->steps.marker);
	for (const char *c = text; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n');
	free(text);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_that_the_program_marks_come_before_any_range),
		cmocka_unit_test(numbers_in_names_do_not_separate_ranges),
		cmocka_unit_test(the_outermost_of_nested_ranges_cuts),
		cmocka_unit_test(threads_are_distinguished),
		cmocka_unit_test(marks_cut_where_there_are_no_ranges),
		cmocka_unit_test(what_comes_less_than_three_times_cuts_nothing),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test_setup_teardown(ranges_of_the_first_rank_cut_the_run, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(the_anchor_of_the_user_wins, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_few_marked_steps_do_not_report_those_of_the_run,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(hostile_names_harm_no_one, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
