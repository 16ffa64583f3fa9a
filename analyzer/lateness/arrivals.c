/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/arrivals.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/ops.h"

static int count(struct ct_arrivals *a, const struct ct_instance *i, const struct ct_last *last)
{
	uint32_t slot = i->members[last->last].slot;

	/* The first collective of a communicator shows which ranks started late, not which are
	 * slow. */
	if (i->comm->clash || i->comm->shared_slot || !i->comm->met)
		return CT_OK;
	for (uint32_t m = 0; m < i->n; m++) {
		uint32_t at = i->members[m].slot;

		if (at >= a->n && ct_grow_zeroed(&a->all, &a->n, at + 1, sizeof(*a->all)))
			return CT_NOMEM;
		a->all[at].met++;
	}
	if (!last->clear)
		return CT_OK;
	a->all[slot].last++;
	a->all[slot].alone_ns += last->own_ns;
	return CT_OK;
}

static int on_collective(struct ct_arrivals *a, struct ct_stream *stream,
			 const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_waits *w = event->waits;
	const struct ct_last *last = &event->last;
	struct ct_rank_state *slots = stream->model.slots;

	for (uint32_t m = 0; m < i->n; m++) {
		if (w->arrival_ns[m] > w->median_ns)
			slots[i->members[m].slot].lateness_ns += w->arrival_ns[m] - w->median_ns;
	}
	if (last->clear) {
		slots[i->members[last->last].slot].last_count++;
		if (ct_class_last(event->class, i->members[last->last].index,
				  last->waited_for ? last->solo_ns : 0) != CT_OK)
			return CT_NOMEM;
	}
	return count(a, i, last);
}

/* Do all ranks of which anything is on record take part in it, most of the communicator, and do the
 * same? */
static int is_of_most_ranks(const struct ct_instance *i)
{
	const struct ct_comm *comm = i->comm;

	if (i->n < CT_LEAST_PEERS || i->n != comm->n_known ||
	    (double)i->n < CT_MOSTLY * (double)comm->nranks || i->seq >= comm->first_difference ||
	    ct_op_class(i->members[0].op) != CT_CLASS_SYNC)
		return 0;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		if (member->captured || member->group || member->op != i->members[0].op ||
		    !member->start_ns || member->end_ns < member->start_ns)
			return 0;
	}
	return 1;
}

/* It lacks members, of ranks that left no trace. */
static int on_rest(struct ct_arrivals *a, const struct ct_stream *stream,
		   const struct ct_instance *i)
{
	struct ct_last last;
	int st = CT_OK;

	if (!is_of_most_ranks(i))
		return CT_OK;
	st = ct_waits_judge(i, stream->model.host_of, ct_stream_skew(stream), &a->waits);
	if (st != CT_OK || a->waits.judged != CT_JUDGED_WAITS)
		return st;
	ct_waits_last(i, &a->waits, &last);
	st = count(a, i, &last);
	i->comm->met = 1;
	return st;
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	struct ct_arrivals *a = arg;

	if (event->instance->src >= 0 || !event->class)
		return CT_OK;
	if (event->waits->judged == CT_JUDGED_WAITS)
		return on_collective(a, stream, event);
	return event->complete || event->contradictory ? CT_OK
						       : on_rest(a, stream, event->instance);
}

void ct_arrivals_observe(struct ct_arrivals *arrivals, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .instance = on_instance, .arg = arrivals };
}

void ct_arrivals_fini(struct ct_arrivals *arrivals)
{
	free(arrivals->all);
	ct_waits_fini(&arrivals->waits);
}

uint32_t ct_arrivals_latest(const struct ct_arrivals *a, const struct ct_model *model)
{
	uint64_t most = 0;
	uint32_t latest = model->n_slots;

	for (uint32_t s = 0; s < a->n && s < model->n_slots; s++) {
		uint64_t ns = model->slots[s].muddled ? 0 : a->all[s].alone_ns;

		if (ns > most) {
			most = ns;
			latest = s;
		}
	}
	return most && 2 * a->all[latest].last >= a->all[latest].met ? latest : model->n_slots;
}
