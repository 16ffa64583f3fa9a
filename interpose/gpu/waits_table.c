/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/waits_table.h"

#include <stdatomic.h>
#include <string.h>

#include "interpose/recorder.h"
#include "trace/mix.h"
#include "trace/pages.h"

/* size: programs have tens of streams and some thousand events, used again and again. Half full, 1
 * in 100 finds no space (WAITS_FULL). */
#define STREAMS 512u
#define EVENTS 8192u
#define PROBES 16u
/* size: about 20 us: far longer than any running thread holds a lock. */
#define TRIES 2000u

/* code: instead of a handle: free after removal. */
#define LEFT ((uintptr_t)-1)

/* Atomic, with relaxed order, is what is also read without the entry's lock. */
struct waits_stream {
	_Atomic uintptr_t handle; /* 0: never used */
	_Atomic uintptr_t whose;
	_Atomic uintptr_t context; /* of its launches */
	_Atomic uint32_t serial;
	uint32_t number; /* as in records, 0 not known */
	uint32_t offset; /* of its count of launches to theirs: others had the handle before */
	uint32_t gaps;	 /* that there had been at its last wait */
	struct ct_waits_launches *launches; /* NULL: none */
	_Atomic uint64_t
		host; /* up to which the host has waited: the count << 32, and the launch */
	atomic_flag lock;
	uint8_t named;	  /* by a call of the program */
	uint8_t is_fed;	  /* has waited for another stream */
	uint8_t reported; /* 1 named, 2 fed */
	uint8_t others;	  /* waits for other work than communication, since its last one for
			     communication */
	struct ct_waits_clock clock;
};

struct waits_event {
	_Atomic uintptr_t handle; /* 0: never used */
	uint32_t serial;	  /* of the stream that it was recorded on */
	uint32_t number;
	atomic_flag lock;
	uint8_t is_direct; /* the stream had launched */
	struct ct_waits_clock clock;
};

/* Zero is a free lock, as gcc and clang have it. */
static struct waits_tables {
	struct waits_stream streams[STREAMS];
	struct waits_event events[EVENTS];
	atomic_flag adding; /* a stream: one thread at a time, so that none is there twice */
	uint32_t serials;   /* with `adding` */
	_Atomic uint32_t host_gaps;
} * tables;
static _Atomic uint32_t gaps; /* how often something was not noted */

int ct_waits_table_init(void)
{
	atomic_store_explicit(&gaps, 0, memory_order_relaxed);
	tables = ct_pages_map(sizeof(*tables));
	if (tables)
		return CT_OK;
	tables = NULL;
	return CT_NOMEM;
}

static void lose(void)
{
	atomic_fetch_add_explicit(&gaps, 1, memory_order_relaxed);
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_WAITS_FULL, 1);
}

/* 0: its holder does not run. Acquire: pairs with leave() of the holder before. */
static int enter(atomic_flag *lock)
{
	for (uint32_t i = 0; i < TRIES; i++)
		if (!atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
			return 1;
	lose();
	return 0;
}

static void leave(atomic_flag *lock)
{
	atomic_flag_clear_explicit(lock, memory_order_release);
}

/* ---- entries
 * ------------------------------------------------------------------------------------------------ */

static uint32_t home_of(uintptr_t handle, uintptr_t whose)
{
	return ct_mix_slot(handle ^ whose, 24);
}

/* Acquire: pairs with the release of add_stream(), for `whose`. */
static int is_stream(const struct waits_stream *s, const struct ct_waits_key *key)
{
	return atomic_load_explicit(&s->handle, memory_order_acquire) == key->handle &&
	       atomic_load_explicit(&s->whose, memory_order_relaxed) == key->whose;
}

/* Without a lock: it may be gone, or another's, when that is held. */
static struct waits_stream *find_stream(const struct ct_waits_key *key,
					struct waits_stream **free_slot)
{
	uint32_t at = home_of(key->handle, key->whose);

	*free_slot = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct waits_stream *s = &tables->streams[(at + i) % STREAMS];
		uintptr_t handle = atomic_load_explicit(&s->handle, memory_order_relaxed);

		if (is_stream(s, key))
			return s;
		if ((!handle || handle == LEFT) && !*free_slot)
			*free_slot = s;
		if (!handle)
			break;
	}
	return NULL;
}

/* Locked. NULL: it is not there, or its holder does not run. */
static struct waits_stream *enter_stream(const struct ct_waits_key *key)
{
	struct waits_stream *free_slot;
	struct waits_stream *s = tables ? find_stream(key, &free_slot) : NULL;

	if (!s || !enter(&s->lock))
		return NULL;
	if (is_stream(s, key))
		return s;
	leave(&s->lock);
	return NULL;
}

