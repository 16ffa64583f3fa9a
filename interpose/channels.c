/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/channels.h"

#include <stdatomic.h>
#include <stddef.h>

#include "interpose/hash.h"
#include "interpose/recorder.h"
#include "interpose/spin.h"
#include "trace/pages.h"

/* size: one for each communicator, direction, peer and tag; a rank of a pipeline has tens. Half
 * full, 1 in 50 finds no space, and the messages of its communicator have no numbers any more. */
#define CHANNELS 8192u
#define PROBES 16u

/* code: the low bits of `next` count, those above count how often its slot was reused. */
#define COUNT_BITS 48

#define STOPPED 64u /* size: communicators; from the last entry on all are stopped */
#define EVERY UINT32_MAX

/* Columns, since the end of a communicator looks through one of them only. A key is the hash of
 * what the channel is, 0 free; it is stored after the rest (release). */
static struct {
	_Atomic uint64_t keys[CHANNELS];
	_Atomic uint64_t next[CHANNELS];
	_Atomic uint32_t comms[CHANNELS];  /* its owner; 0 none */
	_Atomic uint32_t stopped[STOPPED]; /* communicators, 0 none; EVERY one in the last */
	_Atomic uint32_t n_stopped;
	_Atomic uint32_t lock; /* over what makes and frees channels */
	_Atomic uint64_t lost;
} * channels;

int ct_channels_init(void)
{
	void *map = ct_pages_map(sizeof(*channels));

	if (!map)
		return CT_NOMEM;
	channels = map;
	return CT_OK;
}

static uint32_t slot_of(uint64_t key, uint32_t probe)
{
	return (uint32_t)(key >> 8 ^ probe) % CHANNELS;
}

/* Index of the channel with this key, CHANNELS if there is none. A channel keeps its index while it
 * lives; earlier entries may become free meanwhile, so all are searched. */
static uint32_t find(uint64_t key)
{
	for (uint32_t i = 0; i < PROBES; i++)
		if (atomic_load_explicit(&channels->keys[slot_of(key, i)], memory_order_acquire) ==
		    key)
			return slot_of(key, i);
	return CHANNELS;
}

/* What cannot be entered without the lock is counted. */
static int take_lock(void)
{
	if (ct_spin_lock(&channels->lock, CT_SPIN_TRIES))
		return 1;
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_SEQ_TABLE_FULL, 1);
	return 0;
}

/* Before the lock is taken, for which every thread would have to wait when the table is full. */
static int has_room(uint64_t key)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t held = atomic_load_explicit(&channels->keys[slot_of(key, i)],
						     memory_order_relaxed);

		if (!held || held == key) /* another thread may have made it just now */
			return 1;
	}
	return 0;
}

/* Under the lock. */
static uint32_t make(uint64_t key, uint32_t comm)
{
	uint32_t at = find(key);
	uint64_t given;

	for (uint32_t i = 0; i < PROBES && at == CHANNELS; i++)
		if (!atomic_load_explicit(&channels->keys[slot_of(key, i)], memory_order_relaxed))
			at = slot_of(key, i);
	if (at == CHANNELS || atomic_load_explicit(&channels->keys[at], memory_order_relaxed))
		return at;
	given = atomic_load_explicit(&channels->next[at], memory_order_relaxed) >> COUNT_BITS;
	atomic_store_explicit(&channels->next[at], (given + 1) << COUNT_BITS, memory_order_relaxed);
	atomic_store_explicit(&channels->comms[at], comm, memory_order_relaxed);
	atomic_store_explicit(&channels->keys[at], key, memory_order_release);
	return at;
}

/* Count on a channel that was found: 0 if its communicator has ended meanwhile and its slot is
 * another's. */
static inline int count(uint32_t at, uint64_t key, uint64_t *seq)
{
	uint64_t word = atomic_load_explicit(&channels->next[at], memory_order_acquire);

	do {
		if (atomic_load_explicit(&channels->keys[at], memory_order_acquire) != key)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&channels->next[at], &word, word + 1, memory_order_acquire, memory_order_acquire));
	*seq = word & ((1ull << COUNT_BITS) - 1);
	return 1;
}

