/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/words.h"
#include "analyzer/diff/rank_sum.h"
#include "analyzer/model/report.h"
#include "trace/ops.h"

const char *ct_bench_result_name(unsigned result)
{
	CT_WORD_OF(CT_BENCH_RESULT_MAP, result);
}

/* A kind in a run, under the names that it has in the tables. */
struct series_kind {
	const char *op, *series;
	const struct ct_bench_kind *kind;
	size_t run;
};

CT_SORT_BY(by_kind, struct series_kind,
	   strcmp(x->op, y->op) ?: CT_CMP(x->kind->ranks, y->kind->ranks)
	   ?: CT_CMP(x->kind->bytes, y->kind->bytes) ?: strcmp(x->series, y->series)
	   ?: CT_UP(run))

/* What is measured of one row: logarithms of the bursts' means, and of the runs' medians. */
struct measured_row {
	double *values;
	size_t n, runs;
	double middle,
		squares; /* mean of the medians, and the sum of their squared distances from it */
};

struct bench_work {
	struct series_kind *all;
	size_t n, n_runs;
	struct measured_row *measured; /* by row */
	struct ct_arena *memory;
	struct ct_bench *out;
};

/* One library's series has the name it was given; of several in one run, each also its own. */
static const char *name_series(const struct ct_bench_run *run, unsigned backend,
			       struct ct_arena *memory)
{
	const struct ct_bench_samples *samples = run->samples;

	for (uint32_t k = 0; k < samples->kinds.n; k++) {
		const struct ct_bench_kind *kind = samples->kinds.all[k];

		if (kind->ns.n && kind->backend != backend)
			return ct_arena_printf(memory, "%s %s", run->series,
					       ct_backend_name(backend) ?: "?");
	}
	return run->series;
}

static int has_bursts(const struct ct_bench_kind *kind)
{
	for (uint32_t b = 0; b < CT_BENCH_BURSTS; b++) {
		if (kind->bursts[b].n)
			return 1;
	}
	return 0;
}

static int name_all(struct bench_work *work, const struct ct_bench_run *runs)
{
	size_t n = 0;

	for (size_t r = 0; r < work->n_runs; r++)
		n += runs[r].samples->kinds.n;
	work->all = calloc(n + 1, sizeof(*work->all));
	if (!work->all)
		return CT_NOMEM;
	for (size_t r = 0; r < work->n_runs; r++) {
		for (uint32_t k = 0; k < runs[r].samples->kinds.n; k++) {
			const struct ct_bench_kind *kind = runs[r].samples->kinds.all[k];

			if (has_bursts(kind))
				work->all[work->n++] = (struct series_kind){
					ct_bench_op_name(kind),
					name_series(&runs[r], kind->backend, work->memory), kind, r
				};
		}
	}
	ct_sort(work->all, work->n, sizeof(*work->all), by_kind);
	return CT_OK;
}

/* ---- one row ---- */

static void add_run(struct measured_row *m, const struct ct_bench_kind *kind, double *sorted)
{
	size_t before = m->n;
	double middle, from;

	for (uint32_t b = 0; b < CT_BENCH_BURSTS; b++) {
		const struct ct_bench_burst *burst = &kind->bursts[b];

		if (burst->n && burst->ns > 0)
			m->values[m->n++] = log(burst->ns / (double)burst->n);
	}
	memcpy(sorted, m->values + before, (m->n - before) * sizeof(*sorted));
	middle = ct_median(sorted, m->n - before);
	from = middle - m->middle;
	m->middle += from / (double)++m->runs;
	m->squares += from * (middle - m->middle); /* Welford */
}

static uint64_t rate(uint64_t bytes, uint64_t ns, double factor)
{
	return bytes && ns && factor > 0 ? ct_round_whole((double)ct_Bps(bytes, ns) * factor)
					 : CT_UNKNOWN;
}

