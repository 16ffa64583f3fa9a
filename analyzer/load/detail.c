/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL's profiler reported about ops, kept from its record until the op comes. */
#include <string.h>

#include "analyzer/load/load_private.h"
#include "trace/ops.h"

/* size: details that wait for ops which never come are few. */
#define CT_LOAD_DETAILS (1u << 20)

struct ct_load_detail {
	struct ct_load_detail *next; /* free */
	uint32_t n;		     /* ops of which this is true */
	uint32_t algo, proto;
	uint8_t channels, warps;
};

static int is_p2p(unsigned op)
{
	return ct_op_class(op) == CT_CLASS_P2P;
}

/* By the sequence number. */
static uint64_t key_of(uint32_t comm, unsigned op, uint64_t seq, int32_t peer)
{
	uint64_t who = (uint64_t)op << 32 | (is_p2p(op) ? (uint32_t)peer : 0);

	return ct_mix(ct_mix(ct_mix((uint64_t)comm << 1) ^ who) ^ seq);
}

/* By what it is, within its launch. */
static uint64_t likeness_of(uint32_t launch, unsigned op, uint64_t bytes, int32_t peer)
{
	uint64_t who = (uint64_t)op << 32 | (ct_op_class(op) == CT_CLASS_SYNC ? 0 : (uint32_t)peer);

	return ct_mix(ct_mix(ct_mix((uint64_t)launch << 1 | 1) ^ who) ^ bytes);
}

static struct ct_load_detail *make(struct ct_load *load)
{
	struct ct_load_detail *detail = load->free_details;

	if (detail)
		load->free_details = detail->next;
	else
		detail = ct_arena_calloc(load->memory, 1, sizeof(*detail));
	return detail;
}

static int take_op(struct ct_load *load, const struct ct_detail_rec *rec)
{
	uint64_t bytes = rec->count * ct_dtype_bytes(rec->dtype);
	uint64_t key = rec->flags & CT_DETAIL_SEQ
			       ? key_of(rec->comm, rec->op, rec->seq, rec->peer)
			       : likeness_of(rec->launch, rec->op, bytes, rec->peer);
	struct ct_load_detail *detail = ct_table_get(&load->details, key);

	if (detail) {
		detail->n += !(rec->flags & CT_DETAIL_SEQ);
		return CT_OK;
	}
	if (load->details.n >= CT_LOAD_DETAILS)
		return CT_OK;
	detail = make(load);
	if (!detail)
		return CT_NOMEM;
	detail->n = 1;
	detail->algo = rec->algo;
	detail->proto = rec->proto;
	detail->channels = rec->channels;
	detail->warps = rec->warps;
	return ct_table_put(&load->details, key, detail);
}

int ct_load_take_detail(struct ct_load *load, const struct ct_detail_rec *rec)
{
	if (rec->op)
		return take_op(load, rec);
	load->facts.plugin_version = rec->channels;
	if (rec->flags & CT_DETAIL_ALONE)
		load->facts.plugin_alone = 1;
	if (rec->flags & CT_DETAIL_COPY)
		load->facts.plugin_is_copy = 1;
	return CT_OK;
}

void ct_load_give_detail(struct ct_load *load, struct ct_joined_op *j)
{
	const struct ct_op *op = j->op;
	struct ct_load_detail *detail;
	uint64_t key;

	key = key_of(op->comm, op->op, op->seq, op->peer);
	detail = ct_table_get(&load->details, key);
	if (!detail && op->launch) {
		key = likeness_of(op->launch, op->op, j->bytes, op->peer);
		detail = ct_table_get(&load->details, key);
	}
	if (!detail)
		return;
	j->algo = ct_load_string(load, detail->algo);
	j->proto = ct_load_string(load, detail->proto);
	j->channels = detail->channels;
	j->warps = detail->warps;
	if (--detail->n)
		return;
	ct_table_remove(&load->details, key);
	detail->next = load->free_details;
	load->free_details = detail;
}
