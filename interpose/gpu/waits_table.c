/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/waits_table.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/recorder.h"

#define STREAMS 512u
#define EVENTS 8192u
#define PROBES 16u
/* About 20 us: far longer than any running thread holds the lock. */
#define TRIES 2000u

/* In place of a handle: free after removal. */
#define LEFT ((uintptr_t)-1)

struct stream {
	struct ct_waits_key key; /* handle 0: never used */
	uintptr_t context;	 /* of its launches */
	uint32_t serial;
	uint32_t number; /* as in records, 0 not known */
	uint32_t offset; /* of its count of launches to theirs: others had the handle before */
	struct ct_waits_launches *launches; /* NULL: none */
	uint32_t host_count, host_launch;   /* up to which the host has waited */
	uint32_t gaps;			    /* that there had been at its last wait */
	uint8_t named;			    /* by a call of the program */
	uint8_t is_fed;			    /* has waited for another stream */
	uint8_t told;			    /* 1 named, 2 fed */
	uint8_t others; /* waits for other work than communication, since its last one for communication */
	struct ct_waits_clock clock;
};

struct event {
	uintptr_t handle; /* 0: never used */
	uint32_t serial;  /* of the stream that it was recorded on */
	uint32_t number;
	uint32_t is_direct; /* the stream had launched */
	struct ct_waits_clock clock;
};

static struct tables {
	struct stream streams[STREAMS];
	struct event events[EVENTS];
	uint32_t serials;
	uint32_t host_gaps;
} * tables;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic uint32_t gaps; /* how often something was not noted */

int ct_waits_table_init(void)
{
	atomic_flag_clear(&lock);
	atomic_store_explicit(&gaps, 0, memory_order_relaxed);
	tables = mmap(NULL, sizeof(*tables), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (tables != MAP_FAILED)
		return CT_OK;
	tables = NULL;
	return CT_NOMEM;
}

static void lose(void)
{
	atomic_fetch_add_explicit(&gaps, 1, memory_order_relaxed);
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_WAITS_FULL, 1);
}

/* 0: its holder does not run. */
static int enter(void)
{
	if (!tables)
		return 0;
	for (uint32_t i = 0; i < TRIES; i++)
		if (!atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
			return 1;
	lose();
	return 0;
}

static void leave(void)
{
	atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* ---- entries; all with the lock held ---------------------------------------------------------------------- */

static uint32_t place(uintptr_t handle, uintptr_t whose)
{
	return (uint32_t)((handle ^ whose) * 0x9e3779b97f4a7c15ull >> 40);
}

static struct stream *find_stream(const struct ct_waits_key *key, struct stream **room)
{
	uint32_t at = place(key->handle, key->whose);

	*room = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct stream *s = &tables->streams[(at + i) % STREAMS];

		if (s->key.handle == key->handle && s->key.whose == key->whose)
			return s;
		if ((!s->key.handle || s->key.handle == LEFT) && !*room)
			*room = s;
		if (!s->key.handle)
			break;
	}
	return NULL;
}

/* NULL: there is no room. */
static struct stream *get_stream(const struct ct_waits_key *key)
{
	struct stream *room;
	struct stream *s = find_stream(key, &room);

	if (s || !room) {
		if (!s)
			lose();
		return s;
	}
	memset(room, 0, sizeof(*room));
	room->key = *key;
	room->serial = ++tables->serials;
	room->gaps = atomic_load_explicit(&gaps, memory_order_relaxed);
	return room;
}

static struct event *find_event(uintptr_t handle, struct event **room)
{
	uint32_t at = place(handle, 0);

	*room = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct event *e = &tables->events[(at + i) % EVENTS];

		if (e->handle == handle)
			return e;
		if ((!e->handle || e->handle == LEFT) && !*room)
			*room = e;
		if (!e->handle)
			break;
	}
	return NULL;
}

static struct ct_waits_on *find_on(struct ct_waits_clock *clock, uint32_t source)
{
	for (uint32_t i = 0; i < clock->n; i++)
		if (clock->at[i].source == source)
			return &clock->at[i];
	return NULL;
}

