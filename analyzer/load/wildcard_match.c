/* SPDX-License-Identifier: Apache-2.0 */
/* What receives got, kept from its record until their launch comes. */
#include "analyzer/load/load_private.h"
#include "trace/ops.h"

/* size: those whose launch never comes are few: their process was killed between the two records. */
#define CT_LOAD_GOTS (1u << 20)

struct ct_load_got {
	struct ct_load_got *next; /* free */
	struct ct_match_rec rec;
};

static struct ct_load_got *make(struct ct_load *load)
{
	struct ct_load_got *got = load->free_got;

	if (got)
		load->free_got = got->next;
	else
		got = ct_arena_calloc(load->memory, 1, sizeof(*got));
	return got;
}

int ct_load_take_got(struct ct_load *load, const struct ct_match_rec *rec)
{
	struct ct_load_got *got = ct_table_get(&load->matches, rec->launch);

	if (got) {
		got->rec = *rec;
		return CT_OK;
	}
	if (!rec->launch || load->matches.n >= CT_LOAD_GOTS)
		return CT_OK;
	got = make(load);
	if (!got)
		return CT_NOMEM;
	got->rec = *rec;
	return ct_table_put(&load->matches, rec->launch, got);
}

/* In elements of the op, or in bytes where that is no whole number. */
static void set_bytes(struct ct_op *op, uint64_t bytes)
{
	uint32_t each = ct_dtype_bytes(op->dtype);

	if (bytes % each)
		op->dtype = CT_DTYPE_elem1;
	op->count = bytes % each ? bytes : bytes / each;
	op->flags &= (uint8_t)~CT_OP_UNSIZED;
}

const struct ct_op *ct_load_give_got(struct ct_load *load, const struct ct_op *op,
				     struct ct_op *copy)
{
	struct ct_load_got *got;

	if (op->op != CT_OP_Recv || !op->launch)
		return op;
	got = ct_table_remove(&load->matches, op->launch);
	if (!got)
		return op;
	*copy = *op;
	copy->peer = got->rec.peer;
	copy->tag = got->rec.tag;
	copy->seq = got->rec.seq;
	if (got->rec.flags & CT_MATCH_BYTES)
		set_bytes(copy, got->rec.bytes);
	got->next = load->free_got;
	load->free_got = got;
	return copy;
}
