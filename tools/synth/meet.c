/* SPDX-License-Identifier: Apache-2.0 */
/* meet.c — an operation is carried out when all ranks that take part have come to it: collectives
 * by their number in their communicator, messages by theirs between two members. Calls that
 * contradict each other never end, unless the world lets them go on: of other kinds, of another
 * root, or of other sizes. */
#include <stdlib.h>

#include "tools/synth/play_private.h"
#include "trace/ops.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void end_op(struct launch *l, uint64_t end_ns, uint64_t wait_ns)
{
	l->end_ns = later(l->end_ns, end_ns);
	l->wait_ns = later(l->wait_ns, wait_ns);
	if (--l->left == 0)
		ct_play_launch_done(l);
}

/* A transfer proceeds only while none of its GPUs is stalled. */
static uint64_t held_up(const struct play *p, const struct rank *r, uint64_t begin_ns,
			uint64_t end_ns)
{
	if (!p->has_pauses)
		return end_ns;
	return ct_play_span_work(&r->paused, begin_ns, end_ns - begin_ns);
}

static uint64_t bytes_of(const struct ct_workload_op *op)
{
	return op->count * ct_workload_dtype_bytes(op->dtype);
}

static int is_after_kill(const struct play *p, uint64_t ns)
{
	return p->sums->kill_ns && ns > p->sums->kill_ns;
}

/* ---- collectives ---- */

/* The open instance `seq`; NULL: no memory, or it is long closed. */
static struct instance *instance_at(struct play *p, struct comm *c, uint64_t seq)
{
	if (seq < c->base)
		return NULL;
	while (seq - c->base >= c->n) {
		struct instance *i = c->free;

		if (c->n == c->cap && ct_play_grow_ring(p, (void **)&c->open, &c->head, c->n,
							&c->cap, sizeof(*c->open)))
			return NULL;
		if (i) {
			c->free = i->free;
		} else {
			i = ct_play_alloc(p, 1, sizeof(*i));
			if (i)
				i->members = ct_play_alloc(p, (size_t)c->about->n,
							   sizeof(*i->members));
			if (!i || !i->members) {
				free(i);
				return NULL;
			}
		}
		i->seq = c->base + c->n;
		i->n = i->done = 0;
		i->root_is_there = i->is_broken = 0;
		for (int k = 0; k < c->about->n; k++) {
			i->members[k].launch = NULL;
			i->members[k].is_done = 0;
		}
		c->open[(c->head + c->n++) & (c->cap - 1)] = i;
	}
	return c->open[(c->head + (uint32_t)(seq - c->base)) & (c->cap - 1)];
}

static void close_done(struct comm *c)
{
	while (c->n) {
		struct instance *i = c->open[c->head & (c->cap - 1)];

		if (i->done < (uint32_t)c->about->n)
			return;
		i->free = c->free;
		c->free = i;
		c->head++;
		c->n--;
		c->base++;
	}
}

static const struct launch_op *op_of(const struct instance *i, int member)
{
	return &i->members[member].launch->ops[i->members[member].op];
}

static int contradict(const struct ct_workload_op *a, const struct ct_workload_op *b)
{
	const int rooted = ct_op_class(a->op) == CT_CLASS_ROOTED;

	return a->op != b->op || bytes_of(a) != bytes_of(b) || (rooted && a->peer != b->peer);
}

static void end_member(struct play *p, struct instance *i, int member, uint64_t from_ns,
		       uint64_t end_ns)
{
	struct launch *l = i->members[member].launch;
	const struct rank *r = l->rank;
	const uint64_t skew = ct_play_skew_ns(p, r, (uint64_t)l->comm, i->seq);
	const uint64_t start = l->start_ns;

	i->members[member].is_done = 1;
	i->done++;
	end_op(l, ct_play_span_leave(&r->paused, end_ns + skew),
	       from_ns > start ? from_ns - start : 0);
}

/* With the largest of what members ask for. */
static const struct launch_op *largest(const struct comm *c, const struct instance *i)
{
	const struct launch_op *op = NULL;

	for (int k = 0; k < c->about->n; k++) {
		if (!i->members[k].launch)
			continue;
		if (!op || bytes_of(&op_of(i, k)->op) > bytes_of(&op->op))
			op = op_of(i, k);
	}
	return op;
}

static void all_are_there(struct play *p, struct comm *c, struct instance *i)
{
	const struct launch_op *op = largest(c, i);
	const double ns = ct_play_collective_ns(p, c, op, i->seq);
	uint64_t last = 0, end;

	for (int k = 0; k < c->about->n; k++) {
		if (i->members[k].launch)
			last = later(last, i->members[k].launch->start_ns);
	}
	end = last + (uint64_t)ns;
	for (int k = 0; k < c->about->n && p->has_pauses; k++) {
		if (i->members[k].launch)
			end = later(end, held_up(p, i->members[k].launch->rank, last, end));
	}
	if (is_after_kill(p, end)) {
		i->is_broken = 1;
		return;
	}
	p->sums->busy_ns += ns;
	ct_play_carry(p, c, op);
	for (int k = 0; k < c->about->n; k++) {
		if (i->members[k].launch && !i->members[k].is_done)
			end_member(p, i, k, last, end);
	}
}

