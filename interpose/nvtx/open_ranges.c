/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nvtx/open_ranges.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/clear.h"
#include "interpose/nvtx/marker_names.h"
#include "interpose/recorder.h"
#include "trace/mix.h"

/* size: threads with ranges open at the same time, looked for in so many entries; a process has a
 * thread for each GPU, and workers. Half full, 1 in 20 finds no space (NVTX_FULL). */
#define THREADS 64u
#define PROBES 8u
#define DEPTH 6u    /* size: ranges of one thread that mark steps: step, forward, backward ... */
#define STARTED 64u /* size: in all threads, and seldom used for steps */

_Static_assert(sizeof(((struct ct_nvtx_rec *)0)->name) == CT_MARKER_NAME_BYTES, "a name fits");

struct open_range {
	uint64_t begin_ns;
	const void *domain;
	uint32_t above; /* other ranges that were pushed on the same stack after it */
	char name[CT_MARKER_NAME_BYTES];
};

_Atomic uint32_t ct_ranges_pushed;

static struct pusher {
	_Atomic uintptr_t thread; /* the address of its ct_self, 0 free; what follows is its own */
	uint32_t n;
	struct open_range ranges[DEPTH];
} pushers[THREADS];

#define BUSY 1u /* code: being filled or read. Ids are larger */
static struct started_range {
	_Atomic uint64_t id; /* 0 free; stored (release) when the rest is there */
	struct open_range range;
} started[STARTED];
static _Atomic uint64_t starts;

void ct_ranges_reset(void)
{
	ct_clear(pushers, sizeof(pushers));
	ct_clear(started, sizeof(started));
	atomic_store_explicit(&ct_ranges_pushed, 0, memory_order_relaxed);
}

void ct_ranges_lose(void)
{
	if (ct_guard_is_on())
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_NVTX_FULL, 1);
}

static void set_range(struct open_range *range, const void *domain, const char *name)
{
	size_t len = strnlen(name, CT_MARKER_NAME_BYTES - 1);

	range->begin_ns = ct_now_ns();
	range->domain = domain;
	range->above = 0;
	memset(range->name, 0, sizeof(range->name));
	memcpy(range->name, name, len);
}

/* Within a recorded call (a callback of its library) the lane is in use: lost. */
static void record(const struct open_range *range, uint64_t end_ns, uint32_t how)
{
	struct ct_nvtx_rec rec = { .begin_ns = range->begin_ns, .end_ns = end_ns, .how = how };

	if (!ct_guard_is_on())
		return;
	if (!ct_guard_enter(CT_CALL_DATA)) {
		ct_ranges_lose();
		return;
	}
	rec.tid = ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid);
	memcpy(rec.name, range->name, sizeof(rec.name));
	ct_recorder_rare(CT_KIND_NVTX, &rec);
	ct_guard_leave();
}

/* ---- pushed ---- */

static uint32_t slot_of(uintptr_t thread, uint32_t probe)
{
	return (ct_mix_slot(thread, 24) + probe) % THREADS;
}

static struct pusher *find_own(void)
{
	uintptr_t self = (uintptr_t)&ct_self;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct pusher *p = &pushers[slot_of(self, i)];

		if (atomic_load_explicit(&p->thread, memory_order_relaxed) == self)
			return p;
	}
	return NULL;
}

/* Its own entry, or a free one. */
static struct pusher *get_own(void)
{
	uintptr_t self = (uintptr_t)&ct_self;
	struct pusher *own = find_own();

