/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

/* ---- the log ---- */

void ct_charge_log_fini(struct ct_charge_log *log)
{
	free(log->all);
	*log = (struct ct_charge_log){ 0 };
}

CT_SORT_BY(by_time, struct ct_charged, CT_UP(at_ns) ?: CT_UP(seat))

/* What comes less than a width apart becomes one, with ever larger widths, until half of the room is free. */
static void thin_out(struct ct_charge_log *log)
{
	while (2 * log->n > log->cap) {
		uint32_t n = 0;

		log->width_ns = log->width_ns ? 2 * log->width_ns : 1u << 20;
		for (uint32_t k = 0; k < log->n; k++)
			log->all[k].at_ns -= log->all[k].at_ns % log->width_ns;
		qsort(log->all, log->n, sizeof(*log->all), by_time);
		for (uint32_t k = 1; k < log->n; k++) {
			if (by_time(&log->all[k], &log->all[n]) == 0)
				log->all[n].lost_ns += log->all[k].lost_ns;
			else
				log->all[++n] = log->all[k];
		}
		log->n = n + 1;
		/* all seats in one cell: it does not become less */
		if (log->width_ns > UINT64_MAX / 4)
			return;
	}
}

int ct_charge_log_add(struct ct_charge_log *log, uint64_t at_ns, uint32_t seat, uint64_t lost_ns)
{
	if (log->n == log->cap && log->cap == CT_CHARGES_MOST)
		thin_out(log);
	if (ct_grow(&log->all, &log->cap, log->n + 1, sizeof(*log->all)))
		return CT_NOMEM;
	log->all[log->n++] = (struct ct_charged){ at_ns, seat, (float)lost_ns };
	return CT_OK;
}

/* ---- rounds ---- */

void ct_rounds_make(struct ct_rounds *r, const uint64_t *cut_ns, uint32_t n_cycles,
		    uint64_t duration_ns, uint64_t least_ns, uint32_t guess)
{
	uint64_t most = least_ns ? duration_ns / least_ns : CT_ROUNDS_MOST;
	uint32_t parts = n_cycles ? n_cycles : guess;

	r->by_cycles = n_cycles > 0;
	most = most < CT_ROUNDS_MOST ? most : CT_ROUNDS_MOST;
	r->n = parts < most ? parts : (uint32_t)most;
	r->end_ns = n_cycles ? cut_ns[n_cycles] : duration_ns;
	for (uint32_t u = 0; u < r->n; u++)
		r->begin_ns[u] = n_cycles ? cut_ns[(uint64_t)u * n_cycles / r->n]
					  : (uint64_t)((double)duration_ns * u / r->n);
}

static uint32_t round_at(const struct ct_rounds *r, uint64_t at_ns)
{
	uint32_t from = 0, to = r->n;

	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		if (r->begin_ns[middle] <= at_ns)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* ---- the tally ---- */

void ct_tally_fini(struct ct_tally *t)
{
	free(t->lost_ns);
	free(t->worst);
	free(t->others);
	*t = (struct ct_tally){ 0 };
}

static void find_worst(struct ct_tally *t, uint32_t round)
{
	float most = -1, second = 0;

	for (uint32_t s = 0; s < t->n_seats; s++) {
		float lost = t->lost_ns[(size_t)s * t->n + round];

		if (lost > most) {
			second = most > 0 ? most : 0;
			most = lost;
			t->worst[round] = s;
		} else if (lost > second) {
			second = lost;
		}
	}
	t->others[round] = second;
}

int ct_tally_make(struct ct_tally *t, const struct ct_charge_log *log, const struct ct_rounds *r,
		  uint32_t n_seats)
{
	*t = (struct ct_tally){ .rounds = r, .n_seats = n_seats, .n = r->n };
	t->lost_ns = calloc((size_t)n_seats * r->n + 1, sizeof(*t->lost_ns));
	t->worst = calloc((size_t)r->n + 1, sizeof(*t->worst));
	t->others = calloc((size_t)r->n + 1, sizeof(*t->others));
	if (!t->lost_ns || !t->worst || !t->others)
		return CT_NOMEM;
	for (uint32_t k = 0; k < log->n && r->n; k++) {
		const struct ct_charged *c = &log->all[k];

		t->lost_ns[(size_t)c->seat * r->n + round_at(r, c->at_ns)] += c->lost_ns;
	}
	for (uint32_t u = 0; u < r->n; u++)
		find_worst(t, u);
	return CT_OK;
}

/* ---- chance ---- */

/* Two standard errors of the sum, for few rounds somewhat more (the quantile of Student's t, within a tenth from five rounds
 * on). The deviation is that of successive differences: von Neumann et al. 1941. */
static double spread_of(const float *own, uint32_t n)
{
	double sum = 0;

	if (n < 2)
		return INFINITY;
	for (uint32_t u = 1; u < n; u++)
		sum += ((double)own[u] - own[u - 1]) * ((double)own[u] - own[u - 1]);
	return 2 * (1 + 2.0 / (n - 1)) * sqrt(sum / (2.0 * (n - 1)) * n);
}

/* Rounds on either side that a round is held against. */
#define NEIGHBOURS 4u

static double bursts_of(const float *own, uint32_t n)
{
	double sum = 0;

	for (uint32_t u = 0; u < n; u++) {
		uint32_t from = u < NEIGHBOURS ? 0 : u - NEIGHBOURS, count = 0;
		float near[2 * NEIGHBOURS + 1];

		while (count < 2 * NEIGHBOURS + 1 && from + count < n) {
			near[count] = own[from + count];
			count++;
		}
		qsort(near, count, sizeof(*near), ct_by_float_down);
		sum += fmax(0, (double)own[u] - (double)near[count / 2]);
	}
	return sum;
}

void ct_recurrence_of(const float *own, const float *others, uint32_t n, double p, float *room,
		      struct ct_recurrence *out)
{
	double all = 0, most = 0, largest = 0;
	float threshold = INFINITY;

	*out = (struct ct_recurrence){ .rounds = n,
				       .spread_ns = spread_of(own, n),
				       .bursts_ns = bursts_of(own, n) };
	for (uint32_t u = 0; u < n; u++) {
		room[u] = own[u] > 0 ? own[u] : 0;
		all += (double)room[u];
	}
	qsort(room, n, sizeof(*room), ct_by_float_down);
	for (uint32_t u = 0; u < n; u++) {
		if (u < 1 + n / 20)
			largest += (double)room[u];
		if (4 * most < 3 * all) {
			most += (double)room[u];
			threshold = room[u] / 2;
		}
	}
	out->rest = all - largest;
	for (uint32_t u = 0; u < n; u++) {
		out->trials += own[u] >= threshold || others[u] >= threshold;
		out->hits += own[u] >= threshold && own[u] > others[u];
	}
	out->log10_p = ct_binomial_tail(out->hits, out->trials, p);
}

int ct_tally_recurrence(const struct ct_tally *t, uint32_t seat, double p,
			struct ct_recurrence *out)
{
	float *others = malloc(2 * ((size_t)t->n + 1) * sizeof(*others));
	const float *own = &t->lost_ns[(size_t)seat * t->n];

	if (!others)
		return CT_NOMEM;
	for (uint32_t u = 0; u < t->n; u++)
		others[u] = t->worst[u] == seat ? t->others[u]
						: t->lost_ns[(size_t)t->worst[u] * t->n + u];
	ct_recurrence_of(own, others, t->n, p, others + t->n + 1, out);
	free(others);
	return CT_OK;
}