/* The stream that one of its launches is on, if it still is. */
static struct stream *source_of(const struct ct_waits_on *on)
{
	struct stream *s = &tables->streams[on->slot];

	return s->serial == on->source && s->key.handle != LEFT ? s : NULL;
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

static uint64_t last_of(const struct stream *s)
{
	return s->launches ? atomic_load_explicit(&s->launches->last, memory_order_relaxed) : 0;
}

static uint32_t count_of(const struct stream *s)
{
	return s->launches ? (uint32_t)(last_of(s) >> 32) + s->offset : 0;
}

/* Something about it is new: its next launch reports it. */
static void call_in(const struct stream *s)
{
	if (s->launches)
		atomic_store_explicit(&s->launches->known, 0, memory_order_relaxed);
}

/* One that a call of the program names. */
static struct stream *name_stream(const struct ct_waits_key *key)
{
	struct stream *s = get_stream(key);

	if (s && !s->named) {
		s->named = 1;
		call_in(s);
	}
	return s;
}

static uint32_t slot_of(const struct stream *s)
{
	return (uint32_t)(s - tables->streams);
}

/* All that is behind a stream: what it waited for, and its own launches. */
static void copy_clock(struct ct_waits_clock *clock, struct stream *s)
{
	uint32_t count = count_of(s);

	*clock = s->clock;
	if (count)
		*add_on(clock, s->serial) = (struct ct_waits_on){ s->serial, slot_of(s), count,
								  (uint32_t)last_of(s) };
}

/* ---- launches and events ----------------------------------------------------------------------------------- */

uint32_t ct_waits_launched(const struct ct_waits_key *key, uint32_t number, uintptr_t context,
			   struct ct_waits_launches *launches)
{
	struct stream *s;
	uint32_t flags = 0;
	uint8_t tells;

