/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/kernel_events.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "interpose/abi/nccl_profiler.h"
#include "interpose/spin.h"

#define COPIES 8u /* size: of NCCL in one process: one is usual, two are seen */
#define TRIES                                                                                      \
	1000u /* size: some hundred microseconds; a call that is captured does not wait for long */

static _Atomic uint32_t locked, dropped;
static _Atomic uint32_t
	held; /* calls that are captured now. Written with the lock, like what follows */
static struct word {
	int *_Atomic mask; /* NULL: free */
	int types;
	uint32_t comms;
} words[COPIES];

void ct_kernel_events_init(void)
{
	held = 0;
	memset(words, 0, sizeof(words));
	atomic_store_explicit(&dropped, 0, memory_order_relaxed);
	atomic_store_explicit(&locked, 0, memory_order_release);
}

static void write_words(int channels)
{
	for (uint32_t i = 0; i < COPIES; i++) {
		int *mask = words[i].mask;

		if (mask)
			__atomic_store_n(mask,
					 words[i].types & (channels | ~NCCL_PROFILE_KERNEL_CH),
					 __ATOMIC_SEQ_CST);
	}
}

/* With the lock. A thread that drops the bit has no lock: what is written here is looked at again
 * after it. */
static void ask_again(void)
{
	if (!held)
		write_words(NCCL_PROFILE_KERNEL_CH);
	if (held || dropped)
		write_words(0);
}

static struct word *word_of(const int *mask)
{
	for (uint32_t i = 0; i < COPIES; i++)
		if (words[i].mask == mask)
			return &words[i];
	return NULL;
}

int ct_kernel_events_request(int *mask, int types)
{
	struct word *word = NULL;

	if (ct_spin_lock(&locked, TRIES)) {
		word = word_of(mask);
		if (!word)
			word = word_of(NULL);
		if (word) {
			word->mask = mask;
			word->types = types;
			word->comms++;
			ask_again();
		}
		ct_spin_unlock(&locked);
	}
	/* no thread would clear it in time */
	if (!word)
		__atomic_store_n(mask, types & ~NCCL_PROFILE_KERNEL_CH, __ATOMIC_RELAXED);
	return word && types & NCCL_PROFILE_KERNEL_CH;
}

void ct_kernel_events_close(const int *mask)
{
	struct word *word;

	if (!ct_spin_lock(&locked, TRIES))
		return;
	word = word_of(mask);
	if (word && --word->comms == 0)
		word->mask = NULL;
	ct_spin_unlock(&locked);
}

int ct_kernel_events_are_reported(void)
{
	return !atomic_load_explicit(&dropped, memory_order_relaxed);
}

static void drop(void)
{
	dropped = 1;
	write_words(0);
}

void ct_kernel_events_captured(void)
{
	if (!held)
		drop();
}

void ct_kernel_events_hold(void)
{
	if (!ct_spin_lock(&locked, TRIES)) {
		drop();
		return;
	}
	if (held++ == 0)
		write_words(0);
	ct_spin_unlock(&locked);
}

void ct_kernel_events_release(void)
{
	if (!ct_spin_lock(&locked, TRIES)) {
		drop();
		return;
	}
	if (held && --held == 0)
		ask_again();
	ct_spin_unlock(&locked);
}
