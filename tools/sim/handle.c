/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/handle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/sim/enter.h"

/* kind, generation and place: 3, 20 and 20 bits, and 4 that are 0 as in an address. */
#define PLACE_SHIFT 4
#define GENERATION_SHIFT 24
#define KIND_SHIFT 44
#define LOW_20 0xfffffu

struct handle_slot {
	void *object;
	uint32_t generation;
	uint32_t next_free; /* place + 1; 0 is the last */
	enum sim_kind kind;
	bool lost;
};

static struct handle_slot *places;
static uint32_t n_places, capacity;
static uint32_t first_free, last_free; /* place + 1 */

static uint32_t new_place(void)
{
	uint32_t i;

	/* Freed places rest until there are many of them, so that generations are used up slowly. */
	if (first_free && n_places == capacity) {
		i = first_free - 1;
		first_free = places[i].next_free;
		if (!first_free)
			last_free = 0;
		return i;
	}
	if (n_places == capacity) {
		struct handle_slot *more;

		capacity = capacity ? capacity * 2 : 1024;
		more = capacity > LOW_20 + 1 ? NULL : realloc(places, capacity * sizeof(*places));
		if (!more)
			abort();
		places = more;
	}
	i = n_places++;
	places[i] = (struct handle_slot){ 0 };
	return i;
}

static void *handle_of(uint32_t i)
{
	return (void *)((uintptr_t)places[i].kind << KIND_SHIFT |
			(uintptr_t)places[i].generation << GENERATION_SHIFT |
			(uintptr_t)i << PLACE_SHIFT);
}

void *sim_handle_new(enum sim_kind kind, void *object)
{
	uint32_t i = new_place();
	struct handle_slot *p = &places[i];

	p->object = object;
	p->lost = false;
	p->kind = kind;
	p->generation = (p->generation + 1) & LOW_20;
	return handle_of(i);
}

/* The place that a handle was made for, free or not. */
static struct handle_slot *find_place(const void *handle)
{
	uintptr_t bits = (uintptr_t)handle;
	uint32_t i = bits >> PLACE_SHIFT & LOW_20;
	struct handle_slot *p;

	if (bits & ((1 << PLACE_SHIFT) - 1) || i >= n_places)
		return NULL;
	p = &places[i];
	if (p->generation != (bits >> GENERATION_SHIFT & LOW_20) ||
	    (uintptr_t)p->kind != bits >> KIND_SHIFT)
		return NULL;
	return p;
}

static struct handle_slot *find(const void *handle)
{
	struct handle_slot *p = find_place(handle);

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
	uint32_t i = (uint32_t)(p - places);

	p->object = NULL;
	p->next_free = 0;
	if (last_free)
		places[last_free - 1].next_free = i + 1;
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
	struct handle_slot *p = find_place(handle);

	return p && p->kind == kind && !p->object && p->lost;
}

void sim_handle_each(enum sim_kind kind, void (*take)(void *handle, void *object, void *arg),
		     void *arg)
{
	for (uint32_t i = 0; i < n_places; i++)
		if (places[i].object && places[i].kind == kind)
			take(handle_of(i), places[i].object, arg);
}
