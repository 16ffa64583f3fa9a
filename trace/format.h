/* SPDX-License-Identifier: Apache-2.0 */
/* format.h — the bytes: what lies in a ring file and in a segment file. docs/TRACE_FORMAT.md is the norm,
 * this header mirrors it and a test compares the two.
 *
 * Everything is little-endian and naturally aligned. In a ring every word that can change while others look
 * is a ct_word with one owner, named beside it; the owner stores, everybody may load at any time, also after
 * the owner's death. Times are CLOCK_MONOTONIC of the host in nanoseconds unless said otherwise.
 */
#ifndef CT_FORMAT_H
#define CT_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

typedef _Atomic uint64_t ct_word;
_Static_assert(sizeof(ct_word) == 8, "words are plain 64-bit");

#define CT_FORMAT_VERSION 0u

enum ct_kind {
#define X(NAME, id, where, text) CT_KIND_##NAME = (id),
#include "trace/kinds.def"
#undef X
};

enum ct_loss {
#define X(NAME, id, text) CT_LOSS_##NAME = (id),
#include "trace/losses.def"
#undef X
	CT_LOSS_MAX = 32 /* counters in the ring header, room to grow */
};

/* The directory of a run; all 0: none. See run_id.h. */
struct ct_run_id {
	uint64_t dev;
	uint64_t ino;
	uint64_t born_ns; /* CLOCK_REALTIME, 0 where the file system does not tell */
};
_Static_assert(sizeof(struct ct_run_id) == 24, "no padding");

/* Who a process is. The same 1024 bytes stand in its ring header and in each of its segment headers, so that
 * either alone names the process and its run. Strings end in NUL. */
struct ct_process {
	uint64_t hostkey;	/* equal for processes that share CLOCK_MONOTONIC; never 0 */
	uint64_t start_ns;	/* when recording started ... */
	uint64_t start_unix_ns; /* ... and the same moment in CLOCK_REALTIME */
	uint64_t start_ticks;	/* /proc/PID/stat field 22: tells a reused pid apart */
	struct ct_run_id run;	/* the run directory */
	uint64_t hang_after_ns;
	uint64_t clock_res_ns; /* error of every host time below */
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	uint32_t pidns;	    /* inode of /proc/self/ns/pid */
	int32_t rank;	    /* global, -1 unknown */
	int32_t world_size; /* ranks expected, -1 unknown */
	int32_t local_rank; /* -1 unknown */
	uint32_t restart;   /* attempt of an elastic launcher, from 0 */
	uint32_t nth;	    /* 0 first start of recording in this process, 1 after a fork, ... */
	uint32_t ring_kind; /* enum ct_ring_kind */
	uint32_t reserved[4];
	char host[64];
	char job[96];
	char boot_id[40];
	char version[24]; /* of libcommtrace.so */
	char exe[192];
	char run_dir[480];
};
_Static_assert(sizeof(struct ct_process) == 1024, "identity is 1024 bytes");

enum ct_ring_kind { CT_RING_SHARED = 0, CT_RING_DISK = 1, CT_RING_PRIVATE = 2 };

