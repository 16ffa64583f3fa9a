/* SPDX-License-Identifier: Apache-2.0 */
/* M_W, the share of S - 1 that the worst ranks make. Where lengths are random, chance decides which
 * ranks are the worst: one whose S is no smaller, within two standard errors of how the two differ
 * from block to block, may be it, too. M_W with that one instead of the least of the worst shows
 * what it may be. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/even_job_private.h"
#include "trace/status.h"

struct ranked_slowdown {
	uint32_t slot;
	double s;
};

CT_SORT_BY(by_s, struct ranked_slowdown, CT_DOWN(s) ?: CT_UP(slot))

/* May b be as slow as a? */
static int may_be_as_slow(const struct ct_even_play *a, const struct ct_even_play *b, uint32_t n)
{
	double sum = 0, squares = 0;

	for (uint32_t k = 0; k < n; k++) {
		double more = a->blocks[k] - b->blocks[k];

		sum += more;
		squares += more * more;
	}
	squares -= sum * sum / n;
	return sum <= CT_SEPARATE_ERRORS * sqrt(fmax(0, squares) * n / (n - 1));
}

static void play_others(struct ct_even *v, const struct ct_even_play *const *of_slot,
			const struct ranked_slowdown *ranks, uint32_t n, uint32_t worst,
			struct ct_even_job *job)
{
	uint32_t least = ranks[worst - 1].slot, blocks = ct_even_n_blocks(v->e);

	job->may_be_worst = worst;
	for (uint32_t k = worst; k < n; k++) {
		double share;

		if (!may_be_as_slow(of_slot[least], of_slot[ranks[k].slot], blocks) ||
		    job->may_be_worst++ >= worst + CT_MOST_ROWS)
			continue;
		v->chosen[least] = 0;
		v->chosen[ranks[k].slot] = 1;
		share = ct_even_share_of_chosen(v);
		v->chosen[least] = 1;
		v->chosen[ranks[k].slot] = 0;
		job->m_worst_least = fmin(job->m_worst_least, share);
		job->m_worst_most = fmax(job->m_worst_most, share);
	}
}

int ct_worst_ranks_play(struct ct_even *v, const struct ct_even_play *const *of_slot,
			struct ct_even_job *job)
{
	uint32_t n_slots = v->e->schedule.n_slots, n = 0, worst;
	struct ranked_slowdown *ranks = malloc(((size_t)n_slots + 1) * sizeof(*ranks));

	if (!ranks)
		return CT_NOMEM;
	for (uint32_t slot = 0; slot < n_slots; slot++) {
		v->chosen[slot] = 0;
		if (of_slot[slot])
			ranks[n++] = (struct ranked_slowdown){ slot, job->s_worker[slot] };
	}
	ct_sort(ranks, n, sizeof(*ranks), by_s);
	worst = (uint32_t)(CT_WORST_RANKS * n_slots);
	worst = worst < n ? worst : n;
	if (!worst)
		worst = n > 0;
	for (uint32_t k = 0; k < worst; k++)
		v->chosen[ranks[k].slot] = 1;
	job->m_worst = job->m_worst_least = job->m_worst_most = ct_even_share_of_chosen(v);
	if (worst)
		play_others(v, of_slot, ranks, n, worst, job);
	free(ranks);
	return CT_OK;
}
