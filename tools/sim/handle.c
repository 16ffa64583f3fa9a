/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/handle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/sim/enter.h"

/* kind, generation and slot: 3, 20 and 20 bits, and 4 that are 0 as in an address. */
#define SLOT_SHIFT 4
#define GENERATION_SHIFT 24
#define KIND_SHIFT 44
#define LOW_20 0xfffffu

struct handle_slot {
	void *object;
	uint32_t generation;
	uint32_t next_free; /* index + 1; 0 is the last */
	enum sim_kind kind;
	bool lost;
};

static struct handle_slot *slots;
static uint32_t n_slots, capacity;
static uint32_t first_free, last_free; /* index + 1 */

static uint32_t new_slot(void)
{
	uint32_t i;

	/* Freed slots rest until there are many of them, so that generations are used up slowly. */
	if (first_free && n_slots == capacity) {
		i = first_free - 1;
		first_free = slots[i].next_free;
		if (!first_free)
			last_free = 0;
		return i;
	}
	if (n_slots == capacity) {
		struct handle_slot *more;

		capacity = capacity ? capacity * 2 : 1024;
		more = capacity > LOW_20 + 1 ? NULL : realloc(slots, capacity * sizeof(*slots));
		if (!more)
			abort();
		slots = more;
	}
	i = n_slots++;
	slots[i] = (struct handle_slot){ 0 };
	return i;
}

static void *handle_of(uint32_t i)
{
	return (void *)((uintptr_t)slots[i].kind << KIND_SHIFT |
			(uintptr_t)slots[i].generation << GENERATION_SHIFT |
			(uintptr_t)i << SLOT_SHIFT);
}

void *sim_handle_new(enum sim_kind kind, void *object)
{
	uint32_t i = new_slot();
	struct handle_slot *p = &slots[i];

	p->object = object;
	p->lost = false;
	p->kind = kind;
	p->generation = (p->generation + 1) & LOW_20;
	return handle_of(i);
}

/* The slot that a handle was made for, free or not. */
static struct handle_slot *find_slot(const void *handle)
{
	uintptr_t bits = (uintptr_t)handle;
	uint32_t i = bits >> SLOT_SHIFT & LOW_20;
	struct handle_slot *p;

	if (bits & ((1 << SLOT_SHIFT) - 1) || i >= n_slots)
		return NULL;
	p = &slots[i];
	if (p->generation != (bits >> GENERATION_SHIFT & LOW_20) ||
	    (uintptr_t)p->kind != bits >> KIND_SHIFT)
		return NULL;
	return p;
}

static struct handle_slot *find(const void *handle)
{
	struct handle_slot *p = find_slot(handle);

	return p && p->object ? p : NULL;
}

void *sim_handle_get(enum sim_kind kind, const void *handle)
{
	struct handle_slot *p = find(handle);

	return p && p->kind == kind ? p->object : NULL;
}

void sim_handle_free(const void *handle)
{
	struct handle_slot *p = find(handle);
	uint32_t i = (uint32_t)(p - slots);

	p->object = NULL;
	p->next_free = 0;
	if (last_free)
		slots[last_free - 1].next_free = i + 1;
	else
		first_free = i + 1;
	last_free = i + 1;
}

void sim_handle_lose(const void *handle)
{
	find(handle)->lost = true;
	sim_handle_free(handle);
}

bool sim_handle_is_lost(enum sim_kind kind, const void *handle)
{
	struct handle_slot *p = find_slot(handle);

	return p && p->kind == kind && !p->object && p->lost;
}

void sim_handle_each(enum sim_kind kind, void (*take)(void *handle, void *object, void *arg),
		     void *arg)
{
	for (uint32_t i = 0; i < n_slots; i++)
		if (slots[i].object && slots[i].kind == kind)
			take(handle_of(i), slots[i].object, arg);
}
