/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/bench/samples.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/stats.h"
#include "trace/call_name.h"
#include "trace/mix.h"
#include "trace/ops.h"

/* One end of a message. */
struct message_end {
	unsigned op; /* 0: something else */
	int32_t peer;
	uint64_t bytes, end_ns;
};

struct ct_bench_slot {
	struct ct_bench_kind *kind; /* of the burst; NULL: none */
	uint64_t end_ns;	    /* of its latest operation */
	uint32_t n;		    /* iterations of the burst, and what each took */
	uint64_t *ns;
	uint64_t err_ns;		 /* their sum */
	struct message_end before, last; /* the latest two operations */
	uint32_t sends, receives;	 /* of the launch that is being read */
	uint64_t least, most;		 /* bytes of these */
};

const char *ct_bench_op_name(const struct ct_bench_kind *kind)
{
	if (kind->form != CT_BENCH_PLAIN)
		return kind->form == CT_BENCH_SENDRECV ? "SendRecv" : "PingPong";
	return ct_op_name(kind->op) ?: "?";
}

double ct_bench_bus_factor(const struct ct_bench_kind *kind)
{
	return kind->form == CT_BENCH_PLAIN ? ct_op_bus_factor(kind->op, kind->ranks) : 1;
}

struct ct_bench_kind *ct_bench_samples_kind(struct ct_bench_samples *samples,
					    const struct ct_bench_kind *like)
{
	uint64_t key = ct_mix(like->bytes ^ (uint64_t)like->form << 62);

	key = ct_mix(key ^ ((uint64_t)like->ranks << 32 | like->backend << 16 | like->op));
	return ct_keyed_find(&samples->kinds, key, like, sizeof(*like));
}

/* ---- bursts ---- */

/* size: calls that happen to follow one another are not a benchmark: three of them have two
 * iterations
 */
#define LEAST_ITERATIONS 2u

/* What was counted was warm-up. */
static void forget(struct ct_bench_kind *kind)
{
	ct_hist_fini(&kind->ns);
	kind->ns = (struct ct_hist){ 0 };
	memset(kind->bursts, 0, sizeof(kind->bursts));
	memset(kind->seen, 0, kind->cap * sizeof(*kind->seen));
	kind->shift = 0;
	kind->err_ns = 0;
}

/* Half as many, of twice as many each. */
static void widen(struct ct_bench_kind *kind)
{
	for (uint32_t b = 0; b < CT_BENCH_BURSTS; b++) {
		struct ct_bench_burst burst = kind->bursts[b];

		kind->bursts[b] = (struct ct_bench_burst){ 0 };
		kind->bursts[b / 2].ns += burst.ns;
		kind->bursts[b / 2].n += burst.n;
	}
	kind->shift++;
}

