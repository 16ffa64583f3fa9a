/* SPDX-License-Identifier: Apache-2.0 */
/* format_ring.h — the bytes of a ring file. See format.h.
 *
 * Every word that can change while others read is a ct_word with one owner, named beside it. The
 * owner stores; any process may load at any time, even after the owner's death.
 */
#ifndef CT_TRACE_FORMAT_RING_H
#define CT_TRACE_FORMAT_RING_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/format_process.h"

typedef _Atomic uint64_t ct_word;
_Static_assert(sizeof(ct_word) == 8, "words are plain 64-bit");

/* C11 loads through pointers to what is not const only. */
static inline uint64_t ct_load_acquire(const ct_word *word)
{
	return atomic_load_explicit((ct_word *)(uintptr_t)word, memory_order_acquire);
}

static inline uint64_t ct_load_relaxed(const ct_word *word)
{
	return atomic_load_explicit((ct_word *)(uintptr_t)word, memory_order_relaxed);
}

#define CT_RING_MAGIC 0x00474e4952544331ull /* "1CTRING\0" */
#define CT_CHUNK_BYTES 4096u
#define CT_SLOT_BYTES 64u
#define CT_CHUNK_SLOTS 63u /* slot 0 of a chunk is its header */

enum ct_ring_state { CT_RING_LIVE = 1, CT_RING_ENDED = 2 };

/* How a process said that it was about to end by itself. */
enum ct_exit_kind {
	CT_EXIT_NONE = 0,
	CT_EXIT_UNDERSCORE = 1,
	CT_EXIT_ABORT = 2,
	CT_EXIT_NORMAL = 3
};
/* Or'ed to the kind: the process had no handler for SIGTERM and SIGINT, so neither of them asked it
 * to end. */
#define CT_EXIT_UNASKED 0x100u
#define CT_EXIT_KIND(said) ((said)&0xffu)

struct ct_ring_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint64_t file_bytes;
	uint32_t comms_at; /* byte offsets of the tables ... */
	uint32_t opens_at;
	uint32_t strings_at;
	uint32_t chunks_at;
	/* ... and their sizes in entries, bytes for strings. They grow, but for n_opens, since more
	 * fit behind the last one: those of communicators and strings by any thread, chunks by the
	 * write and beat thread. */
	_Atomic uint32_t n_comms;
	uint32_t n_opens;
	_Atomic uint32_t strings_bytes;
	_Atomic uint32_t n_chunks;
	ct_word state;	 /* creator: enum ct_ring_state, last word set when making the ring */
	ct_word beat_ns; /* beat thread: last heartbeat */
	ct_word claims;	 /* writers, fetch_add: chunks claimed so far; a chunk's lap is its claim
			    number */
	ct_word n_free;	 /* writers and write thread: chunks that can be claimed */
	ct_word strings_used; /* writers, fetch_add: bytes reserved in the string table */
	ct_word blocks;	      /* write thread: blocks that are in segments */
	ct_word flushed_ns; /* write thread: every record returned before this time is in a segment */
	ct_word launches;   /* writers, fetch_add: launch ids given out that are not of a slot */
	ct_word exit_ns;    /* the process itself, before abort, _exit or at exit: when ... */
	ct_word exit_note;     /* ... and kind << 32 | code; stored before exit_ns */
	ct_word death_seen_ns; /* its parent: when waitpid reported the end (upper bound) ... */
	ct_word death_note;    /* ... parent pid << 32 | wait status; stored before death_seen_ns */
	ct_word kill_ns;       /* the first process that called kill() on it: when (0 never), set by
				  compare-and-swap ... */
	ct_word kill_note;     /* ... killer pid << 32 | signal; stored after kill_ns */
	ct_word wrapper_ns;    /* write thread: observer ledger, see struct ct_cost_rec */
	ct_word traffic; /* any thread, once: byte offset of the traffic table | its entries << 32,
			    0 none yet */
	ct_word oom_where; /* write thread: which counter of processes that the kernel killed, 0 not
			      known ... */
	ct_word oom_kills; /* ... and how far that was when it last looked; stored before `where` */
	ct_word oom_seen;  /* its parent, when that saw it killed: how far that counter was then, +
			      1; 0 not known */
	ct_word stacks;	   /* creator: byte offset of two buffers for stacks | bytes of one << 32, 0
			      none */
	ct_word late_ns;   /* beat thread: its largest recent wake-up delay; decays */
	ct_word looked_ns; /* poll thread: when it last polled all work in flight on GPUs; 0: it
			      does not poll */
	ct_word reserved[3];
	ct_word losses[CT_LOSS_MAX]; /* any thread, fetch_add: dropped records, by reason */
	uint8_t pad[4096 - 56 - 25 * 8 - 8 * CT_LOSS_MAX - 1024];
	struct ct_process process;
};
_Static_assert(sizeof(struct ct_ring_header) == 4096, "ring header is one page");

