/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/hist.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

static unsigned row_of(uint64_t value)
{
	return value < CT_HIST_CELLS ? 0 : 64u - 5u - (unsigned)__builtin_clzll(value);
}

static unsigned cell_of(uint64_t value, unsigned row)
{
	return row ? (unsigned)(value >> (row - 1)) & (CT_HIST_CELLS - 1) : (unsigned)value;
}

/* The middle of a cell. */
static uint64_t value_of(unsigned row, unsigned cell)
{
	if (!row)
		return cell;
	return ((uint64_t)(CT_HIST_CELLS + cell) << (row - 1)) + ((1ull << (row - 1)) >> 1);
}

/* Not inline: nearly every value finds its row there, and saves no registers for this. */
static __attribute__((noinline)) int make_row(struct ct_hist *hist, unsigned row)
{
	hist->rows[row] = calloc(CT_HIST_CELLS, sizeof(*hist->rows[row]));
	return hist->rows[row] ? CT_OK : CT_NOMEM;
}

static void count(struct ct_hist *hist, uint64_t value, unsigned row)
{
	hist->rows[row][cell_of(value, row)]++;
	hist->n++;
	if (__builtin_add_overflow(hist->sum, value, &hist->sum))
		hist->sum = UINT64_MAX;
	if (value > hist->max)
		hist->max = value;
}

static __attribute__((noinline)) int add_first(struct ct_hist *hist, uint64_t value)
{
	unsigned row = row_of(value);

	if (make_row(hist, row) != CT_OK)
		return CT_NOMEM;
	count(hist, value, row);
	return CT_OK;
}

int ct_hist_add(struct ct_hist *hist, uint64_t value)
{
	unsigned row = row_of(value);

	if (!hist->rows[row])
		return add_first(hist, value);
	count(hist, value, row);
	return CT_OK;
}

/* Add `n` times the value. 0 or CT_NOMEM. */
static int add_many(struct ct_hist *hist, uint64_t value, uint64_t n)
{
	unsigned row = row_of(value);
	uint64_t sum;

	if (!hist->rows[row] && make_row(hist, row) != CT_OK)
		return CT_NOMEM;
	hist->rows[row][cell_of(value, row)] += n;
	hist->n += n;
	if (__builtin_mul_overflow(value, n, &sum) ||
	    __builtin_add_overflow(hist->sum, sum, &hist->sum))
		hist->sum = UINT64_MAX;
	hist->max = value > hist->max ? value : hist->max;
	return CT_OK;
}

int ct_hist_merge_scaled(struct ct_hist *into, const struct ct_hist *from, double factor)
{
	int st = CT_OK;

	for (unsigned row = 0; row < CT_HIST_ROWS; row++) {
		for (unsigned cell = 0; from->rows[row] && cell < CT_HIST_CELLS; cell++) {
			uint64_t n = from->rows[row][cell];
			uint64_t value = value_of(row, cell);
			double scaled = factor * (double)(value < from->max ? value : from->max);

			if (n && st == CT_OK)
				st = add_many(into, scaled < 1e19 ? (uint64_t)scaled : UINT64_MAX,
					      n);
		}
	}
	return st;
}

uint64_t ct_hist_quantile(const struct ct_hist *hist, double q)
{
	uint64_t want = (uint64_t)ceil(q * (double)hist->n);
	uint64_t seen = 0;

	if (!hist->n)
		return UINT64_MAX;
	if (want == 0)
		want = 1;
	for (unsigned row = 0; row < CT_HIST_ROWS; row++) {
		for (unsigned cell = 0; hist->rows[row] && cell < CT_HIST_CELLS; cell++) {
			seen += hist->rows[row][cell];
			if (seen >= want) {
				uint64_t value = value_of(row, cell);

				return value < hist->max ? value : hist->max;
			}
		}
	}
	return hist->max;
}

uint64_t ct_hist_below(const struct ct_hist *hist, unsigned log2)
{
	uint64_t n = 0;

	/* row 0 has what is below 2^5 */
	for (unsigned row = 0; row + 5 <= log2 && row < CT_HIST_ROWS; row++) {
		for (unsigned i = 0; hist->rows[row] && i < CT_HIST_CELLS; i++)
			n += hist->rows[row][i];
	}
	return n;
}

void ct_hist_fini(struct ct_hist *hist)
{
	for (unsigned row = 0; row < CT_HIST_ROWS; row++)
		free(hist->rows[row]);
	*hist = (struct ct_hist){ 0 };
}

uint64_t ct_hist_unusual(uint64_t p99, uint64_t longest)
{
	p99 = ct_times(p99, CT_TIMES_P99);
	longest = ct_times(longest, CT_TIMES_LONGEST);
	return p99 < longest ? p99 : longest;
}
