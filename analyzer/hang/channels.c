/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/channels.h"

#include <stdlib.h>

#include "analyzer/hang/channels_private.h"
#include "trace/ops.h"
#include "trace/status.h"

/* code: sequence numbers from here on belong to no sender: the recorder had no room to count, or does not
 * know the earlier messages. */
#define FROM_ANY (1ull << 63)

struct ct_hang_channels *ct_hang_channels_new(void)
{
	struct ct_hang_channels *all = calloc(1, sizeof(*all));

	if (all)
		all->memory = ct_arena_new();
	if (all && !all->memory) {
		free(all);
		return NULL;
	}
	return all;
}

void ct_hang_channels_free(struct ct_hang_channels *all)
{
	if (!all)
		return;
	for (struct ct_hang_channel *c = all->first; c; c = c->next) {
		ct_order_blocks_fini(&c->order.all);
		for (int side = 0; side < 2; side++) {
			ct_order_blocks_fini(&c->sides[side].sums);
			free(c->sides[side].ops);
		}
	}
	ct_table_fini(&all->by_key);
	ct_arena_free(all->memory);
	free(all);
}

static uint64_t key_of(const struct ct_comm *comm, int32_t src, int32_t dst, uint32_t tag)
{
	uint64_t key = ct_mix((uint64_t)comm->index << 32 | tag);

	return ct_mix(key ^ ((uint64_t)(uint32_t)src << 32 | (uint32_t)dst));
}

static struct ct_hang_channel *find(const struct ct_hang_channels *all, const struct ct_comm *comm,
				    int32_t src, int32_t dst, uint32_t tag)
{
	struct ct_hang_channel *c = ct_table_get(&all->by_key, key_of(comm, src, dst, tag));

	while (c && (c->comm != comm || c->src != src || c->dst != dst || c->tag != tag))
		c = c->same_key;
	return c;
}

static int make(struct ct_hang_channels *all, const struct ct_comm *comm, int32_t src, int32_t dst,
		uint32_t tag, struct ct_hang_channel **made)
{
	uint64_t key = key_of(comm, src, dst, tag);
	struct ct_hang_channel *c = ct_arena_calloc(all->memory, 1, sizeof(*c));

	if (!c)
		return CT_NOMEM;
	c->comm = comm;
	c->src = src;
	c->dst = dst;
	c->tag = tag;
	ct_hang_order_init(&c->order);
	for (int side = 0; side < 2; side++)
		c->sides[side].sums.most = CT_HANG_CHANNEL_BLOCKS;
	c->same_key = ct_table_get(&all->by_key, key);
	c->next = all->first;
	all->first = c;
	all->n++;
	*made = c;
	return ct_table_put(&all->by_key, key, c);
}

/* Hash of what both ends must agree on. In MPI that excludes the size: a receive states the room of
 * its buffer, until its MATCH record has the size received. Ends that may differ legitimately are
 * compared one by one. */
static uint64_t what(const struct ct_comm *comm, const struct ct_joined_op *j)
{
	uint64_t type = comm->backend == CT_BACKEND_NCCL ? j->op->dtype : 0;

	return ct_mix(j->bytes) ^ type;
}

static int is_message(const struct ct_rank_history *history, const struct ct_op *o)
{
	int64_t n = history->comm->nranks;

	return (o->op == CT_OP_Send || o->op == CT_OP_Recv) && o->peer < n && history->me >= 0 &&
	       history->me < n;
}

