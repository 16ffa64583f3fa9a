/* SPDX-License-Identifier: Apache-2.0 */
/* Running totals of what a process moved inside its operations: the latest of each counts. */
#include "analyzer/load/load_private.h"

/* size: a ring has some thousand counters; communicators come and go. */
#define MOST (1u << 20)

int ct_load_take_traffic(struct ct_load *load, const struct ct_traffic_rec *rec)
{
	uint64_t who = ct_mix((uint64_t)rec->comm << 32 | (uint32_t)rec->peer);
	uint64_t key = ct_mix(who ^ ((uint64_t)rec->slot << 1 | (rec->received != 0)));
	struct ct_load_traffic *sums = ct_table_get(&load->traffic_by_key, key);

	if (!sums) {
		if (load->traffic_by_key.n >= MOST)
			return CT_OK;
		sums = ct_arena_calloc(load->memory, 1, sizeof(*sums));
		if (!sums || ct_table_put(&load->traffic_by_key, key, sums) != CT_OK)
			return CT_NOMEM;
		sums->next = load->traffic;
		load->traffic = sums;
	}
	/* what the ring reports comes last, and may be older than what a segment reported since it
	 * was copied */
	if (rec->messages >= sums->rec.messages)
		sums->rec = *rec;
	return CT_OK;
}

const struct ct_load_traffic *ct_load_traffic(const struct ct_load *load)
{
	for (struct ct_load_traffic *sums = load->traffic; sums; sums = sums->next)
		sums->comm = ct_table_get(&load->comms, sums->rec.comm);
	return load->traffic;
}
