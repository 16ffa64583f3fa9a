/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/bench/bench.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/render.h"

static const char columns[] = "bytes series ns p50_ns p99_ns algbw_Bps busbw_Bps against";

static int is_same_operation(const struct ct_bench_row *row, const char *op, uint32_t ranks)
{
	return strcmp(row->op, op) == 0 && row->ranks == ranks;
}

/* "gloo", "gloo and mpi", "gloo, mpi and nccl" */
static void name_series(const struct ct_bench_range *range, char *to, size_t cap)
{
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < range->n_series && at < cap; i++) {
		const char *between = !i ? "" : i + 1 < range->n_series ? ", " : " and ";
		int n = snprintf(to + at, cap - at, "%s%s", between, range->series[i]);

		at += n > 0 ? (size_t)n : 0;
	}
}

/* "up to 64 KiB", "from 1 MiB", "from 128 KiB to 512 KiB", "at 64 KiB", "at all sizes" */
static void name_sizes(const struct ct_bench_range *range, char *to, size_t cap)
{
	struct ct_unit_text from = ct_prose_bytes(range->from_bytes);
	struct ct_unit_text until = ct_prose_bytes(range->to_bytes);

	if (range->from_bytes == range->to_bytes)
		snprintf(to, cap, "at %s", from.s);
	else if (range->is_first && range->is_last)
		snprintf(to, cap, "at all sizes");
	else if (range->is_first)
		snprintf(to, cap, "up to %s", until.s);
	else if (range->is_last)
		snprintf(to, cap, "from %s on", from.s);
	else
		snprintf(to, cap, "from %s to %s", from.s, until.s);
}

static void write_ranges(struct ct_text *text, const struct ct_bench *bench, const char *op,
			 uint32_t ranks)
{
	for (size_t i = 0; i < bench->n_ranges; i++) {
		const struct ct_bench_range *range = &bench->ranges[i];
		char series[160], sizes[64];

		if (strcmp(range->op, op) != 0 || range->ranks != ranks)
			continue;
		name_series(range, series, sizeof(series));
		name_sizes(range, sizes, sizeof(sizes));
		if (range->n_series == 1)
			ct_text_wrap(text, CT_COLOR_GREEN, CT_TEXT_LABEL, "%s is fastest %s",
				     series, sizes);
		else
			ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
				     "no significant difference between %s %s", series, sizes);
	}
}

static void write_drifts(struct ct_text *text, const struct ct_bench_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isnan(rows[i].drift_pct))
			ct_text_wrap(text, CT_COLOR_YELLOW, CT_TEXT_LABEL,
				     "%s at %s: %.3g %% %s in the second half", rows[i].series,
				     ct_prose_bytes(rows[i].bytes).s, fabs(rows[i].drift_pct),
				     rows[i].drift_pct > 0 ? "slower" : "faster");
	}
}

void ct_bench_text(const struct ct_bench *bench, const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);

	for (size_t i = 0, end; i < bench->n_rows; i = end) {
		const struct ct_bench_row *row = &bench->rows[i];

		if (i)
			ct_text_empty(&text);
		if (row->ranks)
			ct_text_line(&text, CT_COLOR_BOLD, "%s, %u ranks", row->op, row->ranks);
		else
			ct_text_line(&text, CT_COLOR_BOLD, "%s", row->op);
		ct_columns_head(&text, ct_columns_bench_row(), columns);
		for (end = i; end < bench->n_rows &&
			      is_same_operation(&bench->rows[end], row->op, row->ranks);
		     end++)
			ct_columns_row(&text, CT_COLOR_NONE, ct_columns_bench_row(), columns,
				       &bench->rows[end]);
		write_ranges(&text, bench, row->op, row->ranks);
		write_drifts(&text, row, end - i);
	}
	if (bench->differ && bench->fewest_runs < 2) {
		ct_text_empty(&text);
		ct_text_wrap(&text, CT_COLOR_NONE, CT_TEXT_LABEL,
			     "note      equal runs may differ as much: give two or more runs of "
			     "each series, such as gloo=run1 gloo=run2");
	}
}