/* One communicator, 128 bytes, 16 words. Written once by the thread that creates the communicator,
 * in the order words 1.., then `id` (release); a reader that finds 0 or more than 32 bits in `id`
 * skips the entry. An ended entry is reused after everything recorded on it is in a segment. */
struct ct_ring_comm {
	ct_word id; /* process-local, from 1, 32 bits, never reused; 0 = unused, 1 << 32 = being
		       written */
	ct_word key;
	ct_word parent;
	ct_word created_ns;
	ct_word ranks;	     /* nranks << 32 | my rank */
	ct_word bits;	     /* backend | key source << 8 | flags << 16 | name string id << 32 */
	ct_word next_seq;    /* writers: sequence number that the next op will get */
	ct_word ended_ns;    /* ending thread: when destroyed or aborted, 0 alive */
	ct_word last_enter;  /* writers, relaxed: enter time of the latest op */
	ct_word last_op;     /* writers, relaxed: its operation */
	ct_word members_key; /* hash of the members' global ranks if known, else 0 */
	ct_word where;	     /* GPU of this member: CUDA device + 1, 0 none or unknown */
	ct_word reserved[4];
};
_Static_assert(sizeof(struct ct_ring_comm) == 128, "comm entry is two cache lines");

/* One launch that has not ended, 64 bytes. The opener stores words 1.. then `tag` (release,
 * nonzero); the closer clears the tag. start_ns and stream may be added while open. */
struct ct_ring_open {
	ct_word tag; /* launch id | 1 << 32 while open, 0 free, 1 << 33 reserved, but no launch */
	ct_word opened_ns; /* enter time of its first op */
	ct_word start_ns;  /* 0 not seen yet */
	ct_word comm_op;   /* comm id << 32 | number of ops << 8 | operation of the first op */
	ct_word seq;	   /* of the first op */
	ct_word stream;	   /* stream << 32 | device */
	ct_word peer;	   /* (uint32_t)peer or root | (uint64_t)p2p tag << 32 */
	ct_word bytes;	   /* of all its ops */
};
_Static_assert(sizeof(struct ct_ring_open) == 64, "open entry is one cache line");
#define CT_OPEN_LAUNCH (1ull << 32)
#define CT_OPEN_RESERVED (1ull << 33)

/* Transfers inside recorded operations, counted and not recorded one by one: 32 bytes for each
 * communicator, direction and peer. Running totals, which several threads add to. `key` is set by
 * compare-and-swap when both are 0; the write thread frees the entries of a communicator whose end
 * is in a segment. */
struct ct_ring_traffic {
	ct_word key;	  /* comm id << 32 | received << 31 | peer in the comm, 0x7fffffff one of
			     several; 0 unused */
	ct_word messages; /* writers, fetch_add */
	ct_word bytes;	  /* likewise */
	ct_word reserved;
};
_Static_assert(sizeof(struct ct_ring_traffic) == 32, "a traffic entry is half a cache line");
#define CT_TRAFFIC_RECEIVED (1u << 31)
#define CT_TRAFFIC_UNKNOWN_PEER 0x7fffffffu

/* The head of a buffer for STACK records; they follow, each its length and its bytes, filled up to
 * whole words. */
struct ct_ring_stacks {
	ct_word version; /* the sampling thread: 0 never written, odd while being written */
	ct_word words;	 /* of records, with their lengths */
};
_Static_assert(sizeof(struct ct_ring_stacks) == 16, "records follow");
#define CT_RING_STACKS_MOST 16384u /* bytes of one buffer */

/* The string table: entries of { u32 length, bytes, NUL, padding to 4 }, an entry's id is its
 * offset / 4 + 1 (id 0 = no string). The length is stored last (release), 0 = not written yet. */
#define CT_RING_STRING_MAX                                                                         \
	1000u /* size: bytes of one, so that a file name of PATH_MAX cannot fill the table */

enum ct_chunk_state { CT_CHUNK_FREE = 0, CT_CHUNK_OWNED = 1, CT_CHUNK_CLOSED = 2 };

/* Slot 0 of a chunk. The records that follow belong to the current lap if their tag says so; the
 * first slot whose tag does not is the end. */
