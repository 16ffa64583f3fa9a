/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_tables.h"

/* An id is wider than 32 bits while its entry is written, and 0 while it is free. */
static int is_in_use(uint64_t id)
{
	return id != 0 && id <= UINT32_MAX;
}

int ct_ring_comm_read(const struct ct_ring_comm *c, struct ct_comm_rec *rec)
{
	uint64_t id = ct_load_acquire(&c->id);
	uint64_t ranks = ct_load_acquire(&c->ranks);
	uint64_t bits = ct_load_acquire(&c->bits);

	if (!is_in_use(id))
		return 0;
	*rec = (struct ct_comm_rec){
		.id = (uint32_t)id,
		.nranks = (uint32_t)(ranks >> 32),
		.rank = (int32_t)(uint32_t)ranks,
		.name = (uint32_t)(bits >> 32),
		.key = ct_load_acquire(&c->key),
		.parent = ct_load_acquire(&c->parent),
		.created_ns = ct_load_acquire(&c->created_ns),
		.ended_ns = ct_load_acquire(&c->ended_ns),
		.members_key = ct_load_acquire(&c->members_key),
		.backend = (uint8_t)bits,
		.key_source = (uint8_t)(bits >> 8),
		.device = (uint16_t)ct_load_acquire(&c->where),
	};
	return ct_load_acquire(&c->id) == id;
}

int ct_ring_comm_status_read(const struct ct_ring_comm *c, struct ct_comm_status_rec *rec)
{
	uint64_t id = ct_load_acquire(&c->id);

	if (!is_in_use(id))
		return 0;
	*rec = (struct ct_comm_status_rec){
		.comm = (uint32_t)id,
		.last_op = (uint32_t)ct_load_acquire(&c->last_op),
		.next_seq = ct_load_acquire(&c->next_seq),
		.last_enter_ns = ct_load_acquire(&c->last_enter),
	};
	return ct_load_acquire(&c->id) == id;
}

int ct_ring_open_read(const struct ct_ring_open *o, struct ct_open_launch_rec *rec)
{
	const ct_word *w = &o->tag;

	for (int i = 0; i < 8; i++)
		rec->words[i] = ct_load_acquire(&w[i]);
	return rec->words[0] >> 32 == 1 && ct_load_acquire(&o->tag) == rec->words[0];
}
