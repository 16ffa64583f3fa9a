/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/stalled_steps.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/steps/period.h"
#include "trace/status.h"

static double time_of(const struct ct_steps *c, uint32_t k)
{
	return (double)(c->cut_ns[k + 1] - c->cut_ns[k]);
}

/* Median and spread of the steps' times, and the median of what was waited in them; those that are
 * kept. */
struct usual {
	double time_ns, least_ns, wait_ns;
};

static struct usual usual_of(const struct ct_steps *c, const struct ct_step_blame *blame,
			     double *room)
{
	struct usual u = { 0 };
	uint32_t n = 0;

	for (uint32_t k = 0; k < c->n; k++) {
		if (blame->kept[k])
			room[n++] = time_of(c, k);
	}
	u.time_ns = ct_median_high(room, n);
	for (uint32_t k = 0; k < n; k++)
		room[k] = fabs(room[k] - u.time_ns);
	u.least_ns = CT_STEADY_T * CT_SD_OF_MAD * ct_median_high(room, n);
	u.least_ns = fmax(u.least_ns, CT_NEAR * u.time_ns);
	n = 0;
	for (uint32_t k = 0; k < c->n; k++) {
		if (blame->kept[k])
			room[n++] = (double)blame->wait_ns[k];
	}
	u.wait_ns = ct_median_high(room, n);
	return u;
}

/* Which rank's stall in this step? Hits are by step; *at: the first one that is not before it. */
static uint32_t owner_of(const struct ct_step_blame *blame, uint32_t step, double stall_ns,
			 uint32_t *at)
{
	uint32_t owner = CT_STALLED_UNKNOWN;
	double most = 0, next = 0;

	while (*at < blame->n && blame->all[*at].step < step)
		(*at)++;
	for (uint32_t i = *at; i < blame->n && blame->all[i].step == step; i++) {
		double ns = (double)blame->all[i].charged_ns;

		if (ns > most) {
			next = most;
			most = ns;
			owner = blame->all[i].slot;
		} else if (ns > next) {
			next = ns;
		}
	}
	return most - next >= CT_MOST * stall_ns ? owner : CT_STALLED_UNKNOWN;
}

struct of_slot {
	uint32_t n;
	uint64_t ns;
};

static void count_stall(struct ct_stalled *s, struct of_slot *slots, uint32_t step, uint64_t ns,
			uint32_t owner)
{
	s->n++;
	s->sum_ns += ns;
	if (ns > s->longest_ns) {
		s->longest_ns = ns;
		s->longest_step = step;
		s->longest_slot = owner;
	}
	if (owner == CT_STALLED_UNKNOWN)
		return;
	s->known_n++;
	s->slots += slots[owner].n == 0;
	slots[owner].n++;
	slots[owner].ns += ns;
	if (slots[owner].n > s->most_n ||
	    (slots[owner].n == s->most_n && slots[owner].ns > s->most_ns)) {
		s->most_slot = owner;
		s->most_n = slots[owner].n;
		s->most_ns = slots[owner].ns;
	}
}

/* Are most as long as each other? Stalls by chance are not: of exponential ones 18 % lie so near
 * their median. */
static int are_alike(double *ns, uint32_t n)
{
	double typical = ct_median_high(ns, n);
	uint32_t near = 0;

	for (uint32_t k = 0; k < n; k++)
		near += fabs(ns[k] - typical) <= CT_ALIKE * typical;
	return n >= CT_STALL_LEAST && near >= CT_MOSTLY * n;
}

/* Do they come again after as many steps each? Where what was found is a part of a step, the longer
 * parts do. */
static int come_back(const uint8_t *is_stall, uint32_t n)
{
	for (uint32_t period = 2; period <= CT_PERIOD_MOST && 3 * period <= n; period++) {
		uint32_t again = 0, all = 0;

		for (uint32_t k = 0; k + period < n; k++) {
			all += is_stall[k];
			again += is_stall[k] && is_stall[k + period];
		}
		if (all >= CT_STALL_LEAST && again >= CT_MOSTLY * all)
			return 1;
	}
	return 0;
}

int ct_stalled_find(const struct ct_steps *c, const struct ct_step_blame *blame, uint32_t n_slots,
		    struct ct_stalled *s)
{
	double *room = calloc(c->n + 1u, sizeof(*room));
	struct of_slot *slots = calloc(n_slots + 1u, sizeof(*slots));
	uint8_t *is_stall = calloc(c->n + 1u, sizeof(*is_stall));
	struct usual u;
	uint32_t at = 0;
	int st = room && slots && is_stall ? CT_OK : CT_NOMEM;

	*s = (struct ct_stalled){ .longest_slot = CT_STALLED_UNKNOWN,
				  .most_slot = CT_STALLED_UNKNOWN };
	if (st != CT_OK || blame->n_kept < CT_LEAST_STEPS || blame->n_steps != c->n || n_slots < 2)
		goto out;
	s->of = blame->n_kept;
	u = usual_of(c, blame, room);
	for (uint32_t k = 0; k < c->n; k++) {
		double stall = time_of(c, k) - u.time_ns;
		double waited = ((double)blame->wait_ns[k] - u.wait_ns) / (n_slots - 1);

		if (!blame->kept[k] || stall < u.least_ns || waited < CT_MOST * stall)
			continue;
		room[s->n] = stall;
		is_stall[k] = 1;
		count_stall(s, slots, k, (uint64_t)stall, owner_of(blame, k, stall, &at));
	}
	/* where only a part of the steps was looked at, a pattern of theirs may not have been found
	 */
	if (blame->n_kept == c->n && (are_alike(room, s->n) || come_back(is_stall, c->n)) &&
	    !ct_stalled_is_one(s, n_slots))
		*s = (struct ct_stalled){ .of = s->of,
					  .longest_slot = CT_STALLED_UNKNOWN,
					  .most_slot = CT_STALLED_UNKNOWN };
out:
	free(room);
	free(slots);
	free(is_stall);
	return st;
}

int ct_stalled_is_one(const struct ct_stalled *s, uint32_t ranks)
{
	return 2 * s->most_ns > s->sum_ns && ct_is_beyond_chance(s->most_n, s->known_n, ranks);
}
