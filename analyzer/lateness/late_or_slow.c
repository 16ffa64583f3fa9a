/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/late_or_slow.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/match/waits.h"
#include "analyzer/model/model.h"
#include "trace/ops.h"

/* Took the last one to come clearly longer than is usual? Then its stream reached the operation
 * late, or the transfer was slow, or the kernel waited for SMs: that cannot be distinguished. */
static int is_slow_transfer(struct ct_class *class, const struct ct_instance *i,
			    const struct ct_last *last)
{
	const struct ct_member *m = &i->members[last->last];

	return ct_op_class(i->members[0].op) == CT_CLASS_SYNC && m->on_gpu &&
	       ct_class_is_slow(class, m->end_ns - m->start_ns,
				(uint64_t)m->start_err_ns + m->end_err_ns);
}

/* Sizes in a class may differ by a factor of two, and so may what is usual then. */
static int add_slow(struct ct_late_or_slow *late, const struct ct_model *model,
		    const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	struct ct_class *class = event->class;
	uint64_t bytes = ct_instance_bytes(i);
	int one_size = bytes * class->instances == class->bytes;
	uint64_t usual = one_size ? class->usual_p50_ns : 2 * class->usual_p50_ns, from, shift;
	const struct ct_member *m;
	const struct ct_last *last = &event->last;

	if (!is_slow_transfer(class, i, last))
		return CT_OK;
	class->slow_transfers++;
	m = &i->members[last->last];
	if (m->end_ns - m->start_ns <= usual)
		return CT_OK;
	late->n++;
	shift = model->shift[model->host_of[m->slot]];
	from = last->clear && m->start_ns > last->solo_ns ? m->start_ns - last->solo_ns
							  : m->start_ns;
	if (ct_union_add(&late->spans, from + shift, m->start_ns + shift) != CT_OK)
		return CT_NOMEM;
	return ct_union_add(&late->spans, m->start_ns + usual + shift, m->end_ns + shift);
}

/* From when it and the data were there. */
static uint64_t moved_for(const struct ct_instance *i, const struct ct_waits *w, uint32_t m)
{
	return i->members[m].end_ns - i->members[m].start_ns - w->wait_ns[m];
}

static int add_rooted(struct ct_late_or_slow *late, const struct ct_model *model,
		      const struct ct_instance *i, struct ct_waits *w)
{
	uint64_t usual;
	int found = 0;

	if (i->n <= CT_LEAST_PEERS ||
	    (i->members[0].op != CT_OP_Broadcast && i->members[0].op != CT_OP_Scatter))
		return CT_OK;
	for (uint32_t m = 0; m < i->n; m++)
		w->scratch[m] = moved_for(i, w, m);
	qsort(w->scratch, i->n, sizeof(*w->scratch), ct_by_u64);
	usual = w->scratch[i->n / 2];
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		uint64_t moved = moved_for(i, w, m),
			 shift = model->shift[model->host_of[member->slot]];

		if (!member->on_gpu || moved <= 2 * CT_SLOW_TRANSFER * usual +
							member->start_err_ns + member->end_err_ns)
			continue;
		found = 1;
		if (ct_union_add(&late->spans, member->end_ns - (moved - usual) + shift,
				 member->end_ns + shift) != CT_OK)
			return CT_NOMEM;
	}
	late->n += (uint64_t)found;
	return CT_OK;
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	const struct ct_comm *comm = event->instance->comm;
	int st;

	if (event->instance->src >= 0 || !event->class || event->waits->judged != CT_JUDGED_WAITS)
		return CT_OK;
	st = add_rooted(arg, &stream->model, event->instance, event->waits);
	if (st != CT_OK || comm->clash || comm->shared_slot || !comm->met)
		return st;
	return add_slow(arg, &stream->model, event);
}

void ct_late_or_slow_observe(struct ct_late_or_slow *late, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .instance = on_instance, .arg = late };
}
