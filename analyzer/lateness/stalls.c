/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/stalls.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"

CT_SORT_BY(by_length, struct ct_stall, CT_DOWN(ns))

CT_SORT_BY(by_step, struct ct_stall, CT_UP(step))

static double share_within(const double *values, uint32_t n, double of, double within)
{
	uint32_t near = 0;

	for (uint32_t k = 0; k < n; k++)
		near += fabs(values[k] - of) <= within;
	return n ? (double)near / n : 0;
}

/* The events come first, by step; a stall that reaches into the next step is one. Returns how many,
 * 0: they do not stand out. */
static uint32_t select_events(struct ct_stall *charges, uint32_t n, double threshold_ns)
{
	uint32_t events = 0, below = 0, merged = 0;
	double limit;

	if (n < CT_STALL_LEAST)
		return 0;
	qsort(charges, n, sizeof(*charges), by_length);
	limit = charges[CT_STALL_LEAST - 1].ns / 2;
	limit = limit > threshold_ns ? limit : threshold_ns;
	while (events < n && charges[events].ns >= limit)
		events++;
	while (events + below < n && charges[events + below].ns >= limit / 2)
		below++;
	if (events < CT_STALL_LEAST || below > CT_STALL_STANDS_OUT * events)
		return 0;
	qsort(charges, events, sizeof(*charges), by_step);
	for (uint32_t k = 1; k < events; k++) {
		struct ct_stall *to = &charges[merged];

		if (charges[k].step <= to->step + 1 && charges[k].slot == to->slot) {
			to->more = charges[k].step - to->step;
			to->ns += charges[k].ns;
			to->err_ns += charges[k].err_ns;
			continue;
		}
		charges[++merged] = charges[k];
	}
	events = merged + 1;
	return events < CT_STALL_LEAST ? 0 : events;
}

/* Median distance if the events are regular, else 0. */
static double distance(const struct ct_stall *events, uint32_t n, uint32_t steps, double *room)
{
	double every, within;
	uint32_t known = 0;

	for (uint32_t k = 1; k < n; k++) {
		if (events[k].stretch == events[k - 1].stretch)
			room[known++] = (double)(events[k].step - events[k - 1].step);
	}
	if (known + 1 < CT_STALL_LEAST)
		return 0;
	every = ct_median_high(room, known);
	within = fmax(CT_NEAR * every, 1);
	if (every < CT_STALL_EVERY || n * every < CT_MOST * steps ||
	    share_within(room, known, every, within) < CT_MOSTLY)
		return 0;
	return every;
}

CT_SORT_BY(by_slot, struct ct_stall, CT_UP(slot))

static void count_slots(struct ct_stall *events, uint32_t n, struct ct_stall_pattern *p)
{
	uint32_t of_it = 0;

	p->slots = p->most_of_one = 0;
	qsort(events, n, sizeof(*events), by_slot);
	for (uint32_t k = 0; k < n; k++) {
		int first = k == 0 || events[k].slot != events[k - 1].slot;

		of_it = first ? 1 : of_it + 1;
		p->slots += (uint32_t)first;
		p->most_of_one = of_it > p->most_of_one ? of_it : p->most_of_one;
	}
	qsort(events, n, sizeof(*events), by_step);
}

/* What the events have in common; *alike: the share of lengths near their median. */
static void describe(const struct ct_stall *events, uint32_t n, uint32_t steps, double *alike,
		     struct ct_stall_pattern *p)
{
	double *room = malloc(n * sizeof(*room));

	*p = (struct ct_stall_pattern){ 0 };
	*alike = 0;
	if (!room)
		return;
	for (uint32_t k = 0; k < n; k++) {
		room[k] = events[k].ns;
		p->sum_ns += events[k].ns;
		p->err_ns += events[k].err_ns;
	}
	p->n = n;
	p->first = events[0].step;
	p->last = events[n - 1].step;
	p->typical_ns = ct_median_high(room, n);
	*alike = share_within(room, n, p->typical_ns, CT_ALIKE * p->typical_ns);
	p->every = distance(events, n, steps, room);
	free(room);
}

void ct_stalls_of_one(struct ct_stall *charges, uint32_t n, uint32_t steps, double threshold_ns,
		      struct ct_stall_pattern *p)
{
	uint32_t events = select_events(charges, n, threshold_ns);
	double alike;

	*p = (struct ct_stall_pattern){ 0 };
	if (!events)
		return;
	describe(charges, events, steps, &alike, p);
	p->slots = 1;
	p->most_of_one = events;
	if (alike < CT_MOSTLY || p->every <= 0)
		p->n = 0;
}

/* Of each step the largest; by step. */
static uint32_t largest_of_steps(struct ct_stall *charges, uint32_t n)
{
	uint32_t kept = 0;

	if (!n)
		return 0;
	qsort(charges, n, sizeof(*charges), by_step);
	for (uint32_t k = 1; k < n; k++) {
		if (charges[k].step != charges[kept].step)
			charges[++kept] = charges[k];
		else if (charges[k].ns > charges[kept].ns)
			charges[kept] = charges[k];
	}
	return kept + 1;
}

void ct_stalls_of_all(struct ct_stall *charges, uint32_t n, uint32_t steps, double threshold_ns,
		      struct ct_stall_pattern *p)
{
	uint32_t events = select_events(charges, largest_of_steps(charges, n), threshold_ns);
	double alike;

	*p = (struct ct_stall_pattern){ 0 };
	if (!events)
		return;
	describe(charges, events, steps, &alike, p);
	count_slots(charges, events, p);
	if (alike < CT_MOSTLY || p->every <= 0 || p->slots < 2 ||
	    p->most_of_one >= CT_MOSTLY * p->n)
		p->n = 0;
}
