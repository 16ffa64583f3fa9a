/* SPDX-License-Identifier: Apache-2.0 */
/* spin.h — a lock of tables that are searched under it, and nothing else is done. It is bounded:
 * the holder may not run, since the process was stopped, or since the thread that tries has
 * real-time priority on the holder's core. Any thread; zero is free. */
#ifndef CT_INTERPOSE_SPIN_H
#define CT_INTERPOSE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* size: a third of a second, at 0.3 us for each yield; a search takes a few microseconds */
#define CT_SPIN_TRIES (1u << 20)

/* 1: acquired. 0: not within so many tries; the caller does without the table, and counts what that
 * loses. */
static inline int ct_spin_lock(_Atomic uint32_t *lock, uint32_t tries)
{
	for (uint32_t i = 0; i < tries; i++) {
		/* acquire: pairs with ct_spin_unlock() of the holder before */
		if (!atomic_exchange_explicit(lock, 1, memory_order_acquire))
			return 1;
		sched_yield();
	}
	return 0;
}

static inline void ct_spin_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
