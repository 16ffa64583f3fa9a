/* SPDX-License-Identifier: Apache-2.0 */
/* Reads stretches of some processes a second time: where sums show that ranks called different
 * operations, and where the history of one rank ends after that of another begins. Most runs need
 * no second reading. */
#include <stdlib.h>

#include "analyzer/hang/gather.h"
#include "analyzer/order/order.h"
#include "trace/call_name.h"
#include "trace/ops.h"

/* size: operations kept before a difference: they explain it. There is no second reading for
 * fewer than LEAST_BEFORE. */
#define BEFORE CT_ORDER_BEFORE
#define LEAST_BEFORE 4u
/* At most so many operations of a rank in a communicator. */
#define MOST CT_HANG_KEEP_WANTED

static uint64_t before(uint64_t seq, uint64_t n)
{
	return seq > n ? seq - n : 0;
}

/* The stretch that is to be read of a communicator; from == to: none. */
static struct ct_hang_want want_of(const struct ct_gather *g, uint32_t comm)
{
	const struct ct_hang_order *o = &g->orders[comm];
	struct ct_hang_want want = { 0 };
	uint64_t from = UINT64_MAX, to = 0;

	if (o->members < 2)
		return want;
	if (o->differs != UINT64_MAX) {
		from = o->differs;
		to = o->differs_to;
	} else if (o->issued != o->all.after) {
		/* a rank is behind */
		from = o->issued;
		to = o->issued + CT_HANG_KEEP;
	}
	if (from == UINT64_MAX)
		return want;
	want.from = before(from, BEFORE);
	want.least = before(from, LEAST_BEFORE);
	want.to = to - want.from > MOST ? want.from + MOST : to;
	return want;
}

/* Does it lack operations that are wanted? */
static int lacks(const struct ct_rank_history *k, const struct ct_hang_want *want)
{
	return k->issued > want->least && ct_rank_history_from(k) > want->least;
}

/* What to read of each communicator, and of which processes. 1, 0: nothing, or CT_NOMEM. */
static int find_wants(struct ct_gather *g, uint8_t *again)
{
	uint8_t *is_short = calloc(g->n_orders + 1u, 1);
	int any = 0;

	if (!is_short)
		return CT_NOMEM;
	for (uint32_t c = 0; c < g->n_orders; c++)
		g->wants[c] = want_of(g, c);
	for (const struct ct_rank_history *k = g->histories; k; k = k->next) {
		uint32_t comm = ct_gather_number(g, k->comm);

		is_short[comm] |= (uint8_t)lacks(k, &g->wants[comm]);
	}
	for (const struct ct_rank_history *k = g->histories; k; k = k->next) {
		struct ct_hang_want *want = &g->wants[ct_gather_number(g, k->comm)];

		/* to = 0 marks that everything is kept */
		if (!is_short[ct_gather_number(g, k->comm)])
			*want = (struct ct_hang_want){ 0 };
		again[k->process] |= want->to != 0;
		any |= want->to != 0;
	}
	free(is_short);
	return any;
}

/* A process that is read again. */
struct again {
	struct ct_gather *g;
	uint32_t process;
};

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	const struct again *again = arg;

	comm->user = ct_gather_history(again->g, again->process, comm->rec.id);
	return CT_OK;
}

static int on_op(void *arg, const struct ct_load_op *in)
{
	struct ct_gather *g = ((const struct again *)arg)->g;
	const struct ct_op *o = in->joined.op;
	struct ct_rank_history *history = in->comm ? in->comm->user : NULL;
	enum ct_op_class class = ct_op_class(o->op);
	const struct ct_hang_want *want = history ? &g->wants[ct_gather_number(g, history->comm)]
						  : NULL;
	struct ct_history_op op;

	if (!history || o->flags & CT_OP_CAPTURED ||
	    (class != CT_CLASS_SYNC && class != CT_CLASS_ROOTED) || o->seq < want->from ||
	    o->seq >= want->to)
		return CT_OK;
	op = ct_gather_history_op(in, ct_call_is_varying(in->joined.call));
	op.vague = op.op.state == CT_STATE_RETURNED || op.op.state == CT_STATE_STARTED;
	/* unfinished operations are kept already */
	if (op.op.state == CT_STATE_ENTERED || (op.vague && in->open))
		return CT_OK;
	return ct_rank_history_wanted(history, &op);
}

/* The wanted operations lie in the tail that was read. `k`: the first of its process; the others
 * follow. */
static int is_in_tail(const struct ct_gather *g, const struct ct_rank_history *k)
{
	for (uint32_t process = k->process; k && k->process == process; k = k->next) {
		const struct ct_hang_want *want = &g->wants[ct_gather_number(g, k->comm)];

		if (want->to && want->from < k->before.from)
			return 0;
	}
	return 1;
}

static int read_again(struct ct_gather *g, struct ct_rank_history *first, struct ct_err *err)
{
	const uint32_t process = first->process;
	struct again again = { .g = g, .process = process };
	const uint32_t from = g->tails && is_in_tail(g, first) ? g->tails->from[process] : 0;
	const struct ct_load_sink sink = { .op = on_op,
					   .comm = on_comm,
					   .from = from,
					   .is_tail = from != 0,
					   .segment = from ? g->tails->segments[process] : 0,
					   .arg = &again };
	struct ct_op_names names = { .memory = g->scratch };
	struct ct_load *load;
	int st, more = 1;

	if (g->run->processes[process].is_thinned && !sink.from)
		return CT_EMPTY;
	st = ct_load_open(g->run, process, &sink, &names, &load, err);

	if (st != CT_OK)
		return st;
	while (st == CT_OK && more) {
		more = ct_load_next(load, err);
		st = more < 0 ? more : CT_OK;
	}
	for (struct ct_rank_history *k = first; k && k->process == process && st == CT_OK;
	     k = k->next)
		st = ct_gather_keep_texts(g, k);
	ct_load_close(load);
	return st;
}

int ct_gather_again(struct ct_gather *g, struct ct_err *err)
{
	uint8_t *again = calloc(g->run->n_processes + 1, 1);
	int st = CT_OK;

	g->wants = calloc(g->n_orders + 1u, sizeof(*g->wants));
	if (!g->wants || !again)
		st = CT_NOMEM;
	st = st ?: find_wants(g, again);
	/* histories of one process are adjacent */
	for (struct ct_rank_history *k = st > 0 ? g->histories : NULL; k && st >= 0; k = k->next) {
		if (!again[k->process])
			continue;
		again[k->process] = 0;
		st = read_again(g, k, err);
	}
	free(again);
	return st < 0 ? st : CT_OK;
}