/* The slot's burst is over. */
static int end_burst(struct ct_bench_slot *slot, uint32_t at)
{
	struct ct_bench_kind *kind = slot->kind;
	struct ct_bench_burst *burst;
	uint32_t n = slot->n;

	slot->n = 0;
	if (!kind || n < LEAST_ITERATIONS || 2 * n < kind->longest)
		return CT_OK;
	if (ct_grow_zeroed(&kind->seen, &kind->cap, at + 1, sizeof(*kind->seen)))
		return CT_NOMEM;
	if (n > 2 * kind->longest)
		forget(kind);
	if (n > kind->longest)
		kind->longest = n;
	while (kind->seen[at] >> kind->shift >= CT_BENCH_BURSTS)
		widen(kind);
	burst = &kind->bursts[kind->seen[at]++ >> kind->shift];
	burst->n += n;
	kind->err_ns = ct_plus(kind->err_ns, slot->err_ns);
	for (uint32_t i = 0; i < n; i++) {
		burst->ns += (double)slot->ns[i];
		if (ct_hist_add(&kind->ns, slot->ns[i]) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* An iteration like this ended, which took so long if the one before was like it. */
static int iterate(struct ct_bench_samples *samples, uint32_t at, const struct ct_bench_kind *like,
		   const struct ct_member *member, uint64_t since_ns, uint64_t divisor)
{
	struct ct_bench_slot *slot = &samples->slots[at];
	struct ct_bench_kind *kind = ct_bench_samples_kind(samples, like);
	int st = CT_OK;

	if (!kind || (!slot->ns && !(slot->ns = malloc(CT_BENCH_ITERATIONS * sizeof(*slot->ns)))))
		return CT_NOMEM;
	if (kind != slot->kind || slot->n == CT_BENCH_ITERATIONS) {
		st = end_burst(slot, at);
		slot->err_ns = 0;
	}
	if (kind == slot->kind && member->end_ns > since_ns) {
		slot->ns[slot->n++] = (member->end_ns - since_ns) / divisor;
		slot->err_ns += 2 * (uint64_t)member->end_err_ns;
	}
	slot->kind = kind;
	slot->end_ns = member->end_ns;
	return st;
}

static int interrupt(struct ct_bench_slot *slot, uint32_t at)
{
	int st = end_burst(slot, at);

	slot->kind = NULL;
	return st;
}

/* ---- what an operation is ---- */

/* A message alone: the second half of a turn is an iteration. */
static int on_message(struct ct_bench_samples *samples, uint32_t at,
		      const struct ct_op_event *event, struct ct_bench_kind *like)
{
	struct ct_bench_slot *slot = &samples->slots[at];
	const struct ct_member *m = event->member;
	struct message_end now = { m->op, m->root, event->bytes, m->end_ns };
	struct message_end before = slot->before, last = slot->last;
	int turns = last.op && last.op != now.op && last.peer == now.peer &&
		    last.bytes == now.bytes;

	slot->before = last;
	slot->last = now;
	if (!turns)
		return interrupt(slot, at);
	if (now.op == CT_OP_Send && slot->kind && slot->kind->form == CT_BENCH_PINGPONG)
		return CT_OK;
	if (now.op == CT_OP_Send)
		return interrupt(slot, at);
	like->form = CT_BENCH_PINGPONG;
	like->op = CT_OP_Send;
	like->ranks = 2;
	if (before.op == now.op && before.peer == now.peer && before.bytes == now.bytes)
		return iterate(samples, at, like, m, before.end_ns, 2);
	return interrupt(slot, at) ?: iterate(samples, at, like, m, 0, 2);
}

/* Messages that share a launch: an exchange with one, or as much with every rank. */
static int on_group(struct ct_bench_samples *samples, uint32_t at, const struct ct_op_event *event,
		    struct ct_bench_kind *like)
{
	struct ct_bench_slot *slot = &samples->slots[at];
	const struct ct_joined_op *j = &event->op->joined;

	if (j->launch_at == 0) {
		slot->sends = slot->receives = 0;
		slot->least = UINT64_MAX;
		slot->most = 0;
	}
	slot->sends += j->op->op == CT_OP_Send;
	slot->receives += j->op->op == CT_OP_Recv;
	slot->least = ct_min(slot->least, event->bytes);
	slot->most = ct_max(slot->most, event->bytes);
	if (j->launch_at + 1 < j->launch_ops)
		return CT_OK;
	if (slot->sends + slot->receives != j->launch_ops || slot->sends != slot->receives)
		return interrupt(slot, at);
	if (slot->sends == 1) {
		like->form = CT_BENCH_SENDRECV;
		like->op = CT_OP_Send;
		like->bytes = slot->most;
	} else if (slot->least == slot->most &&
		   (slot->sends == like->ranks || slot->sends + 1 == like->ranks)) {
		like->op = CT_OP_AllToAll;
		like->bytes = ct_times(slot->most, like->ranks);
	} else {
		return interrupt(slot, at);
	}
	return iterate(samples, at, like, event->member, slot->end_ns, 1);
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_bench_samples *samples = arg;
	const struct ct_member *m = event->member;
	const struct ct_joined_op *j = &event->op->joined;
	int is_message = ct_op_class(m->op) == CT_CLASS_P2P;
	struct ct_bench_kind like = { .backend = j->backend, .op = m->op, .bytes = event->bytes };
	struct ct_bench_slot *slot;

	(void)stream;
	if (ct_grow_zeroed(&samples->slots, &samples->n_slots, m->slot + 1,
			   sizeof(*samples->slots)))
		return CT_NOMEM;
	slot = &samples->slots[m->slot];
	if (!event->comm || !ct_member_is_timed(m) || event->bytes == UINT64_MAX || m->posted) {
		slot->last.op = 0;
		return interrupt(slot, m->slot);
	}
	like.ranks = event->comm->nranks;
	if (is_message && j->launch_ops < 2 && !ct_call_is_two_way(j->call))
		return on_message(samples, m->slot, event, &like);
	slot->last.op = 0;
	if (j->launch_ops > 1)
		return on_group(samples, m->slot, event, &like);
	if (is_message && m->op == CT_OP_Send)
		return CT_OK; /* the same call's other half follows */
	if (is_message) {
		like.form = CT_BENCH_SENDRECV;
		like.op = CT_OP_Send;
	}
	return iterate(samples, m->slot, &like, m, slot->end_ns, 1);
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_bench_samples *samples = arg;
	int st = CT_OK;

	(void)stream;
	for (uint32_t at = 0; at < samples->n_slots && st == CT_OK; at++)
		st = interrupt(&samples->slots[at], at);
	return st;
}

void ct_bench_samples_observe(struct ct_bench_samples *samples, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .op = on_op, .end = on_end, .arg = samples };
}

void ct_bench_samples_fini(struct ct_bench_samples *samples)
{
	for (uint32_t k = 0; k < samples->kinds.n; k++) {
		struct ct_bench_kind *kind = samples->kinds.all[k];

		ct_hist_fini(&kind->ns);
		free(kind->seen);
	}
	for (uint32_t s = 0; s < samples->n_slots; s++)
		free(samples->slots[s].ns);
	free(samples->slots);
	ct_keyed_fini(&samples->kinds);
	*samples = (struct ct_bench_samples){ 0 };
}