/* `of` are its runs. */
static int measure(struct bench_work *work, const struct series_kind *of, size_t runs)
{
	const struct ct_bench_kind *kind = of->kind;
	struct ct_bench_row *row = &work->out->rows[work->out->n_rows];
	struct measured_row *m = &work->measured[work->out->n_rows++];
	double sorted[CT_BENCH_BURSTS];
	struct ct_hist ns = { 0 };
	uint64_t err_ns = 0;
	int st = CT_OK;

	m->values = ct_arena_calloc(work->memory, runs * CT_BENCH_BURSTS, sizeof(*m->values));
	row->bursts_ns = ct_arena_calloc(work->memory, runs * CT_BENCH_BURSTS,
					 sizeof(*row->bursts_ns));
	if (!m->values || !row->bursts_ns)
		return CT_NOMEM;
	for (size_t r = 0; r < runs && st == CT_OK; r++) {
		add_run(m, of[r].kind, sorted);
		err_ns = ct_plus(err_ns, of[r].kind->err_ns);
		st = ct_hist_merge_scaled(&ns, &of[r].kind->ns, 1);
	}
	row->op = of->op;
	row->ranks = kind->ranks;
	row->bytes = kind->bytes;
	row->series = of->series;
	row->backend = kind->backend;
	row->runs = (uint32_t)runs;
	row->bursts = m->n;
	row->n = ns.n;
	row->ns = ct_round_whole(exp(m->middle));
	row->p50_ns = ct_hist_quantile(&ns, 0.5);
	row->p99_ns = ct_hist_quantile(&ns, 0.99);
	row->err_ns = ns.n ? err_ns / ns.n : 0;
	row->algbw_Bps = rate(row->bytes, row->ns, 1);
	row->busbw_Bps = rate(row->bytes, row->ns, ct_bench_bus_factor(kind));
	row->slower_pct = row->low_pct = row->high_pct = row->p = row->drift_pct = NAN;
	for (size_t b = 0; b < m->n; b++)
		row->bursts_ns[b] = ct_round_whole(exp(m->values[b]));
	ct_hist_fini(&ns);
	return st;
}

static int measure_all(struct bench_work *work)
{
	int st = CT_OK;

	work->out->rows = ct_arena_calloc(work->memory, work->n + 1, sizeof(*work->out->rows));
	work->measured = ct_arena_calloc(work->memory, work->n + 1, sizeof(*work->measured));
	if (!work->out->rows || !work->measured)
		return CT_NOMEM;
	for (size_t i = 0, end; i < work->n && st == CT_OK; i = end) {
		for (end = i + 1; end < work->n; end++) {
			if (strcmp(work->all[end].op, work->all[i].op) != 0 ||
			    work->all[end].kind->ranks != work->all[i].kind->ranks ||
			    work->all[end].kind->bytes != work->all[i].kind->bytes ||
			    strcmp(work->all[end].series, work->all[i].series) != 0)
				break;
		}
		st = measure(work, &work->all[i], end - i);
	}
	return st;
}

/* ---- which is fastest ---- */

static int is_same_operation(const struct ct_bench_row *a, const struct ct_bench_row *b)
{
	return strcmp(a->op, b->op) == 0 && a->ranks == b->ranks;
}

/* Behind the last row of this size. */
static size_t end_of_size(const struct ct_bench *bench, size_t from)
{
	const struct ct_bench_row *rows = bench->rows;
	size_t end = from + 1;

	while (end < bench->n_rows && is_same_operation(&rows[from], &rows[end]) &&
	       rows[end].bytes == rows[from].bytes)
		end++;
	return end;
}

static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* A row against the fastest of its size. */
static int compare(const struct measured_row *fastest, const struct measured_row *m,
		   struct ct_bench_row *row)
{
	struct ct_rank_sum test;

