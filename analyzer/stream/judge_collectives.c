/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/stats.h"
#include "analyzer/stream/judge_private.h"
#include "trace/ops.h"

static void note_sequence(struct ct_comm *comm, uint64_t seq, int agreed)
{
	if (comm->first_seq == UINT64_MAX || seq < comm->first_seq)
		comm->first_seq = seq;
	if (comm->last_seq == UINT64_MAX || seq > comm->last_seq)
		comm->last_seq = seq;
	if (agreed && seq < comm->first_difference &&
	    (comm->equal_to_seq == UINT64_MAX || seq > comm->equal_to_seq))
		comm->equal_to_seq = seq;
}

/* A collective that is judged: its members have met. How simultaneous the ends are shows nothing
 * the first time, since connections are made then. */
void ct_judge_met(struct ct_stream *stream, const struct ct_instance *i)
{
	struct ct_comm *comm = i->comm;

	if (comm->clash || comm->shared_slot)
		return;
	if (comm->met && stream->waits.exit_skew_ns != UINT64_MAX) {
		stream->skew_sum_ns += stream->waits.exit_skew_ns;
		stream->skew_n++;
	}
	comm->met = 1;
}

uint64_t ct_stream_skew(const struct ct_stream *stream)
{
	return stream->skew_n ? stream->skew_sum_ns / stream->skew_n : 0;
}

/* Waits and transfer: all that needs every member. */
static int judge_complete(struct ct_stream *stream, struct ct_class *class,
			  const struct ct_instance *i, uint64_t bytes)
{
	const struct ct_waits *w = &stream->waits;
	int st = ct_judge_waits(stream, i, ct_stream_skew(stream));

	if (st != CT_OK || w->judged == CT_JUDGED_NOTHING)
		return st;
	if (w->transfer_ns != CT_NO_TRANSFER)
		st = ct_judge_add_transfer(class, bytes, w->transfer_ns);
	if (st != CT_OK || w->judged != CT_JUDGED_WAITS)
		return st;
	class->judged++;
	stream->model.matched++;
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++)
		st = ct_judge_add_wait(stream, class, &i->members[m], w->wait_ns[m]);
	return st;
}

/* The row of an instance, and whether it may be judged. A group is one row, that of its first
 * collective; where the members did not group alike, all that is left is that the operation
 * happened. NULL: no row, or (*failed) no memory. */
static struct ct_class *row_of(struct ct_stream *stream, const struct ct_instance *i,
			       const struct ct_member *usual, uint64_t *bytes, int *judge,
			       int *failed)
{
	const struct ct_group_shape *shape = ct_group_shared(i);
	struct ct_class *class;
	int grouped = 0;

	for (uint32_t m = 0; m < i->n; m++) {
		grouped |= i->members[m].group != NULL;
		*judge &= !i->members[m].captured && (shape || !i->members[m].group);
	}
	if (usual->captured || (grouped && !shape && !usual->leads && usual->group))
		return NULL;
	if (shape) {
		*bytes = shape->bytes;
		*judge &= shape->kind == CT_GROUP_COLLECTIVES;
		class = ct_classes_get(&stream->model.classes, i->comm, CT_GROUPED_COLLECTIVES,
				       shape->op, shape->dtype, shape->bytes);
	} else {
		class = ct_classes_get(&stream->model.classes, i->comm, CT_ALONE, usual->op,
				       usual->dtype, *bytes);
	}
	*failed = !class;
	return class;
}

/* Did all members, or none, launch a graph here, and one of as many collectives? Others cannot be
 * compared. */
int ct_judge_is_comparable(const struct ct_instance *i)
{
	int graphs = 0, alike = 1;

	for (uint32_t m = 0; m < i->n; m++) {
		graphs |= i->members[m].op == CT_OP_GraphLaunch;
		alike &= i->members[m].op == i->members[0].op &&
			 i->members[m].count == i->members[0].count;
	}
	return !graphs || alike;
}

