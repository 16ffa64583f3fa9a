/* SPDX-License-Identifier: Apache-2.0 */
/* Per channel: up to which message both ends agree, the first that differs, and how many were sent
 * and received. */
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/hang/channels.h"
#include "analyzer/hang/channels_private.h"
#include "analyzer/hang/gather.h"
#include "analyzer/hang/match.h"

CT_SORT_BY(by_seq, struct ct_hang_op, CT_UP(seq))

/* NULL: they agree. */
static const char *field_of(unsigned backend, const struct ct_hang_op *send,
			    const struct ct_hang_op *recv)
{
	switch (ct_hang_message_between(backend, send, recv)) {
	case CT_HANG_IS_MISMATCH_COUNT:
		return "count";
	case CT_HANG_IS_MISMATCH_DTYPE:
		return "dtype";
	default:
		return NULL;
	}
}

static void sort_out(struct ct_gather *g, const struct ct_hang_run *run, struct ct_hang_channel *c,
		     struct ct_hang_pair *p)
{
	for (int side = 0; side < 2; side++) {
		struct ct_hang_side *s = &c->sides[side];
		uint32_t rank = g->ranks[s->history->slot];

		if (s->n_ops)
			qsort(s->ops, s->n_ops, sizeof(*s->ops), by_seq);
		for (uint32_t i = 0; i < s->n_ops; i++) {
			s->ops[i].rank = rank < run->hang_case.n_ranks ? rank : 0;
			s->ops[i].comm = ct_gather_number(g, c->comm);
		}
	}
	p->equal_to = ct_hang_order_equal_to(&c->order);
}

static int differ(struct ct_gather *g, struct ct_hang_pair *p, const char *field,
		  const struct ct_hang_op *send, const struct ct_hang_op *recv)
{
	struct ct_hang_op *both = ct_arena_calloc(g->memory, 2, sizeof(*both));

	if (!both)
		return CT_NOMEM;
	both[0] = *send;
	both[1] = *recv;
	p->differs = send->seq;
	p->field = field;
	p->send = &both[0];
	p->recv = &both[1];
	return CT_OK;
}

/* Compares one by one the messages that the sums do not prove equal, while both ends have
 * consecutive records. */
static int walk(struct ct_gather *g, const struct ct_hang_channel *c, struct ct_hang_pair *p)
{
	const struct ct_hang_side *s = &c->sides[0], *r = &c->sides[1];
	uint32_t i = 0, k = 0;

	while (i < s->n_ops && k < r->n_ops) {
		const struct ct_hang_op *send = &s->ops[i], *recv = &r->ops[k];
		const char *field;

		if (send->seq != recv->seq) {
			i += send->seq < recv->seq;
			k += recv->seq < send->seq;
			continue;
		}
		/* twice the same number: neither is known to be the one */
		if ((i + 1 < s->n_ops && send[1].seq == send->seq) ||
		    (k + 1 < r->n_ops && recv[1].seq == recv->seq))
			return CT_OK;
		field = field_of(c->comm->backend, send, recv);
		if (field)
			return differ(g, p, field, send, recv);
		if (send->seq == p->equal_to && send->seq < c->order.unknown)
			p->equal_to++;
		i++;
		k++;
	}
	return CT_OK;
}

static int is_whole(const struct ct_gather *g, const struct ct_rank_history *history)
{
	return !g->processes[history->process].lost && !history->from_any;
}

/* For an end without records: was nothing called, or is nothing known? */
static const struct ct_rank_history *other_end(const struct ct_gather *g,
					       const struct ct_hang_channel *c, int side)
{
	return ct_gather_member(g, c->comm, side ? c->dst : c->src);
}

static void leave_out(struct ct_hang_messages *m, enum ct_hang_left_out why,
		      const struct ct_hang_channel *c)
{
	m->left_out[why] += c->sides[0].n + c->sides[1].n;
}

static int take_channel(struct ct_gather *g, struct ct_hang_run *run, struct ct_hang_channel *c)
{
	struct ct_hang_messages *m = run->messages;
	const struct ct_rank_history *ends[2];
	uint32_t comm = ct_gather_number(g, c->comm);
	struct ct_hang_pair p = { .comm = comm,
				  .src = run->hang_case.comms[comm].ranks[c->src],
				  .dst = run->hang_case.comms[comm].ranks[c->dst],
				  .tag = c->tag,
				  .differs = CT_UNKNOWN,
				  .sent = c->sides[0].begun,
				  .received = c->sides[1].begun };
	int st = CT_OK;

	for (int side = 0; side < 2; side++) {
		ends[side] = c->sides[side].history ? c->sides[side].history
						    : other_end(g, c, side);
		if (!ends[side]) {
			leave_out(m, CT_HANG_LEFT_NO_TRACE, c);
			return CT_OK;
		}
	}
	if (c->from_any || ends[1]->from_any) {
		leave_out(m, CT_HANG_LEFT_FROM_ANY, c);
		return CT_OK;
	}
	if (c->is_twice) {
		leave_out(m, CT_HANG_LEFT_UNNUMBERED, c);
		return CT_OK;
	}
	p.counts_known = is_whole(g, ends[0]) && is_whole(g, ends[1]);
	if (c->order.members == 2) {
		p.since = c->order.since;
		sort_out(g, run, c, &p);
		st = walk(g, c, &p);
		p.equal_to = p.equal_to > p.since ? p.equal_to : p.since;
	}
	m->channels++;
	m->sent += p.sent;
	m->received += p.received;
	m->equal += p.equal_to - p.since;
	m->differ += p.differs != CT_UNKNOWN;
	m->unequal += p.counts_known && p.sent != p.received;
	m->unknown += p.differs == CT_UNKNOWN && p.equal_to < p.sent && p.equal_to < p.received;
	if (p.differs == CT_UNKNOWN && (!p.counts_known || p.sent == p.received))
		return st;
	/* channels that differ replace others */
	if (m->n_pairs == CT_HANG_PAIRS) {
		for (uint32_t i = 0; i < m->n_pairs && p.differs != CT_UNKNOWN; i++) {
			if (m->pairs[i].differs == CT_UNKNOWN) {
				m->pairs[i] = p;
				break;
			}
		}
		return st;
	}
	m->pairs[m->n_pairs++] = p;
	return st;
}

CT_SORT_BY(by_weight, struct ct_hang_pair,
	   CT_UP(differs == CT_UNKNOWN) ?: CT_UP(comm) ?: CT_UP(src) ?: CT_UP(dst) ?: CT_UP(tag))

int ct_hang_channels_check(struct ct_gather *g, struct ct_hang_run *run)
{
	struct ct_hang_messages *m = ct_arena_calloc(g->memory, 1, sizeof(*m));
	int st = CT_OK;

	if (!m)
		return CT_NOMEM;
	run->messages = m;
	m->pairs = ct_arena_calloc(g->memory, CT_HANG_PAIRS, sizeof(*m->pairs));
	if (!m->pairs)
		return CT_NOMEM;
	for (int i = 0; i < CT_HANG_LEFT_OUT; i++)
		m->left_out[i] = g->channels->left_out[i];
	for (const struct ct_rank_history *k = g->histories; k; k = k->next)
		m->left_out[CT_HANG_LEFT_FROM_ANY] += k->from_any;
	for (struct ct_hang_channel *c = g->channels->first; c && st == CT_OK; c = c->next)
		st = take_channel(g, run, c);
	if (m->n_pairs)
		qsort(m->pairs, m->n_pairs, sizeof(*m->pairs), by_weight);
	return st;
}
