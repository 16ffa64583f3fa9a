/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h — the writing side of a ring file: one thread fills a chunk, anyone may read it, also when
 * the process is dead.
 *
 * A thread owns a lane: the chunk that it fills right now. It claims chunks from the pool by
 * compare-and-swap and never waits: if the pool is empty, ct_lane_next() returns NULL and the
 * caller counts the loss. The write thread drains chunks into blocks and frees them. A slot is
 * eight atomic words; word 0 is its lap tag. The writer clears the tag, fills the words, releases
 * the tag; a reader copies between two equal tags or skips, so a torn slot is never mistaken for a
 * whole one.
 *
 * Pages are allocated before anything is stored in them (one that is missing would kill the job
 * with SIGBUS when /dev/shm fills up). Where the kernel can add some later, a large ring begins
 * small: its tables and its chunks grow as they are needed. The ring is not inherited by a forked
 * child (the pages are absent there, not shared).
 */
#ifndef CT_TRACE_RING_H
#define CT_TRACE_RING_H

#include <stddef.h>
#include <sys/types.h>

#include "trace/format.h"
#include "trace/record.h"
#include "trace/status.h"

#define CT_RING_MIN_BYTES (256u << 10) /* size: half a second of operations (docs/OVERHEAD.md) */

#define CT_RING_PATH_MAX 256 /* size: of a ring's path */

struct ct_ring {
	struct ct_ring_header *header; /* NULL: there is no ring */
	struct ct_ring_comm *comms;
	struct ct_ring_open *opens;
	struct ct_ring_traffic *traffic; /* ring_traffic.h */
	char *stacks;			 /* ring_stacks.h */
	char *strings;
	struct ct_chunk *chunks; /* chunk i is at (char *)chunks + i * CT_CHUNK_BYTES */
	size_t bytes;		 /* mapped; the last chunks of them may not be in use yet */
	int fd;	   /* -1 unless the lock that says the owner lives is the descriptor's (Linux
		      before 3.15) */
	dev_t dev; /* the file; 0 for private memory */
	ino_t ino;
	char path[CT_RING_PATH_MAX]; /* "" for private memory */
	/* of the owner's: entries that are taken, and where the next free one may be */
	_Atomic uint32_t comms_taken, comms_hint, traffic_taken;
	struct ct_ring_most {
		uint32_t comms, strings_bytes, traffic, traffic_at;
	} most; /* that there is space for */
};

/* What one thread fills. Zero-initialised = no chunk yet. */
struct ct_lane {
	struct ct_slot *next; /* slot to fill ... */
	struct ct_slot *end;  /* ... up to here, where its chunk ends */
	uint32_t lap;
	uint32_t tid;
};

/* File name of a process's ring in its ring directory: "commtrace.<pid namespace>.<pid>.ring".
 * `name` has space for CT_RING_NAME_MAX bytes. */
#define CT_RING_NAME_MAX 64 /* size: at most 37 are used, with two numbers of ten digits */
void ct_ring_name(char *name, uint32_t pidns, uint32_t pid);

/* dir/name; 0 if it does not fit. Safe in signal handlers, as ct_ring_name() is. */
int ct_ring_path(char path[CT_RING_PATH_MAX], const char *dir, const char *name);

/* Creates a ring of about `bytes`, halving down to CT_RING_MIN_BYTES where space is short. It is in
 * the first of the NULL-terminated `dirs` that has space; in private memory if none has. A file
 * leaves at least half of the directory's free space to others. Fills process->ring_kind and copies
 * *process into the header. An older file of the same name is moved aside. CT_NOMEM if there is not
 * even private memory. */
int ct_ring_create(struct ct_ring *ring, struct ct_process *process, const char *const *dirs,
		   size_t bytes, struct ct_err *err);

/* Doubles the chunks that can be claimed, up to all that there is space for: 1; 0 if nothing was
 * added. May allocate memory. Any thread that may wait for that. */
int ct_ring_grow(struct ct_ring *ring);

/* Allocates what holds these bytes of the ring; 1 if they are there. Keeps errno. Any thread that
 * may wait for that. */
int ct_ring_allocate(const struct ct_ring *ring, const void *from, size_t bytes);

/* Was the file removed? Not known, and 0, where its directory is not what it was (after chroot). */
int ct_ring_is_removed(const struct ct_ring *ring);

/* Unmap and close; the file is removed if `unlink_file`. */
void ct_ring_close(struct ct_ring *ring, int unlink_file);

/* Take the next chunk of the pool for this lane, closing the one it has. Returns 0 if the pool is
 * empty; the lane then keeps its full chunk. Any thread, on its own lane. */
int ct_ring_claim(struct ct_ring *ring, struct ct_lane *lane);

/* Hand the lane's chunk over to the write thread (thread end). The lane is empty afterwards. */
void ct_lane_close(struct ct_lane *lane);

/* Give a drained chunk back to the pool. Write thread only. */
void ct_ring_free_chunk(struct ct_ring *ring, struct ct_chunk *chunk);

/* Slot to fill, or NULL if the pool is empty. Never waits. */
static inline struct ct_slot *ct_lane_next(struct ct_ring *ring, struct ct_lane *lane)
{
	if (lane->next == lane->end && !ct_ring_claim(ring, lane))
		return NULL;
	return lane->next++;
}

