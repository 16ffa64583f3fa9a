/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/pairs.h"

#include "analyzer/load/joined_op.h"
#include "trace/ops.h"
#include "trace/status.h"

void ct_pairs_init(struct ct_pairs *pairs, struct ct_arena *memory)
{
	*pairs = (struct ct_pairs){ .memory = memory };
	pairs->end = &pairs->first;
}

void ct_pairs_fini(struct ct_pairs *pairs)
{
	ct_table_fini(&pairs->by_ends);
}

void ct_pairs_ended(struct ct_pairs *pairs)
{
	pairs->all_read = 1;
}

/* NULL with *st: no memory, or CT_OK: there are too many. */
static struct ct_pair *get(struct ct_pairs *pairs, const struct ct_instance *i, int *st)
{
	uint64_t key = ct_mix(ct_mix((uint64_t)i->comm->index + 1) ^
			      ((uint64_t)(uint32_t)i->src << 32 | (uint32_t)i->dst));
	struct ct_pair *pair = ct_table_get(&pairs->by_ends, key);

	*st = CT_OK;
	if (pair)
		return pair->comm == i->comm && pair->src == i->src && pair->dst == i->dst ? pair
											   : NULL;
	if (pairs->by_ends.n >= CT_PAIRS_MAX) {
		pairs->left_out++;
		return NULL;
	}
	pair = ct_arena_calloc(pairs->memory, 1, sizeof(*pair));
	if (!pair || ct_table_put(&pairs->by_ends, key, pair) != CT_OK) {
		*st = CT_NOMEM;
		return NULL;
	}
	pair->comm = i->comm;
	pair->src = i->src;
	pair->dst = i->dst;
	*pairs->end = pair;
	pairs->end = &pair->next;
	return pair;
}

/* A type that only states the width of elements, or is often used that way. */
static int is_of_bytes(unsigned dtype)
{
	return dtype == CT_DTYPE_int8 || dtype == CT_DTYPE_uint8 || dtype >= CT_DTYPE_elem1;
}

static int is_integer(unsigned dtype)
{
	return dtype <= CT_DTYPE_uint64;
}

/* NCCL moves bytes of any type, but equally many elements of another type are misinterpreted. */
static int fits(const struct ct_member *a, const struct ct_member *b)
{
	if (!a->dtype || !b->dtype || a->bytes == UINT64_MAX || b->bytes == UINT64_MAX)
		return 1;
	if (a->bytes != b->bytes)
		return 0;
	return a->dtype == b->dtype || a->count != b->count || is_of_bytes(a->dtype) ||
	       is_of_bytes(b->dtype) || (is_integer(a->dtype) && is_integer(b->dtype));
}

static int note_lost(struct ct_pair *pair, const struct ct_instance *i)
{
	if (!pair->unmatched++ || i->seq < pair->unmatched_seq) {
		pair->unmatched_seq = i->seq;
		pair->unmatched_send = i->members[0];
	}
	return CT_OK;
}

static int note_awaited(struct ct_pair *pair, const struct ct_instance *i)
{
	if (!pair->awaited++ || i->seq < pair->awaited_seq)
		pair->awaited_seq = i->seq;
	return CT_OK;
}

/* Only one end is on record. */
static int note_half(struct ct_pairs *pairs, const struct ct_instance *i)
{
	const struct ct_member *m = &i->members[0];
	int is_send = m->index == 0;
	struct ct_pair *pair;
	int st;

	if (!pairs->all_read || (m->state == CT_STATE_FINISHED) != is_send)
		return CT_OK;
	pair = get(pairs, i, &st);
	if (!pair)
		return st;
	return is_send ? note_lost(pair, i) : note_awaited(pair, i);
}

int ct_pairs_note(struct ct_pairs *pairs, const struct ct_instance *i, int complete)
{
	const struct ct_member *a = &i->members[0], *b = &i->members[complete ? 1 : 0];
	struct ct_pair *pair;
	int st;

	if (i->comm->backend != CT_BACKEND_NCCL || a->captured || b->captured)
		return CT_OK;
	if (!complete)
		return note_half(pairs, i);
	if (fits(a, b))
		return CT_OK;
	pair = get(pairs, i, &st);
	if (!pair)
		return st;
	if (!pair->instances++ || i->seq < pair->seq) {
		pair->seq = i->seq;
		pair->send = a->index == 0 ? *a : *b;
		pair->recv = a->index == 0 ? *b : *a;
	}
	return CT_OK;
}
