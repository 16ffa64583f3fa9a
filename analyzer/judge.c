/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a pass that deals with instances: from matched members to sums. */
#include "analyzer/blame/late_or_slow.h"
#include "analyzer/blame/rest.h"
#include "analyzer/pass.h"
#include "trace/ops.h"

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Bytes of the whole operation: the mean of what the members say, since in v-collectives each knows its own
 * share only. */
static uint64_t bytes_of(const struct ct_instance *i)
{
	uint64_t sum = 0;

	for (uint32_t m = 0; m < i->n; m++)
		sum = plus(sum, i->members[m].bytes);
	return sum / i->n;
}

static int is_timed(const struct ct_member *m)
{
	return m->start_ns && m->end_ns && m->end_ns >= m->start_ns;
}

/* Were all its members timed? Ranks that time more than others do (sampling, budget) would weigh more in the figures of
 * a class; of an instance that lacks members that cannot be told. */
static int is_timed_by_all(const struct ct_instance *i, int complete)
{
	for (uint32_t m = 0; m < i->n && complete; m++)
		if (!is_timed(&i->members[m]))
			return 0;
	return 1;
}

static int add_span(struct ct_pass *pass, struct ct_class *class, const struct ct_member *m)
{
	uint64_t err = (uint64_t)m->start_err_ns + m->end_err_ns;

	if (!is_timed(m))
		return CT_OK;
	if (ct_hist_add(&pass->time_err, err) != CT_OK)
		return CT_NOMEM;
	class->time_err_ns = err > class->time_err_ns ? err : class->time_err_ns;
	pass->time_err_ns = err > pass->time_err_ns ? err : pass->time_err_ns;
	return ct_hist_add(&class->span, m->end_ns - m->start_ns);
}

/* Bytes a second; sizes are what a program said, however large. */
static uint64_t rate(uint64_t bytes, uint64_t ns)
{
	double Bps = (double)bytes / (double)ns * 1e9;

	return Bps < (double)INT64_MAX ? (uint64_t)Bps : INT64_MAX;
}

static int add_transfer(struct ct_class *class, uint64_t bytes, uint64_t transfer_ns)
{
	int st = ct_hist_add(&class->transfer, transfer_ns);

	if (st == CT_OK && transfer_ns && bytes && class->op != CT_OP_GraphLaunch)
		st = ct_hist_add(&class->algbw, rate(bytes, transfer_ns));
	return st;
}

/* Where the host times, several operations may end in one call (MPI_Sendrecv, MPI_Waitall), and what was waited there
 * several of them waited. */
static int shares_wait(const struct ct_member *m)
{
	return m->asked_ns && (m->posted || ct_op_class(m->op) == CT_CLASS_P2P);
}

/* What is told across hosts has the error of their clocks beside its own. */
static void note_clocks(const struct ct_pass *pass, struct ct_class *class,
			const struct ct_member *m)
{
	uint64_t err = (uint64_t)m->start_err_ns + m->end_err_ns + pass->waits.clock_err_ns;

	if (pass->waits.clock_err_ns && err > class->time_err_ns)
		class->time_err_ns = err;
}

/* Waits and transfer of an instance: on one clock, or on several that are related where it needs that. */
static int judge_waits(struct ct_pass *pass, const struct ct_instance *i, uint64_t skew_ns)
{
	int related = ct_align(pass->attempts->clocks, i, pass->host_of, pass->n_seats,
			       &pass->aligned);
	int st;

	if (related < 0)
		return related;
	if (!related)
		return ct_waits_judge(i, pass->host_of, skew_ns, &pass->waits);
	st = ct_waits_judge(&pass->aligned.instance, pass->aligned.hosts, skew_ns, &pass->waits);
	if (st == CT_OK)
		ct_align_doubt(i, &pass->aligned, &pass->waits);
	return st;
}

