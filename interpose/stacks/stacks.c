/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/stacks.h"

#include <stdatomic.h>
#include <string.h>

#include "interpose/environ/environ.h"
#include "interpose/recorder.h"
#include "interpose/stacks/callers.h"
#include "interpose/stacks/look.h"
#include "interpose/stacks/stall.h"
#include "interpose/threads.h"

#define SECOND_NS 1000000000ull
#define LONGEST_NS (600 * SECOND_NS) /* between two looks at the same standstill */
#define MOST_LOOKS 256u
#define STUCK_NS (10 * SECOND_NS) /* a look takes a small part of a second */

enum phase { NOBODY_LOOKS, LOOKS, HAS_LOOKED };

static struct ct_stacks_options options;
static _Atomic uint32_t phase; /* HAS_LOOKED: `under_way` is the write thread's again */
static _Atomic uint32_t alone; /* 1: no thread is started any more */
static _Atomic uint64_t cpu_ns;
static struct ct_look under_way, latest; /* of who looks; of the write thread */

/* The write thread's. */
static struct {
	uint64_t asked_at, begun_at, looked_at, since_ns;
	uint32_t looks;	   /* in all */
	uint32_t of_stall; /* at this standstill */
	int told_stuck;
} watch;

void ct_stacks_reset(const struct ct_stacks_options *wanted)
{
	options = *wanted;
	atomic_store(&phase, NOBODY_LOOKS);
	atomic_store(&alone, 0);
	atomic_store(&cpu_ns, 0);
	memset(&watch, 0, sizeof(watch));
	latest.n = latest.take = 0;
	ct_callers_reset();
	ct_stall_reset();
}

void ct_stacks_alone(void)
{
	atomic_store(&alone, 1);
}

uint64_t ct_stacks_cpu_ns(void)
{
	return atomic_load_explicit(&cpu_ns, memory_order_relaxed);
}

static void look(void)
{
	ct_look_take(&under_way);
	/* release: pairs with the write thread's look at it */
	atomic_store_explicit(&phase, HAS_LOOKED, memory_order_release);
}

static void *look_alone(void *unused)
{
	(void)unused;
	look();
	atomic_fetch_add_explicit(&cpu_ns, ct_thread_cpu_ns(), memory_order_relaxed);
	ct_recorder_wake();
	return NULL;
}

static void begin_look(const struct ct_stall *stall, uint64_t now)
{
	under_way.since_ns = stall->since_ns;
	under_way.why = stall->why;
	under_way.take = ++watch.looks;
	under_way.with_python = options.with_python;
	watch.begun_at = watch.looked_at = now;
	watch.of_stall++;
	atomic_store_explicit(&phase, LOOKS, memory_order_relaxed);
	if (atomic_load_explicit(&alone, memory_order_relaxed) ||
	    ct_thread_start(look_alone, NULL) != 0)
		look();
}

/* The first look when something has stood still for so long, then twice as long after each one. */
static int is_time(const struct ct_stall *stall, uint64_t now)
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

static void serve_look(uint64_t now)
{
	struct ct_stall stall;
	uint64_t often = options.hang_after_ns / 4 < SECOND_NS ? options.hang_after_ns / 4
							       : SECOND_NS;

	if (now - watch.asked_at < often)
		return;
	watch.asked_at = now;
	if (ct_stall_find(&stall, options.hang_after_ns, now) && is_time(&stall, now))
		begin_look(&stall, now);
}

int ct_stacks_serve(uint64_t now)
{
	if (!options.is_on)
		return 0;
	if (atomic_load_explicit(&phase, memory_order_relaxed) == NOBODY_LOOKS)
		serve_look(now);
	/* acquire: what the look wrote */
	switch (atomic_load_explicit(&phase, memory_order_acquire)) {
	case HAS_LOOKED:
		latest = under_way;
		atomic_store_explicit(&phase, NOBODY_LOOKS, memory_order_relaxed);
		return latest.n != 0;
	case LOOKS:
		if (now - watch.begun_at > STUCK_NS && !watch.told_stuck) {
			watch.told_stuck = 1;
			ct_environ_watch("stacks_stuck",
					 "looking at this process's threads does not come back");
		}
		break;
	}
	return 0;
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
