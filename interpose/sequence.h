/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.h — sequence numbers of collectives, equal on all members without a word between them.
 *
 * Callers that number their operations in the tag (torch) run several threads on one communicator,
 * whose order differs from rank to rank; there the tag is the sequence number. Callers that never
 * change the tag run in one order everywhere; there a counter of our own is. A tag that comes again
 * gets its repetition in the upper 32 bits. All words are atomic; any thread.
 */
#ifndef CT_INTERPOSE_SEQUENCE_H
#define CT_INTERPOSE_SEQUENCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/format.h"

#define CT_SEQ_SEEN 64u /* size: tags in use at the same time are closer (sequence.c) */

enum ct_seq_mode {
	CT_SEQ_NEW = 0,	  /* no collective yet */
	CT_SEQ_ONE = 1,	  /* one; its tag is in the upper half */
	CT_SEQ_COUNT = 2, /* the second had the tag of the first: count */
	CT_SEQ_TAGS = 3,  /* it had another: see the tag */
};

struct ct_seq {
	_Atomic uint64_t mode;	 /* enum ct_seq_mode | first tag << 32 */
	_Atomic uint64_t recent; /* highest tag seen << 32 | bit i: highest - i was seen */
	_Atomic uint32_t rounds; /* highest repetition given out */
	_Atomic uint64_t seen[CT_SEQ_SEEN]; /* by tag modulo size: tag << 32 | repetition + 1 */
};

void ct_seq_init(struct ct_seq *tags);

/* Raise a word that other threads raise as well; it never falls. */
static inline void ct_seq_raise(ct_word *word, uint64_t value)
{
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	while (old < value &&
	       !atomic_compare_exchange_weak_explicit(word, &old, value, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

uint64_t ct_seq_slow(struct ct_seq *tags, ct_word *next_seq, uint32_t tag);

/* `recent` after a tag above all others. */
static inline uint64_t ct_seq_recent(uint64_t recent, uint32_t tag)
{
	uint32_t up = tag - (uint32_t)(recent >> 32);

	return (uint64_t)tag << 32 | (up < 32 ? (uint32_t)recent << up : 0) | 1;
}

/* Sequence number of a collective with this tag; raises *next_seq beyond it. */
static inline uint64_t ct_seq_next(struct ct_seq *tags, ct_word *next_seq, uint32_t tag)
{
	uint64_t mode = atomic_load_explicit(&tags->mode, memory_order_relaxed);
	uint64_t recent = atomic_load_explicit(&tags->recent, memory_order_relaxed);

	/* a tag above all others, as torch's are: it is new */
	if ((mode & 3) != CT_SEQ_TAGS || tag <= recent >> 32)
		return ct_seq_slow(tags, next_seq, tag);
	atomic_store_explicit(&tags->recent, ct_seq_recent(recent, tag), memory_order_relaxed);
	atomic_store_explicit(&tags->seen[tag % CT_SEQ_SEEN], (uint64_t)tag << 32 | 1,
			      memory_order_relaxed);
	ct_seq_raise(next_seq, (uint64_t)tag + 1);
	return tag;
}

#endif