/* ---- ring file -------------------------------------------------------------------------------------- */

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
/* Or'ed to the kind: the process handled neither SIGTERM nor SIGINT, so that it was not asked to end by one of them. */
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
	uint32_t n_comms; /* ... and their sizes in entries, bytes for strings */
	uint32_t n_opens;
	uint32_t strings_bytes;
	uint32_t n_chunks;
	ct_word state;	 /* creator: enum ct_ring_state, last word set when making the ring */
	ct_word beat_ns; /* beat thread: last sign of life */
	ct_word claims; /* writers, fetch_add: chunks claimed so far; a chunk's lap is its claim number */
	ct_word n_free;	      /* writers and write thread: chunks that can be claimed */
	ct_word strings_used; /* writers, fetch_add: bytes reserved in the string table */
	ct_word blocks;	      /* write thread: blocks that are in segments */
	ct_word flushed_ns; /* write thread: every record returned before this time is in a segment */
	ct_word launches;   /* writers, fetch_add: launch ids given out that are not of a slot */
	ct_word exit_ns;    /* the process itself, before abort, _exit or at exit: when ... */
	ct_word exit_note;     /* ... and kind << 32 | code; stored before exit_ns */
	ct_word death_seen_ns; /* its parent: when waitpid told the end (upper bound) ... */
	ct_word death_note;    /* ... parent pid << 32 | wait status; stored before death_seen_ns */
	ct_word kill_ns; /* whoever called kill() on it first: when (0 never), set by compare-and-swap ... */
	ct_word kill_note;  /* ... killer pid << 32 | signal; stored after kill_ns */
	ct_word wrapper_ns; /* write thread: observer ledger, see struct ct_cost_rec */
	ct_word traffic; /* creator: byte offset of the traffic table | its entries << 32, 0 none */
	ct_word oom_where; /* write thread: which counter of processes that the kernel killed, 0 not known ... */
	ct_word oom_kills; /* ... and how far that was when it last looked; stored before `where` */
	ct_word oom_seen; /* its parent, when that saw it killed: how far that counter was then, + 1; 0 not known */
	ct_word stacks; /* creator: byte offset of two places for stacks | bytes of one << 32, 0 none */
	ct_word reserved[5];
	ct_word losses[CT_LOSS_MAX]; /* anybody, fetch_add: records lost, by reason */
	uint8_t pad[4096 - 56 - 25 * 8 - 8 * CT_LOSS_MAX - 1024];
	struct ct_process process;
};
_Static_assert(sizeof(struct ct_ring_header) == 4096, "ring header is one page");

/* One communicator, 128 bytes, 16 words. Written once by the thread that creates the communicator, in the
 * order words 1.., then `id` (release); a reader that finds 0 or more than 32 bits in `id` skips the entry. An ended entry is reused
 * after everything recorded on it is in a segment. */
