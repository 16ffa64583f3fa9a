/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/runtime/syncs.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/recorder.h"
#include "trace/mix.h"

/* size: a thread keeps its slot. Without one a wait is on record only when it has returned: with
 * half of the slots taken 1 thread in 30. */
#define SYNCS 512u
#define PROBES 8u
/* tuning: waits of healthy steps are shorter and cost one record; the others cost two. */
#define LASTS_NS 500000000u
#define RECORDED (1ull << 63) /* code: in a time, which does not need the bit */

struct ct_sync {
	_Atomic uintptr_t thread;  /* its owner from now on; 0: none */
	_Atomic uint64_t enter_ns; /* 0: not inside; with RECORDED: its begin is on record. The
				      thread, and by compare-and-swap the beat thread, which may
				      trust the words below if that works */
	_Atomic uint32_t tid;	   /* of that thread */
	_Atomic uint64_t what;	   /* string id of the call's name << 32 | stream */
	_Atomic uint32_t site;
	const void *frame; /* the thread's own */
};

static struct ct_sync syncs[SYNCS];
static _Atomic uint32_t n_taken;

void ct_syncs_init(void)
{
	if (atomic_load_explicit(&n_taken, memory_order_relaxed))
		memset(syncs, 0, sizeof(syncs));
	atomic_store_explicit(&n_taken, 0, memory_order_relaxed);
}

/* Live threads differ in it. That of a dead one comes again, and with it its slots. */
static uintptr_t me(void)
{
	return (uintptr_t)&ct_self;
}

/* Its call was left by longjmp: the stack is above it. */
static int is_left(const struct ct_sync *s, const void *frame)
{
	return (uintptr_t)s->frame <= (uintptr_t)frame;
}

static int is_mine(struct ct_sync *s)
{
	uintptr_t none = 0;

	if (atomic_load_explicit(&s->thread, memory_order_relaxed) == me())
		return 1;
	if (atomic_load_explicit(&s->thread, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong_explicit(&s->thread, &none, me(), memory_order_relaxed,
						     memory_order_relaxed))
		return 0;
	atomic_fetch_add_explicit(&n_taken, 1, memory_order_relaxed);
	return 1;
}

static uint32_t my_tid(void)
{
	return ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid);
}

/* A free one of this thread. One that it is inside is another call's, which a signal has
 * interrupted. */
static struct ct_sync *free_sync(const void *frame)
{
	uint32_t at = ct_mix_slot(me(), 24);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ct_sync *s = &syncs[(at + i) % SYNCS];

		if (is_mine(s) && (!atomic_load_explicit(&s->enter_ns, memory_order_relaxed) ||
				   is_left(s, frame)))
			return s;
	}
	return NULL;
}

struct ct_sync *ct_sync_begin(uint32_t call, uint64_t enter_ns, uint32_t stream, uint32_t site,
			      const void *frame)
{
	struct ct_sync *s = free_sync(frame);

	if (!s)
		return NULL;
	atomic_store_explicit(&s->tid, my_tid(), memory_order_relaxed);
	atomic_store_explicit(&s->what, (uint64_t)call << 32 | stream, memory_order_relaxed);
	atomic_store_explicit(&s->site, site, memory_order_relaxed);
	s->frame = frame;
	/* release: pairs with the acquire in ct_syncs_look() */
	atomic_store_explicit(&s->enter_ns, enter_ns, memory_order_release);
	return s;
}

int ct_sync_end(struct ct_sync *s)
{
	return s && atomic_exchange_explicit(&s->enter_ns, 0, memory_order_acq_rel) & RECORDED;
}

static struct ct_host_rec rec_of(const struct ct_sync *sync, uint64_t enter_ns)
{
	struct ct_sync *s = (struct ct_sync *)(uintptr_t)sync; /* C11: atomics are not const */
	uint64_t what = atomic_load_explicit(&s->what, memory_order_relaxed);

	return (struct ct_host_rec){
		.enter_ns = enter_ns,
		.tid = atomic_load_explicit(&s->tid, memory_order_relaxed),
		.call = (uint32_t)(what >> 32),
		.nranks = (uint32_t)what,
		.rank = -1,
	};
}

void ct_sync_record(const struct ct_sync *sync, uint64_t enter_ns, int result)
{
	struct ct_host_rec rec = rec_of(sync, enter_ns);

	rec.return_ns = ct_now_ns();
	rec.result = result;
	ct_recorder_rare(CT_KIND_HOST_END, &rec);
}

/* A thread that was cancelled in it, or that has left it by longjmp and ended. No signal is sent. */
static int lives(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

static void look_at_sync(struct ct_sync *s, uint64_t now_ns)
{
	uint64_t enter_ns = atomic_load_explicit(&s->enter_ns, memory_order_acquire);
	uint64_t was = enter_ns;
	struct ct_host_rec rec;

	if (!enter_ns || enter_ns & RECORDED || now_ns < enter_ns || now_ns - enter_ns < LASTS_NS)
		return;
	rec = rec_of(s, enter_ns);
	if (!lives(rec.tid))
		return;
	rec.result = (int32_t)atomic_load_explicit(&s->site, memory_order_relaxed);
	if (atomic_compare_exchange_strong_explicit(&s->enter_ns, &was, enter_ns | RECORDED,
						    memory_order_acq_rel, memory_order_relaxed))
		ct_recorder_rare(CT_KIND_HOST_BEGIN, &rec);
}

void ct_syncs_look(uint64_t now_ns)
{
	uint32_t n = atomic_load_explicit(&n_taken, memory_order_relaxed);

	for (uint32_t i = 0; i < SYNCS && n; i++) {
		if (!atomic_load_explicit(&syncs[i].thread, memory_order_relaxed))
			continue;
		look_at_sync(&syncs[i], now_ns);
		n--;
	}
}