/* With `adding` held, so that no other thread takes the free slot. Its lock: a thread may still
 * have the stream that was there. */
static void add_stream(struct waits_stream *s, const struct ct_waits_key *key)
{
	if (!enter(&s->lock))
		return;
	atomic_store_explicit(&s->whose, key->whose, memory_order_relaxed);
	atomic_store_explicit(&s->context, 0, memory_order_relaxed);
	atomic_store_explicit(&s->serial, ++tables->serials, memory_order_relaxed);
	atomic_store_explicit(&s->host, 0, memory_order_relaxed);
	s->number = s->offset = 0;
	s->launches = NULL;
	s->named = s->is_fed = s->reported = s->others = 0;
	s->clock.n = 0;
	s->gaps = atomic_load_explicit(&gaps, memory_order_relaxed);
	atomic_store_explicit(&s->handle, key->handle, memory_order_release);
	leave(&s->lock);
}

/* The same, and it is added. NULL also if there is no space, which is counted. */
static struct waits_stream *get_stream(const struct ct_waits_key *key)
{
	struct waits_stream *s, *free_slot;

	if (!tables)
		return NULL;
	if (!find_stream(key, &free_slot)) {
		if (!enter(&tables->adding))
			return NULL;
		s = find_stream(key, &free_slot);
		if (!s && free_slot)
			add_stream(free_slot, key);
		else if (!s)
			lose();
		leave(&tables->adding);
		if (!s && !free_slot)
			return NULL;
	}
	return enter_stream(key);
}

static struct waits_event *find_event(uintptr_t handle, struct waits_event **free_slot)
{
	uint32_t at = home_of(handle, 0);

	*free_slot = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct waits_event *e = &tables->events[(at + i) % EVENTS];
		uintptr_t had = atomic_load_explicit(&e->handle, memory_order_relaxed);

		if (had == handle)
			return e;
		if ((!had || had == LEFT) && !*free_slot)
			*free_slot = e;
		if (!had)
			break;
	}
	return NULL;
}

/* Locked. NULL: it is not there, or its holder does not run. */
static struct waits_event *enter_event(uintptr_t handle)
{
	struct waits_event *free_slot;
	struct waits_event *e = tables ? find_event(handle, &free_slot) : NULL;

	if (!e || !enter(&e->lock))
		return NULL;
	if (atomic_load_explicit(&e->handle, memory_order_relaxed) == handle)
		return e;
	leave(&e->lock);
	return NULL;
}

/* The same, and it is added. NULL also if there is no space, which is counted. */
static struct waits_event *get_event(uintptr_t handle)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct waits_event *free_slot;
		struct waits_event *e = find_event(handle, &free_slot);
		uintptr_t had;

		e = e ? e : free_slot;
		if (!e)
			break;
		if (!enter(&e->lock))
			return NULL;
		had = atomic_load_explicit(&e->handle, memory_order_relaxed);
		if (!had || had == LEFT)
			atomic_store_explicit(&e->handle, handle, memory_order_relaxed);
		if (!had || had == LEFT || had == handle)
			return e;
		/* another thread took the slot for its event */
		leave(&e->lock);
	}
	lose();
	return NULL;
}

static struct ct_waits_on *find_on(struct ct_waits_clock *clock, uint32_t source)
{
	for (uint32_t i = 0; i < clock->n; i++)
		if (clock->at[i].source == source)
			return &clock->at[i];
	return NULL;
}

/* The stream that one of its launches is on, if it still is; not locked. */
static struct waits_stream *source_of(const struct ct_waits_on *on)
{
	struct waits_stream *s = &tables->streams[on->slot];

	return atomic_load_explicit(&s->serial, memory_order_relaxed) == on->source &&
			       atomic_load_explicit(&s->handle, memory_order_relaxed) != LEFT
		       ? s
		       : NULL;
}

/* In a full clock an entry whose stream is gone is replaced, or the first one. */
static struct ct_waits_on *add_on(struct ct_waits_clock *clock, uint32_t source)
{
	struct ct_waits_on *on = find_on(clock, source);

	if (on)
		return on;
	if (clock->n < CT_WAITS_CLOCK)
		return &clock->at[clock->n++];
	for (uint32_t i = 0; i < clock->n; i++)
		if (!source_of(&clock->at[i]))
			return &clock->at[i];
	lose();
	return &clock->at[0];
}

/* Of a locked stream, like all that follows. */
static uint64_t last_of(const struct waits_stream *s)
{
	return s->launches ? atomic_load_explicit(&s->launches->last, memory_order_relaxed) : 0;
}

