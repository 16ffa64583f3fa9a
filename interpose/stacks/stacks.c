/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/stacks.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "interpose/account.h"
#include "interpose/recorder.h"
#include "interpose/stacks/callers.h"
#include "interpose/stacks/look.h"
#include "interpose/stacks/stall.h"
#include "interpose/threads.h"
#include "trace/clock.h"
#include "trace/ring_stacks.h"

/* size: between two looks at the same standstill: a job that hangs over night adds 6 an hour. */
#define LONGEST_NS (600 * CT_SECOND_NS)
#define MOST_LOOKS 256u /* size: of a process, 24 MB of segments at most */

static struct ct_stacks_options options;

/* The thread's. */
static struct ct_look under_way;
static struct {
	uint64_t looked_at, since_ns;
	uint32_t looks;	   /* in all */
	uint32_t of_stall; /* at this standstill */
} watch;

/* 1: `handed` is the write thread's, else it is the watching thread's. */
static _Atomic uint32_t is_handed;
static struct ct_look handed;

static struct ct_look latest; /* the write thread's */

void ct_stacks_reset(const struct ct_stacks_options *wanted)
{
	options = *wanted;
	atomic_store_explicit(&is_handed, 0, memory_order_relaxed);
	memset(&watch, 0, sizeof(watch));
	latest.n = latest.take = 0;
	ct_callers_reset();
	ct_stall_reset();
}

/* ---- the watching thread ---- */

static void put_into_ring(int again)
{
	ct_ring_stacks_put(&ct_recorder.ring, under_way.bytes, under_way.len, under_way.n, again);
}

/* If the write thread has not taken the last one, it is stuck, and the ring has to do. */
static void hand_over(void)
{
	/* acquire: it has read it; release: it finds it whole */
	if (!under_way.n || atomic_load_explicit(&is_handed, memory_order_acquire))
		return;
	handed = under_way;
	atomic_store_explicit(&is_handed, 1, memory_order_release);
	ct_recorder_wake();
}

/* First without files: these may be on a file system that does not respond. */
static void take_stacks(const struct ct_stalled_call *stall, uint64_t now)
{
	under_way.since_ns = stall->since_ns;
	under_way.why = stall->why;
	under_way.take = ++watch.looks;
	under_way.with_python = options.with_python;
	watch.looked_at = now;
	watch.of_stall++;
	for (int names = 0; names < 2; names++) {
		under_way.with_names = names;
		ct_look_take(&under_way);
		put_into_ring(names);
	}
	hand_over();
}

/* The first sample after a stall of this length, then twice as long after each one. */
static int is_time(const struct ct_stalled_call *stall, uint64_t now)
{
	uint64_t wait = options.hang_after_ns;

	if (stall->since_ns != watch.since_ns) {
		watch.since_ns = stall->since_ns;
		watch.of_stall = 0;
	}
	for (uint32_t i = 1; i < watch.of_stall && wait < LONGEST_NS; i++)
		wait *= 2;
	wait = wait < LONGEST_NS ? wait : LONGEST_NS;
	return watch.looks < MOST_LOOKS && (!watch.looked_at || now - watch.looked_at >= wait);
}

static void *watch_on(void *arg)
{
	uint64_t often = options.hang_after_ns / 4 < CT_SECOND_NS ? options.hang_after_ns / 4
								  : CT_SECOND_NS;
	const struct timespec t = { .tv_sec = (time_t)(often / CT_SECOND_NS),
				    .tv_nsec = (long)(often % CT_SECOND_NS) };
	uint32_t epoch = (uint32_t)(uintptr_t)arg;

	ct_thread_settle();
	for (;;) {
		uint32_t gate = ct_guard_gate();
		uint64_t now = ct_now_ns();
		struct ct_stalled_call stall;

		if (gate >> CT_GATE_EPOCH_SHIFT != epoch || CT_GATE_STATE(gate) == CT_GATE_OFF)
			return NULL;
		if (gate & CT_GATE_ON && ct_stall_find(&stall, options.hang_after_ns, now) &&
		    is_time(&stall, now))
			take_stacks(&stall, now);
		ct_account_note(CT_OURS_STACKS);
		nanosleep(&t, NULL);
	}
}

int ct_stacks_start(void)
{
	if (!options.is_on)
		return 0;
	return ct_thread_start(watch_on,
			       (void *)(uintptr_t)(ct_guard_gate() >> CT_GATE_EPOCH_SHIFT));
}

/* ---- the write thread ---- */

int ct_stacks_serve(void)
{
	if (!atomic_load_explicit(&is_handed, memory_order_acquire))
		return 0;
	latest = handed;
	atomic_store_explicit(&is_handed, 0, memory_order_release);
	return 1;
}

int ct_stacks_add(uint32_t *seen, struct ct_block *block, int all)
{
	const uint8_t *at = latest.bytes;

	if (!latest.n || (*seen == latest.take && !all))
		return CT_OK;
	for (uint32_t i = 0; i < latest.n; i++) {
		int st = ct_block_add_rare(block, CT_KIND_STACK, at, latest.len[i]);

		if (st != CT_OK)
			return st;
		at += latest.len[i];
	}
	*seen = latest.take;
	return CT_OK;
}
