/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/stats.h"
#include "analyzer/stream/judge_private.h"

/* The row of a group that is not an operation of its own: what went in or out over what it took
 * this rank. */
static int add_group(struct ct_stream *stream, struct ct_group *g)
{
	const struct ct_member *m = &g->member;
	uint64_t bytes = g->shape.bytes;
	uint64_t own = m->end_ns - m->start_ns;
	struct ct_class *class;
	int st;

	if (ct_stream_skips_member(stream, m))
		return CT_OK;
	class = ct_classes_get(&stream->model.classes, g->comm, CT_GROUPED_MESSAGES, g->shape.op,
			       g->shape.dtype, bytes);
	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = ct_plus(class->bytes, bytes);
	st = ct_judge_add_span(stream, class, m);
	if (st != CT_OK || !g->complete || !m->start_ns || g->shape.kind == CT_GROUP_UNCLEAR)
		return st;
	st = ct_judge_add_transfer(class, bytes, own < g->shortest_ns ? own : g->shortest_ns);
	if (st == CT_OK && g->waits_known) {
		class->judged++;
		st = ct_judge_add_wait(stream, class, m, g->wait_ns);
	}
	return st;
}

/* Its last message has been handed out: if it is not going to be judged as a whole, it is handed
 * out by itself. */
int ct_judge_group_settled(struct ct_stream *stream, struct ct_group *g)
{
	int by_itself = g->shape.kind == CT_GROUP_MESSAGES ||
			(g->shape.kind == CT_GROUP_UNCLEAR && g->shape.only_messages);

	return g->due == 0 && by_itself ? add_group(stream, g) : CT_OK;
}

/* An end of a message in a group met its other end, or never will. */
static int add_to_group(struct ct_stream *stream, const struct ct_instance *i, uint32_t m,
			int complete)
{
	struct ct_group *g = i->members[m].group;
	const struct ct_member *other = complete ? &i->members[1 - m] : NULL;
	const struct ct_waits *w = &stream->waits;

	g->due--;
	if (!other || w->judged == CT_JUDGED_NOTHING) {
		g->complete = 0;
	} else {
		uint64_t theirs = other->end_ns - other->start_ns;

		g->shortest_ns = theirs < g->shortest_ns ? theirs : g->shortest_ns;
		if (w->judged != CT_JUDGED_WAITS)
			g->waits_known = 0;
		else if (w->wait_ns[m] > g->wait_ns)
			g->wait_ns = w->wait_ns[m];
	}
	if (!other || !other->group || other->group->shape.kind != CT_GROUP_EXCHANGE ||
	    other->group->number != g->number || other->group->shape.bytes != g->shape.bytes)
		g->agrees = 0;
	return ct_judge_group_settled(stream, g);
}

static int add_message(struct ct_stream *stream, const struct ct_instance *i,
		       const struct ct_member *member, int all_timed, uint64_t wait_ns)
{
	const struct ct_waits *w = &stream->waits;
	uint64_t bytes = ct_instance_bytes(i);
	struct ct_class *class = ct_classes_get(&stream->model.classes, i->comm, CT_ALONE,
						member->op, member->dtype, bytes);
	int st;

	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = ct_plus(class->bytes, bytes);
	st = all_timed ? ct_judge_add_span(stream, class, member) : CT_OK;
	if (st == CT_OK && w->judged != CT_JUDGED_NOTHING && w->transfer_ns != CT_NO_TRANSFER)
		st = ct_judge_add_transfer(class, bytes, w->transfer_ns);
	if (st == CT_OK && w->judged == CT_JUDGED_WAITS) {
		class->judged++;
		st = ct_judge_add_wait(stream, class, member, wait_ns);
	}
	return st;
}

int ct_judge_message(struct ct_stream *stream, struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	int captured = i->members[0].captured;
	int all_timed = ct_judge_timed_by_all(i, event->complete);
	int st;

	event->bytes = ct_instance_bytes(i);
	if (!captured)
		i->comm->bytes = ct_plus(i->comm->bytes, event->bytes);
	if (ct_pairs_note(&stream->order.pairs, i, event->complete) != CT_OK)
		return CT_NOMEM;
	st = ct_judge_waits(stream, i, 0);
	if (!event->complete)
		stream->waits.judged = CT_JUDGED_NOTHING;
	else if (!event->is_skipped)
		stream->model.messages++;
	stream->model.to_self += event->complete && i->members[0].alone && !event->is_skipped;
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++) {
		if (i->members[m].group)
			st = add_to_group(stream, i, m, event->complete);
		else if (!captured && !event->is_skipped)
			st = add_message(stream, i, &i->members[m], all_timed,
					 stream->waits.wait_ns[m]);
	}
	return st;
}

int ct_judge_alone(struct ct_stream *stream, int st, struct ct_group *g)
{
	if (!g)
		return st;
	g->due--;
	g->complete = g->agrees = 0;
	st = st ?: ct_judge_group_settled(stream, g);
	ct_group_drop(&stream->groups, g);
	return st;
}