static uint32_t count_of(const struct waits_stream *s)
{
	return s->launches ? (uint32_t)(last_of(s) >> 32) + s->offset : 0;
}

/* Something about it is new: its next launch reports it. */
static void call_in(const struct waits_stream *s)
{
	if (s->launches)
		atomic_store_explicit(&s->launches->known, 0, memory_order_relaxed);
}

/* One that a call of the program names. */
static struct waits_stream *name_stream(const struct ct_waits_key *key)
{
	struct waits_stream *s = get_stream(key);

	if (s && !s->named) {
		s->named = 1;
		call_in(s);
	}
	return s;
}

static uint32_t slot_of(const struct waits_stream *s)
{
	return (uint32_t)(s - tables->streams);
}

/* All that is behind a stream: what it waited for, and its own launches. */
static void copy_clock(struct ct_waits_clock *clock, struct waits_stream *s)
{
	uint32_t count = count_of(s);

	*clock = s->clock;
	if (count)
		*add_on(clock, s->serial) = (struct ct_waits_on){ s->serial, slot_of(s), count,
								  (uint32_t)last_of(s) };
}

/* ---- launches and events
 * ----------------------------------------------------------------------------------- */

int ct_waits_launched(const struct ct_waits_key *key, uint32_t number, uintptr_t context,
		      struct ct_waits_launches *launches, struct ct_stream_rec *rec)
{
	struct waits_stream *s = get_stream(key);
	uint8_t reports;
	int is_new;

	if (!s)
		return 0;
	s->number = number;
	atomic_store_explicit(&s->context, context, memory_order_relaxed);
	if (s->launches != launches) {
		uint32_t count = count_of(s) + 1;

		s->launches = launches;
		s->offset = 0;
		s->offset = count - count_of(s);
	}
	atomic_store_explicit(&launches->known, 1, memory_order_relaxed);
	reports = s->named ? (uint8_t)(1 + s->is_fed) : 0;
	is_new = reports > s->reported;
	*rec = (struct ct_stream_rec){ .stream = number, .flags = s->is_fed ? CT_STREAM_FED : 0 };
	s->reported = reports;
	leave(&s->lock);
	return is_new;
}

static void forget(uintptr_t event)
{
	struct waits_event *e = enter_event(event);

	if (!e)
		return;
	atomic_store_explicit(&e->handle, LEFT, memory_order_relaxed);
	leave(&e->lock);
}

int ct_waits_recorded(const struct ct_waits_key *key, uintptr_t event, int captured)
{
	struct waits_stream *s = name_stream(key);
	struct waits_event *e;
	int ask = s && captured < 0 && (s->launches || s->clock.n);

	if (!ask && (!s || captured > 0)) {
		forget(event);
	} else if (!ask && (e = get_event(event))) {
		e->serial = atomic_load_explicit(&s->serial, memory_order_relaxed);
		e->number = s->number;
		e->is_direct = s->launches != NULL;
		copy_clock(&e->clock, s);
		leave(&e->lock);
	}
	if (s)
		leave(&s->lock);
	return ask;
}

void ct_waits_event_gone(uintptr_t event)
{
	forget(event);
}

void ct_waits_stream_gone(const struct ct_waits_key *key)
{
	struct waits_stream *s = enter_stream(key);

	if (!s)
		return;
	call_in(s);
	atomic_store_explicit(&s->handle, LEFT, memory_order_relaxed);
	leave(&s->lock);
}

/* ---- waits
 * --------------------------------------------------------------------------------------------------
 */

/* What of `theirs` is ahead of `own` (NULL: of what the host has waited for). */
static void compare(struct ct_waits_clock *own, uint32_t self, struct ct_waits_clock *theirs,
		    struct ct_waits_new *found)
{
	for (uint32_t i = 0; i < theirs->n; i++) {
		const struct ct_waits_on *on = &theirs->at[i];
		const struct ct_waits_on *had = own ? find_on(own, on->source) : NULL;
		const struct waits_stream *source = source_of(on);
		uint32_t count = had ? had->count : 0;
		uint32_t launch = had ? had->launch : 0;

		if (!own && source) {
			uint64_t host = atomic_load_explicit(&source->host, memory_order_relaxed);

			count = (uint32_t)(host >> 32);
			launch = (uint32_t)host;
		}
		if (on->source == self || on->count <= count)
			continue;
		found->after[found->n] = launch;
		found->on[found->n++] = *on;
	}
}

