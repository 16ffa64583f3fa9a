/* SPDX-License-Identifier: Apache-2.0 */
/* Running totals of what a process moved inside its operations: the latest of each counts. */
#include "analyzer/load/load_private.h"

/* size: a ring has some thousand counters; communicators come and go. */
#define MOST (1u << 20)

int ct_load_take_traffic(struct ct_load *load, const struct ct_traffic_rec *rec)
{
	uint64_t who = ct_mix((uint64_t)rec->comm << 32 | (uint32_t)rec->peer);
	uint64_t key = ct_mix(who ^ ((uint64_t)rec->place << 1 | (rec->received != 0)));
	struct ct_load_traffic *told = ct_table_get(&load->traffic_by_key, key);

	if (!told) {
		if (load->traffic_by_key.n >= MOST)
			return CT_OK;
		told = ct_arena_calloc(load->memory, 1, sizeof(*told));
		if (!told || ct_table_put(&load->traffic_by_key, key, told) != CT_OK)
			return CT_NOMEM;
		told->next = load->traffic;
		load->traffic = told;
	}
	/* what the ring tells comes last, and may be older than what a segment told since it was copied */
	if (rec->messages >= told->rec.messages)
		told->rec = *rec;
	return CT_OK;
}

const struct ct_load_traffic *ct_load_traffic(const struct ct_load *load)
{
	for (struct ct_load_traffic *told = load->traffic; told; told = told->next)
		told->comm = ct_table_get(&load->comms, told->rec.comm);
	return load->traffic;
}
