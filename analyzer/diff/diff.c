/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/words.h"
#include "analyzer/diff/rank_sum.h"
#include "analyzer/model/report_rows.h"
#include "trace/ops.h"

const char *ct_diff_result_name(unsigned result)
{
	CT_WORD_OF(CT_DIFF_RESULT_MAP, result);
}

/* A kind of operations under the name that it has in both runs. */
struct named_kind {
	const char *op, *comm;
	const struct ct_diff_kind *kind;
	size_t of; /* the base's repetitions, then the run */
};

CT_SORT_BY(by_name, struct named_kind,
	   strcmp(x->op, y->op) ?: strcmp(x->comm, y->comm) ?: CT_CMP(x->kind->dtype, y->kind->dtype)
	   ?: CT_CMP(x->kind->size_range, y->kind->size_range) ?: CT_UP(of))

static int is_same(const struct named_kind *x, const struct named_kind *y)
{
	return strcmp(x->op, y->op) == 0 && strcmp(x->comm, y->comm) == 0 &&
	       x->kind->dtype == y->kind->dtype && x->kind->size_range == y->kind->size_range;
}

static const char *name_op(const struct ct_report *report, const struct ct_diff_kind *kind,
			   struct ct_arena *memory)
{
	const char *group = ct_grouped_name(kind->grouped);
	struct ct_report_op **rows;
	size_t n;

	if (CT_DIFF_IS_RUN(kind->op))
		return kind->op == CT_DIFF_STEP ? "step" : "sample";
	if (group)
		return ct_arena_printf(memory, "[%s]", kind->op ? ct_op_name(kind->op) : group);
	rows = ct_report_rows_of_op(report, kind->comm_hash, kind->op, kind->dtype,
				    kind->size_range, &n);
	return n && rows[0]->op_name ? ct_arena_printf(memory, "%s", rows[0]->op_name) : "?";
}

static const char *name_comm(const struct ct_report *report, const struct ct_diff_kind *kind,
			     struct ct_arena *memory)
{
	const struct ct_report_comm *comm;

	if (CT_DIFF_IS_RUN(kind->op))
		return "";
	comm = ct_report_row_of_comm(report, kind->comm_hash, kind->comm_size);
	if (comm && (comm->role || comm->name))
		return ct_arena_printf(memory, "%s", comm->role ? comm->role : comm->name);
	return ct_arena_printf(memory, "%u ranks", kind->comm_size);
}

/* Behind the *n that are there. */
static int name_all(const struct ct_diff_run *run, size_t of, struct ct_arena *memory,
		    struct named_kind *all, size_t *n)
{
	for (uint32_t k = 0; k < run->samples->kinds.n; k++) {
		const struct ct_diff_kind *kind = run->samples->kinds.all[k];
		struct named_kind named = { name_op(run->report, kind, memory),
					    name_comm(run->report, kind, memory), kind, of };

		if (!named.op || !named.comm)
			return CT_NOMEM;
		all[(*n)++] = named;
	}
	return CT_OK;
}

/* The blocks of several kinds together: mean logarithms in order of time. How many of them;
 * *operations how many operations, *err_ns their mean error. */
static size_t join(const struct named_kind *of, size_t n, double *values, uint64_t *operations,
		   uint64_t *err_ns)
{
	size_t blocks = 0;

	*operations = *err_ns = 0;
	for (size_t k = 0; k < n; k++)
		*err_ns = ct_plus(*err_ns, of[k].kind->err_ns);
	for (uint32_t b = 0; b < CT_DIFF_BLOCKS; b++) {
		struct ct_diff_block sum = { 0 };

		for (size_t k = 0; k < n; k++) {
			sum.log_ns += of[k].kind->blocks[b].log_ns;
			sum.n += of[k].kind->blocks[b].n;
		}
		*operations += sum.n;
		if (sum.n)
			values[blocks++] = sum.log_ns / (double)sum.n;
	}
	if (*operations)
		*err_ns /= *operations;
	return blocks;
}

