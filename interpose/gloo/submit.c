/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gloo/submit.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/clear.h"
#include "interpose/gloo/gloo.h"
#include "interpose/recorder.h"
#include "trace/mix.h"

/* size: works that are queued: a training step has hundreds at most. Half full, 1 in 2,000 finds no
 * space. */
#define QUEUED 1024u
#define PROBES 32u
/* size: threads that carry out works: torch makes two for each process group. */
#define CARRIED 256u

#define BUSY 1 /* code: no work or thread block is at this address */

_Static_assert(sizeof(struct ct_submit_rec) == 56, "fills words 1..7");

static struct queued {
	_Atomic uintptr_t work; /* 0: free */
	struct ct_submitted what;
} queue[QUEUED];

/* Filled and read by its thread alone. */
static struct carried {
	_Atomic uintptr_t thread; /* 0: free; the address of its ct_self */
	struct ct_submitted what;
} carry[CARRIED];

_Atomic uint32_t ct_gloo_carried;

void ct_gloo_submit_init(void)
{
	ct_clear(queue, sizeof(queue));
	ct_clear(carry, sizeof(carry));
	atomic_store_explicit(&ct_gloo_carried, 0, memory_order_relaxed);
}

static uint64_t slot_of(uintptr_t key)
{
	return ct_mix_slot(key, 24);
}

/* Make the entry one's own if it holds `held`. */
static int claim_entry(_Atomic uintptr_t *key, uintptr_t held)
{
	return atomic_load_explicit(key, memory_order_relaxed) == held &&
	       atomic_compare_exchange_strong_explicit(key, &held, BUSY, memory_order_acquire,
						       memory_order_relaxed);
}

static uint32_t own_tid(void)
{
	return ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid);
}

/* A work that was queued and never carried out may have had the same address. */
static void put(uintptr_t work, const void *caller)
{
	const struct ct_submitted what = { ct_now_ns(), own_tid(), ct_site_of(caller) };
	uint64_t at = slot_of(work);

	for (int again = 1; again >= 0; again--) {
		for (uint32_t i = 0; i < PROBES; i++) {
			struct queued *q = &queue[(at + i) % QUEUED];

			if (!claim_entry(&q->work, again ? work : 0))
				continue;
			q->what = what;
			/* release: pairs with the acquire of the thread that takes it */
			atomic_store_explicit(&q->work, work, memory_order_release);
			return;
		}
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
}

static int get(uintptr_t work, struct ct_submitted *what)
{
	uint64_t at = slot_of(work);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct queued *q = &queue[(at + i) % QUEUED];

		if (!claim_entry(&q->work, work))
			continue;
		*what = q->what;
		atomic_store_explicit(&q->work, 0, memory_order_release);
		return 1;
	}
	return 0;
}

static uintptr_t own_key(void)
{
	return (uintptr_t)&ct_self;
}

static struct carried *find_own(void)
{
	uint64_t at = slot_of(own_key());

	for (uint32_t i = 0; i < CARRIED; i++) {
		struct carried *c = &carry[(at + i) % CARRIED];

		if (atomic_load_explicit(&c->thread, memory_order_relaxed) == own_key())
			return c;
	}
	return NULL;
}

/* This thread runs `work` from now on. NULL: unknown work, or no space. */
static struct carried *begin_carrying(uintptr_t work)
{
	uint64_t at = slot_of(own_key());
	struct ct_submitted what;

	if (!get(work, &what))
		return NULL;
	for (uint32_t i = 0; i < CARRIED; i++) {
		struct carried *c = &carry[(at + i) % CARRIED];

		if (!claim_entry(&c->thread, 0))
			continue;
		c->what = what;
		atomic_store_explicit(&c->thread, own_key(), memory_order_release);
		atomic_fetch_add_explicit(&ct_gloo_carried, 1, memory_order_relaxed);
		return c;
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
	return NULL;
}

static void end(struct carried *c)
{
	if (!c)
		return;
	atomic_fetch_sub_explicit(&ct_gloo_carried, 1, memory_order_relaxed);
	atomic_store_explicit(&c->thread, 0, memory_order_release);
}

struct ct_submitted ct_gloo_submitted(void)
{
	const struct carried *c = find_own();

	return c ? c->what : (struct ct_submitted){ 0, 0, 0 };
}

uint32_t ct_gloo_submit_record(uint32_t comm, uint64_t seq)
{
	struct ct_submitted what = ct_gloo_submitted();
	const struct ct_submit_rec rec = {
		.comm = comm, .tid = what.tid, .seq = seq, .submit_ns = what.at_ns
	};

	if (!what.at_ns)
		return 0;
	ct_recorder_rare(CT_KIND_SUBMIT, &rec);
	ct_self.caller = NULL; /* not from here, whether it is known from where or not */
	return what.site;
}

_Atomic uint32_t ct_gloo_heard;
static _Atomic uintptr_t unheard;

uintptr_t ct_gloo_unheard(void)
{
	return atomic_load_explicit(&unheard, memory_order_relaxed);
}

/* A process group connects before it carries out anything. If no call of that came by, none will:
 * recording begins all the same, to say so. */
static __attribute__((noinline)) void note_silence(uintptr_t execute)
{
	if (ct_guard_enter(CT_CALL_DATA)) {
		atomic_store_explicit(&unheard, execute, memory_order_relaxed);
		ct_guard_leave();
		ct_recorder_wake();
	}
}

/* `work` is a c10::intrusive_ptr by invisible reference: the caller's, whose only word is the
 * work's address. */
typedef void (*enqueue_fn)(void *group, void *const *work);

#define GLOO_CALL_SUBMIT(symbol, name)                                                             \
	void ct_gloo_##name(void *group, void *const *work) __asm__(symbol) CT_EXPORT;             \
	void ct_gloo_##name(void *group, void *const *work)                                        \
	{                                                                                          \
		enqueue_fn next = (enqueue_fn)CT_GLOO_NEXT(ct_gloo_##name, symbol);                \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		if (ct_guard_is_on() && *work)                                                     \
			put((uintptr_t)*work, __builtin_return_address(0));                        \
		next(group, work);                                                                 \
	}

/* It catches what the work throws. */
typedef void (*execute_fn)(void *const *work);

#define GLOO_CALL_EXECUTE(symbol, name)                                                            \
	void ct_gloo_##name(void *const *work) __asm__(symbol) CT_EXPORT;                          \
	void ct_gloo_##name(void *const *work)                                                     \
	{                                                                                          \
		execute_fn next = (execute_fn)CT_GLOO_NEXT(ct_gloo_##name, symbol);                \
		struct carried *mine = NULL;                                                       \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		if (ct_guard_is_on() && *work)                                                     \
			mine = begin_carrying((uintptr_t)*work);                                   \
		next(work);                                                                        \
		end(mine);                                                                         \
		if (!atomic_load_explicit(&ct_gloo_heard, memory_order_relaxed) &&                 \
		    !ct_gloo_unheard())                                                            \
			note_silence((uintptr_t)next);                                             \
	}
#include "interpose/gloo/gloo_calls.def"