/* Fill a slot from words 1..7 and publish it under its tag. Pairs with ct_slot_copy(). */
static inline void ct_slot_publish(struct ct_slot *slot, uint64_t tag, const uint64_t w[8])
{
	atomic_store_explicit(&slot->w[0], 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	/* unrolled, the words go from registers to the slot; as a loop they cost the wrapper 5 ns */
#pragma GCC unroll 8
	for (int i = 1; i < 8; i++)
		atomic_store_explicit(&slot->w[i], w[i], memory_order_relaxed);
	atomic_store_explicit(&slot->w[0], tag, memory_order_release);
}

/* Copy a slot that may be written meanwhile. Returns 1 and the eight words if the slot held a whole
 * record of `lap`, else 0. The end word of an op may be newer than the rest: it has its own release
 * store. */
static inline int ct_slot_copy(const struct ct_slot *slot, uint32_t lap, uint64_t w[8])
{
	struct ct_slot *s = (struct ct_slot *)(uintptr_t)
		slot; /* C11 atomics load through non-const only */

	w[0] = atomic_load_explicit(&s->w[0], memory_order_acquire);
	if (CT_TAG_LAP(w[0]) != lap || !(w[0] & 1))
		return 0;
		/* The last word first: with the end of an op come all that its thread stored before
		 * it. */
#pragma GCC unroll 8
	for (int i = 7; i > 0; i--)
		w[i] = atomic_load_explicit(&s->w[i], memory_order_acquire);
	return atomic_load_explicit(&s->w[0], memory_order_relaxed) == w[0];
}

static inline struct ct_chunk *ct_ring_chunk(const struct ct_ring *ring, uint32_t i)
{
	return (struct ct_chunk *)((char *)ring->chunks + (size_t)i * CT_CHUNK_BYTES);
}

static inline struct ct_slot *ct_chunk_slots(const struct ct_chunk *chunk)
{
	return (struct ct_slot *)((uintptr_t)chunk + CT_SLOT_BYTES);
}

/* The chunk that the lane fills, NULL if it has none. */
static inline struct ct_chunk *ct_lane_chunk(const struct ct_lane *lane)
{
	return lane->end ? (struct ct_chunk *)((uintptr_t)lane->end - CT_CHUNK_BYTES) : NULL;
}

/* Count `n` losses of one reason. Any thread. */
static inline void ct_ring_lose(struct ct_ring *ring, enum ct_loss reason, uint64_t n)
{
	if (ring->header)
		atomic_fetch_add_explicit(&ring->header->losses[reason], n, memory_order_relaxed);
}

/* Put a string (cut at CT_RING_STRING_MAX bytes) into the table, which may grow; returns its id, 0
 * if there is no more space (a counted loss). Any thread; equal strings are not looked for. */
uint32_t ct_ring_string(struct ct_ring *ring, const char *text);

/* Enter a communicator: fills a free entry from *comm (next_seq starts at 0) and returns it, or
 * NULL if the table is full and cannot grow (a counted loss). comm->id is the caller's and must be
 * nonzero. Any thread. */
struct ct_ring_comm *ct_ring_comm_add(struct ct_ring *ring, const struct ct_comm_rec *comm);

/* Another one could be entered now. Any thread. */
int ct_ring_comm_has_room(const struct ct_ring *ring);

/* Entry `i` is free again: what was in it has been written. The write thread only. */
void ct_ring_comm_free(struct ct_ring *ring, uint32_t i);

/* Open a launch: takes a free entry or returns NULL (a counted loss). `words` are words 1..7 of
 * struct ct_ring_open; the launch id goes into its tag. Any thread. */
struct ct_ring_open *ct_ring_open_add(struct ct_ring *ring, uint32_t launch,
				      const uint64_t words[8]);

/* Frees the entry. Called once, by the thread that closes the launch. */
static inline void ct_ring_open_remove(struct ct_ring_open *open)
{
	atomic_store_explicit(&open->tag, 0, memory_order_release);
}

/* The same in three steps, for callers that open many launches: reserve a free entry (0: it is not
 * free), open launches in it one after the other, empty it after each. A reserved entry is not a
 * launch to readers; ct_ring_open_remove() frees it.
 */
static inline int ct_ring_open_reserve(struct ct_ring_open *open)
{
	uint64_t unused = 0;

	return atomic_load_explicit(&open->tag, memory_order_relaxed) == 0 &&
	       atomic_compare_exchange_strong_explicit(&open->tag, &unused, CT_OPEN_RESERVED,
						       memory_order_acquire, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void ct_ring_open_fill(struct ct_ring_open *open,
								    uint32_t launch,
								    const uint64_t words[8])
{
	ct_word *w = &open->tag;

	/* a reader of a word of this launch does not see the tag of the previous one after it */
	atomic_thread_fence(memory_order_release);
#pragma GCC unroll 8
	for (int k = 1; k < 8; k++)
		atomic_store_explicit(&w[k], words[k], memory_order_relaxed);
	atomic_store_explicit(w, CT_OPEN_LAUNCH | launch, memory_order_release);
}

static inline void ct_ring_open_empty(struct ct_ring_open *open)
{
	atomic_store_explicit(&open->tag, CT_OPEN_RESERVED, memory_order_release);
}

#endif
