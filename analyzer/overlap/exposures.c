/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/exposures.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

#define STRETCHES 8u
/* More doublings than a run has stretches mean that its times are not to be believed. */
#define SPARSEST (1u << 20)

void ct_exposures_init(struct ct_exposures *s, uint32_t most)
{
	*s = (struct ct_exposures){ .keep_one_of = 1, .most = most ? most : CT_EXPOSURES_MOST };
}

void ct_exposures_fini(struct ct_exposures *s)
{
	free(s->all);
	free(s->seat_first);
	*s = (struct ct_exposures){ 0 };
}

static uint64_t stretch(const struct ct_exposures *s, uint64_t at_ns)
{
	return s->stretch_ns ? at_ns / s->stretch_ns : 0;
}

static int is_kept(const struct ct_exposures *s, uint64_t at_ns)
{
	return stretch(s, at_ns) % s->keep_one_of == 0;
}

int ct_exposures_keep(const struct ct_exposures *s, uint64_t begin_ns, uint64_t end_ns)
{
	return is_kept(s, begin_ns) && stretch(s, begin_ns) == stretch(s, end_ns);
}

static void forget(struct ct_exposures *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (is_kept(s, s->all[i].begin_ns))
			s->all[n++] = s->all[i];
	s->n = n;
}

static void make_room(struct ct_exposures *s)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < s->n && !s->stretch_ns; i++)
		last = s->all[i].begin_ns > last ? s->all[i].begin_ns : last;
	if (!s->stretch_ns)
		s->stretch_ns = last / STRETCHES + 1;
	while (s->n >= s->most && s->keep_one_of < SPARSEST) {
		s->keep_one_of *= 2;
		forget(s);
	}
}

int ct_exposures_add(struct ct_exposures *s, const struct ct_exposure *stall)
{
	s->seen++;
	if (!is_kept(s, stall->begin_ns))
		return CT_OK;
	if (s->n >= s->most)
		make_room(s);
	if (s->n >= s->most || !is_kept(s, stall->begin_ns))
		return CT_OK;
	if (ct_grow(&s->all, &s->cap, s->n + 1, sizeof(*s->all)))
		return CT_NOMEM;
	s->all[s->n++] = *stall;
	return CT_OK;
}

CT_SORT_BY(by_begin, struct ct_exposure, CT_UP(begin_ns) ?: CT_UP(end_ns))

int ct_exposures_close(struct ct_exposures *s, uint32_t n_seats)
{
	struct ct_exposure *by_seat = malloc(((size_t)s->n + 1) * sizeof(*by_seat));
	uint32_t *next;

	s->n_seats = n_seats;
	s->seat_first = calloc((size_t)n_seats + 2, sizeof(*s->seat_first));
	if (!by_seat || !s->seat_first) {
		free(by_seat);
		return CT_NOMEM;
	}
	/* Counted two places on, so that filling moves each seat's first to where the next one's belongs. */
	next = s->seat_first + 1;
	for (uint32_t i = 0; i < s->n; i++)
		next[s->all[i].seat + 1]++;
	for (uint32_t seat = 1; seat <= n_seats; seat++)
		next[seat] += next[seat - 1];
	for (uint32_t i = 0; i < s->n; i++)
		by_seat[next[s->all[i].seat]++] = s->all[i];
	free(s->all);
	s->all = by_seat;
	s->cap = s->n + 1;
	for (uint32_t seat = 0; seat < n_seats; seat++)
		ct_sort(&s->all[s->seat_first[seat]], s->seat_first[seat + 1] - s->seat_first[seat],
			sizeof(*s->all), by_begin);
	return CT_OK;
}
