/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block.h"

#include <stdlib.h>
#include <string.h>

void ct_block_reset(struct ct_block *b, enum ct_block_type type)
{
	b->type = type;
	b->number = 0;
	b->quantum_ns = CT_BLOCK_QUANTUM_NS;
	b->n_extents = b->n_ops = b->n_launches = b->n_rares = b->n_bytes = 0;
	b->skimmed_ops = b->skimmed_launches = 0;
	b->is_left_out = 0;
	b->is_again = 0;
	b->begin_ns = b->end_ns = 0;
}

void ct_block_fini(struct ct_block *b)
{
	free(b->extents);
	free(b->ops);
	free(b->launches);
	free(b->rares);
	free(b->bytes);
	memset(b, 0, sizeof(*b));
}

/* By doubling. */
int ct_block_room(void *array, uint32_t n, uint32_t more, uint32_t *cap, size_t size)
{
	void **p = array;
	uint64_t want = *cap ? *cap : 64;
	void *grown;

	if (n + (uint64_t)more <= *cap)
		return CT_OK;
	while (want < n + (uint64_t)more)
		want *= 2;
	if (want > UINT32_MAX)
		return CT_NOMEM;
	grown = realloc(*p, want * size);
	if (!grown)
		return CT_NOMEM;
	*p = grown;
	*cap = (uint32_t)want;
	return CT_OK;
}

int ct_block_reserve(struct ct_block *b, uint32_t records)
{
	int st = ct_block_room(&b->ops, 0, records, &b->cap_ops, sizeof(*b->ops));

	if (st == CT_OK)
		st = ct_block_room(&b->launches, 0, records, &b->cap_launches,
				   sizeof(*b->launches));
	if (st == CT_OK)
		st = ct_block_room(&b->rares, 0, records, &b->cap_rares, sizeof(*b->rares));
	return st == CT_OK ? ct_block_room(&b->bytes, 0, records * 7 * sizeof(uint64_t),
					   &b->cap_bytes, 1)
			   : st;
}

int ct_block_add_extent(struct ct_block *b, const struct ct_extent *extent)
{
	int st = ct_block_room(&b->extents, b->n_extents, 1, &b->cap_extents, sizeof(*b->extents));

	if (st == CT_OK)
		b->extents[b->n_extents++] = *extent;
	return st;
}

int ct_block_add_op(struct ct_block *b, const struct ct_op *op)
{
	int st = ct_block_room(&b->ops, b->n_ops, 1, &b->cap_ops, sizeof(*b->ops));

	if (st != CT_OK)
		return st;
	b->ops[b->n_ops] = *op;
	b->ops[b->n_ops++].flags = (uint8_t)((op->flags & ~CT_OP_UNRETURNED) |
					     (op->return_ns ? 0 : CT_OP_UNRETURNED));
	return CT_OK;
}

int ct_block_add_launch(struct ct_block *b, const struct ct_launch *launch)
{
	int st = ct_block_room(&b->launches, b->n_launches, 1, &b->cap_launches,
			       sizeof(*b->launches));

	if (st == CT_OK)
		b->launches[b->n_launches++] = *launch;
	return st;
}

int ct_block_add_rare(struct ct_block *b, enum ct_kind kind, const void *data, size_t len)
{
	int st;

	if (len > UINT16_MAX)
		return CT_RANGE;
	st = ct_block_room(&b->rares, b->n_rares, 1, &b->cap_rares, sizeof(*b->rares));
	if (st == CT_OK) /* a record without bytes has an address, too */
		st = ct_block_room(&b->bytes, b->n_bytes, (uint32_t)len + 1, &b->cap_bytes, 1);
	if (st != CT_OK)
		return st;
	b->rares[b->n_rares++] = (struct ct_rare){ (uint16_t)kind, (uint16_t)len, b->n_bytes };
	if (len)
		memcpy(b->bytes + b->n_bytes, data, len);
	b->n_bytes += (uint32_t)len;
	return CT_OK;
}

int ct_block_add_text(struct ct_block *b, enum ct_kind kind, const void *head, size_t head_len,
		      const char *text)
{
	uint8_t bytes[1200];
	size_t len = strnlen(text, sizeof(bytes) - 64);

	if (head_len > 64)
		return CT_RANGE;
	memcpy(bytes, head, head_len);
	memcpy(bytes + head_len, text, len);
	return ct_block_add_rare(b, kind, bytes, head_len + len);
}