	if (!enter())
		return 0;
	s = get_stream(key);
	if (s) {
		s->number = number;
		s->context = context;
		if (s->launches != launches) {
			uint32_t count = count_of(s) + 1;

			s->launches = launches;
			s->offset = 0;
			s->offset = count - count_of(s);
		}
		atomic_store_explicit(&launches->known, 1, memory_order_relaxed);
		tells = s->named ? (uint8_t)(1 + s->is_fed) : 0;
		if (tells > s->told)
			flags = CT_WAIT_STREAM | (s->is_fed ? CT_WAIT_FED : 0);
		s->told = tells;
	}
	leave();
	return flags;
}

int ct_waits_recorded(const struct ct_waits_key *key, uintptr_t event, int captured)
{
	struct stream *s;
	struct event *e, *room;
	int ask = 0;

	if (!enter())
		return 0;
	s = name_stream(key);
	e = find_event(event, &room);
	ask = s && captured < 0 && (s->launches || s->clock.n);
	if (!ask && (!s || captured > 0)) {
		if (e)
			e->handle = LEFT;
	} else if (!ask && (e || room)) {
		e = e ? e : room;
		e->handle = event;
		e->serial = s->serial;
		e->number = s->number;
		e->is_direct = s->launches != NULL;
		copy_clock(&e->clock, s);
	} else if (!ask) {
		lose();
	}
	leave();
	return ask;
}

void ct_waits_event_gone(uintptr_t event)
{
	struct event *e, *room;

	if (!enter())
		return;
	e = find_event(event, &room);
	if (e)
		e->handle = LEFT;
	leave();
}

void ct_waits_stream_gone(const struct ct_waits_key *key)
{
	struct stream *s, *room;

	if (!enter())
		return;
	s = find_stream(key, &room);
	if (s) {
		call_in(s);
		s->key.handle = LEFT;
	}
	leave();
}

/* ---- waits -------------------------------------------------------------------------------------------------- */

/* What of `theirs` is ahead of `own` (NULL: of what the host has waited for). */
static void compare(struct ct_waits_clock *own, uint32_t self, struct ct_waits_clock *theirs,
		    struct ct_waits_new *found)
{
	for (uint32_t i = 0; i < theirs->n; i++) {
		const struct ct_waits_on *on = &theirs->at[i];
		const struct ct_waits_on *had = own ? find_on(own, on->source) : NULL;
		const struct stream *source = source_of(on);
		uint32_t count = had ? had->count : 0;
		uint32_t launch = had ? had->launch : 0;

		if (!own && source) {
			count = source->host_count;
			launch = source->host_launch;
		}
		if (on->source == self || on->count <= count)
			continue;
		found->after[found->n] = launch;
		found->on[found->n++] = *on;
	}
}

uint32_t ct_waits_look(const struct ct_waits_key *key, uintptr_t event, struct ct_waits_new *found)
{
	struct stream *s;
	struct event *e, *room;

	found->n = found->flags = 0;
	if (!enter())
		return 0;
	s = name_stream(key);
	e = find_event(event, &room);
	if (s && !s->is_fed && !(e && e->serial == s->serial)) {
		s->is_fed = 1; /* also by who recorded it behind our back */
		call_in(s);
	}
	if (s && e) {
		found->via = e->number;
		found->is_direct = (int)e->is_direct;
		compare(&s->clock, s->serial, &e->clock, found);
		found->flags = (s->gaps != atomic_load_explicit(&gaps, memory_order_relaxed)
					? CT_WAIT_GAP
					: 0) |
			       (s->others ? CT_WAIT_OTHERS : 0) |
			       (s->launches ? CT_WAIT_LAUNCHES : 0);
		s->others |= !found->n && e->serial != s->serial;
	}
	leave();
	return found->n;
}

void ct_waits_merge(const struct ct_waits_key *key, uint32_t number,
		    const struct ct_waits_new *found)
{
	struct stream *s;

	if (!enter())
		return;
	s = get_stream(key);
	for (uint32_t i = 0; s && i < found->n; i++)
		*add_on(&s->clock, found->on[i].source) = found->on[i];
	if (s) {
		s->others = 0;
		s->gaps = atomic_load_explicit(&gaps, memory_order_relaxed);
		if (number)
			s->number = number;
	}
	leave();
}

static uint32_t host_gap(void)
{
	uint32_t now = atomic_load_explicit(&gaps, memory_order_relaxed);
	uint32_t flags = tables->host_gaps != now ? CT_WAIT_GAP : 0;

	tables->host_gaps = now;
	return flags | CT_WAIT_HOST;
}

uint32_t ct_waits_look_event(uintptr_t event, struct ct_waits_new *found)
{
	struct event *e, *room;

	found->n = found->flags = 0;
	if (!enter())
		return 0;
	e = find_event(event, &room);
	if (e) {
		found->via = e->number;
		found->flags = host_gap();
		compare(NULL, 0, &e->clock, found);
	}
	leave();
	return found->n;
}

uint32_t ct_waits_look_stream(const struct ct_waits_key *key, struct ct_waits_new *found)
{
	struct ct_waits_clock clock;
	struct stream *s;

	found->n = found->flags = 0;
	if (!enter())
		return 0;
	s = name_stream(key);
	if (s) {
		found->via = s->number;
		found->flags = host_gap();
		copy_clock(&clock, s);
		compare(NULL, 0, &clock, found);
	}
	leave();
	return found->n;
}

uint32_t ct_waits_look_device(uintptr_t context, struct ct_waits_new *found)
{
	found->n = found->flags = found->via = 0;
	if (!enter())
		return 0;
	found->flags = host_gap() | CT_WAIT_DEVICE;
	for (uint32_t i = 0; i < STREAMS && found->n < CT_WAITS_CLOCK; i++) {
		struct stream *s = &tables->streams[i];

		if (!s->key.handle || s->key.handle == LEFT || s->context != context ||
		    count_of(s) <= s->host_count)
			continue;
		found->after[found->n] = s->host_launch;
		found->on[found->n++] = (struct ct_waits_on){ s->serial, i, count_of(s),
							      (uint32_t)last_of(s) };
	}
	leave();
	return found->n;
}

void ct_waits_host_has(const struct ct_waits_new *found)
{
	if (!enter())
		return;
	for (uint32_t i = 0; i < found->n; i++) {
		struct stream *s = source_of(&found->on[i]);

		if (s && s->host_count < found->on[i].count) {
			s->host_count = found->on[i].count;
			s->host_launch = found->on[i].launch;
		}
	}
	leave();
}