static double middle_of(const double *values, size_t n)
{
	double sorted[CT_DIFF_BLOCKS];

	memcpy(sorted, values, n * sizeof(*sorted));
	return ct_median(sorted, n);
}

static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* What is known of one kind in one run, or in all repetitions of the base. */
struct kind_sample {
	double *values; /* of blocks: mean logarithms in order of time */
	size_t n;
	double middle;	  /* mean over runs of the median of their values */
	double deviation; /* of these, standard */
	size_t runs;
	uint64_t operations, err_ns;
};

/* The kinds of one name, in order of their runs. */
static struct kind_sample join_runs(const struct named_kind *of, size_t n, double *values)
{
	struct kind_sample side = { .values = values, .middle = NAN };
	double mean = 0, squares = 0;

	for (size_t i = 0, end; i < n; i = end) {
		uint64_t operations, err_ns;
		size_t blocks;
		double middle;

		for (end = i + 1; end < n && of[end].of == of[i].of;)
			end++;
		blocks = join(of + i, end - i, values + side.n, &operations, &err_ns);
		middle = middle_of(values + side.n, blocks);
		side.runs++;
		side.middle = mean + (middle - mean) / (double)side.runs;
		squares += (middle - mean) * (middle - side.middle); /* Welford */
		mean = side.middle;
		side.n += blocks;
		side.operations += operations;
		side.err_ns = ct_max(side.err_ns, err_ns);
	}
	side.deviation = side.runs > 1 ? sqrt(squares / (double)(side.runs - 1)) : 0;
	return side;
}

/* How far from the mean of `runs` one more lies, in logarithms: the 99 % prediction interval, t s
 * sqrt(1 + 1 / n). */
static double repeat_of(const struct kind_sample *base)
{
	if (base->runs < 2)
		return INFINITY;
	return ct_student_t(base->runs - 1) * base->deviation * sqrt(1 + 1 / (double)base->runs);
}

/* The part of the operations that lies in the steps: as many as of a step lie outside. */
static double in_steps(const struct ct_report *report, const struct ct_diff_row *row)
{
	double steps = (double)report->steps.count;

	return row->comm && report->step_time.has_steps ? steps / (steps + 1) : 1;
}

/* `n` of the base's repetitions, behind them `m` of the run; `values` has space for the blocks of
 * all. */
static int compare(const struct named_kind *of, size_t n, size_t m, size_t bases,
		   const struct ct_report *report, double *values, struct ct_diff_row *row)
{
	struct kind_sample base = join_runs(of, n, values);
	struct kind_sample run = join_runs(of + n, m, values + base.n);
	struct ct_rank_sum test;

	row->op = of->op;
	row->comm = of->comm[0] ? of->comm : NULL;
	row->dtype = of->kind->dtype;
	row->size_range = of->kind->size_range;
	row->base_n = base.operations;
	row->n = run.operations;
	row->base_ns = ct_round_whole(exp(base.middle));
	row->ns = ct_round_whole(exp(run.middle));
	row->err_ns = ct_max(base.err_ns, run.err_ns);
	row->repeat_pct = bases > 1 ? percent(repeat_of(&base)) : NAN;
	row->change_pct = row->low_pct = row->high_pct = row->delta = row->p = row->cost_pct = NAN;
	row->result = !n ? CT_DIFF_NEW : !m ? CT_DIFF_GONE : CT_DIFF_TOO_FEW;
	if (base.n < CT_LEAST_STEPS || run.n < CT_LEAST_STEPS)
		return CT_OK;
	if (ct_rank_sum(base.values, base.n, run.values, run.n, &test) != CT_OK)
		return CT_NOMEM;
	row->change_pct = percent(test.shift);
	row->low_pct = percent(test.low);
	row->high_pct = percent(test.high);
	row->delta = test.delta;
	row->p = test.p;
	/* communicators of one role work side by side */
	row->cost_pct = 100 * (exp(run.middle) - exp(base.middle)) * (double)run.operations /
			(double)m * in_steps(report, row) / ct_step_time_ns(&report->step_time);
	row->result = CT_DIFF_SAME;
	return CT_OK;
}

