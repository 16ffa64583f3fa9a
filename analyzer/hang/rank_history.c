/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/rank_history.h"

#include <stdlib.h>

#include "trace/ops.h"
#include "trace/status.h"

/* Room for one more; NULL: out of memory. */
static struct ct_history_op *room(struct ct_history_op **all, uint32_t n, uint32_t *cap)
{
	if (n == *cap) {
		uint32_t more = *cap ? 2 * *cap : 8;
		struct ct_history_op *grown = reallocarray(*all, more, sizeof(*grown));

		if (!grown)
			return NULL;
		*all = grown;
		*cap = more;
	}
	return &(*all)[n];
}

int ct_rank_history_open(struct ct_rank_history *kept, const struct ct_history_op *op)
{
	struct ct_history_op *place;

	if (kept->n_open == CT_HANG_KEEP_OPEN) {
		kept->skipped_open++;
		return CT_OK;
	}
	place = room(&kept->open, kept->n_open, &kept->cap_open);
	if (!place)
		return CT_NOMEM;
	*place = *op;
	kept->n_open++;
	return CT_OK;
}

int ct_rank_history_done(struct ct_rank_history *kept, const struct ct_history_op *op)
{
	if (!kept->done) {
		kept->done = calloc(CT_HANG_KEEP, sizeof(*kept->done));
		if (!kept->done)
			return CT_NOMEM;
	}
	kept->done[kept->n_done++ % CT_HANG_KEEP] = *op;
	return CT_OK;
}

int ct_rank_history_wanted(struct ct_rank_history *kept, const struct ct_history_op *op)
{
	struct ct_history_op *place;

	if (kept->n_wanted == CT_HANG_KEEP_WANTED)
		return CT_OK;
	place = room(&kept->wanted, kept->n_wanted, &kept->cap_wanted);
	if (!place)
		return CT_NOMEM;
	*place = *op;
	kept->n_wanted++;
	return CT_OK;
}

uint64_t ct_rank_history_from(const struct ct_rank_history *kept)
{
	uint64_t from = UINT64_MAX;

	if (kept->skipped_open)
		return UINT64_MAX;
	if (kept->n_done <= CT_HANG_KEEP)
		return kept->before.from;
	for (uint32_t i = 0; i < CT_HANG_KEEP; i++)
		from = kept->done[i].op.seq < from ? kept->done[i].op.seq : from;
	return from;
}

static uint64_t channel_of(const struct ct_hang_op *op)
{
	uint64_t ends = (uint64_t)(uint32_t)op->peer << 32 | op->tag;

	return ct_mix(ct_mix(ends) ^ op->op ^ op->seq % CT_HANG_KEEP_MESSAGES << 8);
}

static int is_channel_of(const struct ct_hang_op *a, const struct ct_hang_op *b)
{
	return a->peer == b->peer && a->tag == b->tag && a->op == b->op &&
	       a->seq % CT_HANG_KEEP_MESSAGES == b->seq % CT_HANG_KEEP_MESSAGES;
}

int ct_rank_history_message(struct ct_rank_history *kept, const struct ct_history_op *op)
{
	uint64_t key = channel_of(&op->op);
	size_t at = (size_t)(uintptr_t)ct_table_get(&kept->by_channel, key);
	struct ct_history_op *place;

	if (at) {
		place = &kept->messages[at - 1];
		if (!is_channel_of(&place->op, &op->op) || op->op.seq >= place->op.seq)
			*place = *op;
		return CT_OK;
	}
	if (kept->n_messages == CT_HANG_KEEP_CHANNELS) {
		/* tags that never come again: the oldest goes */
		at = kept->hand++ % CT_HANG_KEEP_CHANNELS;
		place = &kept->messages[at];
		ct_table_remove(&kept->by_channel, channel_of(&place->op));
		kept->displaced++;
	} else {
		place = room(&kept->messages, kept->n_messages, &kept->cap_messages);
		if (!place)
			return CT_NOMEM;
		at = kept->n_messages++;
	}
	*place = *op;
	return ct_table_put(&kept->by_channel, key, (void *)(uintptr_t)(at + 1));
}

int ct_rank_history_each(struct ct_rank_history *kept,
			 int (*each)(void *arg, struct ct_rank_history *kept,
				     struct ct_history_op *op),
			 void *arg)
{
	uint64_t done = kept->n_done < CT_HANG_KEEP ? kept->n_done : CT_HANG_KEEP;
	int st = CT_OK;

	for (uint64_t i = 0; i < done && st == CT_OK; i++)
		st = each(arg, kept, &kept->done[i]);
	for (uint32_t i = 0; i < kept->n_wanted && st == CT_OK; i++)
		st = each(arg, kept, &kept->wanted[i]);
	for (uint32_t i = 0; i < kept->n_messages && st == CT_OK; i++)
		st = each(arg, kept, &kept->messages[i]);
	for (uint32_t i = 0; i < kept->n_open && st == CT_OK; i++)
		st = each(arg, kept, &kept->open[i]);
	return st;
}

void ct_rank_history_fini(struct ct_rank_history *kept)
{
	ct_table_fini(&kept->by_channel);
	free(kept->done);
	free(kept->open);
	free(kept->messages);
	free(kept->wanted);
	ct_order_blocks_fini(&kept->sums);
}
