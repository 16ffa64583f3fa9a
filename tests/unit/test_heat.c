/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a run: a row holds what was added to it whatever the order and however long the run
 * turns out, and of jobs written by hand each cell is what their times make it, or null where it
 * cannot be known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/charts/heat.h"
#include "analyzer/charts/heat_rows.h"
#include "tests/unit/launch_job.h"

/* CT_SEED repeats a failure. */
static uint64_t seed_of_test(void)
{
	const char *given = getenv("CT_SEED");

	return given ? strtoull(given, NULL, 10) : 20261122;
}

static uint64_t seed_next(uint64_t *seed)
{
	*seed += 0x9e3779b97f4a7c15ull;
	return ct_mix(*seed);
}

/* ---- rows of cells ---- */

struct part {
	uint64_t begin, end;
};

/* What of the parts lies in each cell. */
static void expect_cells(const struct part *parts, uint32_t n, uint64_t width, uint64_t *cells,
			 uint32_t columns)
{
	for (uint32_t c = 0; c < columns; c++) {
		uint64_t from = c * width, to = from + width;

		cells[c] = 0;
		for (uint32_t p = 0; p < n; p++) {
			uint64_t begin = parts[p].begin > from ? parts[p].begin : from;
			uint64_t end = parts[p].end < to ? parts[p].end : to;

			cells[c] += begin < end ? end - begin : 0;
		}
	}
}

static void shuffle(struct part *parts, uint32_t n, uint64_t *seed)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)(seed_next(seed) % i);
		struct part one = parts[i - 1];

		parts[i - 1] = parts[k];
		parts[k] = one;
	}
}

static void cells_hold_what_lies_in_them_in_whatever_order_it_came(void **state)
{
	enum { PARTS = 300 };
	static struct part parts[PARTS];
	uint64_t expected[CT_HEAT_COLUMNS], seed = seed_of_test();

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct ct_heat heat = { 0 };
		uint64_t at = 0, width;
		uint32_t columns;
		/* runs of a millisecond up to some minutes */
		uint64_t most = 1 + (seed_next(&seed) % 1000) * (1ull << (round % 20));

		for (int p = 0; p < PARTS; p++) {
			parts[p].begin = at + seed_next(&seed) % most;
			parts[p].end = parts[p].begin + seed_next(&seed) % most;
			at = parts[p].end;
		}
		for (uint32_t slot = 0; slot < 2; slot++) {
			for (int p = 0; p < PARTS; p++) {
				assert_int_equal(
					ct_heat_wait(&heat, slot, parts[p].begin, parts[p].end), 0);
				assert_int_equal(ct_heat_see(&heat, slot, parts[p].begin,
							     parts[p].end, 1, 10),
						 0);
			}
			shuffle(parts, PARTS, &seed);
		}
		columns = ct_heat_level(&heat, 0, 100, &width);
		assert_in_range(columns, 1, 100);
		assert_true((columns - 1) * width <= at && at <= columns * width);
		expect_cells(parts, PARTS, width, expected, columns);
		for (uint32_t c = 0; c < columns; c++) {
			assert_int_equal(heat.rows[0]->wait_ns[c], expected[c]);
			assert_true(expected[c] <= width);
		}
		assert_memory_equal(heat.rows[0], heat.rows[1], sizeof(*heat.rows[0]));
		assert_int_equal(heat.known, 2 * PARTS);
		ct_heat_fini(&heat);
	}
}

static void a_row_reaches_to_the_end_of_time(void **state)
{
	struct ct_heat heat = { 0 };
	uint64_t width, sum = 0;
	uint32_t columns;

	(void)state;
	assert_int_equal(ct_heat_wait(&heat, 3, 5, 1005), 0);
	assert_int_equal(ct_heat_wait(&heat, 3, UINT64_MAX - 7, UINT64_MAX), 0);
	assert_int_equal(ct_heat_see(&heat, 3, 0, UINT64_MAX, 0, UINT64_MAX), 0);
	assert_null(heat.rows[0]);
	columns = ct_heat_level(&heat, UINT64_MAX, 16, &width);
	assert_int_equal(columns, 16);
	for (uint32_t c = 0; c < columns; c++)
		sum += heat.rows[3]->wait_ns[c];
	assert_int_equal(sum, 1007);
	assert_int_equal(heat.rows[3]->wait_ns[15], 7);
	assert_int_equal(heat.rows[3]->err_ns[0], UINT32_MAX);
	ct_heat_fini(&heat);
}

