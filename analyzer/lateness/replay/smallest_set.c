/* SPDX-License-Identifier: Apache-2.0 */
/* Of the rows that are hot, the smallest set whose mending gains as much, and what it gains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/slow_rows_private.h"
#include "trace/status.h"

/* Gain (ns) if all rows but `but` were mended; each: how long each step takes then, or NULL.
 * Negative: no memory. */
static int gain_without(struct ct_judging *j, uint32_t but, double *each, double *gain)
{
	struct ct_engine *e = j->e;

	memcpy(e->other_ns, e->schedule.gap_ns, e->schedule.n_launches * sizeof(*e->other_ns));
	for (uint32_t k = 0; k < j->out->n; k++) {
		if (k != but && ct_mend(j, &j->out->all[k]) != CT_OK)
			return CT_NOMEM;
	}
	*gain = e->played - ct_engine_play(e, e->other_ns, NULL, each);
	return CT_OK;
}

/* Has a rank of the row one or two peers? They may show which of its gaps are longer, or not. */
static int has_few_peers(const struct ct_judging *j, const struct ct_slow_row *row)
{
	const struct ct_stages *g = &j->e->stages;

	for (uint32_t k = 0; row->kind != CT_SLOW_STAGE && k < row->n; k++) {
		const struct ct_standing *s = &j->slots[row->slots[k]];

		if (s->asked_others && !s->in_single_steps &&
		    ct_stage_size(g, g->stage_of[row->slots[k]]) > 1)
			return 1;
	}
	return 0;
}

static int gain_alone(struct ct_judging *j, struct ct_slow_row *row)
{
	struct ct_engine *e = j->e;
	int ways = 1 + has_few_peers(j, row), st = CT_OK;

	row->gain_ns = 0;
	for (int way = 0; way < ways && st == CT_OK; way++) {
		j->trusts_few = way;
		memcpy(e->other_ns, e->schedule.gap_ns,
		       e->schedule.n_launches * sizeof(*e->other_ns));
		st = ct_mend(j, row);
		row->gain_ns += (e->played - ct_engine_play(e, e->other_ns, NULL, NULL)) / ways;
	}
	j->trusts_few = 0;
	return st;
}

/* Where a rank has few peers there are two ways to mend it, and the gain lies between: its middle,
 * *err: from there to both. 0 or CT_NOMEM. */
static int gain_between(struct ct_judging *j, double *each, double *err)
{
	double other, half;
	int any = 0, st;

	*err = 0;
	for (uint32_t k = 0; k < j->out->n; k++)
		any |= has_few_peers(j, &j->out->all[k]);
	if (!any)
		return CT_OK;
	j->trusts_few = 1;
	st = gain_without(j, UINT32_MAX, each, &other);
	j->trusts_few = 0;
	if (st != CT_OK)
		return st;
	half = (other - j->out->gain_ns) / 2;
	j->out->gain_ns += half;
	/* when they were ready is as open as in queues */
	*err = fabs(half) + CT_ERROR_IN_QUEUES * j->out->gain_ns;
	return st;
}

static void drop(struct ct_slow_rows *rows, uint32_t at)
{
	free(rows->all[at].slots);
	memmove(&rows->all[at], &rows->all[at + 1], (rows->n - at - 1) * sizeof(*rows->all));
	rows->n--;
}

/* Is this step one in which a rank of the set is late, of those that are so in single steps? *any:
 * are there such ranks? */
static int is_peak(struct ct_judging *j, uint32_t step, int *any)
{
	int is = 0;

	*any = 0;
	for (uint32_t k = 0; k < j->out->n; k++) {
		for (uint32_t i = 0; i < j->out->all[k].n; i++) {
			uint32_t slot = j->out->all[k].slots[i];

			if (!j->slots[slot].in_single_steps)
				continue;
			*any = 1;
			is |= ct_is_single(j, slot, step);
		}
	}
	return is;
}

/* Of a gain that lies in single steps: how much these differ, how much the others do, and one at an
 * end of the run that is in none of the engine's steps. NAN: it does not. */
static double peaks_error(struct ct_judging *j, const double *mended)
{
	double n[2] = { 0 }, sum[2] = { 0 }, squares[2] = { 0 }, all = 0;

	for (uint32_t k = 0; k < j->e->n_steps; k++) {
		double gain = j->e->played_ns[k] - mended[k];
		int any, peak = is_peak(j, k, &any);

		if (!any)
			return NAN;
		n[peak]++;
		sum[peak] += gain;
		squares[peak] += gain * gain;
	}
	for (int peak = 0; peak < 2; peak++)
		all += n[peak] > 1 ? fmax(0, squares[peak] - sum[peak] * sum[peak] / n[peak]) : 0;
	return CT_SEPARATE_ERRORS * sqrt(all) + (n[1] > 0 ? fabs(sum[1]) / n[1] : 0);
}

/* Of a gain, by blocks of steps. */
static double gain_error(struct ct_judging *j, const double *mended)
{
	double noise = peaks_error(j, mended);

	if (!isnan(noise))
		return noise;
	for (uint32_t b = 0; b < j->n_blocks; b++) {
		j->excess[b] = 0;
		for (uint32_t k = j->block_first[b]; k < j->block_first[b + 1]; k++)
			j->excess[b] += j->e->played_ns[k] - mended[k];
	}
	noise = ct_noise_of_blocks(j->excess, j->n_blocks, j->sorted);
	return isfinite(noise) ? CT_SEPARATE_ERRORS * noise * sqrt(j->n_blocks) : 0;
}

/* Where in a block a row begins or ends is not known. */
static double ends_error(const struct ct_judging *j)
{
	double block = (double)j->e->n_steps / j->n_blocks, sum = 0;

	for (uint32_t k = 0; k < j->out->n; k++) {
		const struct ct_slow_row *row = &j->out->all[k];
		int ends = (row->first > 0) + (row->last + 1 < j->e->n_steps);

		sum += ends * block / 2 * row->excess_ns;
	}
	return sum;
}

/* Without the least row again and again, as long as little is lost. */
int ct_slow_rows_choose(struct ct_judging *j)
{
	struct ct_slow_rows *rows = j->out;
	double *each = malloc(((size_t)j->e->n_steps + 1) * sizeof(*each)), full, between;
	int st = each ? gain_without(j, UINT32_MAX, NULL, &full) : CT_NOMEM;

	for (uint32_t k = rows->n; k-- > 0 && st == CT_OK;) {
		double gain;

		st = gain_without(j, k, NULL, &gain);
		if (st == CT_OK && gain >= full - fmax(CT_PLAY_ERROR * fabs(full),
						       CT_LEAST_GAIN / 2 * j->e->played)) {
			drop(rows, k);
			full = gain;
		}
	}
	if (st == CT_OK)
		st = gain_without(j, UINT32_MAX, each, &rows->gain_ns);
	if (st == CT_OK)
		st = gain_between(j, each, &between);
	if (st == CT_OK)
		rows->gain_err_ns = gain_error(j, each) + ends_error(j) + between +
				    ct_engine_error(j->e) * rows->gain_ns;
	free(each);
	if (st == CT_OK && rows->gain_ns <= fmax(CT_LEAST_GAIN * j->e->played, rows->gain_err_ns)) {
		while (rows->n)
			drop(rows, rows->n - 1);
		rows->gain_ns = rows->gain_err_ns = 0;
	}
	for (uint32_t k = 0; k < rows->n && st == CT_OK; k++)
		st = gain_alone(j, &rows->all[k]);
	return st;
}