/* Waits of one member, into its class and its rank's sums. */
static int add_wait(struct ct_pass *pass, struct ct_class *class, const struct ct_member *m,
		    uint64_t wait_ns)
{
	struct ct_seat *seat = &pass->seats[m->seat];
	uint64_t from = m->posted && m->asked_ns > m->start_ns ? m->asked_ns : m->start_ns;
	uint64_t before_ns = seat->waited.total;

	if (ct_union_add(&seat->waited, from, from + wait_ns) != CT_OK)
		return CT_NOMEM;
	note_clocks(pass, class, m);
	class->wait_ns += shares_wait(m) ? seat->waited.total - before_ns : wait_ns;
	seat->judged++;
	/* A wait is a difference of two spans. */
	seat->err_ns += 2 * ((uint64_t)m->start_err_ns + m->end_err_ns) + pass->waits.clock_err_ns;
	return CT_OK;
}

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

static int tell(const struct ct_pass *pass, const struct ct_instance *i, uint64_t bytes)
{
	const struct ct_watch *watch = pass->watch;

	return watch && watch->judged && pass->waits.judged != CT_JUDGED_NOTHING
		       ? watch->judged(watch->arg, pass, i, &pass->waits, bytes)
		       : CT_OK;
}

/* ---- messages ---- */

/* The row of a group that is no operation of its own: what went in or out over what it took this rank. */
static int add_group(struct ct_pass *pass, struct ct_group *g)
{
	const struct ct_member *m = &g->member;
	uint64_t bytes = g->shape.bytes;
	struct ct_class *class = ct_classes_get(&pass->classes, g->comm, CT_GROUPED_MESSAGES,
						g->shape.op, g->shape.dtype, bytes);
	uint64_t own = m->end_ns - m->start_ns;
	int st;

	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = plus(class->bytes, bytes);
	st = add_span(pass, class, m);
	if (st != CT_OK || !g->whole || !m->start_ns || g->shape.kind == CT_GROUP_UNCLEAR)
		return st;
	st = add_transfer(class, bytes, own < g->shortest_ns ? own : g->shortest_ns);
	if (st == CT_OK && g->waits_known) {
		class->judged++;
		st = add_wait(pass, class, m, g->wait_ns);
	}
	return st;
}

/* Its last message has been handed out: if nobody is going to judge it as a whole, it is told by itself. */
static int settle_group(struct ct_pass *pass, struct ct_group *g)
{
	int by_itself = g->shape.kind == CT_GROUP_MESSAGES ||
			(g->shape.kind == CT_GROUP_UNCLEAR && g->shape.only_messages);

	return g->due == 0 && by_itself ? add_group(pass, g) : CT_OK;
}

/* An end of a message in a group met its other end, or never will. */
static int add_to_group(struct ct_pass *pass, const struct ct_instance *i, uint32_t m, int complete)
{
	struct ct_group *g = i->members[m].group;
	const struct ct_member *other = complete ? &i->members[1 - m] : NULL;
	const struct ct_waits *w = &pass->waits;

	g->due--;
	if (!other || w->judged == CT_JUDGED_NOTHING) {
		g->whole = 0;
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
	return settle_group(pass, g);
}

static int add_message(struct ct_pass *pass, const struct ct_instance *i,
		       const struct ct_member *member, int all_timed, uint64_t wait_ns)
{
	const struct ct_waits *w = &pass->waits;
	uint64_t bytes = bytes_of(i);
	struct ct_class *class = ct_classes_get(&pass->classes, i->comm, CT_ALONE, member->op,
						member->dtype, bytes);
	int st;

	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = plus(class->bytes, bytes);
	st = all_timed ? add_span(pass, class, member) : CT_OK;
	if (st == CT_OK && w->judged != CT_JUDGED_NOTHING && w->transfer_ns != CT_NO_TRANSFER)
		st = add_transfer(class, bytes, w->transfer_ns);
	if (st == CT_OK && w->judged == CT_JUDGED_WAITS) {
		class->judged++;
		st = add_wait(pass, class, member, wait_ns);
	}
	return st;
}

static int judge_message(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	int captured = i->members[0].captured;
	int all_timed = is_timed_by_all(i, complete);
	uint64_t bytes = bytes_of(i);
	int st;

	if (!captured)
		i->comm->bytes = plus(i->comm->bytes, bytes);
	if (ct_pairs_note(&pass->pairs, i, complete) != CT_OK)
		return CT_NOMEM;
	st = judge_waits(pass, i, 0);
	if (!complete)
		pass->waits.judged = CT_JUDGED_NOTHING;
	else
		pass->messages++;
	pass->to_self += complete && i->members[0].alone;
	if (st == CT_OK && complete && !i->members[0].alone)
		st = ct_window_message(pass, i);
	if (st == CT_OK)
		st = tell(pass, i, bytes);
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++) {
		if (i->members[m].group)
			st = add_to_group(pass, i, m, complete);
		else if (!captured)
			st = add_message(pass, i, &i->members[m], all_timed,
					 pass->waits.wait_ns[m]);
	}
	return st;
}