static void a_host_has_the_largest_of_its_ranks_that_is_known(void **state)
{
	const uint64_t u = CT_UNKNOWN, cells[] = { 1, u, 3, 4, 2, u, 9, 9, 2, 5 };
	uint32_t row_of[] = { 0, 0, 1, CT_HEAT_NO_ROW, 0 };
	const struct ct_heat_layout layout = { .rows.n = 2, .row_of = row_of };
	struct ct_arena *arena = ct_arena_new();
	const uint64_t *folded = ct_heat_fold(&layout, cells, 5, 2, arena);

	(void)state;
	assert_memory_equal(folded, ((const uint64_t[]){ 3, 5, 2, u }), 4 * sizeof(*folded));
	ct_arena_free(arena);
}

/* ---- new parts of a union ---- */

struct seen {
	uint8_t at[512];
	uint64_t last;
};

static int note(void *arg, uint64_t begin, uint64_t end)
{
	struct seen *seen = arg;

	assert_true(begin < end && begin >= seen->last);
	seen->last = end;
	for (uint64_t t = begin; t < end; t++)
		assert_int_equal(seen->at[t]++, 0);
	return 0;
}

static void a_union_reports_each_moment_once(void **state)
{
	uint64_t seed = seed_of_test();

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct ct_union u = { 0 };
		struct seen seen = { 0 };
		uint8_t all[512] = { 0 };
		uint64_t sum = 0;

		for (int k = 0; k < 40; k++) {
			uint64_t begin = seed_next(&seed) % 480;
			uint64_t end = begin + seed_next(&seed) % 32;

			seen.last = 0;
			assert_int_equal(ct_union_add_each(&u, begin, end, note, &seen), 0);
			for (uint64_t t = begin; t < end; t++)
				all[t] = 1;
		}
		for (int t = 0; t < 512; t++)
			sum += all[t];
		assert_memory_equal(seen.at, all, sizeof(all));
		assert_int_equal(u.total, sum);
		ct_union_fini(&u);
	}
}

/* ---- a job written by hand ---- */

#define RANKS 4
#define OPS 160
#define COMPUTE (10 * MS)
#define LATE (4 * MS)
#define TRANSFER (1 * MS)

/* Rank 2 is late to operations 100 .. 109; before operation 140 all compute for long. */
static int is_late(int rank, int op)
{
	return rank == 2 && op >= 100 && op < 110;
}

static struct part late[OPS]; /* what the others waited for rank 2 */
static struct part ops[OPS];  /* from the first start to the end */

/* As launch(), with an error of start and end of 20 ms each. */
static void launch_vaguely(int rank, struct ct_op op, uint64_t start, uint64_t end)
{
	op.seq = job.seq[rank]++;
	op.enter_ns = start - 50 * US;
	op.return_ns = start - 40 * US;
	op.launch = 1000000;
	job_op(&job, rank, op);
	job_launch(&job, rank,
		   (struct ct_launch){ .id = op.launch,
				       .comm = 1,
				       .n_ops = 1,
				       .start_ns = start,
				       .end_ns = end,
				       .start_err_ns = 20 * MS,
				       .end_err_ns = 20 * MS,
				       .start_source = CT_SOURCE_EVENT,
				       .end_source = CT_SOURCE_EVENT });
}

/* Of which rank 1 has only vague times; -1: none. */
static int vague_op = -1;

/* untimed: operations [from, to) of all; lost: those of rank 3 are not on record. Returns the
 * report. */
static struct ct_report *play(int per_host, int untimed_from, int untimed_to, int lost_from,
			      int lost_to)
{
	const struct ct_op op = collective(CT_OP_AllReduce, 1 << 20);
	uint64_t at = 100 * MS, lost_begin = 0, lost_end = 0;

	open_job(RANKS, per_host);
	for (int k = 0; k < OPS; k++) {
		uint64_t came = at + (k == 140 ? 500 * MS : COMPUTE);
		uint64_t end = came + (is_late(2, k) ? LATE : 0) + TRANSFER;

		late[k] = (struct part){ came, came + (is_late(2, k) ? LATE : 0) };
		ops[k] = (struct part){ came, end };
		for (int r = 0; r < RANKS; r++) {
			uint64_t start = came + (is_late(r, k) ? LATE : 0);
			int timed = k < untimed_from || k >= untimed_to;

			if (r == 3 && k >= lost_from && k < lost_to) {
				lost_begin = lost_begin ? lost_begin : came;
				lost_end = end;
				job.seq[r]++;
				continue;
			}
			if (r == 1 && k == vague_op) {
				launch_vaguely(r, op, start, end);
				continue;
			}
			launch(r, &op, 1, start - 50 * US, timed ? start : 0, timed ? end : 0);
		}
		at = end;
	}
	if (lost_end) {
		const struct ct_loss_rec loss = { .reason = CT_LOSS_POOL_EMPTY,
						  .records = (uint64_t)(lost_to - lost_from),
						  .begin_ns = job.clock[3] + lost_begin,
						  .end_ns = job.clock[3] + lost_end };

		job_rare(&job, 3, CT_KIND_LOSS, &loss, sizeof(loss));
	}
	return close_job(at + MS);
}

