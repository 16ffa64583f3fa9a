/* SPDX-License-Identifier: Apache-2.0 */
/* A second reading, of stretches only: where sums say that ranks called different things, and where what was kept of one
 * rank does not reach back to where another one is. Most runs need none. */
#include <stdlib.h>

#include "analyzer/hang/gather.h"
#include "trace/ops.h"

/* Before a place that is looked at: what comes before a difference explains it. */
#define BEFORE 4u
/* At most so many operations of a rank in a communicator. */
#define MOST CT_HANG_KEEP_WANTED

static uint64_t before(uint64_t seq)
{
	return seq > BEFORE ? seq - BEFORE : 0;
}

/* The stretch that is to be read of a communicator; from == to: none. */
static struct ct_hang_want want_of(const struct ct_gather *g, const struct ct_comm *comm,
				   int to_the_end)
{
	const struct ct_hang_order *o = &g->orders[comm->index];
	struct ct_hang_want want = { 0 };
	uint64_t from = UINT64_MAX, to = 0;

	if (o->members < 2)
		return want;
	if (o->apart != UINT64_MAX) {
		from = o->apart;
		to = o->apart_to;
	} else if (to_the_end && o->tail < o->issued) {
		from = o->tail;
		to = o->tail + (2ull << o->all.shift);
	} else if (o->issued != o->all.after) {
		/* somebody is behind */
		from = o->issued;
		to = o->issued + CT_HANG_KEEP;
	}
	if (to_the_end && o->site_apart < from) {
		from = o->site_apart;
		to = o->site_apart_to;
	}
	if (from == UINT64_MAX)
		return want;
	want.from = before(from);
	want.to = to - want.from > MOST ? want.from + MOST : to;
	return want;
}

/* Is that of all who called it already kept? */
static int is_kept(const struct ct_gather *g, const struct ct_comm *comm,
		   const struct ct_hang_want *want)
{
	for (const struct ct_hang_kept *k = g->kept; k; k = k->next) {
		if (k->comm == comm && k->issued > want->from && ct_hang_kept_from(k) > want->from)
			return 0;
	}
	return 1;
}

static int find_wants(struct ct_gather *g, int to_the_end, struct ct_hang_want *wants)
{
	int any = 0;

	for (uint32_t c = 0; c < g->comms.n && c < g->n_orders; c++) {
		struct ct_hang_want want = want_of(g, g->comms.all[c], to_the_end);

		if (want.from == want.to)
			continue;
		wants[c] = want;
	}
	for (struct ct_hang_kept *k = g->kept; k; k = k->next) {
		struct ct_hang_want *want = &wants[k->comm->index];

		/* to = 0 is the mark that all is kept; looked at once a communicator */
		if (want->to && is_kept(g, k->comm, want))
			*want = (struct ct_hang_want){ 0 };
		any |= want->to != 0;
	}
	return any;
}

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	struct ct_gather *g = arg;

	comm->user = ct_table_get(&g->by_id, (uint64_t)g->process << 32 | comm->rec.id);
	return CT_OK;
}

static int on_op(void *arg, const struct ct_load_op *in)
{
	struct ct_gather *g = arg;
	const struct ct_op *o = in->joined.op;
	struct ct_hang_kept *kept = in->comm ? in->comm->user : NULL;
	enum ct_op_class class = ct_op_class(o->op);
	const struct ct_hang_want *want = kept ? &g->wants[kept->comm->index] : NULL;
	struct ct_hang_kept_op op;

	if (kept && class == CT_CLASS_P2P && g->channels && !(o->flags & CT_OP_CAPTURED))
		return ct_hang_channels_again(g, kept, in);
	if (!kept || o->flags & CT_OP_CAPTURED ||
	    (class != CT_CLASS_SYNC && class != CT_CLASS_ROOTED) || o->seq < want->from ||
	    o->seq >= want->to)
		return CT_OK;
	op = ct_gather_kept_op(in);
	op.vague = op.op.state == CT_STATE_RETURNED || op.op.state == CT_STATE_STARTED;
	/* what is unfinished is kept already */
	if (op.op.state == CT_STATE_ENTERED || (op.vague && in->open))
		return CT_OK;
	return ct_hang_kept_wanted(kept, &op);
}

static int is_in(const struct ct_gather *g, uint32_t process)
{
	if (g->channels && ct_hang_channels_want(g->channels, process))
		return 1;
	for (const struct ct_hang_kept *k = g->kept; k; k = k->next) {
		if (k->process == process && g->wants[k->comm->index].to)
			return 1;
	}
	return 0;
}

int ct_gather_again(struct ct_gather *g, int to_the_end, struct ct_err *err)
{
	const struct ct_load_sink sink = { .op = on_op, .comm = on_comm, .arg = g };
	struct ct_hang_want *wants = calloc(g->comms.n + 1u, sizeof(*wants));
	int st = CT_OK;

	if (!wants)
		return CT_NOMEM;
	if (!find_wants(g, to_the_end, wants) &&
	    !(g->channels && ct_hang_channels_want(g->channels, CT_HANG_NO_PROCESS))) {
		free(wants);
		return CT_OK;
	}
	g->wants = wants;
	for (size_t p = 0; p < g->run->n_processes && st == CT_OK; p++) {
		if (!g->processes[p].read || !is_in(g, (uint32_t)p))
			continue;
		g->process = (uint32_t)p;
		st = ct_gather_process(g, &sink, err);
	}
	return st;
}
