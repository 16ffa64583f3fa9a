/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/match.h"

#include "analyzer/order/uneven_inputs.h"
#include "trace/ops.h"
#include "trace/status.h"

/* CT_HANG_CODES: no field. */
static enum ct_hang_code code_of(enum ct_mismatch_field field)
{
	static const enum ct_hang_code codes[] = {
		[CT_MISMATCH_NONE] = CT_HANG_CODES,
		[CT_MISMATCH_OP] = CT_HANG_IS_MISMATCH_OP,
		[CT_MISMATCH_BYTES] = CT_HANG_IS_MISMATCH_COUNT,
		[CT_MISMATCH_DTYPE] = CT_HANG_IS_MISMATCH_DTYPE,
		[CT_MISMATCH_REDOP] = CT_HANG_IS_MISMATCH_REDOP,
		[CT_MISMATCH_ROOT] = CT_HANG_IS_MISMATCH_ROOT,
	};

	return codes[field];
}

static const struct ct_hang_op *part(const struct ct_hang_index *ix,
				     const struct ct_hang_instance *i, uint32_t at)
{
	return &ix->c->ops[ix->parts[i->first + at]];
}

/* ---- a communicator as order/ takes it ---- */

struct view {
	const struct ct_hang_index *ix;
	uint32_t of;	     /* communicator */
	uint32_t first, end; /* collectives of the communicator */
	uint64_t done;	     /* the last listed one that all members have finished */
	struct ct_comm comm;
	struct ct_member *members;
	struct ct_orders orders;
	struct ct_order *order; /* orders' */
	uint8_t *set;		/* by rank in the communicator */
};

static uint64_t done_by_all(const struct view *v)
{
	const struct ct_hang_index *ix = v->ix;
	uint64_t least = UINT64_MAX;

	for (uint32_t m = ix->member_first[v->of]; m < ix->member_first[v->of + 1]; m++)
		if (ix->members[m].has_last && ix->members[m].last < least)
			least = ix->members[m].last;
	for (uint32_t at = v->first; at < v->end && ix->instances[at].seq <= least; at++)
		for (uint32_t k = 0; k < ix->instances[at].n; k++)
			if (part(ix, &ix->instances[at], k)->state != CT_STATE_FINISHED)
				return ix->instances[at].seq ? ix->instances[at].seq - 1 : 0;
	return least;
}

/* Is its progress known? */
static int is_known(const struct ct_hang_index *ix, const struct ct_hang_member *m)
{
	const struct ct_hang_rank *r = m->rank == CT_HANG_NONE ? NULL : &ix->c->ranks[m->rank];

	return r && r->process != CT_PROCESS_NO_TRACE && !r->cut &&
	       (r->records_until_ns == CT_UNKNOWN || r->last_heartbeat_ns == CT_UNKNOWN ||
		r->records_until_ns >= r->last_heartbeat_ns);
}

static int open_view(struct view *v, const struct ct_hang_index *ix, uint32_t comm)
{
	uint32_t n = ix->c->comms[comm].n;

	*v = (struct view){ .ix = ix, .of = comm, .comm.nranks = n };
	v->first = v->end = ix->instance_first[comm];
	while (v->end < ix->instance_first[comm + 1] && !ix->instances[v->end].p2p)
		v->end++;
	v->done = done_by_all(v);
	v->set = ct_arena_calloc(ix->arena, n, 1);
	v->comm.slots = ct_arena_calloc(ix->arena, n, sizeof(*v->comm.slots));
	v->comm.reached = ct_arena_calloc(ix->arena, n, sizeof(*v->comm.reached));
	v->members = ct_arena_calloc(ix->arena, n, sizeof(*v->members));
	if (!v->set || !v->comm.slots || !v->comm.reached || !v->members)
		return CT_NOMEM;
	for (uint32_t m = ix->member_first[comm]; m < ix->member_first[comm + 1]; m++) {
		const struct ct_hang_member *member = &ix->members[m];

		if (!is_known(ix, member))
			continue;
		v->comm.n_known++;
		v->comm.slots[member->comm_rank] = member->rank + 1;
		v->comm.reached[member->comm_rank] = member->has_last ? member->last + 1 : 0;
	}
	return CT_OK;
}