static uint64_t cell(const struct ct_report_heat_waits *w, const uint64_t *cells, size_t row,
		     uint64_t c)
{
	return cells[row * w->columns + c];
}

/* Each cell that is known within `off` of what the parts make it. Returns the sum of the row. */
static uint64_t assert_row(const struct ct_report_heat_waits *w, const uint64_t *cells, size_t row,
			   const struct part *parts, uint64_t off)
{
	uint64_t expected[CT_HEAT_COLUMNS], sum = 0;

	expect_cells(parts, parts ? OPS : 0, w->column_ns, expected, (uint32_t)w->columns);
	for (size_t c = 0; c < w->columns; c++) {
		uint64_t told = cell(w, cells, row, c);

		if (told == CT_UNKNOWN)
			continue;
		sum += told;
		assert_true(told <= w->column_ns);
		if (fabs((double)told - (double)expected[c]) > (double)off)
			fail_msg("row %zu column %zu: %llu, not %llu", row, c,
				 (unsigned long long)told, (unsigned long long)expected[c]);
	}
	return sum;
}

static void victims_wait_and_the_culprit_is_late_at_the_same_time(void **state)
{
	(void)state;
	for (int per_host = 2; per_host <= RANKS; per_host += 2) {
		struct ct_report *report = play(per_host, 0, 0, 0, 0);
		const struct ct_report_heat_waits *w = &report->heat.waits;
		/* hosts' clocks are related by what their operations show */
		uint64_t off = per_host == RANKS ? 2 * ERR : 30 * US;

		assert_int_equal(report->run.n_hosts, RANKS / per_host);
		assert_null(w->why);
		assert_int_equal(w->rows.n, RANKS);
		assert_null(w->rows.hosts);
		assert_int_equal(w->begin_at_ns, 0);
		assert_true(w->columns > 200 &&
			    w->columns * w->column_ns >= report->run.duration_ns);
		assert_in_range(w->err_ns, 4 * ERR, 8 * ERR);
		for (size_t r = 0; r < RANKS; r++) {
			uint64_t sum = assert_row(w, w->wait_ns, r, r == 2 ? NULL : late, off);

			assert_int_equal(w->rows.ranks[r], r);
			assert_int_equal(sum, report->ranks[r].wait_ns);
			sum = assert_row(w, w->lateness_ns, r, r == 2 ? late : NULL,
					 off + w->lateness_err_ns);
			assert_true(r == 2 ? is_near(sum, 10.0 * (double)LATE, 0.01) : sum == 0);
		}
		ct_report_free(report);
		fresh();
	}
}

/* Cells that lie in [begin, end) as a whole. */
static void assert_null_between(const struct ct_report_heat_waits *w, size_t row, uint64_t begin,
				uint64_t end, int is_null)
{
	uint64_t first = begin / w->column_ns + 1, last = end / w->column_ns;
	uint64_t n = 0;

	for (uint64_t c = first; c < last; c++, n++) {
		assert_int_equal(cell(w, w->wait_ns, row, c) == CT_UNKNOWN, is_null);
		assert_int_equal(cell(w, w->lateness_ns, row, c) == CT_UNKNOWN, is_null);
	}
	assert_true(n > 2);
}

static void what_no_one_measured_is_null_and_one_that_computes_waits_for_no_rank(void **state)
{
	struct ct_report *report = play(RANKS, 20, 50, 60, 90);
	const struct ct_report_heat_waits *w = &report->heat.waits;

	(void)state;
	assert_non_null(strstr(w->why, "65.6 %"));
	for (size_t r = 0; r < RANKS; r++) {
		assert_null_between(w, r, 0, ops[0].begin, 1);
		assert_null_between(w, r, ops[0].begin, ops[19].end, 0);
		assert_null_between(w, r, ops[19].end, ops[50].begin, 1);
		assert_null_between(w, r, ops[50].begin, ops[59].end, 0);
		assert_null_between(w, r, ops[60].begin, ops[89].end, 1);
		assert_null_between(w, r, ops[90].begin, ops[OPS - 1].end, 0);
	}
	assert_row(w, w->wait_ns, 0, late, 2 * ERR);
	ct_report_free(report);
}