uint32_t ct_waits_look(const struct ct_waits_key *key, uintptr_t event, struct ct_waits_new *found)
{
	struct waits_stream *s = name_stream(key);
	struct waits_event *e = enter_event(event);
	uint32_t serial = s ? atomic_load_explicit(&s->serial, memory_order_relaxed) : 0;

	found->n = found->flags = 0;
	if (s && !s->is_fed && !(e && e->serial == serial)) {
		s->is_fed = 1; /* also by a thread that recorded it unseen */
		call_in(s);
	}
	if (s && e) {
		found->via = e->number;
		found->is_direct = e->is_direct;
		compare(&s->clock, serial, &e->clock, found);
		found->flags = (s->gaps != atomic_load_explicit(&gaps, memory_order_relaxed)
					? CT_WAIT_GAP
					: 0) |
			       (s->others ? CT_WAIT_OTHERS : 0) |
			       (s->launches ? CT_WAIT_LAUNCHES : 0);
		s->others |= !found->n && e->serial != serial;
	}
	if (e)
		leave(&e->lock);
	if (s)
		leave(&s->lock);
	return found->n;
}

void ct_waits_merge(const struct ct_waits_key *key, uint32_t number,
		    const struct ct_waits_new *found)
{
	struct waits_stream *s = get_stream(key);

	if (!s)
		return;
	for (uint32_t i = 0; i < found->n; i++)
		*add_on(&s->clock, found->on[i].source) = found->on[i];
	s->others = 0;
	s->gaps = atomic_load_explicit(&gaps, memory_order_relaxed);
	if (number)
		s->number = number;
	leave(&s->lock);
}

static uint32_t host_gap(void)
{
	uint32_t now = atomic_load_explicit(&gaps, memory_order_relaxed);
	uint32_t had = atomic_exchange_explicit(&tables->host_gaps, now, memory_order_relaxed);

	return (had != now ? CT_WAIT_GAP : 0) | CT_WAIT_HOST;
}

uint32_t ct_waits_look_event(uintptr_t event, struct ct_waits_new *found)
{
	struct waits_event *e = enter_event(event);

	found->n = found->flags = 0;
	if (!e)
		return 0;
	found->via = e->number;
	found->flags = host_gap();
	compare(NULL, 0, &e->clock, found);
	leave(&e->lock);
	return found->n;
}

uint32_t ct_waits_look_stream(const struct ct_waits_key *key, struct ct_waits_new *found)
{
	struct waits_stream *s = name_stream(key);
	struct ct_waits_clock clock;

	found->n = found->flags = 0;
	if (!s)
		return 0;
	found->via = s->number;
	found->flags = host_gap();
	copy_clock(&clock, s);
	compare(NULL, 0, &clock, found);
	leave(&s->lock);
	return found->n;
}

/* What was launched on a locked stream, if the host has not waited for it. */
static void look_launches(const struct waits_stream *s, struct ct_waits_new *found)
{
	uint64_t host = atomic_load_explicit(&s->host, memory_order_relaxed);

	if (count_of(s) <= (uint32_t)(host >> 32))
		return;
	found->after[found->n] = (uint32_t)host;
	found->on[found->n++] = (struct ct_waits_on){
		atomic_load_explicit(&s->serial, memory_order_relaxed), slot_of(s), count_of(s),
		(uint32_t)last_of(s)
	};
}

static int is_in(const struct waits_stream *s, uintptr_t context)
{
	uintptr_t handle = atomic_load_explicit(&s->handle, memory_order_relaxed);

	return handle && handle != LEFT &&
	       atomic_load_explicit(&s->context, memory_order_relaxed) == context;
}

uint32_t ct_waits_look_device(uintptr_t context, struct ct_waits_new *found)
{
	found->n = found->flags = found->via = 0;
	if (!tables)
		return 0;
	found->flags = host_gap() | CT_WAIT_DEVICE;
	for (uint32_t i = 0; i < STREAMS && found->n < CT_WAITS_CLOCK; i++) {
		struct waits_stream *s = &tables->streams[i];

		if (!is_in(s, context) || !enter(&s->lock))
			continue;
		if (is_in(s, context))
			look_launches(s, found);
		leave(&s->lock);
	}
	return found->n;
}

void ct_waits_host_has(const struct ct_waits_new *found)
{
	for (uint32_t i = 0; i < found->n; i++) {
		const struct ct_waits_on *on = &found->on[i];
		struct waits_stream *s = source_of(on);

		if (!s || !enter(&s->lock))
			continue;
		/* another thread of the host may have waited for more */
		if (source_of(on) &&
		    atomic_load_explicit(&s->host, memory_order_relaxed) >> 32 < on->count)
			atomic_store_explicit(&s->host, (uint64_t)on->count << 32 | on->launch,
					      memory_order_relaxed);
		leave(&s->lock);
	}
}
