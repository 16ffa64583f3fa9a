/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.h — sequence numbers, equal on all members without a word between them.
 *
 * Collectives: callers that number their operations in the tag (torch) run several threads on one
 * communicator, whose order differs from rank to rank; there the tag is the sequence number. Callers that
 * never change the tag run in one order everywhere; there a counter of our own is. A tag that comes again gets
 * its repetition in the upper 32 bits. Point-to-point: one counter for each (comm, direction, peer, slot), in a
 * table of fixed size; a short spin lock where one is new or goes. All words are atomic; any thread.
 */
#ifndef CT_INTERPOSE_SEQUENCE_H
#define CT_INTERPOSE_SEQUENCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/format.h"

#define CT_SEQ_SEEN 64u

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

enum ct_direction { CT_SEND = 0, CT_RECV = 1 };

/* Map the table of point-to-point channels; 0 or CT_NOMEM. Before the gate opens. */
int ct_channels_init(void);

/* Sequence number of the next transfer on a channel. The channels of a communicator that has ended are free again.
 * Without room (a counted loss) the number is CT_SEQ_UNMATCHED or above: no other transfer has it, here or elsewhere,
 * and those with a channel keep counting. */
uint64_t ct_channels_next(uint32_t comm, enum ct_direction direction, int32_t peer, uint64_t slot);

/* The transfer that got this number last on its channel was taken back: the next one gets it again. 0: others have come
 * since, and their numbers stay. */
int ct_channels_return(uint32_t comm, enum ct_direction direction, int32_t peer, uint64_t slot,
		       uint64_t seq);

/* A transfer of this communicator has an unknown channel or was not recorded: later numbers would not be those of the
 * other side. From now on its transfers get numbers that match none (counted). */
void ct_channels_stop(uint32_t comm);

/* The communicator with this id has ended. */
void ct_channels_end(uint32_t comm);

#define CT_SEQ_UNMATCHED (1ull << 63)

#endif