/* From the root to the members that are there: each has it when both have come. */
static void from_root(struct play *p, struct comm *c, struct instance *i, int root)
{
	const double ns = ct_play_collective_ns(p, c, &i->op, i->seq);

	if (!i->root_is_there) {
		i->root_is_there = 1;
		i->root_ns = i->members[root].launch->start_ns;
		p->sums->busy_ns += ns;
		ct_play_carry(p, c, &i->op);
	}
	for (int k = 0; k < c->about->n; k++) {
		struct launch *l = i->members[k].launch;
		uint64_t begin;

		if (!l || i->members[k].is_done)
			continue;
		begin = later(i->root_ns, l->start_ns);
		if (!is_after_kill(p, begin + (uint64_t)ns))
			end_member(p, i, k, i->root_ns,
				   held_up(p, l->rank, begin, begin + (uint64_t)ns));
	}
}

static void meet_collective(struct play *p, struct launch *l, uint32_t at)
{
	const struct launch_op *op = &l->ops[at];
	struct comm *c = &p->comms[l->comm];
	const int member = ct_workload_peer(p->w, l->comm, l->rank->number);
	struct instance *i = instance_at(p, c, op->seq);
	const int is_from_root = op->op.op == CT_OP_Broadcast || op->op.op == CT_OP_Scatter;

	if (!i)
		return;
	if (!i->n)
		i->op = *op;
	if (!p->world->mismatch_goes_on)
		i->is_broken |= (uint8_t)contradict(&i->op.op, &op->op);
	i->members[member].launch = l;
	i->members[member].op = at;
	i->n++;
	if (i->is_broken)
		return;
	if (is_from_root && !p->world->mismatch_goes_on) {
		if (i->root_is_there || i->members[op->op.peer].launch)
			from_root(p, c, i, op->op.peer);
	} else if (i->n == (uint32_t)c->about->n) {
		all_are_there(p, c, i);
	}
	close_done(c);
}

/* ---- messages ---- */

static struct channel *channel_of(struct play *p, int comm, int src, int dst)
{
	const uint64_t key = (uint64_t)comm << 40 ^ (uint64_t)src << 20 ^ (uint64_t)dst;
	struct channel *channel = ct_synth_map_get(&p->channels, key);

	if (channel)
		return channel;
	channel = ct_play_alloc(p, 1, sizeof(*channel));
	if (!channel)
		return NULL;
	channel->comm = comm;
	channel->src = src;
	channel->dst = dst;
	if (ct_synth_map_put(&p->channels, key, channel)) {
		free(channel);
		ct_play_fail(p, -1);
		return NULL;
	}
	return channel;
}

static void exchange(struct play *p, struct channel *channel, struct launch *l, uint32_t l_op,
		     struct launch *other, uint32_t other_op)
{
	const uint64_t own = bytes_of(&l->ops[l_op].op),
		       theirs = bytes_of(&other->ops[other_op].op);
	const uint64_t bytes = own < theirs ? own : theirs;
	const double ns = ct_play_message_ns(p, channel, bytes, l->ops[l_op].step);
	const uint64_t last = later(l->start_ns, other->start_ns);
	const uint64_t edge = (uint64_t)channel->comm << 40 ^ (uint64_t)channel->src << 20 ^
			      (uint64_t)channel->dst;
	const uint64_t wait = last - l->start_ns, other_wait = last - other->start_ns;
	struct rank *r = l->rank, *other_r = other->rank;
	uint64_t end = held_up(p, r, last, last + (uint64_t)ns);

	end = later(end, held_up(p, other_r, last, last + (uint64_t)ns));
	if ((own != theirs && !p->world->mismatch_goes_on) || is_after_kill(p, end))
		return;
	channel->met++;
	channel->bytes += (double)bytes;
	p->sums->busy_ns += ns;
	end_op(other,
	       ct_play_span_leave(&other_r->paused,
				  end + ct_play_skew_ns(p, other_r, edge, channel->met)),
	       other_wait);
	end_op(l, ct_play_span_leave(&r->paused, end + ct_play_skew_ns(p, r, edge, channel->met)),
	       wait);
}

