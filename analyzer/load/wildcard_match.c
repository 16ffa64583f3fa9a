/* SPDX-License-Identifier: Apache-2.0 */
/* MATCH records (what a receive from any source got), held until their launch. */
#include "analyzer/load/load_private.h"
#include "trace/ops.h"

/* size: those whose launch never comes are few: their process was killed between the two records. */
#define CT_LOAD_MATCHES (1u << 20)

struct ct_load_match {
	struct ct_load_match *next; /* free */
	struct ct_match_rec rec;
};

static struct ct_load_match *make(struct ct_load *load)
{
	struct ct_load_match *match = load->free_matches;

	if (match)
		load->free_matches = match->next;
	else
		match = ct_arena_calloc(load->memory, 1, sizeof(*match));
	return match;
}

int ct_load_take_match(struct ct_load *load, const struct ct_match_rec *rec)
{
	struct ct_load_match *match = ct_table_get(&load->matches, rec->launch);

	if (match) {
		match->rec = *rec;
		return CT_OK;
	}
	if (!rec->launch || load->matches.n >= CT_LOAD_MATCHES)
		return CT_OK;
	match = make(load);
	if (!match)
		return CT_NOMEM;
	match->rec = *rec;
	return ct_table_put(&load->matches, rec->launch, match);
}

/* In elements of the op, or in bytes where that is not a whole number. */
static void set_bytes(struct ct_op *op, uint64_t bytes)
{
	uint32_t each = ct_dtype_bytes(op->dtype);

	if (bytes % each)
		op->dtype = CT_DTYPE_elem1;
	op->count = bytes % each ? bytes : bytes / each;
	op->flags &= (uint8_t)~CT_OP_UNSIZED;
}

const struct ct_op *ct_load_give_match(struct ct_load *load, const struct ct_op *op,
				       struct ct_op *copy)
{
	struct ct_load_match *match;

	if (op->op != CT_OP_Recv || !op->launch)
		return op;
	match = ct_table_remove(&load->matches, op->launch);
	if (!match)
		return op;
	*copy = *op;
	copy->peer = match->rec.peer;
	copy->tag = match->rec.tag;
	copy->seq = match->rec.seq;
	if (match->rec.flags & CT_MATCH_BYTES)
		set_bytes(copy, match->rec.bytes);
	match->next = load->free_matches;
	load->free_matches = match;
	return copy;
}
