/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/profiler/handle.h"

#include "interpose/gpu/profiled.h"
#include "interpose/recorder.h"
#include "trace/pages.h"

/* size: eight for each entry of the largest open table: a launch has several tasks. Without a free
 * one of 64 in a row the event is counted (PLUGIN_FULL). */
#define ENTRIES 8192u
#define TRIES 64u

/* code: a handle: the number of the entry's use in the upper half; in the lower its number + 1 and
 * these. */
#define CHANNEL (1ull << 30)
#define NO_ENTRY (1ull << 31)
#define NUMBER 0xffffull

struct handle_entry {
	_Atomic uint32_t use;  /* uses << 1 | is taken */
	_Atomic uint32_t what; /* kind | op << 8 | alone << 16 | has_seq << 24 */
	_Atomic uint32_t comm, comm_id, launch, profiled, left;
	_Atomic uint64_t seq, enter_ns, return_ns;
	_Atomic(struct ct_slot *) slot;
};
_Static_assert(sizeof(struct handle_entry) == 64, "a cache line");

static struct handle_entry *pool;
static _Atomic uint32_t next;
static _Atomic uint32_t uniques;

int ct_profiler_handles_init(void)
{
	void *map = ct_pages_map(ENTRIES * sizeof(*pool));

	if (!map)
		return CT_NOMEM;
	pool = map;
	return CT_OK;
}

static struct handle_entry *entry_of(const void *handle)
{
	uint64_t number = (uint64_t)(uintptr_t)handle & NUMBER;

	if (!pool || !number || number > ENTRIES || (uint64_t)(uintptr_t)handle & NO_ENTRY)
		return NULL;
	return &pool[number - 1];
}

static uint32_t use_of(const void *handle)
{
	return (uint32_t)((uint64_t)(uintptr_t)handle >> 32);
}

static uint32_t load(const _Atomic uint32_t *word)
{
	return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)word, memory_order_relaxed);
}

static uint64_t load64(const _Atomic uint64_t *word)
{
	return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)word, memory_order_relaxed);
}

/* A task waits for its kernel's channels, which may never be reported. */
static int is_over(const struct handle_entry *e)
{
	return (load(&e->what) & 0xff) == CT_PROFILER_TASK && load(&e->profiled) &&
	       !ct_gpu_profiled_is_open(load(&e->profiled), load(&e->launch));
}

static struct handle_entry *take_entry(uint32_t *use)
{
	for (uint32_t tries = 0; tries < TRIES; tries++) {
		uint32_t n = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % ENTRIES;
		struct handle_entry *e = &pool[n];
		uint32_t was = atomic_load_explicit(&e->use, memory_order_relaxed);

		if (was & 1 && !is_over(e))
			continue;
		*use = (was | 1) + 2;
		/* acquire: what is written now comes after it */
		if (atomic_compare_exchange_strong_explicit(
			    &e->use, &was, *use, memory_order_acq_rel, memory_order_relaxed))
			return e;
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_PLUGIN_FULL, 1);
	return NULL;
}

void *ct_profiler_handle_take(const struct ct_profiler_says *s)
{
	uint32_t use;
	struct handle_entry *e = take_entry(&use);

	if (!e)
		return NULL;
	/* a reader of a word of this use does not find the last one confirmed afterwards */
	atomic_thread_fence(memory_order_release);
#define SET(field, value) atomic_store_explicit(&e->field, value, memory_order_relaxed)
	SET(what, (uint32_t)s->kind | (uint32_t)s->op << 8 | (uint32_t)s->alone << 16 |
			  (uint32_t)s->has_seq << 24);
	SET(comm, s->comm);
	SET(comm_id, s->comm_id);
	SET(launch, s->launch);
	SET(profiled, s->profiled);
	SET(left, s->left);
	SET(seq, s->seq);
	SET(enter_ns, s->enter_ns);
	SET(return_ns, s->return_ns);
	SET(slot, s->slot);
#undef SET
	return (void *)(uintptr_t)((uint64_t)(use >> 1) << 32 | (uint64_t)(e - pool + 1));
}

static int is_same_use(const struct handle_entry *e, const void *handle)
{
	return (load(&e->use) >> 1) == use_of(handle);
}

int ct_profiler_handle_read(const void *handle, struct ct_profiler_says *s)
{
	const struct handle_entry *e = entry_of(handle);
	uint32_t what;

	if (!e || !is_same_use(e, handle))
		return 0;
	what = load(&e->what);
	s->kind = (uint8_t)what;
	s->op = (uint8_t)(what >> 8);
	s->alone = (uint8_t)(what >> 16);
	s->has_seq = (uint8_t)(what >> 24);
	s->comm = load(&e->comm);
	s->comm_id = load(&e->comm_id);
	s->launch = load(&e->launch);
	s->profiled = load(&e->profiled);
	s->left = load(&e->left);
	s->seq = load64(&e->seq);
	s->enter_ns = load64(&e->enter_ns);
	s->return_ns = load64(&e->return_ns);
	s->slot = NULL;
	atomic_thread_fence(memory_order_acquire);
	return is_same_use(e, handle);
}

void ct_profiler_handle_give(const void *handle)
{
	struct handle_entry *e = entry_of(handle);
	uint32_t taken = use_of(handle) << 1 | 1;

	if (e)
		atomic_compare_exchange_strong_explicit(&e->use, &taken, taken & ~1u,
							memory_order_release, memory_order_relaxed);
}

struct ct_slot *ct_profiler_handle_slot(const void *handle)
{
	struct handle_entry *e = entry_of(handle);

	if (!e || load(&e->use) != (use_of(handle) << 1 | 1))
		return NULL;
	return atomic_exchange_explicit(&e->slot, NULL, memory_order_relaxed);
}

void ct_profiler_handle_returned(const void *handle, uint64_t now_ns)
{
	struct handle_entry *e = entry_of(handle);
	uint64_t not_yet = 0;

	if (e && load(&e->use) == (use_of(handle) << 1 | 1))
		atomic_compare_exchange_strong_explicit(&e->return_ns, &not_yet, now_ns,
							memory_order_relaxed, memory_order_relaxed);
}

uint32_t ct_profiler_handle_less(const void *handle)
{
	struct handle_entry *e = entry_of(handle);
	uint32_t left = e ? load(&e->left) : 0;

	do {
		if (!left)
			return UINT32_MAX; /* more channels than were announced */
	} while (!atomic_compare_exchange_weak_explicit(
		&e->left, &left, left - 1, memory_order_relaxed, memory_order_relaxed));
	return left - 1;
}

void *ct_profiler_handle_unique(void)
{
	uint32_t n = atomic_fetch_add_explicit(&uniques, 1, memory_order_relaxed);

	return (void *)(uintptr_t)((uint64_t)n << 32 | NO_ENTRY | 1);
}

void *ct_profiler_handle_channel(const void *task)
{
	return (void *)(uintptr_t)((uint64_t)(uintptr_t)task | CHANNEL);
}

int ct_profiler_handle_is_channel(const void *handle)
{
	return ((uint64_t)(uintptr_t)handle & CHANNEL) != 0;
}
