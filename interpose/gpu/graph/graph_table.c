/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/graph/graph_table.h"

#include <stddef.h>
#include <string.h>

#include "interpose/hash.h"
#include "interpose/recorder.h"
#include "interpose/spin.h"
#include "trace/ops.h"
#include "trace/pages.h"

_Atomic int ct_graph_used;

/* size: a program captures one graph for each size of its batches, some hundred. More is for those
 * that capture again and again; memory that is not used is not touched. */
#define LISTS 16384u
#define RUNS 65536u    /* size: four for each list */
#define HANDLES 65536u /* size: four for each list: its capture, graph and executables */
/* size: half full, 1 handle in 2,000 finds no space. */
#define PROBES 32u

static struct graph_tables {
	_Atomic uint32_t lock;
	uint32_t last_number;
	uint32_t n_lists, free_list; /* ever used; index + 1 */
	uint32_t n_runs, free_run;
	struct ct_graph_list lists[LISTS];
	struct ct_graph_run runs[RUNS];
	struct {
		_Atomic uint64_t key;  /* 0: never used */
		_Atomic uint32_t list; /* index + 1, 0: none (any more) */
	} handles[HANDLES];
} * tables;

int ct_graph_table_init(void)
{
	void *map = ct_pages_map(sizeof(*tables));

	if (!map)
		return CT_NOMEM;
	tables = map;
	return CT_OK;
}

int ct_graph_lock(void)
{
	return ct_spin_lock(&tables->lock, CT_SPIN_TRIES);
}

void ct_graph_unlock(void)
{
	ct_spin_unlock(&tables->lock);
}

/* Handles are addresses or small numbers: the kinds do not meet in the bits above. */
static uint64_t key_of(enum ct_graph_kind kind, uintptr_t handle)
{
	return (uint64_t)kind << 60 | (handle & (UINT64_MAX >> 4));
}

static uint32_t slot_of(uint64_t key)
{
	return (uint32_t)(ct_hash_mix(CT_HASH_START, key) >> 20) % HANDLES;
}

struct ct_graph_list *ct_graph_find(enum ct_graph_kind kind, uintptr_t handle)
{
	uint64_t key = key_of(kind, handle);
	uint32_t at = slot_of(key);

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % HANDLES) {
		/* acquire: pairs with the release in ct_graph_set() */
		uint64_t held = atomic_load_explicit(&tables->handles[at].key,
						     memory_order_acquire);
		uint32_t list;

		if (!held)
			return NULL;
		if (held != key)
			continue;
		list = atomic_load_explicit(&tables->handles[at].list, memory_order_acquire);
		return list ? &tables->lists[list - 1] : NULL;
	}
	return NULL;
}

struct ct_graph_run *ct_graph_run_at(uint32_t number)
{
	return number && number <= RUNS ? &tables->runs[number - 1] : NULL;
}

struct ct_graph_list *ct_graph_list_at(uint32_t at)
{
	return at < tables->n_lists ? &tables->lists[at] : NULL;
}

static struct ct_graph_list *new_list(void)
{
	struct ct_graph_list *list;

	if (tables->free_list) {
		list = &tables->lists[tables->free_list - 1];
		tables->free_list = list->next;
	} else if (tables->n_lists < LISTS) {
		list = &tables->lists[tables->n_lists++];
	} else {
		return NULL;
	}
	list->refs = 0;
	list->n_parts = 0;
	list->is_written = 0;
	list->is_partial = 0;
	atomic_store_explicit(&list->number, ++tables->last_number, memory_order_release);
	return list;
}

static uint32_t new_run(void)
{
	uint32_t number = tables->free_run;

	if (number)
		tables->free_run = tables->runs[number - 1].next;
	else if (tables->n_runs < RUNS)
		number = ++tables->n_runs;
	return number;
}

static void free_list(struct ct_graph_list *list)
{
	atomic_store_explicit(&list->number, 0, memory_order_relaxed);
	for (uint32_t i = 0; i < list->n_parts; i++) {
		tables->runs[list->parts[i].last - 1].next = tables->free_run;
		tables->free_run = list->parts[i].first;
	}
	list->n_parts = 0;
	list->next = tables->free_list;
	tables->free_list = (uint32_t)(list - tables->lists) + 1;
}

static void drop(uint32_t list)
{
	if (list && --tables->lists[list - 1].refs == 0)
		free_list(&tables->lists[list - 1]);
}

/* The handle's slot, or one that it can have. UINT32_MAX: there is none. */
static uint32_t slot_for(uint64_t key)
{
	uint32_t at = slot_of(key), found = UINT32_MAX;

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % HANDLES) {
		uint64_t held = atomic_load_explicit(&tables->handles[at].key,
						     memory_order_relaxed);

		if (held == key)
			return at;
		if (found == UINT32_MAX && (!held || !tables->handles[at].list))
			found = at;
		if (!held)
			break;
	}
	return found;
}