static int is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Do the same operations begin the steps? */
static int steps_are_alike(const struct ct_report_steps *a, const struct ct_report_steps *b)
{
	return is_same_text(a->marker, b->marker) && is_same_text(a->anchor_op, b->anchor_op) &&
	       a->anchor_bytes == b->anchor_bytes;
}

static int make_rows(struct named_kind *all, size_t n, size_t bases, int alike,
		     const struct ct_report *report, struct ct_arena *memory, struct ct_diff *out)
{
	double *values = malloc((bases + 1) * CT_DIFF_BLOCKS * sizeof(*values));
	int st = values ? CT_OK : CT_NOMEM;

	ct_sort(all, n, sizeof(*all), by_name);
	out->rows = ct_arena_calloc(memory, n + 1, sizeof(*out->rows));
	if (!out->rows)
		st = CT_NOMEM;
	for (size_t i = 0, end; i < n && st == CT_OK; i = end) {
		size_t of_base = 0;

		for (end = i; end < n && is_same(&all[i], &all[end]); end++)
			of_base += all[end].of < bases;
		st = compare(all + i, of_base, end - i - of_base, bases, report, values,
			     &out->rows[out->n_rows]);
		if (all[i].kind->op == CT_DIFF_STEP && !alike)
			out->rows[out->n_rows].result = CT_DIFF_UNLIKE;
		out->n_rows++;
	}
	free(values);
	return st;
}

/* -50 % is by the factor of +100 %. */
static double upward(double pct)
{
	return 100 * (1 / (1 + pct / 100) - 1);
}

/* Between equal runs there would hardly be so large a difference. What each measurement may be off
 * by, all of a run may be off by. */
static enum ct_diff_result result_of(const struct ct_diff_row *row)
{
	double err = row->base_ns ? 100 * (double)row->err_ns / (double)row->base_ns : INFINITY;
	double least = fmax(err, 100 * CT_WORTH_REPORTING);

	if (row->p > CT_DIFF_RATE)
		return CT_DIFF_SAME;
	if (row->low_pct > least && !(row->change_pct < row->repeat_pct))
		return CT_DIFF_SLOWER;
	/* by the same factors */
	if (upward(row->high_pct) > least && !(upward(row->change_pct) < row->repeat_pct))
		return CT_DIFF_FASTER;
	return CT_DIFF_SAME;
}

/* All tests at once: of many, some would differ by chance. */
static int judge_kinds(struct ct_diff *out)
{
	double *p = malloc((out->n_rows + 1) * sizeof(*p));
	size_t n = 0;

	if (!p)
		return CT_NOMEM;
	for (size_t i = 0; i < out->n_rows; i++)
		if (out->rows[i].result == CT_DIFF_SAME)
			p[n++] = out->rows[i].p;
	if (ct_adjust_p(p, n) != CT_OK) {
		free(p);
		return CT_NOMEM;
	}
	out->tested = (uint32_t)n;
	n = 0;
	for (size_t i = 0; i < out->n_rows; i++) {
		struct ct_diff_row *row = &out->rows[i];

		if (row->result != CT_DIFF_SAME)
			continue;
		row->p = p[n++];
		row->result = result_of(row);
		out->slower += row->result == CT_DIFF_SLOWER;
		out->faster += row->result == CT_DIFF_FASTER;
	}
	free(p);
	return CT_OK;
}

static int group_of(const struct ct_diff_row *row)
{
	if (!row->comm)
		return 0;
	return row->result == CT_DIFF_SLOWER || row->result == CT_DIFF_FASTER ? 1 : 2;
}

/* In a run of the longer one: what it costs or gains; else what it takes. */
static double weight_of(const struct ct_diff_row *row)
{
	double base = row->base_ns == CT_UNKNOWN ? 0 : (double)row->base_ns;
	double ns = row->ns == CT_UNKNOWN ? 0 : (double)row->ns;

	if (group_of(row) == 1)
		return fabs(ns - base) * fmax((double)row->n, (double)row->base_n);
	return fmax(ns * (double)row->n, base * (double)row->base_n);
}