int ct_pass_alone(struct ct_pass *pass, int st, struct ct_group *g)
{
	if (!g)
		return st;
	g->due--;
	g->whole = g->agrees = 0;
	if (st == CT_OK)
		st = settle_group(pass, g);
	ct_group_drop(&pass->groups, g);
	return st;
}

/* ---- collectives ---- */

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
		return ct_late_or_slow_add(pass, class, i, w, bytes_of(i));
	return ct_blame_add(&pass->blame, i, w, class->index, pass->host_of, pass->shift);
}

/* Waits, transfer, who was last: all that needs every member. */
static int judge_whole(struct ct_pass *pass, struct ct_class *class, const struct ct_instance *i,
		       uint64_t bytes)
{
	const struct ct_waits *w = &pass->waits;
	int st = judge_waits(pass, i, ct_blame_skew(&pass->blame));

	if (st == CT_OK)
		st = tell(pass, i, bytes);
	if (st != CT_OK || w->judged == CT_JUDGED_NOTHING)
		return st;
	if (w->transfer_ns != CT_NO_TRANSFER)
		st = add_transfer(class, bytes, w->transfer_ns);
	if (st != CT_OK || w->judged != CT_JUDGED_WAITS)
		return st;
	class->judged++;
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++)
		st = add_wait(pass, class, &i->members[m], w->wait_ns[m]);
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
static int is_comparable(const struct ct_instance *i)
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

static int judge_collective(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	const struct ct_member *usual;
	uint64_t bytes = bytes_of(i);
	struct ct_class *class;
	int odd = compare(pass, i, &usual);
	int judge = complete && !odd && i->n >= 2 && is_comparable(i), failed = 0;
	int all_timed = is_timed_by_all(i, complete);
	int st = CT_OK;

	if (odd < 0)
		return odd;
	/* From where its members came apart, those of one number may be of different operations. */
	judge &= i->seq < i->comm->first_difference;
	note_sequence(i->comm, i->seq, complete && !odd && is_comparable(i));
	if (usual->op == CT_OP_GraphLaunch)
		note_sequence(i->comm, i->seq + usual->count - 1, 0);
	if (odd)
		bytes = usual->bytes;
	if (!usual->captured)
		i->comm->bytes = plus(i->comm->bytes, bytes);
	class = row_of(pass, i, usual, &bytes, &judge, &failed);
	if (!class)
		return failed ? CT_NOMEM : CT_OK;
	class->instances++;
	class->bytes = plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && all_timed && st == CT_OK; m++) {
		if (class->grouped || !i->members[m].group)
			st = add_span(pass, class, &i->members[m]);
	}
	if (st == CT_OK && !complete && !odd && !pass->blame.in_set)
		return ct_rest_add(pass, i, class->index);
	return st == CT_OK && judge ? judge_whole(pass, class, i, bytes) : st;
}

static void drop_groups(struct ct_pass *pass, const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].group)
			ct_group_drop(&pass->groups, i->members[m].group);
	}
}

