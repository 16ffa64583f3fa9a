/* SPDX-License-Identifier: Apache-2.0 */
/* What a reading found: which ranks, on which host, with which GPU, in which communicators. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/model/model.h"
#include "analyzer/timeline/timeline_index.h"
#include "trace/ops.h"

uint32_t ct_timeline_index_slot(const struct ct_timeline_index *tl_index, uint32_t process,
				uint32_t local)
{
	const void *slot = local ? ct_table_get(&tl_index->more_slots,
						(uint64_t)process << 32 | local)
				 : NULL;

	return slot ? (uint32_t)(uintptr_t)slot - 1 : tl_index->processes[process].slot;
}

/* Ranks of a process beside its first one. */
static int take_more(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	for (uint32_t s = 0; s < model->n_slots; s++) {
		const struct ct_rank_state *slot = &model->slots[s];

		if (!slot->local)
			continue;
		if (ct_table_put(&tl_index->more_slots, (uint64_t)slot->process << 32 | slot->local,
				 (void *)(uintptr_t)(s + 1)) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* Its process reports GPUs as "gpu.N.device", "gpu.N.pci", N in order of first use. NULL: not
 * reported. */
static const char *bus_id_of(const struct ct_model *model, const struct ct_rank_state *slot)
{
	const struct ct_environment_facts *facts = &model->processes[slot->process].environment;
	char key[32] = "", device[16], end;
	unsigned n;

	snprintf(device, sizeof(device), "%d", slot->device);
	for (uint32_t i = 0; i < facts->n && !key[0]; i++) {
		if (strcmp(facts->facts[i].value, device) == 0 &&
		    sscanf(facts->facts[i].name, "gpu.%u.devic%c", &n, &end) == 2)
			snprintf(key, sizeof(key), "gpu.%u.pci", n);
	}
	for (uint32_t i = 0; i < facts->n && key[0]; i++) {
		if (strcmp(facts->facts[i].name, key) == 0)
			return facts->facts[i].value;
	}
	return NULL;
}

/* Its ranks' waits for communication, as far as known. */
static int take_exposed(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	uint32_t *recorded = calloc(model->n_slots + 1, sizeof(*recorded));
	int st;

	if (!recorded)
		return CT_NOMEM;
	for (uint32_t s = 0; s < model->n_slots; s++) {
		struct ct_timeline_index_slot *slot = &tl_index->slots[s];
		const struct ct_exposed *sum = &model->slots[s].exposed;

		slot->has_exposed = sum->is_known != 0;
		slot->exposed_ns = sum->exposed_ns;
		slot->exposed_err_ns = sum->err_ns;
		for (unsigned b = 0; b < 32 && sum->is_known; b++) {
			if (b == CT_BACKEND_NCCL || ct_rank_knows_waits(&model->slots[s], b))
				recorded[s] |= 1u << b;
		}
	}
	st = ct_stall_track_close(&tl_index->stalls, recorded, model->n_slots);
	free(recorded);
	return st;
}

static uint64_t sign_of(const struct ct_timeline_index *tl_index, const struct ct_model *model,
			size_t p)
{
	uint64_t last_ns = model->processes[p].facts.last_ns;
	uint64_t beat_ns = model->run->processes[p].last_beat_ns;

	return ct_timeline_index_at(tl_index, model->starts->processes[p].host,
				    beat_ns > last_ns ? beat_ns : last_ns);
}

static int take_slots(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	tl_index->n_slots = model->n_slots;
	tl_index->n_processes = (uint32_t)model->run->n_processes;
	tl_index->slots = calloc(model->n_slots + 1, sizeof(*tl_index->slots));
	tl_index->processes = calloc(model->run->n_processes + 1, sizeof(*tl_index->processes));
	if (!tl_index->slots || !tl_index->processes)
		return CT_NOMEM;
	for (uint32_t s = 0; s < model->n_slots; s++) {
		const char *bus_id = bus_id_of(model, &model->slots[s]);

		tl_index->slots[s] = (struct ct_timeline_index_slot){
			.rank = model->slots[s].rank,
			.device = model->slots[s].device,
			.host = model->host_of[s],
			.process = model->slots[s].process,
			.pid = model->run->processes[model->slots[s].process].id.pid,
			.local = model->slots[s].local,
		};
		if (bus_id)
			tl_index->slots[s].bus_id = ct_arena_text(tl_index->texts.memory, bus_id,
								  strlen(bus_id));
	}
	for (size_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_process_start *start = &model->starts->processes[p];

		if (start->restart != model->restart)
			continue;
		tl_index->processes[p] = (struct ct_timeline_index_process){
			.slot = start->slot,
			.host = start->host,
			.sign_ns = sign_of(tl_index, model, p),
			.is_there = 1,
		};
		if (tl_index->processes[p].sign_ns > tl_index->sign_ns)
			tl_index->sign_ns = tl_index->processes[p].sign_ns;
	}
	return take_more(tl_index, model);
}

static int by_lowest(const void *a, const void *b, void *arg)
{
	const struct ct_timeline_index *tl_index = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return CT_CMP(tl_index->hosts[x].lowest, tl_index->hosts[y].lowest) ?: CT_CMP(x, y);
}

/* Hosts that have ranks, by the lowest one. */
static int number_hosts(struct ct_timeline_index *tl_index)
{
	uint32_t *order = calloc(tl_index->n_hosts + 1, sizeof(*order));

	if (!order)
		return CT_NOMEM;
	for (uint32_t h = 0; h < tl_index->n_hosts; h++) {
		tl_index->hosts[h].lowest = INT32_MAX;
		tl_index->hosts[h].highest = -1;
	}
	for (uint32_t s = 0; s < tl_index->n_slots; s++) {
		struct ct_timeline_index_host *host = &tl_index->hosts[tl_index->slots[s].host];
		int rank = tl_index->slots[s].rank;

		host->drawn = 1;
		if (rank < 0)
			continue;
		host->lowest = rank < host->lowest ? rank : host->lowest;
		host->highest = rank > host->highest ? rank : host->highest;
	}
	for (uint32_t h = 0; h < tl_index->n_hosts; h++) {
		if (tl_index->hosts[h].drawn)
			order[tl_index->n_nodes++] = h;
	}
	qsort_r(order, tl_index->n_nodes, sizeof(*order), by_lowest, tl_index);
	for (uint32_t n = 0; n < tl_index->n_nodes; n++)
		tl_index->hosts[order[n]].number = n;
	free(order);
	return CT_OK;
}

static int take_hosts(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	tl_index->hosts = calloc(tl_index->n_hosts + 1, sizeof(*tl_index->hosts));
	if (!tl_index->hosts)
		return CT_NOMEM;
	for (uint32_t h = 0; h < tl_index->n_hosts; h++) {
		const char *name = model->starts->hosts[h].name;

		tl_index->hosts[h].name = ct_arena_text(tl_index->texts.memory, name, strlen(name));
		if (ct_arena_failed(tl_index->texts.memory))
			return CT_NOMEM;
	}
	return number_hosts(tl_index);
}

static int take_comm(struct ct_timeline_index *tl_index, const struct ct_comm *comm)
{
	struct ct_timeline_index_comm *kept = &tl_index->comms[comm->index];
	const char *backend = ct_backend_name(comm->backend);
	char text[160];

	kept->id = ct_cached_comm(comm->hash, comm->nranks);
	kept->nranks = comm->nranks;
	kept->backend = comm->backend;
	snprintf(text, sizeof(text), "%.120s:%04" PRIx64,
		 comm->name ? comm->name
		 : backend  ? backend
			    : "comm",
		 comm->hash & 0xffff);
	kept->label = ct_texts_add(&tl_index->texts, text);
	snprintf(text, sizeof(text), "%016" PRIx64, comm->hash);
	kept->hash = ct_texts_add(&tl_index->texts, text);
	return tl_index->texts.failed ? CT_NOMEM
				      : ct_table_put(&tl_index->comm_by_id, kept->id, kept);
}

int ct_timeline_index_ranks(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	int st = take_slots(tl_index, model);

	tl_index->begin_unix_ns = model->begin_unix_ns;
	tl_index->duration_ns = model->end_ns;
	st = st ?: take_hosts(tl_index, model);
	st = st ?: take_exposed(tl_index, model);
	tl_index->comms = calloc(model->comms.n + 1, sizeof(*tl_index->comms));
	if (!tl_index->comms)
		return CT_NOMEM;
	tl_index->n_comms = model->comms.n;
	for (uint32_t c = 0; c < model->comms.n && st == CT_OK; c++)
		st = take_comm(tl_index, model->comms.all[c]);
	return st;
}

const struct ct_timeline_index_comm *ct_timeline_index_find(
	const struct ct_timeline_index *tl_index, uint64_t key, uint32_t nranks)
{
	return ct_table_get(&tl_index->comm_by_id, ct_cached_comm(key, nranks));
}