int ct_hang_channels_add(struct ct_hang_channels *all, struct ct_rank_history *history,
			 const struct ct_load_op *in)
{
	const struct ct_op *o = in->joined.op;
	int side = o->op == CT_OP_Recv;
	struct ct_hang_channel *c;
	int32_t src = side ? o->peer : history->me, dst = side ? history->me : o->peer;

	if (!is_message(history, o))
		return CT_OK;
	/* a message from an unknown sender may be one that a later record of a channel counts as
	 * its own */
	if (o->peer < 0 || o->tag == CT_TAG_ANY) {
		history->from_any++;
		return CT_OK;
	}
	if (o->seq >= FROM_ANY) {
		all->left_out[CT_HANG_LEFT_UNNUMBERED]++;
		return CT_OK;
	}
	c = find(all, history->comm, src, dst, o->tag);
	if (!c && all->n == CT_HANG_CHANNELS) {
		all->left_out[CT_HANG_LEFT_TOO_MANY]++;
		return CT_OK;
	}
	if (!c && make(all, history->comm, src, dst, o->tag, &c) != CT_OK)
		return CT_NOMEM;
	c->is_twice |= c->sides[side].history && c->sides[side].history != history;
	c->sides[side].history = history;
	c->sides[side].n++;
	c->from_any |= in->from_any;
	if (in->joined.bytes == UINT64_MAX)
		ct_hang_sums_unknown(&c->sides[side].sums, o->seq);
	return ct_hang_sums_add(&c->sides[side].sums, o->seq, what(history->comm, &in->joined), 0);
}

int ct_hang_channels_end(struct ct_hang_channels *all)
{
	int st = CT_OK;

	for (struct ct_hang_channel *c = all->first; c && st == CT_OK; c = c->next) {
		for (int side = 0; side < 2 && st == CT_OK; side++) {
			struct ct_hang_side *s = &c->sides[side];

			if (!s->sums.n)
				continue;
			s->begun = s->sums.after;
			st = ct_hang_order_take(&c->order, &s->sums);
		}
		c->width = 1ull << c->order.all.shift;
		if (c->order.members > 1)
			ct_order_blocks_fini(&c->order.all);
	}
	return st;
}

/* ---- once more ---- */

/* The stretch to look at; from == to: none. */
static struct ct_hang_want want_of(const struct ct_hang_channel *c)
{
	const struct ct_hang_order *o = &c->order;
	struct ct_hang_want want = { 0 };

	if (c->is_twice || o->members != 2 || !c->sides[0].n || !c->sides[1].n || c->from_any)
		return want;
	if (o->differs != UINT64_MAX)
		want = (struct ct_hang_want){ .from = o->differs, .to = o->differs_to };
	else if (o->tail < o->issued)
		want = (struct ct_hang_want){ .from = o->tail, .to = o->tail + 2 * c->width };
	if (want.to - want.from > CT_HANG_CHANNEL_KEEP)
		want.to = want.from + CT_HANG_CHANNEL_KEEP;
	return want;
}

int ct_hang_channels_want(const struct ct_hang_channels *all, uint8_t *again)
{
	int any = 0;

	for (const struct ct_hang_channel *c = all->first; c; c = c->next) {
		struct ct_hang_want want = want_of(c);

		if (want.from >= want.to)
			continue;
		any = 1;
		for (int side = 0; side < 2; side++)
			again[c->sides[side].history->process] = 1;
	}
	return any;
}

int ct_hang_channels_keep(struct ct_hang_side *s, const struct ct_hang_op *op)
{
	struct ct_hang_op *grown;

	if (s->n_ops == s->cap_ops) {
		uint32_t cap = s->cap_ops ? 2 * s->cap_ops : 16;

		grown = reallocarray(s->ops, cap, sizeof(*grown));
		if (!grown)
			return CT_NOMEM;
		s->ops = grown;
		s->cap_ops = cap;
	}
	s->ops[s->n_ops++] = *op;
	return CT_OK;
}

struct ct_hang_side *ct_hang_channels_again(struct ct_hang_channels *all,
					    const struct ct_rank_history *history,
					    const struct ct_op *o)
{
	int side = o->op == CT_OP_Recv;
	struct ct_hang_channel *c;
	struct ct_hang_want want;

	if (!is_message(history, o) || o->peer < 0 || o->seq >= FROM_ANY)
		return NULL;
	c = find(all, history->comm, side ? o->peer : history->me, side ? history->me : o->peer,
		 o->tag);
	want = c ? want_of(c) : (struct ct_hang_want){ 0 };
	if (o->seq < want.from || o->seq >= want.to || all->n_kept == CT_HANG_CHANNELS_KEEP)
		return NULL;
	all->n_kept++;
	return &c->sides[side];
}
