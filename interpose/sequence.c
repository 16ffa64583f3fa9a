/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/sequence.h"

void ct_seq_init(struct ct_seq *tags)
{
	atomic_store_explicit(&tags->mode, CT_SEQ_NEW, memory_order_relaxed);
	atomic_store_explicit(&tags->recent, 0, memory_order_relaxed);
	atomic_store_explicit(&tags->rounds, 0, memory_order_relaxed);
	for (uint32_t i = 0; i < CT_SEQ_SEEN; i++)
		atomic_store_explicit(&tags->seen[i], 0, memory_order_relaxed);
}

/* Was this tag, which is not among those in `seen`, there before? Threads of one communicator run
 * ahead of each other by a few operations: what is a little below the highest may be late. */
static int is_forgotten(uint64_t recent, uint32_t tag)
{
	uint32_t highest = (uint32_t)(recent >> 32);

	return tag <= highest && (highest - tag >= 32 || (uint32_t)recent >> (highest - tag) & 1);
}

/* Which repetition of the tag this is, from 0. Plain loads and stores: tags in use at the same time
 * differ, by less than would share an entry; a bit of `recent` that is lost between two threads
 * matters to a tag only that comes again after its entry was taken. */
static uint32_t repetition(struct ct_seq *tags, uint32_t tag)
{
	_Atomic uint64_t *seen = &tags->seen[tag % CT_SEQ_SEEN];
	uint64_t old = atomic_load_explicit(seen, memory_order_relaxed);
	uint64_t recent = atomic_load_explicit(&tags->recent, memory_order_relaxed);
	uint32_t rounds = atomic_load_explicit(&tags->rounds, memory_order_relaxed);
	uint32_t highest = (uint32_t)(recent >> 32);
	uint32_t n = 0;

	if (old && old >> 32 == tag)
		n = (uint32_t)old;
	else if (old && is_forgotten(recent, tag))
		n = rounds + 1; /* a number that this tag never had */
	atomic_store_explicit(seen, (uint64_t)tag << 32 | (n + 1), memory_order_relaxed);
	if (n > rounds)
		atomic_store_explicit(&tags->rounds, n, memory_order_relaxed);
	if (tag > highest)
		recent = ct_seq_recent(recent, tag);
	else if (highest - tag < 32)
		recent |= 1ull << (highest - tag);
	atomic_store_explicit(&tags->recent, recent, memory_order_relaxed);
	return n;
}

uint64_t ct_seq_slow(struct ct_seq *tags, ct_word *next_seq, uint32_t tag)
{
	uint64_t mode = atomic_load_explicit(&tags->mode, memory_order_relaxed);
	uint64_t seq, next;

	for (;;) {
		switch (mode & 3) {
		case CT_SEQ_NEW:
			/* before the mode: a thread that continues counts from here */
			ct_seq_raise(next_seq, (uint64_t)tag + 1);
			next = CT_SEQ_ONE | (uint64_t)tag << 32;
			if (!atomic_compare_exchange_strong_explicit(&tags->mode, &mode, next,
								     memory_order_acq_rel,
								     memory_order_acquire))
				continue;
			return (uint64_t)repetition(tags, tag) << 32 | tag;
		case CT_SEQ_ONE:
			next = mode >> 32 == tag ? CT_SEQ_COUNT : CT_SEQ_TAGS;
			if (atomic_compare_exchange_strong_explicit(&tags->mode, &mode, next,
								    memory_order_acq_rel,
								    memory_order_acquire))
				mode = next;
			continue;
		case CT_SEQ_COUNT:
			return atomic_fetch_add_explicit(next_seq, 1, memory_order_relaxed);
		default: /* CT_SEQ_TAGS */
			seq = (uint64_t)repetition(tags, tag) << 32 | tag;
			ct_seq_raise(next_seq, seq + 1);
			return seq;
		}
	}
}