struct ct_chunk {
	ct_word state; /* lap << 8 | enum ct_chunk_state; FREE->OWNED by claiming thread (CAS),
			    OWNED->CLOSED by it, or by the write thread if it has ended,
			  CLOSED->FREE by the write thread */
	ct_word owner; /* claiming thread: tid, stored after `state`; write thread: 0, when it frees
			  the chunk */
	ct_word drained; /* write thread: slots of this lap that are in a segment */
	ct_word reserved[5];
};
_Static_assert(sizeof(struct ct_chunk) == CT_SLOT_BYTES, "chunk header is a slot");

/* A record slot: eight words. Word 0 is the tag; writing order: tag 0, fence, words 1..7, tag
 * (release). A reader loads the tag (acquire), the words, fence, the tag again, and keeps the copy
 * if both are equal and carry the chunk's lap. */
struct ct_slot {
	ct_word w[8];
};
_Static_assert(sizeof(struct ct_slot) == CT_SLOT_BYTES, "slot is one cache line");

/* tag = lap (32 bits, low part of the claim number, never 0) << 32 | call << 16 | kind << 8 | 1 */
#define CT_TAG(lap, kind, call)                                                                    \
	((uint64_t)(uint32_t)(lap) << 32 | (uint64_t)(uint16_t)(call) << 16 |                      \
	 (uint64_t)(uint8_t)(kind) << 8 | 1u)
#define CT_TAG_LAP(tag) ((uint32_t)((tag) >> 32))
#define CT_TAG_CALL(tag) ((uint16_t)((tag) >> 16))
#define CT_TAG_KIND(tag) ((uint8_t)((tag) >> 8))

/* Words of an OP slot. Word 7 is stored by the same thread when the call returns; 0 = still inside.
 */
enum {
	CT_OP_W_ENTER = 1, /* enter time */
	CT_OP_W_COUNT = 2, /* elements as passed to the call */
	CT_OP_W_WHAT = 3,  /* comm id << 32 | op << 24 | dtype << 16 | redop << 8 | flags */
	CT_OP_W_SEQ = 4,
	CT_OP_W_PEER = 5, /* p2p tag << 32 | (uint32_t) peer or root, -1 none */
	CT_OP_W_LINK = 6, /* call site string id << 32 | launch id, 0 = the call itself is the span */
	CT_OP_W_END = 7, /* (return - enter + 1) << 16 | (uint16_t) result */
};

/* Words of a LAUNCH slot. */
enum {
	CT_LAUNCH_W_START = 1, /* 0 = not measured */
	CT_LAUNCH_W_END = 2,   /* 0 = not measured */
	CT_LAUNCH_W_ID = 3,    /* comm id << 32 | launch id */
	CT_LAUNCH_W_WHERE = 4, /* stream << 32 | device */
	CT_LAUNCH_W_ERR = 5,   /* start error << 32 | end error, ns */
	CT_LAUNCH_W_HOW = 6,   /* ops << 32 | result << 16 | start source << 8 | end source */
	CT_LAUNCH_W_SPARE = 7, /* 0 */
};

/* Where a span's start or end comes from. NONE: not measured, the time is unknown. */
enum ct_source {
	CT_SOURCE_NONE = 0,
	CT_SOURCE_CALL = 1,   /* enter or return of the blocking call itself */
	CT_SOURCE_WAIT = 2,   /* return of the call that waited for it */
	CT_SOURCE_EVENT = 3,  /* timed CUDA event */
	CT_SOURCE_POLL = 4,   /* host clock when a poll saw it */
	CT_SOURCE_PLUGIN = 5, /* NCCL profiler plugin */
};

enum ct_op_flag {
	CT_OP_CAPTURED = 1 << 0,   /* into a CUDA graph: runs later, or never */
	CT_OP_UNRETURNED = 1 << 1, /* in blocks only: still inside when the block was written */
	CT_OP_UNTIMED = 1 << 2,	   /* not timed: there is no LAUNCH record of its launch */
	CT_OP_PLUGIN = 1 << 3,	   /* seen by the NCCL profiler plugin only, not by a wrapper */
	CT_OP_UNSIZED = 1
			<< 4, /* how much it moves is not known: its count is 0 and says nothing */
};

/* Result values of our own beside those of the library. */
#define CT_RESULT_EXCEPTION (-1) /* left by a C++ exception, a thread's cancellation or longjmp */
#define CT_RESULT_ABORTED (-2)	 /* given up by the program before it was done */

enum ct_backend {
	CT_BACKEND_NONE = 0,
	CT_BACKEND_NCCL = 1,
	CT_BACKEND_MPI = 2,
	CT_BACKEND_GLOO = 3,
	CT_BACKEND_IMPORT = 4
};

/* Where a communicator's key comes from; GUESSED keys may differ between members or clash. */
enum ct_key_source { CT_KEY_LIBRARY = 0, CT_KEY_RENDEZVOUS = 1, CT_KEY_GUESSED = 2 };

#endif