/* Do the members contradict each other? *usual gets one of the majority. 1, 0 or CT_NOMEM. */
static int compare(struct ct_stream *stream, const struct ct_instance *i,
		   const struct ct_member **usual)
{
	struct ct_order *order = ct_orders_get(&stream->order.orders, i->comm);
	int alike = order ? ct_order_note(order, i) : CT_NOMEM;
	int odd;

	*usual = &i->members[0];
	if (alike)
		return alike < 0 ? alike : 0;
	odd = ct_mismatch_check(&stream->order.mismatches, i, usual);
	if (odd != 1)
		return odd;
	ct_order_trouble(order, i->seq);
	/* it may be older than what is kept */
	return ct_order_note(order, i) < 0 ? CT_NOMEM : 1;
}

int ct_judge_collective(struct ct_stream *stream, struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_member *usual;
	uint64_t bytes = ct_instance_bytes(i);
	struct ct_class *class;
	int odd = compare(stream, i, &usual);
	int agreed = event->complete && !odd && ct_judge_is_comparable(i);
	int judge = agreed && i->n >= 2, failed = 0;
	int all_timed = ct_judge_timed_by_all(i, event->complete);
	int st = CT_OK;

	if (odd < 0)
		return odd;
	event->contradictory = odd;
	/* From where its members came apart, those of one number may be of different operations. */
	judge &= i->seq < i->comm->first_difference;
	note_sequence(i->comm, i->seq, agreed);
	if (usual->op == CT_OP_GraphLaunch)
		note_sequence(i->comm, i->seq + usual->count - 1, 0);
	if (odd)
		bytes = usual->bytes;
	else if (usual->bytes == CT_UNKNOWN)
		usual = ct_instance_sized(i);
	if (!usual->captured)
		i->comm->bytes = ct_plus(i->comm->bytes, bytes);
	class = event->is_skipped ? NULL : row_of(stream, i, usual, &bytes, &judge, &failed);
	if (!class)
		return failed ? CT_NOMEM : CT_OK;
	event->class = class;
	event->bytes = bytes;
	class->instances++;
	class->bytes = ct_plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && all_timed && st == CT_OK; m++) {
		if (class->grouped || !i->members[m].group)
			st = ct_judge_add_span(stream, class, &i->members[m]);
	}
	return st == CT_OK && judge ? judge_complete(stream, class, i, bytes) : st;
}

/* Groups that exchange with every rank: one all-to-all if all members took part in it and in
 * nothing else. */
int ct_judge_exchange(struct ct_stream *stream, struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	int whole = event->complete, st = CT_OK;
	int all_timed = ct_judge_timed_by_all(i, event->complete);
	struct ct_class *class;
	uint64_t bytes = i->members[0].bytes;
	int is_swap = ct_group_is_swap(i);

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_group *g = i->members[m].group;

		whole &= g->due == 0 && g->agrees && i->members[m].bytes == bytes;
	}
	if (!whole) {
		for (uint32_t m = 0; m < i->n && st == CT_OK; m++) {
			struct ct_group *g = i->members[m].group;

			g->shape.kind = CT_GROUP_MESSAGES;
			g->shape.op = 0;
			g->shape.bytes -= g->shape.bytes / i->comm->nranks;
			st = ct_judge_group_settled(stream, g);
		}
		return st;
	}
	if (event->is_skipped)
		return CT_OK;
	if (is_swap) /* as messages count: what goes out */
		bytes /= 2;
	class = ct_classes_get(&stream->model.classes, i->comm, CT_GROUPED_MESSAGES,
			       is_swap ? 0 : CT_OP_AllToAll, i->members[0].group->shape.dtype,
			       bytes);
	if (!class)
		return CT_NOMEM;
	event->class = class;
	event->bytes = bytes;
	class->instances++;
	class->bytes = ct_plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && all_timed && st == CT_OK; m++)
		st = ct_judge_add_span(stream, class, &i->members[m]);
	return st == CT_OK ? judge_complete(stream, class, i, bytes) : st;
}
