/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/late_or_slow.h"
#include "analyzer/lateness/partial_instances.h"
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

/* Who came last, for the class's row and the ranks' counts. */
static int add_last(struct ct_pass *pass, struct ct_class *class, const struct ct_instance *i,
		    const struct ct_waits *w)
{
	struct ct_last last;

	for (uint32_t m = 0; m < i->n; m++) {
		if (w->arrival_ns[m] > w->median_ns)
			pass->seats[i->members[m].seat].lateness_ns += w->arrival_ns[m] -
								       w->median_ns;
	}
	ct_waits_last(i, w, &last);
	if (!last.clear)
		return CT_OK;
	pass->seats[i->members[last.last].seat].last_count++;
	return ct_class_last(class, i->members[last.last].index, cost_of(i, w, &last));
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

/* A whole collective with waits: may somebody be judged by it? */
static int add_blame(struct ct_pass *pass, struct ct_class *class, const struct ct_instance *i,
		     const struct ct_waits *w)
{
	struct ct_comm *comm = i->comm;

	pass->matched++;
	if (comm->clash || comm->shared_seat)
		return CT_OK;
	/* The first meeting of a communicator tells who started late, not who is slow. */
	if (!comm->met) {
		comm->met = 1;
		return CT_OK;
	}
	if (!w->is_window && is_slow_transfer(class, i, w))
		return ct_late_or_slow_add(pass, class, i, w, ct_judge_bytes(i));
	return ct_blame_add(&pass->blame, i, w, class->index, pass->host_of, pass->shift);
}

/* Waits, transfer, who was last: all that needs every member. */
static int judge_whole(struct ct_pass *pass, struct ct_class *class, const struct ct_instance *i,
		       uint64_t bytes)
{
	const struct ct_waits *w = &pass->waits;
	int st = ct_judge_waits(pass, i, ct_blame_skew(&pass->blame));

	if (st == CT_OK)
		st = ct_judge_tell(pass, i, bytes);
	if (st != CT_OK || w->judged == CT_JUDGED_NOTHING)
		return st;
	if (w->transfer_ns != CT_NO_TRANSFER)
		st = ct_judge_add_transfer(class, bytes, w->transfer_ns);
	if (st != CT_OK || w->judged != CT_JUDGED_WAITS)
		return st;
	class->judged++;
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++)
		st = ct_judge_add_wait(pass, class, &i->members[m], w->wait_ns[m]);
	if (st != CT_OK)
		return st;
	if (ct_late_or_slow_rooted(pass, i, &pass->waits) != CT_OK)
		return CT_NOMEM;
	ct_window_collective(pass, i, w);
	/* Where messages came before it, who was last to it alone tells little: they have handed the lateness on. */
	st = ct_op_class(i->members[0].op) == CT_CLASS_SYNC ? ct_window_judge(pass, i) : 0;
	if (st < 0)
		return st;
	if (st) {
		i = &pass->window.instance;
		w = &pass->window.waits;
	}
	st = add_last(pass, class, i, w);
	return st == CT_OK ? add_blame(pass, class, i, w) : st;
}

/* The row of an instance, and whether it may be judged. A group is one row, that of its first collective; where the
 * members did not group alike, all that is left is that the operation happened. NULL: no row, or (*failed) no
 * memory. */
static struct ct_class *row_of(struct ct_pass *pass, const struct ct_instance *i,
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
		class = ct_classes_get(&pass->classes, i->comm, CT_GROUPED_COLLECTIVES, shape->op,
				       shape->dtype, shape->bytes);
	} else {
		class = ct_classes_get(&pass->classes, i->comm, CT_ALONE, usual->op, usual->dtype,
				       *bytes);
	}
	*failed = !class;
	return class;
}

/* Did all members, or none, launch a graph here, and one of as many collectives? Others cannot be compared. */
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
static int compare(struct ct_pass *pass, const struct ct_instance *i,
		   const struct ct_member **usual)
{
	struct ct_order *order = ct_orders_get(&pass->orders, i->comm);
	int alike = order ? ct_order_note(order, i) : CT_NOMEM;
	int odd;

	*usual = &i->members[0];
	if (alike)
		return alike < 0 ? alike : 0;
	odd = ct_mismatch_check(&pass->mismatches, i, usual);
	if (odd != 1)
		return odd;
	ct_order_trouble(order, i->seq);
	/* it may be older than what is kept */
	return ct_order_note(order, i) < 0 ? CT_NOMEM : 1;
}

int ct_judge_collective(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	const struct ct_member *usual;
	uint64_t bytes = ct_judge_bytes(i);
	struct ct_class *class;
	int odd = compare(pass, i, &usual);
	int judge = complete && !odd && i->n >= 2 && ct_judge_is_comparable(i), failed = 0;
	int all_timed = ct_judge_timed_by_all(i, complete);
	int st = CT_OK;

	if (odd < 0)
		return odd;
	/* From where its members came apart, those of one number may be of different operations. */
	judge &= i->seq < i->comm->first_difference;
	note_sequence(i->comm, i->seq, complete && !odd && ct_judge_is_comparable(i));
	if (usual->op == CT_OP_GraphLaunch)
		note_sequence(i->comm, i->seq + usual->count - 1, 0);
	if (odd)
		bytes = usual->bytes;
	if (!usual->captured)
		i->comm->bytes = ct_judge_plus(i->comm->bytes, bytes);
	class = row_of(pass, i, usual, &bytes, &judge, &failed);
	if (!class)
		return failed ? CT_NOMEM : CT_OK;
	class->instances++;
	class->bytes = ct_judge_plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && all_timed && st == CT_OK; m++) {
		if (class->grouped || !i->members[m].group)
			st = ct_judge_add_span(pass, class, &i->members[m]);
	}
	if (st == CT_OK && !complete && !odd && !pass->blame.in_set)
		return ct_rest_add(pass, i, class->index);
	return st == CT_OK && judge ? judge_whole(pass, class, i, bytes) : st;
}

/* Groups that exchange with everybody: one all-to-all if all members took part in it and in nothing else. */
int ct_judge_exchange(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	int whole = complete, st = CT_OK;
	int all_timed = ct_judge_timed_by_all(i, complete);
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
			st = ct_judge_group_settled(pass, g);
		}
		return st;
	}
	if (is_swap) /* as messages count: what goes out */
		bytes /= 2;
	class = ct_classes_get(&pass->classes, i->comm, CT_GROUPED_MESSAGES,
			       is_swap ? 0 : CT_OP_AllToAll, i->members[0].group->shape.dtype,
			       bytes);
	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = ct_judge_plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && all_timed && st == CT_OK; m++)
		st = ct_judge_add_span(pass, class, &i->members[m]);
	return st == CT_OK ? judge_whole(pass, class, i, bytes) : st;
}
