/* SPDX-License-Identifier: Apache-2.0 */
/* When collectives were asked for, kept from the record until the op comes. */
#include "analyzer/load/load_private.h"
#include "trace/ops.h"

/* size: an op comes right behind its record; those that wait for longer lost theirs. */
#define MOST (1u << 16)

struct ct_load_submit {
	struct ct_load_submit *next; /* free */
	struct ct_submit_rec rec;
};

static uint64_t key_of(uint32_t comm, uint64_t seq)
{
	return ct_mix(ct_mix(comm) ^ seq);
}

int ct_load_take_submit(struct ct_load *load, const struct ct_submit_rec *rec)
{
	uint64_t key = key_of(rec->comm, rec->seq);
	struct ct_load_submit *s = ct_table_get(&load->submits, key);

	if (s || load->submits.n >= MOST)
		return CT_OK;
	s = load->free_submits;
	if (s)
		load->free_submits = s->next;
	else
		s = ct_arena_calloc(load->memory, 1, sizeof(*s));
	if (!s)
		return CT_NOMEM;
	s->rec = *rec;
	return ct_table_put(&load->submits, key, s);
}

void ct_load_give_submit(struct ct_load *load, struct ct_joined_op *j)
{
	const struct ct_op *op = j->op;
	struct ct_load_submit *s;
	uint64_t key;

	if (ct_op_class(op->op) == CT_CLASS_P2P)
		return;
	key = key_of(op->comm, op->seq);
	s = ct_table_get(&load->submits, key);
	if (!s || s->rec.comm != op->comm || s->rec.seq != op->seq)
		return;
	/* requests not made yet are never carried out */
	if (s->rec.submit_ns <= op->enter_ns) {
		j->submit_ns = s->rec.submit_ns;
		j->submit_tid = s->rec.tid;
	}
	ct_table_remove(&load->submits, key);
	s->next = load->free_submits;
	load->free_submits = s;
}