struct ct_ring_comm {
	ct_word id; /* process-local, from 1, 32 bits, never reused; 0 = unused, 1 << 32 = being written */
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

/* One launch that has not ended, 64 bytes. The opener stores words 1.. then `tag` (release, nonzero); the
 * closer clears the tag. start_ns and stream may be added while open. */
struct ct_ring_open {
	ct_word tag; /* launch id | 1 << 32 while open, 0 free, 1 << 33 somebody's, but no launch */
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

/* Transfers inside of recorded operations, counted and not recorded one by one: 32 bytes for each communicator,
 * direction and peer. Running totals, which several threads add to. `who` is set by compare-and-swap when both are
 * 0; the write thread frees the entries of a communicator whose end is in a segment. */
struct ct_ring_traffic {
	ct_word who; /* comm id << 32 | received << 31 | peer in the comm, 0x7fffffff one of several; 0 unused */
	ct_word messages; /* writers, fetch_add */
	ct_word bytes;	  /* likewise */
	ct_word reserved;
};
_Static_assert(sizeof(struct ct_ring_traffic) == 32, "a traffic entry is half a cache line");
#define CT_TRAFFIC_RECEIVED (1u << 31)
#define CT_TRAFFIC_ANYBODY 0x7fffffffu

/* The head of a place for STACK records; they follow, each its length and its bytes, filled up to whole words. */
struct ct_ring_stacks {
	ct_word version; /* who looks at threads: 0 never written, odd while being written */
	ct_word words;	 /* of records, with their lengths */
};
_Static_assert(sizeof(struct ct_ring_stacks) == 16, "records follow");
#define CT_RING_STACKS_MOST 16384u /* bytes of one place */

/* The string table: entries of { u32 length, bytes, NUL, padding to 4 }, an entry's id is its offset / 4 + 1
 * (id 0 = no string). The length is stored last (release), 0 = not written yet. */

enum ct_chunk_state { CT_CHUNK_FREE = 0, CT_CHUNK_OWNED = 1, CT_CHUNK_CLOSED = 2 };

/* Slot 0 of a chunk. The records that follow belong to the current lap if their tag says so; the first slot
 * whose tag does not is the end. */
struct ct_chunk {
	ct_word state;	 /* lap << 8 | enum ct_chunk_state; FREE->OWNED by claiming thread (CAS),
			    OWNED->CLOSED by it, CLOSED->FREE by the write thread */
	ct_word owner;	 /* claiming thread: tid */
	ct_word drained; /* write thread: slots of this lap that are in a segment */
	ct_word reserved[5];
};
_Static_assert(sizeof(struct ct_chunk) == CT_SLOT_BYTES, "chunk header is a slot");

/* A record slot: eight words. Word 0 is the tag; writing order: tag 0, fence, words 1..7, tag (release).
 * A reader loads the tag (acquire), the words, fence, the tag again, and keeps the copy if both are equal and
 * carry the chunk's lap. */
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

/* Words of an OP slot. Word 7 is stored by the same thread when the call returns; 0 = still inside. */
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
	CT_OP_UNTIMED = 1
			<< 2, /* nobody looks when it runs: there is no LAUNCH record of its launch */
	CT_OP_PLUGIN = 1 << 3, /* seen by the NCCL profiler plugin only, not by a wrapper */
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

/* ---- segment file ----------------------------------------------------------------------------------- */

#define CT_SEGMENT_MAGIC 0x0000474553544331ull /* "1CTSEG\0\0" */
#define CT_BLOCK_MAGIC 0x4b425443u	       /* "CTBK" */

struct ct_segment_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* the first block follows here */
	uint32_t number;       /* 0, 1, ... within the process */
	uint32_t crc;	       /* CRC-32C of the header with this field 0 */
	uint64_t opened_ns;
	uint8_t reserved[224];
	struct ct_process process;
};
_Static_assert(sizeof(struct ct_segment_header) == 1280, "segment header");

enum ct_block_type {
	CT_BLOCK_DATA = 0,
	CT_BLOCK_CHECKPOINT = 1, /* first of a segment: all that later blocks lean on */
	CT_BLOCK_STATUS = 2,	 /* sign of life */
	CT_BLOCK_END = 3,	 /* last of a process that ended in order */
};

struct ct_block_header {
	uint32_t magic;
	uint32_t header_crc; /* CRC-32C of the 64 bytes with this field 0 */
	uint32_t bytes;	     /* of the zstd frame that follows */
	uint32_t raw_bytes;  /* of the columns in it */
	uint32_t crc;	     /* CRC-32C of the frame */
	uint16_t type;	     /* enum ct_block_type */
	uint16_t reserved;
	uint32_t number; /* counts the blocks of a process over its segments: a gap is a loss */
	uint32_t n_ops;
	uint32_t n_launches;
	uint32_t n_rares;
	uint32_t n_extents;
	uint32_t quantum_ns; /* host times are multiples of it */
	uint64_t begin_ns;   /* earliest and latest time in the block */
	uint64_t end_ns;
};
_Static_assert(sizeof(struct ct_block_header) == 64, "block header");

/* Bounds that a reader holds a block header against before it allocates. */
#define CT_BLOCK_MAX_RECORDS 16384u
#define CT_BLOCK_MAX_RAW (16u << 20)

/* Columns of a block: each { u8 id, varint length, bytes }. docs/TRACE_FORMAT.md tells each coding. */
enum ct_column {
	CT_COL_EXTENTS = 1,
	CT_COL_OP_TUPLES = 2,	/* table of what repeats from op to op */
	CT_COL_OP_TUPLE = 3,	/* which tuple */
	CT_COL_OP_ENTER = 4,	/* class bytes */
	CT_COL_OP_DURATION = 5, /* class bytes */
	CT_COL_OP_SEQ = 6,	/* exceptions */
	CT_COL_OP_COUNT = 7,	/* for point-to-point ops, whose counts do not repeat */
	CT_COL_OP_LAUNCH = 8,
	CT_COL_LAUNCH_TUPLES = 9,
	CT_COL_LAUNCH_TUPLE = 10,
	CT_COL_LAUNCH_ID = 11,
	CT_COL_LAUNCH_START = 12,    /* class bytes */
	CT_COL_LAUNCH_DURATION = 13, /* class bytes */
	CT_COL_LAUNCH_ERR = 14,
	CT_COL_BITS = 15, /* low bits of all class bytes, in column order */
	CT_COL_RARES = 16,
};

/* ---- payloads of the rare kinds (little-endian structs; readers accept longer ones) ------------------- */

struct ct_clock_rec {
	uint64_t monotonic_ns;
	uint64_t raw_ns;
	uint64_t realtime_ns;
	uint64_t maxerror_ns; /* of the realtime clock, as the kernel says */
	uint64_t status;
};

struct ct_comm_rec {
	uint32_t id;
	uint32_t nranks;
	int32_t rank;
	uint32_t name; /* string id */
	uint64_t key;
	uint64_t parent;
	uint64_t created_ns;
	uint64_t ended_ns;
	uint64_t members_key;
	uint8_t backend;
	uint8_t key_source;
	uint16_t device; /* GPU of this member: CUDA device + 1, 0 none or unknown */
	uint8_t reserved[4];
};

struct ct_loss_rec {
	uint32_t reason; /* enum ct_loss */
	uint32_t reserved;
	uint64_t records; /* running total since the process started */
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct ct_status_rec {
	uint64_t beat_ns; /* the process was alive then */
	uint64_t flushed_ns;
};

struct ct_comm_status_rec {
	uint32_t comm;
	uint32_t last_op;
	uint64_t next_seq;
	uint64_t last_enter_ns;
};

/* Running total of what one member and this one had moved between them inside of recorded operations: sent by this
 * one or received by it. Of several records with the same words up to `place` the latest counts; those that differ in
 * `place` add up. */
struct ct_traffic_rec {
	uint32_t comm;
	int32_t peer;	   /* rank in the comm; -1: one of several, it is not known which */
	uint32_t received; /* 0: sent */
	uint32_t place;	   /* which of several counters of the same */
	uint64_t messages;
	uint64_t bytes;
};

struct ct_open_op_rec {
	uint32_t tid;
	uint32_t slot; /* with lap: the same op may come again, returned, in a later block */
	uint64_t lap;
	uint64_t words[8];
};

struct ct_open_launch_rec {
	uint64_t words[8]; /* struct ct_ring_open */
};

/* How launches on a GPU are timed, and why so. */
enum ct_timed_by {
	CT_TIMED_BY_UNKNOWN = 0,
	CT_TIMED_BY_NOTHING = 1, /* COMMTRACE_TIMING=off */
	CT_TIMED_BY_EVENTS = 2,	 /* start and end */
	CT_TIMED_BY_HOST = 3,	 /* the end, by asking */
	CT_TIMED_BY_PLUGIN = 4,	 /* the library's profiler interface */
};
enum ct_timed_why {
	CT_TIMED_WHY_ASKED = 0,		 /* the setting says so */
	CT_TIMED_WHY_AUTO = 1,		 /* nothing speaks against it */
	CT_TIMED_WHY_ONE_CONNECTION = 2, /* auto, but with CUDA_DEVICE_MAX_CONNECTIONS=1 */
};

struct ct_cost_rec {
	uint64_t calls;
	uint64_t wrapper_ns; /* estimated: calls x cost of one, measured at start */
	uint64_t write_cpu_ns;
	uint64_t beat_cpu_ns;
	uint64_t poll_cpu_ns;
	uint64_t bytes_written;
	uint64_t gpu_events;	   /* CUDA events recorded */
	uint64_t launches_timed;   /* by events, start and end */
	uint64_t launches_untimed; /* of those on a GPU that were to be timed */
	uint64_t budget_backoffs; /* how often fewer launches were timed from then on, to cost less */
	uint32_t sample; /* COMMTRACE_SAMPLE: share of instances to be timed, of 2^32; 0 all */
	uint32_t budget_millionths; /* COMMTRACE_BUDGET, of wall time; 0 no limit */
	uint32_t duty_on_ms;	    /* COMMTRACE_DUTY: timed so long at the start of every ... */
	uint32_t duty_ms;	    /* ... of these; 0 always */
	uint8_t timed_by;	    /* enum ct_timed_by */
	uint8_t timed_why;	    /* enum ct_timed_why */
	uint8_t level;		    /* the share is halved so often by the budget: now ... */
	uint8_t coarsest;	    /* ... and at most so far */
	uint8_t plugin_loaded;	    /* by NCCL */
	uint8_t reserved[3];
};

struct ct_end_rec {
	uint64_t end_ns;
	uint32_t kind; /* enum ct_exit_kind | CT_EXIT_UNASKED */
	uint32_t code; /* exit status */
};

/* The next three come from ring slots: 56 bytes, words 1..7. */

/* A host-blocking call that moves no data, such as making a communicator or waiting for requests. HOST_BEGIN is
 * written before it with return_ns 0, HOST_END after it; a begin without its end is a call that never came back. A
 * thread that asks in close succession whether something is done waits as well: from its first question in vain
 * until the answer. There HOST_BEGIN comes once that has lasted, and again as long as it lasts; when it was the last
 * one, the thread may long do something else. Short ones have a HOST_END only. */
struct ct_host_rec {
	uint64_t enter_ns; /* with tid: pairs the two */
	uint64_t return_ns;
	uint32_t tid;
	uint32_t call;	 /* string id of the function's name */
	uint32_t nranks; /* of the communicator that it is about, 0 unknown; of a wait for a GPU: the
			    stream as in LAUNCH, 0 unknown or all */
	int32_t rank;	 /* in it */
	uint32_t comm;	 /* its id; 0 unknown, as in every HOST_BEGIN of a creation */
	int32_t result;
	uint64_t key;	    /* of the comm, 0 unknown */
	uint64_t polled_ns; /* no single call, but the program asking again and again: last time so far */
};

/* Part of a v-collective's per-peer counts: what this rank sends to peers first.., or, where all ranks are told
 * the same counts, what those ranks contribute. Counts beyond 32 bits are cut to UINT32_MAX. */
#define CT_VCOUNTS_PART 8u
struct ct_vcounts_rec {
	uint32_t comm;
	uint32_t first; /* peer of counts[0] */
	uint64_t seq;	/* of the op in its comm */
	uint32_t n;	/* counts in use */
	uint32_t counts[CT_VCOUNTS_PART];
	uint32_t reserved;
};

/* What a receive that had returned before got: the op with this launch id is Recv `seq` of `peer` with `tag`. Told of
 * receives from any of several peers, and with CT_MATCH_BYTES of those that got less than they had room for. Written
 * before the launch. A receive that waits for its data itself has all this in its own record. */
struct ct_match_rec {
	uint32_t comm;
	uint32_t launch;
	int32_t peer;
	uint32_t tag;
	uint64_t seq;
	uint64_t bytes; /* that came */
	uint32_t flags; /* enum ct_match_flag */
	uint32_t reserved[5];
};
enum ct_match_flag {
	CT_MATCH_BYTES = 1 << 0, /* `bytes` is known */
};

/* The tag of a receive that takes any, until it is known. */
#define CT_TAG_ANY UINT32_MAX
/* Set in the tag of MPI's partitioned transfers, which are matched with their like only. No tag of a program has it. */
#define CT_TAG_PARTITIONED (1u << 31)

/* A run of equal operations in what was captured for one communicator. Written when an executable graph comes to have
 * the list, and again in every checkpoint as long as anything refers to it. */
struct ct_graph_rec {
	uint32_t list; /* as in a captured op's launch and a GraphLaunch's tag */
	uint32_t comm;
	uint32_t n_ops;	  /* of the list on this communicator, in all its runs */
	uint32_t n_colls; /* those of them that are no transfers: what one launch adds to the order */
	uint64_t bytes;	  /* of all of them: elements as passed to the calls times their size */
	uint32_t first;	  /* place of the run's first op among n_ops */
	uint32_t n;	  /* ops in the run */
	uint64_t count;	  /* of each */
	int32_t peer;	  /* or root, -1 none */
	uint8_t op, dtype, redop;
	uint8_t reserved[9];
};
_Static_assert(sizeof(struct ct_graph_rec) == 56, "fills words 1..7");

/* Who waited for communication: a stream that waits for an event, or the host. What is waited for are all launches on
 * the stream of `launch`, up to it and beyond `after`. Of several such streams each has a record. */
#define CT_WAIT_HOST 1u	   /* the host, in a call that synchronizes */
#define CT_WAIT_DEVICE 2u  /* with all streams of a device at once */
#define CT_WAIT_GAP 4u	   /* there may have been others since `after` that are not on record */
#define CT_WAIT_DEFAULT 8u /* the stream is a default stream */
#define CT_WAIT_OTHERS                                                                             \
	16u /* since its last record the stream has also waited for what is no communication */
#define CT_WAIT_LAUNCHES 32u /* the stream has launched communication itself */
#define CT_WAIT_STREAM                                                                             \
	64u		 /* no wait, but what is known of the stream of `launch` before that ... */
#define CT_WAIT_FED 128u /* ... it has waited for another stream */
struct ct_wait_rec {
	uint64_t begin_ns; /* when the stream reached the wait; host: entered the call; 0 not known */
	uint64_t issued_ns; /* when the host put it on the stream; host: left the call */
	uint64_t reserved;
	uint32_t begin_err_ns;
	uint32_t launch;
	uint32_t after;	 /* 0: none */
	uint32_t waiter; /* stream as in LAUNCH, 0 the host or not known */
	uint32_t via; /* stream that the event was recorded on, or that was synchronized with; 0 not known */
	uint32_t tid; /* of the host's thread */
	uint32_t flags;
	uint32_t device; /* of the stream that waited; 0 where that was the host */
};

/* The collective `seq` of the comm was asked for by another thread, at this time. */
struct ct_submit_rec {
	uint32_t comm;
	uint32_t tid; /* of the thread that asked */
	uint64_t seq;
	uint64_t submit_ns;
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct ct_submit_rec) == 56, "fills words 1..7");

/* A range of NVTX whose name says that it is a cycle, when it has ended. */
struct ct_nvtx_rec {
	uint64_t begin_ns;
	uint64_t end_ns; /* of a mark: begin_ns */
	uint32_t tid;	 /* of the thread that ended it */
	uint32_t how;	 /* enum ct_nvtx_how */
	char name[32];	 /* its beginning, ends in NUL */
};
_Static_assert(sizeof(struct ct_nvtx_rec) == 56, "fills words 1..7");
enum ct_nvtx_how { CT_NVTX_PUSHED = 0, CT_NVTX_STARTED = 1, CT_NVTX_MARK = 2 };

/* What NCCL's profiler interface told. Of an op, which is found by launch and the words below: those with CT_DETAIL_SEQ
 * by `seq`; the others tell the count, type and root or peer of the work, which for broadcasts and all-gathers is
 * counted in bytes. With op 0, of the interface itself: `channels` is its version. */
struct ct_detail_rec {
	uint32_t comm;
	uint32_t launch;
	uint64_t seq; /* of the op, as in its record */
	uint64_t count;
	int32_t peer;  /* or root; -1 none */
	uint32_t algo; /* string ids; 0 not told */
	uint32_t proto;
	uint8_t op;
	uint8_t dtype;
	uint8_t channels; /* 0 not told */
	uint8_t warps;
	uint32_t flags; /* enum ct_detail_flag */
	uint32_t reserved[3];
};
_Static_assert(sizeof(struct ct_detail_rec) == 56, "fills words 1..7");
enum ct_detail_flag {
	CT_DETAIL_SEQ = 1 << 0,	  /* `seq` is known */
	CT_DETAIL_ALONE = 1 << 1, /* op 0: the communicator's calls pass no wrapper */
	CT_DETAIL_COPY = 1 << 2,  /* op 0: NCCL has loaded a copy of the preloaded file */
};

/* An error that a library told: what a call returned, or what it answered when it was asked whether something that was
 * called before had failed. Of one communicator, of each such result, the first. */
struct ct_error_rec {
	uint64_t told_ns;
	uint64_t key;  /* of the communicator, 0 none or not known */
	uint32_t comm; /* its id, 0 likewise */
	uint32_t tid;
	uint32_t call;	 /* string id of the function that told */
	uint32_t text;	 /* string id of the library's own words, 0 none */
	int32_t result;	 /* as the library numbers them; MPI: class of the error */
	uint32_t flags;	 /* enum ct_error_flag */
	uint8_t backend; /* enum ct_backend */
	uint8_t reserved[15];
};
_Static_assert(sizeof(struct ct_error_rec) == 56, "fills words 1..7");
enum ct_error_flag {
	CT_ERROR_ASYNC = 1
			 << 0, /* of something that had been called before: the call itself worked */
};

/* A network port of the host, as it was found; again when that changes. Its name follows: "eth0", "mlx5_0/1". */
enum ct_port_kind { CT_PORT_UNKNOWN = 0, CT_PORT_NET = 1, CT_PORT_IB = 2 };
enum ct_port_layer { CT_LAYER_UNKNOWN = 0, CT_LAYER_ETHERNET = 1, CT_LAYER_INFINIBAND = 2 };
enum ct_port_state { CT_PORT_STATE_UNKNOWN = 0, CT_PORT_UP = 1, CT_PORT_NOT_UP = 2 };
struct ct_port_rec {
	uint32_t id; /* from 1, within the process */
	uint8_t kind;
	uint8_t layer;
	uint8_t state;
	uint8_t is_software; /* 1: no device behind it */
	uint64_t rate_Bps;   /* of the link, 0 not known */
	uint64_t found_ns;
};
_Static_assert(sizeof(struct ct_port_rec) == 24, "its name follows");

/* What the kernel counted on the ports; what follows is told in docs/TRACE_FORMAT.md. */
struct ct_counters_rec {
	uint64_t begin_ns; /* read between these two times */
	uint64_t end_ns;
	uint32_t number; /* from 1, within the process */
	uint32_t base;	 /* number of the whole sample that this one differs from; 0: it is whole */
};
_Static_assert(sizeof(struct ct_counters_rec) == 24, "the values follow");

/* What a thread was doing while something stood still. Its frames follow, innermost first: those of the machine, then
 * those of Python. Each is a struct ct_stack_frame, the function and the file, which end in NUL ("" unknown). */
struct ct_stack_rec {
	uint64_t taken_ns;
	uint64_t since_ns; /* what stands still has done so since */
	uint64_t cpu_ns;   /* that the thread had used until then, 0 not known */
	uint32_t tid;
	uint32_t take;	/* the threads of one look have the same number, from 1 */
	uint16_t flags; /* enum ct_stack_flag */
	uint8_t why;	/* enum ct_stack_why */
	char state;	/* as in /proc/PID/stat, 0 not known */
	int32_t call;	/* number of the system call that it was in, -1 none or not known */
	uint16_t n_frames;
	uint16_t n_threads; /* of this look */
	uint32_t reserved;
	char thread[16]; /* its name, ends in NUL */
};
_Static_assert(sizeof(struct ct_stack_rec) == 64, "its frames follow");
enum ct_stack_flag {
	CT_STACK_MAIN = 1 << 0,	   /* the process's first thread */
	CT_STACK_IN_CALL = 1 << 1, /* inside of a recorded call */
	CT_STACK_RUNNING = 1 << 2, /* on a CPU: its innermost frames are not known */
	CT_STACK_MOVED = 1 << 3,   /* it went on while it was looked at: frames may be wrong */
	CT_STACK_CUT = 1 << 4,	   /* the outermost frames are not known */
	CT_STACK_HIDDEN = 1 << 5,  /* the kernel does not tell where the thread is */
};
enum ct_stack_why {
	CT_STALL_NONE = 0,
	CT_STALL_CALL = 1,    /* a thread is inside of a recorded call */
	CT_STALL_LAUNCH = 2,  /* what a call has launched does not end */
	CT_STALL_IDLE = 3,    /* there are communicators, and no thread enters a call */
	CT_STALL_AWAITED = 4, /* another process waits for this one's next op of a communicator */
};
enum ct_frame_kind { CT_FRAME_NATIVE = 1, CT_FRAME_PYTHON = 2 };
enum ct_frame_flag {
	CT_FRAME_GUESSED = 1 << 0, /* looked for on the stack */
	CT_FRAME_GAP = 1 << 1,	   /* frames before this one are missing */
};
struct ct_stack_frame {
	uint8_t kind; /* enum ct_frame_kind */
	uint8_t flags;
	uint16_t reserved;
	uint32_t line;	 /* 0 not known */
	uint64_t offset; /* of the instruction, in the file's own addresses; 0 for Python's */
};
_Static_assert(sizeof(struct ct_stack_frame) == 16, "function and file follow");

/* STRING: u32 id, then the bytes. NAME: u8 table (0 op, 1 call), u8 0, u16 id, then the bytes.
 * NOTE: u64 time, then the bytes. ENV: the bytes of "key=value". INVISIBLE: the bytes of "ID=object", ID of
 * invisible.def. */

#endif
