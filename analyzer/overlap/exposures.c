/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/exposures.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

void ct_exposures_init(struct ct_exposures *s, struct ct_sample *sample, uint32_t most)
{
	*s = (struct ct_exposures){ .sample = sample,
				    .one_of = sample->one_of,
				    .most = most ? most : CT_EXPOSURES_MOST };
}

void ct_exposures_fini(struct ct_exposures *s)
{
	free(s->all);
	free(s->slot_first);
	*s = (struct ct_exposures){ 0 };
}

int ct_exposures_keep(const struct ct_exposures *s, uint64_t begin_ns, uint64_t end_ns)
{
	return ct_sample_keeps(s->sample, begin_ns) &&
	       ct_sample_stretch(s->sample, begin_ns) == ct_sample_stretch(s->sample, end_ns);
}

static void forget(struct ct_exposures *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (ct_sample_keeps(s->sample, s->all[i].begin_ns))
			s->all[n++] = s->all[i];
	s->n = n;
	s->one_of = s->sample->one_of;
}

static int halve(struct ct_exposures *s)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		first = ct_min(first, s->all[i].begin_ns);
		last = ct_max(last, s->all[i].begin_ns);
	}
	return ct_sample_halve(s->sample, ct_min(first, last), last);
}

static void make_room(struct ct_exposures *s)
{
	if (s->one_of != s->sample->one_of)
		forget(s);
	while (s->n >= s->most && halve(s))
		forget(s);
}

int ct_exposures_add(struct ct_exposures *s, const struct ct_exposure *stall)
{
	s->seen++;
	if (!ct_sample_keeps(s->sample, stall->begin_ns))
		return CT_OK;
	make_room(s);
	if (s->n >= s->most || !ct_sample_keeps(s->sample, stall->begin_ns))
		return CT_OK;
	if (ct_grow(&s->all, &s->cap, s->n + 1, sizeof(*s->all)))
		return CT_NOMEM;
	s->all[s->n++] = *stall;
	return CT_OK;
}

CT_SORT_BY(by_begin, struct ct_exposure, CT_UP(begin_ns) ?: CT_UP(end_ns))

int ct_exposures_close(struct ct_exposures *s, uint32_t n_slots)
{
	struct ct_exposure *by_slot;
	uint32_t *next;

	if (s->one_of != s->sample->one_of)
		forget(s);
	by_slot = malloc(((size_t)s->n + 1) * sizeof(*by_slot));
	s->n_slots = n_slots;
	s->slot_first = calloc((size_t)n_slots + 2, sizeof(*s->slot_first));
	if (!by_slot || !s->slot_first) {
		free(by_slot);
		return CT_NOMEM;
	}
	/* Counted two entries ahead, so that filling moves each slot's first to where the next
	 * one's belongs. */
	next = s->slot_first + 1;
	for (uint32_t i = 0; i < s->n; i++)
		next[s->all[i].slot + 1]++;
	for (uint32_t slot = 1; slot <= n_slots; slot++)
		next[slot] += next[slot - 1];
	for (uint32_t i = 0; i < s->n; i++)
		by_slot[next[s->all[i].slot]++] = s->all[i];
	free(s->all);
	s->all = by_slot;
	s->cap = s->n + 1;
	for (uint32_t slot = 0; slot < n_slots; slot++)
		ct_sort(&s->all[s->slot_first[slot]], s->slot_first[slot + 1] - s->slot_first[slot],
			sizeof(*s->all), by_begin);
	return CT_OK;
}