/* Groups that exchange with everybody: one all-to-all if all members took part in it and in nothing else. */
static int judge_exchange(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	int whole = complete, st = CT_OK;
	int all_timed = is_timed_by_all(i, complete);
	struct ct_class *class;
	uint64_t bytes = i->members[0].bytes;

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
			st = settle_group(pass, g);
		}
		return st;
	}
	class = ct_classes_get(&pass->classes, i->comm, CT_GROUPED_MESSAGES, CT_OP_AllToAll,
			       i->members[0].group->shape.dtype, bytes);
	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && all_timed && st == CT_OK; m++)
		st = add_span(pass, class, &i->members[m]);
	return st == CT_OK ? judge_whole(pass, class, i, bytes) : st;
}

/* Is it told by another instance: a message by the exchange of all with all that it is a part of, what was captured by
 * the launches of its graph? */
static int is_told_elsewhere(const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_group *g = i->members[m].group;

		if (i->members[m].captured ||
		    (i->src >= 0 && g && g->shape.kind == CT_GROUP_EXCHANGE))
			return 1;
	}
	return 0;
}

static int keep_on_tape(struct ct_pass *pass, const struct ct_instance *i)
{
	if (pass->blame.in_set || is_told_elsewhere(i) ||
	    (i->src == CT_SRC_EXCHANGE && i->members[0].group->shape.kind != CT_GROUP_EXCHANGE))
		return CT_OK;
	return ct_tape_add(&pass->tape, i, &pass->waits, pass->host_of, pass->shift);
}

/* Where related clocks stand at the time of this instance. */
static void set_shifts(struct ct_pass *pass, const struct ct_instance *i)
{
	const struct ct_clocks *clocks = pass->attempts->clocks;
	uint32_t last = UINT32_MAX;

	for (uint32_t m = 0; m < i->n && clocks; m++) {
		uint32_t host = pass->host_of[i->members[m].seat];
		uint64_t at = i->members[m].end_ns ? i->members[m].end_ns : i->members[m].enter_ns;

		if (host != last && host != ct_clocks_reference(clocks))
			pass->shift[host] = ct_clocks_shift(clocks, host, at, pass->shift);
		last = host;
	}
}

/* A reading for somebody who wants to see what was matched and nothing else. */
static int hand_on(struct ct_pass *pass, const struct ct_instance *i, int complete)
{
	const struct ct_member *usual;
	int odd = i->src == -1 ? ct_mismatch_check(&pass->mismatches, i, &usual) : 0;
	int wanted = complete && !odd && i->n >= 2 && i->src != CT_SRC_EXCHANGE &&
		     is_timed_by_all(i, complete) && is_comparable(i);

	if (odd < 0)
		return odd;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		wanted &= !member->captured && !member->alone;
		/* collectives that share a launch have its times: one of them tells it */
		if (member->group && i->src == -1)
			wanted &= member->leads && ct_group_shared(i) != NULL;
	}
	return wanted ? pass->watch->matched(pass->watch->arg, pass, i) : CT_OK;
}

int ct_pass_judge(void *arg, struct ct_instance *i, int complete)
{
	struct ct_pass *pass = arg;
	int st;

	if (pass->watch && pass->watch->matched) {
		st = hand_on(pass, i, complete);
		drop_groups(pass, i);
		return st;
	}
	set_shifts(pass, i);

	pass->waits.judged = CT_JUDGED_NOTHING;
	if (i->src != CT_SRC_EXCHANGE) {
		i->comm->instances++;
		if (!complete) {
			i->comm->incomplete++;
			pass->incomplete++;
		}
	}
	if (i->src >= 0)
		st = judge_message(pass, i, complete);
	else if (i->src == CT_SRC_EXCHANGE)
		st = judge_exchange(pass, i, complete);
	else
		st = judge_collective(pass, i, complete);
	if (st == CT_OK && complete)
		st = keep_on_tape(pass, i);
	/* Not before all members were looked at: they look at each other's groups. */
	drop_groups(pass, i);
	return st;
}
