/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/callers.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/clear.h"
#include "interpose/environ/peek.h"
#include "interpose/guard.h"
#include "interpose/hash.h"
#include "interpose/threads.h"

/* A thread takes a free entry by its id, then says where its block is. */
static struct caller_entry {
	_Atomic uint32_t tid;
	_Atomic uintptr_t block; /* struct ct_thread; 0 not yet */
} entries[CT_CALLERS];

void ct_callers_reset(void)
{
	ct_clear(entries, sizeof(entries));
}

void ct_callers_join(void)
{
	int saved = errno;
	uint32_t me = (uint32_t)syscall(SYS_gettid);

	for (unsigned i = 0; i < CT_CALLERS; i++) {
		uint32_t free_one = 0;

		if (atomic_load_explicit(&entries[i].tid, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong_explicit(&entries[i].tid, &free_one, me,
							     memory_order_relaxed,
							     memory_order_relaxed))
			continue;
		atomic_store_explicit(&entries[i].block, (uintptr_t)&ct_self, memory_order_release);
		break;
	}
	errno = saved;
}

void ct_callers_leave(void)
{
	for (unsigned i = 0; i < CT_CALLERS; i++) {
		if (atomic_load_explicit(&entries[i].block, memory_order_relaxed) !=
		    (uintptr_t)&ct_self)
			continue;
		atomic_store_explicit(&entries[i].block, 0, memory_order_relaxed);
		/* release: the thread that takes the entry finds it empty */
		atomic_store_explicit(&entries[i].tid, 0, memory_order_release);
	}
}

/* It has ended without saying so, or its memory is another's now. */
static void free_entry(struct caller_entry *entry, uint32_t tid, uintptr_t block)
{
	if (ct_thread_lives(tid))
		return;
	if (atomic_compare_exchange_strong_explicit(&entry->block, &block, 0, memory_order_acq_rel,
						    memory_order_acquire))
		atomic_compare_exchange_strong_explicit(&entry->tid, &tid, 0, memory_order_release,
							memory_order_relaxed);
}

uint32_t ct_callers_read(struct ct_caller *callers, uint32_t room)
{
	uint32_t gate = ct_guard_gate();
	uint32_t n = 0;

	for (unsigned i = 0; i < CT_CALLERS && n < room; i++) {
		uintptr_t block = atomic_load_explicit(&entries[i].block, memory_order_acquire);
		uint32_t tid = atomic_load_explicit(&entries[i].tid, memory_order_relaxed);
		struct ct_thread thread;

		if (!block || !tid)
			continue;
		if (ct_peek(block, &thread, sizeof(thread)) != sizeof(thread) ||
		    thread.gate != gate || (thread.lane.tid && thread.lane.tid != tid)) {
			free_entry(&entries[i], tid, block);
			continue;
		}
		callers[n++] = (struct ct_caller){
			.tid = tid,
			.depth = thread.depth,
			.wrapper = thread.depth ? (uintptr_t)thread.frame : 0,
			.progress = ct_hash_mix((uintptr_t)thread.lane.next,
						(uint64_t)thread.lane.lap << 1 |
							(thread.depth & 1)),
		};
	}
	return n;
}
