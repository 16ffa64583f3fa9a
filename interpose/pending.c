/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/pending.h"

#include <stddef.h>

#include "interpose/recorder.h"
#include "trace/mix.h"
#include "trace/pages.h"

/* size: transfers that were not waited for; four of five slots taken, 1 in 10 finds none, and
 * its end is not recorded (OPEN_TABLE_FULL). */
#define ENTRIES 1024u
#define PROBES 64u

enum { KEY_FREE = 0, KEY_BUSY = 2 }; /* no object is at address 2 */

static struct entry {
	_Atomic uintptr_t key;	 /* object | direction */
	_Atomic uint32_t launch; /* of what.launch, to find the oldest without taking it */
	struct ct_ring_open *open;
	struct ct_pending what;
} * entries;
static _Atomic uint32_t n_pending;

int ct_pending_init(void)
{
	void *map = ct_pages_map(ENTRIES * sizeof(*entries));

	if (!map)
		return CT_NOMEM;
	entries = map;
	atomic_store_explicit(&n_pending, 0, memory_order_relaxed);
	return CT_OK;
}

uint32_t ct_pending_count(void)
{
	return atomic_load_explicit(&n_pending, memory_order_relaxed);
}

static uintptr_t key_of(const void *object, enum ct_direction direction)
{
	return (uintptr_t)object | (uintptr_t)direction; /* objects are aligned */
}

static struct entry *probe(uintptr_t key, uint32_t i)
{
	return &entries[(ct_mix_slot(key, 24) + i) % ENTRIES];
}

int ct_pending_add(const void *object, enum ct_direction direction,
		   const struct ct_pending *pending)
{
	uintptr_t key = key_of(object, direction);
	const uint64_t words[8] = {
		[1] = pending->enter_ns,
		[2] = pending->enter_ns,
		[3] = (uint64_t)pending->comm << 32 | 1u << 8 | pending->op,
		[4] = pending->seq,
		[6] = (uint64_t)pending->tag << 32 | (uint32_t)pending->peer,
		[7] = pending->bytes,
	};

	for (uint32_t i = 0; i < PROBES; i++) {
		struct entry *e = probe(key, i);
		uintptr_t held = KEY_FREE;

		if (atomic_load_explicit(&e->key, memory_order_relaxed) != KEY_FREE ||
		    !atomic_compare_exchange_strong_explicit(
			    &e->key, &held, KEY_BUSY, memory_order_acquire, memory_order_relaxed))
			continue;
		e->what = *pending;
		e->open = ct_ring_open_add(&ct_recorder.ring, pending->launch, words);
		atomic_store_explicit(&e->launch, pending->launch, memory_order_relaxed);
		atomic_fetch_add_explicit(&n_pending, 1, memory_order_relaxed);
		/* release: pairs with the acquire of the thread that takes it */
		atomic_store_explicit(&e->key, key, memory_order_release);
		return 1;
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
	return 0;
}

/* The oldest one with this key, NULL if there is none; *launch is its launch. */
static struct entry *find_oldest(uintptr_t key, uint32_t *launch)
{
	struct entry *oldest = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct entry *e = probe(key, i);
		uint32_t id;

		if (atomic_load_explicit(&e->key, memory_order_acquire) != key)
			continue;
		id = atomic_load_explicit(&e->launch, memory_order_relaxed);
		if (!oldest || (int32_t)(id - *launch) < 0) {
			oldest = e;
			*launch = id;
		}
	}
	return oldest;
}

/* Mark it as this thread's. 0 if another thread took it meanwhile: it may be in use again, for a
 * later launch. */
static int claim_entry(struct entry *e, uintptr_t key, uint32_t launch)
{
	uintptr_t held = key;

	if (!atomic_compare_exchange_strong_explicit(&e->key, &held, KEY_BUSY, memory_order_acquire,
						     memory_order_relaxed))
		return 0;
	if (atomic_load_explicit(&e->launch, memory_order_relaxed) == launch)
		return 1;
	/* release: as in ct_pending_add() */
	atomic_store_explicit(&e->key, key, memory_order_release);
	return 0;
}

int ct_pending_take(const void *object, enum ct_direction direction, struct ct_pending *pending)
{
	uintptr_t key = key_of(object, direction);
	struct entry *e;
	uint32_t launch = 0;

	do {
		e = ct_pending_count() ? find_oldest(key, &launch) : NULL;
		if (!e)
			return 0;
	} while (!claim_entry(e, key, launch)); /* another thread took that one: it got on */
	*pending = e->what;
	if (e->open)
		ct_ring_open_remove(e->open);
	atomic_fetch_sub_explicit(&n_pending, 1, memory_order_relaxed);
	atomic_store_explicit(&e->key, KEY_FREE, memory_order_release);
	return 1;
}

void ct_pending_close(const struct ct_pending *pending, uint64_t end_ns, int result)
{
	const struct ct_launch launch = {
		.start_ns = pending->enter_ns,
		.end_ns = end_ns,
		.id = pending->launch,
		.comm = pending->comm,
		.n_ops = 1,
		.result = (int16_t)result,
		.start_source = CT_SOURCE_CALL,
		.end_source = end_ns ? CT_SOURCE_WAIT : CT_SOURCE_NONE,
	};

	ct_recorder_launch(&launch);
}