static uint32_t comm_rank_of(const struct view *v, uint32_t op)
{
	return v->ix->members[v->ix->member_of[op]].comm_rank;
}

static int note(struct view *v, const struct ct_hang_instance *i)
{
	struct ct_instance instance = { .comm = &v->comm,
					.seq = i->seq,
					.src = -1,
					.dst = -1,
					.n_expected = v->comm.nranks,
					.members = v->members };
	int has_graph = 0;

	for (uint32_t k = 0; k < i->n && instance.n < v->comm.nranks; k++) {
		const struct ct_order_call *call = ct_hang_called_by(v->ix, i, k);

		has_graph |= call->op == CT_OP_GraphLaunch;
		v->members[instance.n++] = (struct ct_member){
			.index = comm_rank_of(v, v->ix->parts[i->first + k]),
			.site = call->site,
			.count = call->count,
			.bytes = call->bytes,
			.root = call->root,
			.op = call->op,
			.dtype = call->dtype,
			.redop = call->redop,
			.varying = call->varying,
			.state = (uint8_t)part(v->ix, i, k)->state
		};
	}
	if (has_graph && ct_orders_graph(&v->orders, &v->comm) != CT_OK)
		return CT_NOMEM;
	return ct_order_note(v->order, &instance) < 0 ? CT_NOMEM : CT_OK;
}

/* The calls around the trouble at `seq`; UINT64_MAX: where the first of them stopped. */
static int lay_out(struct view *v, uint64_t seq)
{
	int st = CT_OK;

	ct_orders_fini(&v->orders);
	ct_orders_init(&v->orders, 0);
	v->order = ct_orders_get(&v->orders, &v->comm);
	if (!v->order)
		return CT_NOMEM;
	ct_order_trouble(v->order, seq);
	ct_orders_ended(&v->orders);
	for (uint32_t at = v->first; at < v->end && st == CT_OK; at++)
		st = note(v, &v->ix->instances[at]);
	return st;
}

/* ---- what order/ says of it ---- */

static int differs(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	for (uint32_t k = 1; k < i->n; k++)
		if (ct_order_differ(ct_hang_called_by(ix, i, 0), ct_hang_called_by(ix, i, k)))
			return 1;
	return 0;
}

/* The first instance at or after `seq`; v->end: none. */
static uint32_t first_difference(const struct view *v, uint64_t seq)
{
	uint32_t at = v->first;

	while (at < v->end &&
	       (v->ix->instances[at].seq < seq || !differs(v->ix, &v->ix->instances[at])))
		at++;
	return at;
}

static int agree_on(const void *arg, uint32_t a, uint32_t b)
{
	const struct ct_order_call *const *calls = arg;

	return !ct_order_differ(calls[a], calls[b]);
}

/* More distinct calls than order/ separates: a majority may still have made one of them. */
static int by_vote(struct view *v, uint32_t at, struct ct_divergence *found)
{
	const struct ct_hang_instance *i = &v->ix->instances[at];
	const struct ct_order_call **calls = ct_arena_calloc(v->ix->arena, i->n, sizeof(*calls));
	uint32_t usual, agree;

	if (!calls)
		return CT_NOMEM;
	for (uint32_t k = 0; k < i->n; k++)
		calls[k] = ct_hang_called_by(v->ix, i, k);
	usual = ct_order_vote(i->n, agree_on, calls, &agree);
	*found = (struct ct_divergence){ .seq = i->seq,
					 .clash = i->seq,
					 .has_minority = 2 * (uint64_t)agree > i->n,
					 .is_sure = 2 * (uint64_t)agree > v->comm.nranks,
					 .n_usual = agree,
					 .n_odd = i->n - agree,
					 .n_unseen = v->comm.nranks - i->n };
	for (uint32_t k = 0; k < i->n; k++) {
		enum ct_mismatch_field field = ct_order_differ(calls[usual], calls[k]);

		v->set[comm_rank_of(v, v->ix->parts[i->first + k])] = field ? CT_DIVERGENCE_ODD
									    : CT_DIVERGENCE_USUAL;
		found->field = found->field ? found->field : field;
	}
	return CT_OK;
}

