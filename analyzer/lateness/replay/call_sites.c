/* SPDX-License-Identifier: Apache-2.0 */
/* call_sites.c — where in the program a row's time is lost. A gap lies between the end of one
 * operation and the start of another, and the program called both: the call sites of the two
 * enclose the code that ran in the gap. What gaps between the same two sites exceed their peers by
 * adds up. */
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/slow_rows_private.h"
#include "trace/status.h"

struct gap {
	uint16_t before, after; /* sites */
	double excess;
};

CT_SORT_BY(by_sites, struct gap, CT_UP(before) ?: CT_UP(after))

static uint16_t site_before(const struct ct_schedule *s, uint32_t launch)
{
	uint32_t from = s->launches[launch].from;

	return from == CT_NO_LAUNCH ? 0 : s->launches[from].site;
}

static int is_slow_step(struct ct_judging *j, const struct ct_slow_row *row, uint32_t slot,
			uint32_t step)
{
	uint32_t at = step == CT_NO_STEP ? j->e->n_steps : ct_engine_step(j->e, step);

	return at >= row->first && at <= row->last && at < j->e->n_steps &&
	       (!j->slots[slot].in_single_steps || ct_is_single(j, slot, at));
}

/* What each of the slot's gaps exceeds its peers' by. What has no position goes with the next one
 * that has. Returns how many. */
static uint32_t list_gaps(struct ct_judging *j, const struct ct_slow_row *row, uint32_t slot,
			  const double *peers, struct gap *out)
{
	const struct ct_engine *e = j->e;
	uint32_t since = e->schedule.slot_first[slot], n = 0;
	double own = 0;

	for (uint32_t l = since; l < e->schedule.slot_first[slot + 1]; l++) {
		uint32_t p = e->positions.position_of[l];

		own += e->schedule.launches[l].from == CT_NO_LAUNCH ? 0
								    : (double)e->schedule.gap_ns[l];
		if (p == CT_NO_POSITION)
			continue;
		/* peers that never compute there have no level */
		if (is_slow_step(j, row, slot, e->positions.step_of[l]))
			out[n++] = (struct gap){ site_before(&e->schedule, since),
						 e->schedule.launches[l].site,
						 own - (peers[p] > 0 ? peers[p] : 0) };
		own = 0;
		since = l + 1;
	}
	return n;
}

/* Adds up gaps of the same sites. The pair with most of the sum, if it holds enough of it. */
static void choose_sites(struct gap *gaps, uint32_t n, struct ct_slow_row *row)
{
	struct gap best = { 0 };
	double all = 0;

	ct_sort(gaps, n, sizeof(*gaps), by_sites);
	for (uint32_t first = 0, end; first < n; first = end) {
		struct gap sum = { gaps[first].before, gaps[first].after, 0 };

		for (end = first;
		     end < n && gaps[end].before == sum.before && gaps[end].after == sum.after;
		     end++)
			sum.excess += gaps[end].excess;
		if (sum.excess <= 0)
			continue;
		all += sum.excess;
		if (sum.excess > best.excess)
			best = sum;
	}
	if (best.before && best.after && best.excess >= CT_MOST * all) {
		row->site_before = best.before;
		row->site_after = best.after;
	}
}

int ct_slow_row_find_sites(struct ct_judging *j, struct ct_slow_row *row)
{
	const struct ct_engine *e = j->e;
	uint32_t n = 0;
	struct gap *gaps;
	double *peers;

	/* compared with other stages, which call other things */
	if (row->kind == CT_SLOW_STAGE)
		return CT_OK;
	for (uint32_t k = 0; k < row->n; k++)
		n += e->schedule.slot_first[row->slots[k] + 1] -
		     e->schedule.slot_first[row->slots[k]];
	gaps = malloc(((size_t)n + 1) * sizeof(*gaps));
	peers = malloc(((size_t)e->positions.n + 1) * sizeof(*peers));
	n = 0;
	if (gaps && peers) {
		ct_gap_levels_find(j, row->first, row->last);
		for (uint32_t k = 0; k < row->n; k++) {
			ct_gap_levels_of_peers(j, e->stages.stage_of[row->slots[k]], peers);
			n += list_gaps(j, row, row->slots[k], peers, gaps + n);
		}
		choose_sites(gaps, n, row);
	}
	free(gaps);
	free(peers);
	return gaps && peers ? CT_OK : CT_NOMEM;
}
