/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/late_or_slow.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/model/model.h"

/* Of the others' time; with fewer members it is not known what is usual. */
#define MUCH_LONGER 4u
#define LEAST_MEMBERS 4u

int ct_late_or_slow_add(struct ct_late_or_slow *late, const struct ct_model *model,
			struct ct_class *class, const struct ct_instance *i,
			const struct ct_waits *w, uint64_t bytes)
{
	int one_size = bytes * class->instances == class->bytes;
	uint64_t usual = one_size ? class->usual_p50_ns : 2 * class->usual_p50_ns, from, shift;
	const struct ct_member *m;
	struct ct_last last;

	late->slow_transfers++;
	class->slow_transfers++;
	ct_waits_last(i, w, &last);
	m = &i->members[last.last];
	if (m->end_ns - m->start_ns <= usual)
		return CT_OK;
	late->n++;
	shift = model->shift[model->host_of[m->seat]];
	from = last.clear && m->start_ns > last.solo_ns ? m->start_ns - last.solo_ns : m->start_ns;
	if (ct_union_add(&late->spans, from + shift, m->start_ns + shift) != CT_OK)
		return CT_NOMEM;
	return ct_union_add(&late->spans, m->start_ns + usual + shift, m->end_ns + shift);
}

/* From when it and the data were there. */
static uint64_t moved_for(const struct ct_instance *i, const struct ct_waits *w, uint32_t m)
{
	return i->members[m].end_ns - i->members[m].start_ns - w->wait_ns[m];
}

int ct_late_or_slow_rooted(struct ct_late_or_slow *late, const struct ct_model *model,
			   const struct ct_instance *i, struct ct_waits *w)
{
	uint64_t usual;
	int found = 0;

	if (i->n < LEAST_MEMBERS ||
	    (i->members[0].op != CT_OP_Broadcast && i->members[0].op != CT_OP_Scatter))
		return CT_OK;
	for (uint32_t m = 0; m < i->n; m++)
		w->scratch[m] = moved_for(i, w, m);
	qsort(w->scratch, i->n, sizeof(*w->scratch), ct_by_u64);
	usual = w->scratch[i->n / 2];
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		uint64_t moved = moved_for(i, w, m),
			 shift = model->shift[model->host_of[member->seat]];

		if (!member->on_gpu ||
		    moved <= MUCH_LONGER * usual + member->start_err_ns + member->end_err_ns)
			continue;
		found = 1;
		if (ct_union_add(&late->spans, member->end_ns - (moved - usual) + shift,
				 member->end_ns + shift) != CT_OK)
			return CT_NOMEM;
	}
	late->n += (uint64_t)found;
	return CT_OK;
}