	row->result = CT_BENCH_TOO_FEW;
	if (fastest->n < CT_LEAST_STEPS || m->n < CT_LEAST_STEPS)
		return CT_OK;
	if (ct_rank_sum(fastest->values, fastest->n, m->values, m->n, &test) != CT_OK)
		return CT_NOMEM;
	row->slower_pct = percent(test.shift);
	row->low_pct = percent(test.low);
	row->high_pct = percent(test.high);
	row->p = test.p;
	row->result = CT_BENCH_SAME;
	return CT_OK;
}

static int compare_all(struct bench_work *work)
{
	struct ct_bench *out = work->out;
	int st = CT_OK;

	for (size_t i = 0, end; i < out->n_rows && st == CT_OK; i = end) {
		size_t best = i;

		end = end_of_size(out, i);
		for (size_t k = i; k < end; k++)
			best = work->measured[k].middle < work->measured[best].middle ? k : best;
		for (size_t k = i; k < end && st == CT_OK; k++) {
			if (k != best)
				st = compare(&work->measured[best], &work->measured[k],
					     &out->rows[k]);
		}
		out->rows[best].result = end - i > 1 ? CT_BENCH_FASTEST : CT_BENCH_ALONE;
	}
	return st;
}

/* How much slower the halves make it; *p NAN: too few. */
static int find_drift(const struct measured_row *m, double *pct, double *p)
{
	struct ct_rank_sum test;
	size_t half = m->n / 2;

	*p = NAN;
	if (m->runs > 1 || half < CT_LEAST_STEPS)
		return CT_OK;
	if (ct_rank_sum(m->values, half, m->values + m->n - half, half, &test) != CT_OK)
		return CT_NOMEM;
	*p = test.p;
	*pct = percent(test.shift);
	return CT_OK;
}

/* All tests of one kind together: of each row the member at `p` and what it says once it is
 * adjusted. */
static int adjust(const struct ct_bench *out, double *p)
{
	double *tests = malloc((out->n_rows + 1) * sizeof(*tests));
	size_t n = 0;
	int st = tests ? CT_OK : CT_NOMEM;

	for (size_t i = 0; i < out->n_rows && tests; i++) {
		if (!isnan(p[i]))
			tests[n++] = p[i];
	}
	st = st ?: ct_adjust_p(tests, n);
	for (size_t i = 0, k = 0; i < out->n_rows && st == CT_OK; i++) {
		if (!isnan(p[i]))
			p[i] = tests[k++];
	}
	free(tests);
	return st;
}

/* Repetitions of one series differ as well: the difference of two means, by Student's t. */
static double repeats_differ_by(const struct measured_row *a, const struct measured_row *b)
{
	size_t freedom = a->runs + b->runs - 2;

	if (!freedom)
		return 0;
	return ct_student_t(freedom) * sqrt((a->squares + b->squares) / (double)freedom *
					    (1 / (double)a->runs + 1 / (double)b->runs));
}

static void judge_row(const struct measured_row *fastest, const struct measured_row *m,
		      struct ct_bench_row *row)
{
	double err_pct = row->ns ? 100 * (double)row->err_ns / (double)row->ns : INFINITY;

	if (row->p <= CT_DIFF_RATE && row->low_pct > fmax(err_pct, 100 * CT_WORTH_REPORTING) &&
	    m->middle - fastest->middle > repeats_differ_by(fastest, m))
		row->result = CT_BENCH_SLOWER;
}

