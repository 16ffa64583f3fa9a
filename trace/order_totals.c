/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/order_totals.h"

#include <stdlib.h>

#include "trace/call_name.h"
#include "trace/op_hash.h"

/* size: of the first table, a power of two: a rank of a job with several kinds of parallelism has
 * about ten communicators. */
#define LEAST_CAP 16u

static uint32_t home(const struct ct_order_totals *t, uint32_t comm)
{
	return (uint32_t)ct_mix(comm) & (t->cap - 1);
}

/* Its entry, or the free one where it would go. There is always a free one. */
static struct ct_order_total *entry_of(const struct ct_order_totals *t, uint32_t comm)
{
	uint32_t at = home(t, comm);

	while (t->all[at].comm && t->all[at].comm != comm)
		at = (at + 1) & (t->cap - 1);
	return &t->all[at];
}

/* At most three quarters are used. */
static int make_room(struct ct_order_totals *t)
{
	const struct ct_order_totals old = *t;

	if (t->n < t->cap / 4 * 3)
		return 1;
	t->cap = old.cap ? 2 * old.cap : LEAST_CAP;
	t->all = calloc(t->cap, sizeof(*t->all));
	if (!t->all) {
		*t = old;
		return 0;
	}
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.all[i].comm)
			*entry_of(t, old.all[i].comm) = old.all[i];
	free(old.all);
	return 1;
}

static struct ct_order_total *make_entry(struct ct_order_totals *t, uint32_t comm)
{
	struct ct_order_total *entry;

	if (!make_room(t))
		return NULL;
	entry = entry_of(t, comm);
	if (!entry->comm) {
		*entry = (struct ct_order_total){ .comm = comm };
		t->n++;
	}
	return entry;
}

static uint8_t is_varying(struct ct_order_totals *t, uint16_t call, ct_call_name_fn name_fn,
			  void *arg)
{
	const uint32_t at = call % CT_ORDER_CALLS_KNOWN;

	if (t->calls[at].id != call) {
		t->calls[at].id = call;
		t->calls[at].varying = (uint8_t)ct_call_is_varying(name_fn(arg, call));
	}
	return call ? t->calls[at].varying : 0;
}

static int is_counted(const struct ct_op *op)
{
	const enum ct_op_class class = ct_op_class(op->op);

	return op->comm && !(op->flags & CT_OP_CAPTURED) &&
	       (class == CT_CLASS_SYNC || class == CT_CLASS_ROOTED);
}

/* What all members must agree on, as this one called it. */
static uint64_t hash_of(struct ct_order_totals *t, const struct ct_op *op, ct_call_name_fn name_fn,
			void *arg)
{
	struct ct_op_called called = {
		.root = op->peer,
		.op = op->op,
		.dtype = op->dtype,
		.redop = op->redop,
		.varying = is_varying(t, op->call, name_fn, arg),
	};

	if (__builtin_mul_overflow(ct_op_count(op), ct_dtype_bytes(op->dtype), &called.bytes))
		called.bytes = UINT64_MAX;
	return ct_op_hash_at(op->seq, ct_op_hash(&called));
}

void ct_order_totals_add(struct ct_order_totals *t, const struct ct_block *block,
			 ct_call_name_fn name_fn, void *arg)
{
	struct ct_order_total *entry = NULL;

	if (t->is_broken)
		return;
	for (uint32_t i = 0; i < block->n_ops; i++) {
		const struct ct_op *op = &block->ops[i];

		if (!is_counted(op))
			continue;
		/* most are of the same communicator as the one before */
		if (!entry || entry->comm != op->comm)
			entry = make_entry(t, op->comm);
		if (!entry) {
			t->is_broken = 1;
			break;
		}
		entry->n++;
		entry->hash += hash_of(t, op, name_fn, arg);
		if (op->seq >= entry->end)
			entry->end = op->seq < UINT64_MAX ? op->seq + 1 : op->seq;
	}
}

void ct_order_totals_report(const struct ct_order_totals *t, struct ct_comm_status_rec *rec)
{
	const struct ct_order_total *entry = t->cap ? entry_of(t, rec->comm) : NULL;

	rec->called = !t->is_broken;
	if (!rec->called || !entry || !entry->comm)
		return;
	rec->called += entry->n;
	rec->order_end = entry->end;
	rec->order_hash = entry->hash;
}

void ct_order_totals_drop(struct ct_order_totals *t, uint32_t comm)
{
	struct ct_order_total *entry = t->cap ? entry_of(t, comm) : NULL;
	uint32_t at;

	if (!entry || !entry->comm)
		return;
	t->n--;
	entry->comm = 0;
	/* later ones that a search would no longer find move up */
	at = (uint32_t)(entry - t->all);
	for (at = (at + 1) & (t->cap - 1); t->all[at].comm; at = (at + 1) & (t->cap - 1)) {
		const struct ct_order_total moved = t->all[at];

		t->all[at].comm = 0;
		*entry_of(t, moved.comm) = moved;
	}
}

void ct_order_totals_fini(struct ct_order_totals *t)
{
	free(t->all);
	*t = (struct ct_order_totals){ 0 };
}