int ct_graph_set(enum ct_graph_kind kind, uintptr_t handle, struct ct_graph_list *list)
{
	uint64_t key = key_of(kind, handle);
	uint32_t at = slot_for(key);
	uint32_t old;

	if (at == UINT32_MAX)
		return !list;
	old = tables->handles[at].key == key ? tables->handles[at].list : 0;
	if (!list && !old)
		return 1;
	if (list)
		list->refs++;
	atomic_store_explicit(&tables->handles[at].list, 0, memory_order_relaxed);
	atomic_store_explicit(&tables->handles[at].key, key, memory_order_release);
	atomic_store_explicit(&tables->handles[at].list,
			      list ? (uint32_t)(list - tables->lists) + 1 : 0,
			      memory_order_release);
	drop(old);
	return 1;
}

static struct ct_graph_table_part *part_of(struct ct_graph_list *list, struct ct_traced_comm *comm,
					   uint32_t comm_id)
{
	struct ct_graph_table_part *part;

	for (uint32_t i = 0; i < list->n_parts; i++)
		if (list->parts[i].comm_id == comm_id)
			return &list->parts[i];
	if (list->n_parts == CT_GRAPH_PARTS)
		return NULL;
	part = &list->parts[list->n_parts];
	memset(part, 0, sizeof(*part));
	part->comm = comm;
	part->comm_id = comm_id;
	return part;
}

static int same(const struct ct_graph_run *a, const struct ct_graph_run *b)
{
	return a->op == b->op && a->dtype == b->dtype && a->redop == b->redop &&
	       a->peer == b->peer && a->count == b->count;
}

static int append(struct ct_graph_list *list, struct ct_traced_comm *comm, uint32_t comm_id,
		  const struct ct_graph_run *run, uint64_t bytes)
{
	struct ct_graph_table_part *part = part_of(list, comm, comm_id);
	struct ct_graph_run *last;
	uint32_t number;

	if (!part)
		return 0;
	last = ct_graph_run_at(part->last);
	if (last && same(last, run)) {
		last->n += run->n;
	} else {
		number = new_run();
		if (!number)
			return 0;
		tables->runs[number - 1] = *run;
		tables->runs[number - 1].next = 0;
		if (last)
			last->next = number;
		else
			part->first = number;
		part->last = number;
	}
	/* it counts from here on: a part without a run would have nothing to give back */
	if (part == &list->parts[list->n_parts])
		list->n_parts++;
	part->n_ops += run->n;
	if (ct_op_class(run->op) != CT_CLASS_P2P)
		part->n_colls += run->n;
	part->bytes += bytes;
	return 1;
}

static uint64_t position_in(const struct ct_graph_list *list, uint32_t comm_id, uint8_t op)
{
	for (uint32_t i = 0; i < list->n_parts; i++) {
		const struct ct_graph_table_part *part = &list->parts[i];

		if (part->comm_id == comm_id)
			return ct_op_class(op) == CT_CLASS_P2P ? part->n_ops - part->n_colls
							       : part->n_colls;
	}
	return 0;
}

static struct ct_graph_list *list_of_capture(uintptr_t capture)
{
	struct ct_graph_list *list = ct_graph_find(CT_GRAPH_CAPTURE, capture);

	if (list)
		return list;
	list = new_list();
	if (list && !ct_graph_set(CT_GRAPH_CAPTURE, capture, list)) {
		free_list(list);
		return NULL;
	}
	return list;
}

struct ct_graph_list *ct_graph_add(uintptr_t capture, struct ct_traced_comm *comm,
				   const struct ct_graph_run *run, uint64_t bytes,
				   uint64_t *position)
{
	struct ct_graph_list *list = list_of_capture(capture);

	if (!list)
		return NULL;
	*position = position_in(list, comm->id, run->op);
	if (append(list, comm, comm->id, run, bytes))
		return list;
	list->is_partial = 1;
	return NULL;
}

static int append_all(struct ct_graph_list *to, const struct ct_graph_list *from)
{
	int ok = 1;

	if (from && from->is_partial)
		to->is_partial = 1;
	for (uint32_t i = 0; from && i < from->n_parts; i++) {
		const struct ct_graph_table_part *part = &from->parts[i];
		uint64_t bytes = part->bytes;

		for (const struct ct_graph_run *r = ct_graph_run_at(part->first); r && ok;
		     r = ct_graph_run_at(r->next), bytes = 0)
			ok = append(to, part->comm, part->comm_id, r, bytes);
	}
	if (!ok)
		to->is_partial = 1;
	return ok;
}

int ct_graph_add_all(uintptr_t capture, const struct ct_graph_list *from)
{
	struct ct_graph_list *list = list_of_capture(capture);

	return list && append_all(list, from);
}

int ct_graph_join(enum ct_graph_kind kind, uintptr_t handle, const struct ct_graph_list *first,
		  const struct ct_graph_list *then)
{
	struct ct_graph_list *list = new_list();
	int ok;

	if (!list)
		return 0;
	ok = append_all(list, first) && append_all(list, then);
	if (!ok || !ct_graph_set(kind, handle, list)) {
		free_list(list);
		return 0;
	}
	return 1;
}