	for (uint32_t i = 0; i < PROBES && !own; i++) {
		struct pusher *p = &pushers[slot_of(self, i)];
		uintptr_t none = 0;

		/* acquire: pairs with the release of its last owner */
		if (!atomic_load_explicit(&p->thread, memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(
			    &p->thread, &none, self, memory_order_acquire, memory_order_relaxed)) {
			p->n = 0;
			own = p;
		}
	}
	return own;
}

/* Nothing of it is open any more. */
static void release(struct pusher *own)
{
	own->n = 0;
	atomic_store_explicit(&own->thread, 0, memory_order_release);
}

/* The one on top of a domain's stack, NULL: none. */
static struct open_range *top_of(struct pusher *own, const void *domain)
{
	for (uint32_t i = own->n; i > 0; i--)
		if (own->ranges[i - 1].domain == domain)
			return &own->ranges[i - 1];
	return NULL;
}

void ct_range_push(const void *domain, const char *name)
{
	uint32_t gate = ct_guard_gate();
	struct pusher *own;

	if (!(gate & CT_GATE_ON))
		return;
	/* What a thread leaves open is forgotten at its end, for which it has to be known. */
	if (ct_self.gate != gate)
		ct_guard_slow(gate, CT_CALL_DATA);
	own = get_own();
	if (!own || own->n == DEPTH) {
		ct_range_push_other(domain);
		ct_ranges_lose();
		return;
	}
	set_range(&own->ranges[own->n], domain, name);
	own->n++;
	atomic_fetch_add_explicit(&ct_ranges_pushed, 1, memory_order_relaxed);
}

void ct_range_push_other(const void *domain)
{
	struct pusher *own = find_own();
	struct open_range *top = own ? top_of(own, domain) : NULL;

	if (top)
		top->above++;
}

void ct_range_pop(const void *domain)
{
	struct pusher *own = find_own();
	struct open_range *top = own ? top_of(own, domain) : NULL;
	struct open_range range;
	uint64_t end_ns;

	if (!top)
		return;
	if (top->above) {
		top->above--;
		return;
	}
	end_ns = ct_now_ns();
	range = *top;
	memmove(top, top + 1, (size_t)(&own->ranges[own->n] - (top + 1)) * sizeof(*top));
	if (--own->n == 0)
		release(own);
	atomic_fetch_sub_explicit(&ct_ranges_pushed, 1, memory_order_relaxed);
	record(&range, end_ns, CT_NVTX_PUSHED);
}

void ct_ranges_thread_end(void)
{
	struct pusher *own = find_own();

	if (!own)
		return;
	atomic_fetch_sub_explicit(&ct_ranges_pushed, own->n, memory_order_relaxed);
	release(own);
}

/* ---- started ---- */

uint64_t ct_range_start(const char *name)
{
	if (!ct_guard_is_on())
		return 0;
	for (uint32_t i = 0; i < STARTED; i++) {
		struct started_range *s = &started[i];
		uint64_t id = 0;

		if (atomic_load_explicit(&s->id, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong_explicit(
			    &s->id, &id, BUSY, memory_order_acquire, memory_order_relaxed))
			continue;
		set_range(&s->range, NULL, name);
		id = (atomic_fetch_add_explicit(&starts, 1, memory_order_relaxed) + 1) * STARTED +
		     i;
		atomic_store_explicit(&s->id, id, memory_order_release);
		return id;
	}
	ct_ranges_lose();
	return 0;
}

void ct_range_end(uint64_t id)
{
	struct started_range *s = &started[id % STARTED];
	uint64_t held = id, end_ns;
	struct open_range range;

	if (id < STARTED || !ct_guard_is_on())
		return;
	end_ns = ct_now_ns();
	if (!atomic_compare_exchange_strong_explicit(&s->id, &held, BUSY, memory_order_acquire,
						     memory_order_relaxed))
		return;
	range = s->range;
	atomic_store_explicit(&s->id, 0, memory_order_release);
	record(&range, end_ns, CT_NVTX_STARTED);
}

void ct_range_mark(const char *name)
{
	struct open_range range;

	if (!ct_guard_is_on())
		return;
	set_range(&range, NULL, name);
	record(&range, range.begin_ns, CT_NVTX_MARK);
}

void ct_range_mark_step(uint64_t step, uint64_t samples)
{
	struct ct_step_mark mark = { CT_STEP_MARK_NAME, step, samples };
	struct open_range range = { .begin_ns = 0 };

	if (!ct_guard_is_on())
		return;
	range.begin_ns = ct_now_ns();
	memcpy(range.name, &mark, sizeof(range.name));
	record(&range, range.begin_ns, CT_NVTX_STEP);
}
