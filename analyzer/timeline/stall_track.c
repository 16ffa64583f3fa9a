/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/stall_track.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

#define FIRST_WIDTH_NS 1024u
/* Rooms for one stall at least, whatever the limit. */
#define LEAST 64u

void ct_stall_track_init(struct ct_stall_track *s, uint64_t limit)
{
	*s = (struct ct_stall_track){ .limit = limit > LEAST ? limit : LEAST };
}

void ct_stall_track_fini(struct ct_stall_track *s)
{
	free(s->all);
	free(s->first);
	*s = (struct ct_stall_track){ 0 };
}

CT_SORT_BY(by_slot, struct ct_tracked_stall,
	   CT_UP(slot) ?: CT_UP(backend) ?: CT_UP(begin_ns) ?: CT_UP(end_ns))

CT_SORT_BY(by_begin, struct ct_tracked_stall, CT_UP(slot) ?: CT_UP(begin_ns) ?: CT_UP(end_ns))

static int is_solid(const struct ct_tracked_stall *s)
{
	return s->length_ns == s->end_ns - s->begin_ns;
}

static void append(struct ct_tracked_stall *to, const struct ct_tracked_stall *from)
{
	to->end_ns = from->end_ns > to->end_ns ? from->end_ns : to->end_ns;
	to->length_ns += from->length_ns;
	to->err_ns += from->err_ns;
	to->n += from->n;
}

/* The part of `next` that the one before it does not cover yet; 0: nothing. With gaps in either, it
 * is unknown. */
static int take_new(const struct ct_tracked_stall *before, struct ct_tracked_stall *next)
{
	if (!is_solid(before) || !is_solid(next) || next->begin_ns >= before->end_ns)
		return 1;
	if (next->end_ns <= before->end_ns)
		return 0;
	next->begin_ns = before->end_ns;
	next->length_ns = next->end_ns - next->begin_ns;
	return 1;
}

/* Each moment once, for a sorted list; what touches, or begins in the same cell, becomes one. */
static void put_together(struct ct_stall_track *s)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < s->n; i++) {
		struct ct_tracked_stall next = s->all[i], *last = n ? &s->all[n - 1] : NULL;

		if (!last || last->slot != next.slot || last->backend != next.backend) {
			s->all[n++] = next;
			continue;
		}
		if (!take_new(last, &next))
			continue;
		if ((next.begin_ns == last->end_ns && is_solid(last) && is_solid(&next)) ||
		    (s->width_ns && next.begin_ns / s->width_ns == last->begin_ns / s->width_ns))
			append(last, &next);
		else
			s->all[n++] = next;
	}
	s->n = n;
}

static void make_room(struct ct_stall_track *s)
{
	ct_sort(s->all, s->n, sizeof(*s->all), by_slot);
	put_together(s);
	/* Half of it free, or the next one comes soon. A rank keeps one at least. */
	while (s->n > s->limit / 2 && s->width_ns < UINT64_MAX / 4) {
		s->width_ns = s->width_ns ? 2 * s->width_ns : FIRST_WIDTH_NS;
		put_together(s);
	}
	if (s->n > s->limit / 2)
		s->limit = 2 * s->n;
}

int ct_stall_track_add(struct ct_stall_track *s, const struct ct_tracked_stall *stall)
{
	if (s->n == s->limit)
		make_room(s);
	if (ct_grow(&s->all, &s->cap, (uint32_t)s->n + 1, sizeof(*s->all)))
		return CT_NOMEM;
	s->all[s->n++] = *stall;
	return CT_OK;
}

int ct_stall_track_close(struct ct_stall_track *s, const uint32_t *recorded, uint32_t n_slots)
{
	uint64_t n = 0, i = 0;

	s->first = calloc((size_t)n_slots + 1, sizeof(*s->first));
	if (!s->first)
		return CT_NOMEM;
	for (; i < s->n; i++) {
		const struct ct_tracked_stall *one = &s->all[i];

		if (one->slot >= n_slots || !(recorded[one->slot] >> (one->backend & 31) & 1))
			continue;
		s->all[n] = *one;
		s->all[n++].backend = 0;
	}
	s->n = n;
	if (n)
		ct_sort(s->all, n, sizeof(*s->all), by_begin);
	put_together(s);
	i = 0;
	for (uint32_t slot = 0; slot <= n_slots; slot++) {
		while (i < s->n && s->all[i].slot < slot)
			i++;
		s->first[slot] = i;
	}
	return CT_OK;
}