static int judge_all(struct bench_work *work)
{
	struct ct_bench *out = work->out;
	double *p = malloc((out->n_rows + 1) * 3 * sizeof(*p));
	double *drift_p = p + out->n_rows, *drift = drift_p + out->n_rows;
	int st = p ? CT_OK : CT_NOMEM;

	for (size_t i = 0; i < out->n_rows && st == CT_OK; i++) {
		p[i] = out->rows[i].p;
		st = find_drift(&work->measured[i], &drift[i], &drift_p[i]);
	}
	st = st ?: adjust(out, p) ?: adjust(out, drift_p);
	for (size_t i = 0, end; i < out->n_rows && st == CT_OK; i = end) {
		size_t best = i;

		end = end_of_size(out, i);
		while (out->rows[best].result > CT_BENCH_FASTEST)
			best++;
		for (size_t k = i; k < end; k++) {
			struct ct_bench_row *row = &out->rows[k];

			row->p = p[k];
			if (row->result == CT_BENCH_SAME)
				judge_row(&work->measured[best], &work->measured[k], row);
			out->tested += !isnan(row->p);
			out->differ += row->result == CT_BENCH_SLOWER;
			if (drift_p[k] <= CT_DIFF_RATE && fabs(drift[k]) > 100 * CT_WORTH_REPORTING)
				row->drift_pct = drift[k];
		}
	}
	free(p);
	return st;
}

/* ---- ranges of sizes ---- */

/* Do the same series win at both sizes? */
static int is_same_set(const struct ct_bench_range *range, const struct ct_bench_row *rows,
		       size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].result == CT_BENCH_SLOWER)
			continue;
		if (at == range->n_series || strcmp(range->series[at++], rows[i].series) != 0)
			return 0;
	}
	return at == range->n_series;
}

static int begin_range(struct bench_work *work, const struct ct_bench_row *rows, size_t n,
		       int is_first)
{
	struct ct_bench_range *range = &work->out->ranges[work->out->n_ranges++];

	*range = (struct ct_bench_range){ .op = rows->op,
					  .ranks = rows->ranks,
					  .from_bytes = rows->bytes,
					  .to_bytes = rows->bytes,
					  .is_first = is_first };
	range->series = ct_arena_calloc(work->memory, n, sizeof(*range->series));
	for (size_t i = 0; i < n && range->series; i++) {
		if (rows[i].result != CT_BENCH_SLOWER)
			range->series[range->n_series++] = rows[i].series;
	}
	return range->series ? CT_OK : CT_NOMEM;
}

static int find_ranges(struct bench_work *work)
{
	struct ct_bench *out = work->out;
	const struct ct_bench_row *rows = out->rows;
	struct ct_bench_range *range = NULL;
	int st = CT_OK;

	out->ranges = ct_arena_calloc(work->memory, out->n_rows + 1, sizeof(*out->ranges));
	if (!out->ranges)
		return CT_NOMEM;
	for (size_t i = 0, end; i < out->n_rows && st == CT_OK; i = end) {
		int is_next;

		end = end_of_size(out, i);
		if (end - i < 2)
			continue;
		is_next = range && strcmp(range->op, rows[i].op) == 0 &&
			  range->ranks == rows[i].ranks;
		if (!is_next || !is_same_set(range, &rows[i], end - i)) {
			if (range)
				range->is_last = !is_next;
			st = begin_range(work, &rows[i], end - i, !is_next);
			range = &out->ranges[out->n_ranges - 1];
		}
		range->to_bytes = rows[i].bytes;
	}
	if (range)
		range->is_last = 1;
	return st;
}

/* ---- all ---- */

static void count_series(const struct ct_bench_run *runs, size_t n, struct ct_bench *out)
{
	out->fewest_runs = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		uint32_t same = 0, before = 0;

		for (size_t k = 0; k < n; k++) {
			int is = strcmp(runs[k].series, runs[i].series) == 0;

			same += is != 0;
			before += is && k < i;
		}
		out->series += !before;
		out->fewest_runs = same < out->fewest_runs ? same : out->fewest_runs;
	}
}

int ct_bench_make(const struct ct_bench_run *runs, size_t n, struct ct_arena *memory,
		  struct ct_bench *out)
{
	struct bench_work work = { .n_runs = n, .memory = memory, .out = out };
	int st;

	*out = (struct ct_bench){ 0 };
	count_series(runs, n, out);
	st = name_all(&work, runs) ?: measure_all(&work) ?: compare_all(&work) ?: judge_all(&work)
		?: find_ranges(&work);
	free(work.all);
	return st ?: ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}
