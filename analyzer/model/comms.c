/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/comms.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "trace/status.h"

int ct_comms_init(struct ct_comms *comms)
{
	*comms = (struct ct_comms){ .memory = ct_arena_new() };
	return comms->memory ? CT_OK : CT_NOMEM;
}

void ct_comms_fini(struct ct_comms *comms)
{
	for (uint32_t i = 0; i < comms->n; i++) {
		free(comms->all[i]->slots);
		free(comms->all[i]->reached);
		free(comms->all[i]->exchanges);
	}
	free(comms->all);
	ct_table_fini(&comms->by_id);
	ct_table_fini(&comms->by_slot);
	ct_arena_free(comms->memory);
	*comms = (struct ct_comms){ 0 };
}

static struct ct_comm *create(struct ct_comms *comms, const struct ct_comm_rec *rec, uint64_t id)
{
	struct ct_comm *comm = ct_arena_calloc(comms->memory, 1, sizeof(*comm));

	if (!comm)
		return NULL;
	if (ct_grow(&comms->all, &comms->cap, comms->n + 1, sizeof(*comms->all)))
		return NULL;
	/* calloc: of a size that only a damaged file claims, no page is ever touched. */
	comm->slots = calloc(rec->nranks, sizeof(*comm->slots));
	comm->reached = calloc(rec->nranks, sizeof(*comm->reached));
	comm->exchanges = calloc(rec->nranks, sizeof(*comm->exchanges));
	if (!comm->slots || !comm->reached || !comm->exchanges ||
	    ct_table_put(&comms->by_id, id, comm) != CT_OK) {
		free(comm->slots);
		free(comm->reached);
		free(comm->exchanges);
		return NULL;
	}
	comm->hash = rec->key;
	comm->nranks = rec->nranks;
	comm->index = comms->n;
	comm->first_seq = comm->last_seq = UINT64_MAX;
	comm->equal_to_seq = comm->first_difference = UINT64_MAX;
	comms->all[comms->n++] = comm;
	return comm;
}

static uint64_t id_of(uint64_t key, uint32_t nranks)
{
	return ct_mix(key ^ ct_mix(nranks));
}

struct ct_comm *ct_comms_get(const struct ct_comms *comms, uint64_t key, uint32_t nranks)
{
	return ct_table_get(&comms->by_id, id_of(key, nranks));
}

int ct_comm_is_shared(const struct ct_comm *comm, uint32_t slot)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < comm->nranks; r++)
		n += comm->slots[r] == slot + 1;
	return n > 1;
}

/* A name that MPI gave; one that the program gives later counts for more. */
static int is_default(const char *name)
{
	return strncmp(name, "MPI_COMM_", 9) == 0;
}

int ct_comms_add(struct ct_comms *comms, const struct ct_comm_rec *rec, const char *name,
		 uint32_t slot, struct ct_comm **out)
{
	uint64_t id = id_of(rec->key, rec->nranks);
	struct ct_comm *comm = ct_table_get(&comms->by_id, id);
	uint64_t pair;
	uint32_t *member;

	if (!comm)
		comm = create(comms, rec, id);
	if (!comm)
		return CT_NOMEM;
	if (!comm->parent)
		comm->parent = rec->parent;
	if (!comm->backend)
		comm->backend = rec->backend;
	if (name && (!comm->name || (is_default(comm->name) && !is_default(name)))) {
		comm->name = ct_arena_text(comms->memory, name, strlen(name));
		if (ct_arena_failed(comms->memory))
			return CT_NOMEM;
	}
	comm->guessed |= rec->key_source == CT_KEY_GUESSED;
	member = &comm->slots[rec->rank];
	pair = (uint64_t)comm->index << 32 | slot;
	if (*member == 0) {
		*member = slot + 1;
		comm->n_known++;
		if (ct_table_get(&comms->by_slot, pair))
			comm->shared_slot = 1;
		else if (ct_table_put(&comms->by_slot, pair, comm) != CT_OK)
			return CT_NOMEM;
	} else if (*member != slot + 1) {
		comm->clash = 1;
	}
	*out = comm;
	return CT_OK;
}