static int by_call(struct view *v, uint32_t at, struct ct_divergence *found)
{
	uint64_t instances = 0;

	for (uint32_t k = at; k < v->end; k++)
		instances += (uint64_t)differs(v->ix, &v->ix->instances[k]);
	if (lay_out(v, v->ix->instances[at].seq) != CT_OK)
		return CT_NOMEM;
	if (ct_divergence_by_call(v->order, v->ix->instances[at].seq, instances, v->set, found))
		return CT_OK;
	return by_vote(v, at, found);
}

/* 1: diverged, v->set has the sides; 0: no divergence; CT_NOMEM. */
static int find(struct view *v, struct ct_divergence *found)
{
	uint32_t first = first_difference(v, 0), open;

	if (first < v->end) {
		if (by_call(v, first, found) != CT_OK)
			return CT_NOMEM;
		if (found->by)
			return 1;
	}
	/* a difference that all members have passed counts only if it persists */
	open = first_difference(v, v->done);
	if (open < v->end) {
		while (open > first && differs(v->ix, &v->ix->instances[open - 1]))
			open--;
		return open == first || by_call(v, open, found) == CT_OK ? 1 : CT_NOMEM;
	}
	if (lay_out(v, UINT64_MAX) != CT_OK)
		return CT_NOMEM;
	return v->order->trouble != UINT64_MAX && ct_uneven_apart(v->order, v->set, found);
}

/* ---- in the words of a verdict ---- */

static uint32_t instance_at(const struct view *v, uint64_t seq)
{
	uint32_t at = v->first;

	while (at < v->end && v->ix->instances[at].seq != seq)
		at++;
	return at;
}

/* The first part of one of the set; NONE. */
static uint32_t part_of_set(const struct view *v, uint32_t at, enum ct_divergence_set set)
{
	const struct ct_hang_instance *i = &v->ix->instances[at];

	for (uint32_t k = i->first; k < i->first + i->n; k++)
		if (v->set[comm_rank_of(v, v->ix->parts[k])] == set)
			return v->ix->parts[k];
	return CT_HANG_NONE;
}

static int name_culprits(const struct view *v, struct ct_hang_mismatch *m)
{
	const struct ct_hang_index *ix = v->ix;

	m->culprits = ct_arena_calloc(ix->arena, v->comm.nranks, sizeof(*m->culprits));
	for (uint32_t k = ix->member_first[v->of]; m->culprits && k < ix->member_first[v->of + 1];
	     k++) {
		const struct ct_hang_member *member = &ix->members[k];

		if (member->rank != CT_HANG_NONE &&
		    (v->set[member->comm_rank] == CT_DIVERGENCE_ODD ||
		     (m->tie && v->set[member->comm_rank] == CT_DIVERGENCE_USUAL)))
			m->culprits[m->n_culprits++] = member->rank;
	}
	return m->culprits ? CT_OK : CT_NOMEM;
}

static int set_sites(const struct view *v, struct ct_hang_mismatch *m)
{
	const struct ct_hang_index *ix = v->ix;
	struct ct_hang_divergence *d = ct_arena_calloc(ix->arena, 1, sizeof(*d));

	if (!d)
		return CT_NOMEM;
	d->ranks = ct_arena_calloc(ix->arena, v->comm.nranks, sizeof(*d->ranks));
	if (!d->ranks)
		return CT_NOMEM;
	for (uint32_t k = ix->member_first[v->of]; k < ix->member_first[v->of + 1]; k++)
		if (ix->members[k].rank != CT_HANG_NONE &&
		    v->set[ix->members[k].comm_rank] == CT_DIVERGENCE_ODD)
			d->ranks[d->n_ranks++] = ix->c->ranks[ix->members[k].rank].rank;
	d->seq = m->by_call.site_seq;
	d->site = m->by_call.odd_site->text;
	d->usual_site = m->by_call.usual_site->text;
	d->more = !m->by_call.by ? 0 : m->by_call.how == CT_DIVERGENCE_EXTRA ? 1 : -1;
	m->by_site = d;
	return CT_OK;
}

