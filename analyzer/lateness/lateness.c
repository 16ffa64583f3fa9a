/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/lateness.h"

#include "analyzer/model/model.h"
#include "trace/ops.h"

/* Of a window: no more than what the last one was longer in no call than anybody else. The rest went into its own messages. */
static uint64_t cost_of(const struct ct_instance *i, const struct ct_waits *w,
			const struct ct_last *last)
{
	uint64_t own = i->members[last->last].free_ns, longest = 0;

	if (!last->waited_for)
		return 0;
	if (!w->is_window)
		return last->solo_ns;
	for (uint32_t m = 0; m < i->n; m++) {
		if (m != last->last && i->members[m].free_ns > longest)
			longest = i->members[m].free_ns;
	}
	own = own > longest ? own - longest : 0;
	return own < last->solo_ns ? own : last->solo_ns;
}

/* Who came last, where messages went before it to those as well, for findings and the counts of ranks. */
static int add_last(struct ct_stream *stream, struct ct_class *class, const struct ct_instance *i,
		    const struct ct_waits *w)
{
	struct ct_seat *seats = stream->model.seats;
	struct ct_last last;

	for (uint32_t m = 0; m < i->n; m++) {
		if (w->arrival_ns[m] > w->median_ns)
			seats[i->members[m].seat].lateness_ns += w->arrival_ns[m] - w->median_ns;
	}
	ct_waits_last(i, w, &last);
	if (!last.clear)
		return CT_OK;
	seats[i->members[last.last].seat].last_count++;
	return ct_class_last(class, i->members[last.last].index, cost_of(i, w, &last));
}

/* Who came last to the operation itself, for its row, and what that cost in it. */
static int add_own_last(struct ct_class *class, const struct ct_instance *i,
			const struct ct_waits *w)
{
	struct ct_last last;

	ct_waits_last(i, w, &last);
	return last.clear
		       ? ct_class_own_last(class, i->members[last.last].index, cost_of(i, w, &last))
		       : CT_OK;
}

/* Took the last one to come clearly longer than is usual? Then its stream reached the operation late, or the transfer
 * was slow, or the kernel waited for room: that cannot be told apart, and it is not held against the rank. */
static int is_slow_transfer(struct ct_class *class, const struct ct_instance *i,
			    const struct ct_waits *w)
{
	const struct ct_member *m;
	struct ct_last last;

	if (ct_op_class(i->members[0].op) != CT_CLASS_SYNC)
		return 0;
	ct_waits_last(i, w, &last);
	m = &i->members[last.last];
	return m->on_gpu && ct_class_is_slow(class, m->end_ns - m->start_ns,
					     (uint64_t)m->start_err_ns + m->end_err_ns);
}

/* A complete collective with waits: may a rank be judged by it? */
static int add_blame(struct ct_lateness *late, const struct ct_instance_event *event,
		     const struct ct_instance *i, const struct ct_waits *w)
{
	const struct ct_model *model = late->model;
	struct ct_comm *comm = i->comm;

	/* The first meeting of a communicator tells who started late, not who is slow. */
	if (comm->clash || comm->shared_seat || !comm->met)
		return CT_OK;
	if (!w->is_window && is_slow_transfer(event->class, i, w))
		return ct_late_or_slow_add(&late->late_or_slow, model, event->class, i, w,
					   ct_instance_bytes(i));
	return ct_blame_add(&late->blame, i, w, event->class->index, model->host_of, model->shift);
}

static int add_collective(struct ct_lateness *late, struct ct_stream *stream,
			  const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_waits *w = event->waits;
	int st = ct_late_or_slow_rooted(&late->late_or_slow, &stream->model, i, event->waits);

	if (st != CT_OK)
		return st;
	if (add_own_last(event->class, i, w) != CT_OK)
		return CT_NOMEM;
	if (ct_window_collective(&late->window, stream, event) != CT_OK)
		return CT_NOMEM;
	/* Where messages came before it, who was last to it alone tells little: they have handed the lateness on. */
	st = ct_op_class(i->members[0].op) == CT_CLASS_SYNC
		     ? ct_window_judge(&late->window, stream, event)
		     : 0;
	if (st < 0)
		return st;
	if (st) {
		i = &late->window.instance;
		w = &late->window.waits;
	}
	st = add_last(stream, event->class, i, w);
	return st == CT_OK ? add_blame(late, event, i, w) : st;
}

/* ---- of a stream ---- */

static int on_begin(void *arg, struct ct_stream *stream)
{
	struct ct_lateness *late = arg;

	late->model = &stream->model;
	return ct_blame_init(&late->blame, stream->model.n_seats);
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	struct ct_lateness *late = arg;
	const struct ct_instance *i = event->instance;

	if (late->blame.n_seats < late->model->n_seats &&
	    ct_blame_grow(&late->blame, late->model->n_seats) != CT_OK)
		return CT_NOMEM;
	if (i->src >= 0)
		return event->complete && !i->members[0].alone
			       ? ct_window_message(&late->window, stream, i)
			       : CT_OK;
	if (!event->class)
		return CT_OK;
	if (event->waits->judged == CT_JUDGED_WAITS)
		return add_collective(late, stream, event);
	return event->complete || event->contradictory ? CT_OK
						       : ct_rest_add(&late->rest, stream, event);
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_lateness *late = arg;
	const struct ct_model *model = &stream->model;

	if (late->blame.n_seats < model->n_seats &&
	    ct_blame_grow(&late->blame, model->n_seats) != CT_OK)
		return CT_NOMEM;
	late->has_skew = stream->skew_n != 0;
	for (uint32_t s = 0; s < model->n_seats; s++) {
		if (model->seats[s].muddled)
			ct_blame_acquit(&late->blame, s);
	}
	return CT_OK;
}

void ct_lateness_observe(struct ct_lateness *late, struct ct_observer *observer)
{
	*observer = (struct ct_observer){
		.begin = on_begin,
		.instance = on_instance,
		.end = on_end,
		.arg = late,
	};
}

void ct_lateness_fini(struct ct_lateness *late)
{
	ct_blame_fini(&late->blame);
	ct_rest_fini(&late->rest);
	ct_window_fini(&late->window);
	ct_union_fini(&late->late_or_slow.spans);
}