/* Checked if a channel is not found: those of a stopped communicator are gone. */
static int is_stopped(uint32_t comm)
{
	uint32_t n = atomic_load_explicit(&channels->n_stopped, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t stopped = atomic_load_explicit(&channels->stopped[i],
							memory_order_relaxed);

		if (stopped == comm || stopped == EVERY)
			return 1;
	}
	return 0;
}

static __attribute__((noinline)) uint64_t next_of_new(uint64_t key, uint32_t comm)
{
	uint32_t at = CHANNELS;
	uint64_t seq;

	if (!is_stopped(comm) && has_room(key) && ct_spin_lock(&channels->lock, CT_SPIN_TRIES)) {
		at = make(key, comm);
		ct_spin_unlock(&channels->lock);
	}
	if (at < CHANNELS && count(at, key, &seq))
		return seq;
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_SEQ_TABLE_FULL, 1);
	seq = atomic_fetch_add_explicit(&channels->lost, 1, memory_order_relaxed);
	/* other ranks lose others: their numbers must not meet these */
	seq = ct_hash_mix(ct_hash_mix(ct_recorder.process.hostkey, ct_recorder.process.pid), seq);
	return CT_SEQ_UNMATCHED | seq;
}

static inline uint64_t channel_key(uint32_t comm, enum ct_direction direction, int32_t peer,
				   uint64_t slot)
{
	uint64_t who = (uint64_t)comm << 33 | (uint64_t)direction << 32 | (uint32_t)peer;

	return ct_hash_mix(ct_hash_mix(CT_HASH_START, who), slot) | 1;
}

int ct_channels_return(uint32_t comm, enum ct_direction direction, int32_t peer, uint64_t slot,
		       uint64_t seq)
{
	uint64_t key = channel_key(comm, direction, peer, slot);
	uint32_t at = find(key);
	uint64_t word;

	if (at == CHANNELS || seq >= CT_SEQ_UNMATCHED)
		return 0;
	word = atomic_load_explicit(&channels->next[at], memory_order_acquire);
	return (word & ((1ull << COUNT_BITS) - 1)) == seq + 1 &&
	       atomic_load_explicit(&channels->keys[at], memory_order_acquire) == key &&
	       atomic_compare_exchange_strong_explicit(&channels->next[at], &word, word - 1,
						       memory_order_acquire, memory_order_acquire);
}

uint64_t ct_channels_next(uint32_t comm, enum ct_direction direction, int32_t peer, uint64_t slot)
{
	uint64_t key = channel_key(comm, direction, peer, slot);
	uint32_t at = find(key);
	uint64_t seq;

	if (__builtin_expect(at != CHANNELS && count(at, key, &seq), 1))
		return seq;
	return next_of_new(key, comm);
}

/* Under the lock. */
static void free_channels(uint32_t comm)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		uint32_t whose = atomic_load_explicit(&channels->comms[i], memory_order_relaxed);

		if (!whose || (whose != comm && comm != EVERY))
			continue;
		atomic_store_explicit(&channels->comms[i], 0, memory_order_relaxed);
		atomic_store_explicit(&channels->keys[i], 0, memory_order_release);
	}
}

void ct_channels_stop(uint32_t comm)
{
	uint32_t n;

	if (!channels || is_stopped(comm) || !take_lock())
		return;
	n = atomic_load_explicit(&channels->n_stopped, memory_order_relaxed);
	if (n < STOPPED && !is_stopped(comm)) {
		comm = n == STOPPED - 1 ? EVERY : comm;
		atomic_store_explicit(&channels->stopped[n], comm, memory_order_relaxed);
		/* release: pairs with the acquire of the thread that finds no channel */
		atomic_store_explicit(&channels->n_stopped, n + 1, memory_order_release);
		free_channels(comm);
	}
	ct_spin_unlock(&channels->lock);
}

void ct_channels_end(uint32_t comm)
{
	if (!channels || !comm || !take_lock())
		return;
	free_channels(comm);
	ct_spin_unlock(&channels->lock);
}
