/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/rank_history.h"

#include <stdlib.h>

#include "trace/ops.h"
#include "trace/status.h"

/* Space for one more; NULL: out of memory. */
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

int ct_rank_history_open(struct ct_rank_history *history, const struct ct_history_op *op)
{
	struct ct_history_op *slot;

	if (history->n_open == CT_HANG_KEEP_OPEN) {
		history->skipped_open++;
		return CT_OK;
	}
	slot = room(&history->open, history->n_open, &history->cap_open);
	if (!slot)
		return CT_NOMEM;
	*slot = *op;
	history->n_open++;
	return CT_OK;
}

int ct_rank_history_done(struct ct_rank_history *history, const struct ct_history_op *op)
{
	if (!history->done) {
		history->done = calloc(CT_HANG_KEEP, sizeof(*history->done));
		if (!history->done)
			return CT_NOMEM;
	}
	history->done[history->n_done++ % CT_HANG_KEEP] = *op;
	return CT_OK;
}

int ct_rank_history_wanted(struct ct_rank_history *history, const struct ct_history_op *op)
{
	struct ct_history_op *slot;

	if (history->n_wanted == CT_HANG_KEEP_WANTED)
		return CT_OK;
	slot = room(&history->wanted, history->n_wanted, &history->cap_wanted);
	if (!slot)
		return CT_NOMEM;
	*slot = *op;
	history->n_wanted++;
	return CT_OK;
}

uint64_t ct_rank_history_from(const struct ct_rank_history *history)
{
	uint64_t from = UINT64_MAX;

	if (history->skipped_open)
		return UINT64_MAX;
	if (history->n_done <= CT_HANG_KEEP)
		return history->before.from;
	for (uint32_t i = 0; i < CT_HANG_KEEP; i++)
		from = history->done[i].op.seq < from ? history->done[i].op.seq : from;
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

int ct_rank_history_message(struct ct_rank_history *history, const struct ct_history_op *op)
{
	uint64_t key = channel_of(&op->op);
	size_t at = (size_t)(uintptr_t)ct_table_get(&history->by_channel, key);
	struct ct_history_op *slot;

	if (at) {
		slot = &history->messages[at - 1];
		if (!is_channel_of(&slot->op, &op->op) || op->op.seq >= slot->op.seq)
			*slot = *op;
		return CT_OK;
	}
	if (history->n_messages == CT_HANG_KEEP_CHANNELS) {
		/* tags that are used once: replace the oldest */
		at = history->hand++ % CT_HANG_KEEP_CHANNELS;
		slot = &history->messages[at];
		ct_table_remove(&history->by_channel, channel_of(&slot->op));
	} else {
		slot = room(&history->messages, history->n_messages, &history->cap_messages);
		if (!slot)
			return CT_NOMEM;
		at = history->n_messages++;
	}
	*slot = *op;
	return ct_table_put(&history->by_channel, key, (void *)(uintptr_t)(at + 1));
}

int ct_rank_history_each(struct ct_rank_history *history,
			 int (*each)(void *arg, struct ct_rank_history *history,
				     struct ct_history_op *op),
			 void *arg)
{
	uint64_t done = history->n_done < CT_HANG_KEEP ? history->n_done : CT_HANG_KEEP;
	int st = CT_OK;

	for (uint64_t i = 0; i < done && st == CT_OK; i++)
		st = each(arg, history, &history->done[i]);
	for (uint32_t i = 0; i < history->n_wanted && st == CT_OK; i++)
		st = each(arg, history, &history->wanted[i]);
	for (uint32_t i = 0; i < history->n_messages && st == CT_OK; i++)
		st = each(arg, history, &history->messages[i]);
	for (uint32_t i = 0; i < history->n_open && st == CT_OK; i++)
		st = each(arg, history, &history->open[i]);
	return st;
}

void ct_rank_history_fini(struct ct_rank_history *history)
{
	ct_table_fini(&history->by_channel);
	free(history->done);
	free(history->open);
	free(history->messages);
	free(history->wanted);
	ct_order_blocks_fini(&history->sums);
}