/* 1; 0: the list contradicts itself (one rank with two calls under one number); CT_NOMEM. */
static int describe(const struct view *v, struct ct_hang_mismatch *m)
{
	const struct ct_divergence *a = &m->by_call;
	int is_shift = a->by && a->has_minority;

	m->tie = !a->has_minority;
	m->code = is_shift   ? a->how == CT_DIVERGENCE_EXTRA ? CT_HANG_IS_EXTRA_OP
							     : CT_HANG_IS_SKIPPED_OP
		  : a->field ? code_of(a->field)
			     : CT_HANG_IS_MISMATCH_OP;
	m->instance = instance_at(v, is_shift || a->clash == UINT64_MAX ? a->seq : a->clash);
	if (m->instance == v->end)
		return 0;
	m->usual = part_of_set(v, m->instance, CT_DIVERGENCE_USUAL);
	m->odd = part_of_set(v, m->instance, CT_DIVERGENCE_ODD);
	if (m->usual == CT_HANG_NONE || m->odd == CT_HANG_NONE)
		return 0;
	if ((a->has_sites && set_sites(v, m) != CT_OK) || name_culprits(v, m) != CT_OK)
		return CT_NOMEM;
	return 1;
}

int ct_hang_match(const struct ct_hang_index *ix, uint32_t comm, struct ct_hang_mismatch **found)
{
	struct ct_hang_mismatch *m = ct_arena_calloc(ix->arena, 1, sizeof(*m));
	struct view v;
	int st = m ? open_view(&v, ix, comm) : CT_NOMEM;

	*found = NULL;
	if (st != CT_OK)
		return st;
	st = find(&v, &m->by_call);
	if (st > 0)
		st = describe(&v, m);
	if (st > 0)
		*found = m;
	ct_orders_fini(&v.orders);
	return st < 0 ? st : CT_OK;
}

/* ---- messages ---- */

enum ct_hang_code ct_hang_message_between(unsigned backend, const struct ct_hang_op *send,
					  const struct ct_hang_op *recv)
{
	const struct ct_order_call s = ct_hang_called(send), r = ct_hang_called(recv);

	return code_of(ct_order_message_differ(backend, &s, &r));
}

int ct_hang_match_message(const struct ct_hang_index *ix, uint32_t at,
			  struct ct_hang_mismatch **found)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	const struct ct_hang_op *send = NULL, *recv = NULL;
	struct ct_hang_mismatch *m;
	enum ct_hang_code code;

	*found = NULL;
	for (uint32_t k = 0; k < i->n; k++) {
		if (part(ix, i, k)->op == CT_OP_Send)
			send = part(ix, i, k);
		else
			recv = part(ix, i, k);
	}
	if (!i->p2p || !send || !recv || send->bytes == recv->bytes)
		return CT_OK;
	code = ct_hang_message_between(ix->c->comms[i->comm].backend, send, recv);
	if (code == CT_HANG_CODES)
		return CT_OK;
	m = ct_arena_calloc(ix->arena, 1, sizeof(*m));
	if (!m)
		return CT_NOMEM;
	m->culprits = ct_arena_calloc(ix->arena, 2, sizeof(*m->culprits));
	if (!m->culprits)
		return CT_NOMEM;
	m->instance = at;
	m->tie = 1;
	m->code = code;
	m->usual = (uint32_t)(send - ix->c->ops);
	m->odd = (uint32_t)(recv - ix->c->ops);
	m->culprits[m->n_culprits++] = send->rank < recv->rank ? send->rank : recv->rank;
	if (send->rank != recv->rank)
		m->culprits[m->n_culprits++] = send->rank < recv->rank ? recv->rank : send->rank;
	*found = m;
	return CT_OK;
}