CT_SORT_BY(by_weight, struct ct_diff_row,
	   CT_CMP(group_of(x), group_of(y)) ?: CT_CMP(weight_of(y), weight_of(x))
	   ?: strcmp(x->op, y->op) ?: CT_UP(size_range))

static const struct ct_diff_row *row_of_run(const struct ct_diff *diff, const char *op)
{
	for (size_t i = 0; i < diff->n_rows; i++) {
		if (!diff->rows[i].comm && strcmp(diff->rows[i].op, op) == 0)
			return &diff->rows[i];
	}
	return NULL;
}

static uint64_t ranks_of(const struct ct_report *report)
{
	return report->run.ranks_expected == CT_UNKNOWN ? report->run.ranks_seen
							: report->run.ranks_expected;
}

/* A sample takes so many times as long, and the base's ranks are so many times as many. */
static double efficiency(const struct ct_diff_scaling *scaling, double longer_pct)
{
	return 100 * (double)scaling->base_ranks / (double)scaling->ranks / (1 + longer_pct / 100);
}

static void scale(const struct ct_diff_run *bases, size_t n_bases, const struct ct_diff_run *run,
		  struct ct_diff *out)
{
	struct ct_diff_scaling *to = &out->scaling;
	const struct ct_diff_row *row = row_of_run(out, "sample");
	double repeat = 1, mean = 0;

	*to = (struct ct_diff_scaling){ NAN, NAN, 0, 0, NAN, NAN, NAN };
	if (!row || isnan(row->change_pct))
		return;
	for (size_t i = 0; i < n_bases; i++)
		mean += log(bases[i].report->throughput.per_s) / (double)n_bases;
	to->base_per_s = exp(mean);
	to->per_s = run->report->throughput.per_s;
	to->base_ranks = ranks_of(bases[0].report);
	to->ranks = ranks_of(run->report);
	if (!to->base_ranks || !to->ranks)
		return;
	if (!isnan(row->repeat_pct))
		repeat += row->repeat_pct / 100;
	to->efficiency_pct = efficiency(to, row->change_pct);
	to->low_pct = efficiency(to, row->high_pct) / repeat;
	to->high_pct = efficiency(to, row->low_pct) * repeat;
}

int ct_diff_make(const struct ct_diff_run *bases, size_t n_bases, const struct ct_diff_run *run,
		 struct ct_arena *memory, struct ct_diff *out)
{
	size_t n = 0, room = run->samples->kinds.n + 1;
	struct named_kind *all;
	int alike = 1, st = CT_OK;

	*out = (struct ct_diff){ 0 };
	for (size_t i = 0; i < n_bases; i++) {
		room += bases[i].samples->kinds.n;
		alike &= steps_are_alike(&bases[i].report->steps, &run->report->steps);
	}
	all = malloc(room * sizeof(*all));
	if (!all)
		return CT_NOMEM;
	for (size_t i = 0; i <= n_bases && st == CT_OK; i++)
		st = name_all(i < n_bases ? &bases[i] : run, i, memory, all, &n);
	if (st == CT_OK)
		st = make_rows(all, n, n_bases, alike, run->report, memory, out)
			     ?: judge_kinds(out);
	if (st == CT_OK) {
		ct_sort(out->rows, out->n_rows, sizeof(*out->rows), by_weight);
		scale(bases, n_bases, run, out);
	}
	free(all);
	return st;
}

const struct ct_diff_row *ct_diff_regression(const struct ct_diff *diff, double pct)
{
	/* larger batches take longer steps */
	const char *unit = isnan(diff->scaling.per_s) ? "step" : "sample";
	const struct ct_diff_row *found = NULL;

	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct ct_diff_row *row = &diff->rows[i];
		const int is_slower = row->result == CT_DIFF_SLOWER && row->low_pct > pct;

		/* a transfer that compute hides costs no step any time */
		if (!row->comm && strcmp(row->op, unit) == 0)
			return is_slower ? row : NULL;
		if (row->comm && is_slower && row->cost_pct >= 100 * CT_WORTH_REPORTING && !found)
			found = row;
	}
	return found;
}