static void a_cell_with_an_error_as_wide_as_itself_is_null(void **state)
{
	const struct ct_report_heat_waits *w;
	struct ct_report *report;
	uint64_t c;

	(void)state;
	vague_op = 105;
	report = play(RANKS, 0, 0, 0, 0);
	vague_op = -1;
	w = &report->heat.waits;
	c = ops[105].begin / w->column_ns;
	for (size_t r = 0; r < RANKS; r++)
		assert_int_equal(cell(w, w->wait_ns, r, c) == CT_UNKNOWN, r == 1);
	assert_true(w->err_ns < w->column_ns);
	ct_report_free(report);
}

static void nothing_is_made_of_nothing(void **state)
{
	struct ct_report *report = play(RANKS, 0, OPS, 0, 0);

	(void)state;
	assert_non_null(report->heat.waits.why);
	assert_int_equal(report->heat.waits.columns, 0);
	assert_int_equal(report->heat.waits.rows.n, 0);
	assert_true(report->heat.waits.err_ns == CT_UNKNOWN);
	assert_true(report->heat.waits.column_ns == CT_UNKNOWN);
	assert_non_null(report->heat.steps.why);
	assert_int_equal(report->heat.steps.columns, 0);
	ct_report_free(report);
}

/* What a rank was in no operation for, in [begin, end); *known: none of those operations, nor the
 * one before and after, lacks times or a record; *unknown: some that lie there are. */
static uint64_t expect_gap(int rank, uint64_t begin, uint64_t end, int *known, int *unknown)
{
	uint64_t gap = end - begin;

	*known = 1;
	*unknown = 0;
	for (int k = 0; k < OPS; k++) {
		uint64_t start = ops[k].begin + (is_late(rank, k) ? LATE : 0);
		uint64_t from = start > begin ? start : begin;
		uint64_t to = ops[k].end < end ? ops[k].end : end;
		int is_timed = !(k >= 20 && k < 50) && !(k >= 60 && k < 90);

		if (from < to)
			gap -= to - from;
		if (from < to && !is_timed)
			*unknown = 1;
		if (start < end + 30 * MS && begin < ops[k].end + 30 * MS && !is_timed)
			*known = 0;
	}
	return gap;
}

static void a_gap_is_what_a_rank_computed_in_a_step(void **state)
{
	struct ct_report *report = play(RANKS, 20, 50, 60, 90);
	const struct ct_report_heat_steps *h = &report->heat.steps;
	uint64_t n_late = 0, n_known = 0, n_unknown = 0;

	(void)state;
	assert_non_null(strstr(h->why, " % of the steps of ranks"));
	assert_int_equal(h->rows.n, RANKS);
	assert_int_equal(h->steps_each, 1);
	assert_int_equal(h->columns, report->steps.count);
	/* the first step begins before anything is known to have ended */
	for (size_t c = 1; c < h->columns; c++) {
		uint64_t begin = report->steps.items[c].begin_at_ns;
		uint64_t end = begin + report->steps.items[c].time_ns;

		assert_int_equal(h->first_step[c], c);
		for (int r = 0; r < RANKS; r++) {
			uint64_t gap = h->outside_comm_ns[(size_t)r * h->columns + c];
			double ratio = h->outside_comm_ratio[(size_t)r * h->columns + c];
			int known, unknown;
			uint64_t expected = expect_gap(r, begin, end, &known, &unknown);

			if (unknown)
				assert_true(gap == CT_UNKNOWN && isnan(ratio));
			n_unknown += (uint64_t)unknown;
			if (!known)
				continue;
			assert_true(gap != CT_UNKNOWN);
			assert_true(llabs((long long)(gap - expected)) <= (long long)(4 * ERR));
			n_known++;
			n_late += ratio > 1.3;
			assert_true(ratio < 1.3 ? fabs(ratio - 1) < 0.02
						: fabs(ratio - 1.4) < 0.02 && r == 2);
		}
	}
	assert_int_equal(n_late, 10);
	assert_true(n_known > 60 * RANKS && n_unknown >= 30 * RANKS);
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_hold_what_lies_in_them_in_whatever_order_it_came),
		cmocka_unit_test(a_row_reaches_to_the_end_of_time),
		cmocka_unit_test(a_host_has_the_largest_of_its_ranks_that_is_known),
		cmocka_unit_test(a_union_reports_each_moment_once),
		ON_DISK(victims_wait_and_the_culprit_is_late_at_the_same_time),
		ON_DISK(what_no_one_measured_is_null_and_one_that_computes_waits_for_no_rank),
		ON_DISK(a_cell_with_an_error_as_wide_as_itself_is_null),
		ON_DISK(nothing_is_made_of_nothing),
		ON_DISK(a_gap_is_what_a_rank_computed_in_a_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