static void meet_message(struct play *p, struct launch *l, uint32_t at)
{
	const struct ct_workload_op *op = &l->ops[at].op;
	const int is_receive = op->op == CT_OP_Recv;
	const int own = ct_workload_peer(p->w, l->comm, l->rank->number);
	struct channel *channel = channel_of(p, l->comm, is_receive ? op->peer : own,
					     is_receive ? own : op->peer);

	if (!channel)
		return;
	if (channel->n && channel->is_receives != is_receive) {
		const uint32_t first = channel->head++ & (channel->cap - 1);

		channel->n--;
		exchange(p, channel, l, at, channel->at[first].launch, channel->at[first].op);
		return;
	}
	if (channel->n == channel->cap &&
	    ct_play_grow_ring(p, (void **)&channel->at, &channel->head, channel->n, &channel->cap,
			      sizeof(*channel->at)))
		return;
	channel->is_receives = is_receive;
	channel->at[(channel->head + channel->n) & (channel->cap - 1)].launch = l;
	channel->at[(channel->head + channel->n++) & (channel->cap - 1)].op = at;
}

void ct_play_meet(struct launch *l)
{
	struct play *p = l->rank->play;
	const uint32_t n = l->n_ops;

	if (l->is_stuck)
		return;
	/* With the last one of them the launch may be done, and used again. */
	for (uint32_t i = 0; i < n && !p->status; i++) {
		if (ct_op_class(l->ops[i].op.op) == CT_CLASS_P2P)
			meet_message(p, l, i);
		else
			meet_collective(p, l, i);
	}
}

/* ---- without ranks that are through ---- */

static int is_through(const struct play *p, int comm, int member)
{
	const struct rank *r = &p->ranks[ct_workload_member(p->w, comm, member)];

	return r->state == RANK_ENDED && r->sums.end == CT_PLAY_THROUGH;
}

static int collectives_without(struct play *p, int comm)
{
	struct comm *c = &p->comms[comm];
	int any = 0;

	while (c->n) {
		struct instance *i = c->open[c->head & (c->cap - 1)];
		uint32_t missing = 0;

		for (int k = 0; k < c->about->n; k++) {
			if (i->members[k].launch)
				continue;
			if (!is_through(p, comm, k))
				return any;
			missing++;
		}
		i->done += missing;
		all_are_there(p, c, i);
		if (i->done < (uint32_t)c->about->n)
			return any;
		close_done(c);
		any = 1;
	}
	return any;
}

static int messages_without(struct play *p, struct channel *channel)
{
	const int peer = channel->is_receives ? channel->src : channel->dst;
	int any = 0;

	while (channel->n && is_through(p, channel->comm, peer)) {
		const uint32_t at = channel->head++ & (channel->cap - 1);
		struct launch *l = channel->at[at].launch;

		channel->n--;
		end_op(l, l->start_ns + (uint64_t)p->world->alpha_ns, 0);
		any = 1;
	}
	return any;
}

int ct_play_meet_without(struct play *p)
{
	int any = 0;

	if (!p->world->mismatch_goes_on)
		return 0;
	for (int i = 0; i < ct_workload_n_comms(p->w); i++)
		any |= collectives_without(p, i);
	for (size_t i = 0; i < p->channels.cap; i++) {
		if (p->channels.at[i].value)
			any |= messages_without(p, p->channels.at[i].value);
	}
	return any;
}

/* ---- around it ---- */

static int has_slow_edge(const struct play *p, int comm)
{
	const struct ct_workload_comm *about = ct_workload_comm(p->w, comm);

	for (size_t i = 0; i < p->config->n_faults; i++) {
		const struct ct_fault *fault = &p->config->faults[i];
		int src, dst;

		if (fault->kind != CT_FAULT_SLOW_LINK)
			continue;
		src = ct_workload_peer(p->w, comm, fault->src);
		dst = ct_workload_peer(p->w, comm, fault->dst);
		if (src >= 0 && dst == (src + 1) % about->n)
			return 1;
	}
	return 0;
}

int ct_play_meet_init(struct play *p)
{
	const int n = ct_workload_n_comms(p->w);

	p->comms = ct_play_alloc(p, (size_t)n, sizeof(*p->comms));
	for (int i = 0; i < n && p->comms; i++) {
		p->comms[i].about = ct_workload_comm(p->w, i);
		p->comms[i].ns_per_byte = ct_play_ring_ns_per_byte(p, p->comms[i].about,
								   UINT64_MAX);
		p->comms[i].has_slow_edge = (uint8_t)has_slow_edge(p, i);
	}
	return p->status;
}

static void free_instances(struct comm *c)
{
	struct instance *next;

	for (uint32_t i = 0; i < c->n; i++) {
		struct instance *one = c->open[(c->head + i) & (c->cap - 1)];

		one->free = c->free;
		c->free = one;
	}
	for (struct instance *i = c->free; i; i = next) {
		next = i->free;
		free(i->members);
		free(i);
	}
	free(c->open);
}

void ct_play_meet_free(struct play *p)
{
	for (int i = 0; p->comms && i < ct_workload_n_comms(p->w); i++)
		free_instances(&p->comms[i]);
	free(p->comms);
	for (size_t i = 0; i < p->channels.cap; i++) {
		struct channel *channel = p->channels.at[i].value;

		if (channel)
			free(channel->at);
		free(channel);
	}
	ct_synth_map_free(&p->channels);
}
