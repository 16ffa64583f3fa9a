/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h — a run: all segments and rings of a job, process by process, block by block.
 *
 * Segments, archived rings in the run directories, and rings of this host that name one of the
 * directories are put together per process; a record that is in both comes once. Missing parts are
 * in struct ct_gaps; they are never an error by themselves. A run may be opened by one thread and
 * its processes read by several, one thread per process.
 */
#ifndef CT_TRACE_READER_H
#define CT_TRACE_READER_H

#include <string.h>

#include "trace/block.h"
#include "trace/format.h"
#include "trace/segment_read.h"
#include "trace/status.h"

enum ct_ring_found {
	CT_RING_NOT_FOUND = 0, /* drained and removed (the process exited cleanly), or lost */
	CT_RING_PRESENT = 1,   /* the process lives or has just died: read where it is */
	CT_RING_ARCHIVED = 2,  /* moved into the run after the process's death */
};

enum ct_end_how {
	CT_END_UNKNOWN = 0, /* no END block, no note of a death */
	CT_END_RUNNING = 1, /* its owner lives */
	CT_END_CLEAN = 2,   /* returned from main or called exit; exit_code */
	CT_END_EXIT = 3,    /* _exit: exit_code, no exit handlers ran */
	CT_END_SIGNAL = 4,  /* killed by `signal` */
	CT_END_EXEC = 5,    /* replaced by another program */
};

/* How a process ended, if known. It ended within [after_ns, before_ns]. */
struct ct_end {
	enum ct_end_how how;
	int exit_code; /* -1 unknown */
	int signal;    /* 0 none or unknown */
	uint64_t after_ns;
	uint64_t before_ns; /* UINT64_MAX: unknown */
	uint64_t said_ns; /* when it said itself that it ends, by exit() or abort(); 0: it did not */
	uint32_t seen_by; /* pid of the parent that waited, 0 none */
	uint64_t kill_ns; /* first kill() on it, 0 none seen ... */
	int kill_signal;
	uint32_t kill_by; /* ... by this pid */
	int unasked; /* 1: it announced its end and had no handler for SIGTERM and SIGINT, so it was
			not asked to end */
	int stopped; /* 1: it runs, and was stopped by a signal (SIGSTOP, SIGTSTP) or a debugger
			when this was read */
	int for_memory; /* 1: killed while the kernel was killing for lack of memory, and no other
			   sender is known */
};

/* What is not there. */
struct ct_gaps {
	uint64_t losses[CT_LOSS_MAX]; /* records, by reason, counted by the recorder */
	uint64_t missing_blocks;      /* gaps in the block numbers, damaged blocks included; blocks
					 before the      first one only if no MAX_BYTES loss reports them
				       */
	struct ct_damage damage;      /* summed over the segments; first_why names the file */
	int ring_unread; /* there is a ring, and nothing in it could be read: what was last may be
			    missing */
};

struct ct_process_info {
	struct ct_process id;
	uint32_t n_segments;
	uint64_t segment_bytes;
	int is_thinned; /* operations of its earlier part were left out (CT_BLOCK_LEFT_OUT) */
	enum ct_ring_found ring;
	char ring_path[512];
	uint64_t last_beat_ns;
	uint64_t looked_ns; /* when it last polled the work in flight on its GPUs; 0 not known */
	uint64_t late_ns;   /* recent delay of its heartbeat; 0 also: not known */
	struct ct_end end;
};

/* A file that belongs to no process, since it cannot be read. One of the warnings is about it. */
struct ct_skipped_file {
	char *path, *why;
	int status; /* CT_IO: it cannot be copied, either; else it is damaged, or of another version
		     */
};

struct ct_run {
	struct ct_process_info *processes; /* by host, rank, start */
	size_t n_processes;
	char **warnings; /* files that were skipped and why, one sentence each */
	size_t n_warnings;
	const struct ct_skipped_file *skipped;
	size_t n_skipped;
	struct ct_run_files *files; /* private */
};

struct ct_run_options {
	const char *const
		*ring_dirs; /* NULL-terminated; NULL: do not look for rings outside the run */
};

/* Open directories (or single .seg, .ring, .ring.zst files) as one run. 0 also when some files are
 * damaged (see warnings). If no process was found at all: what was wrong with the first file that
 * could not be read, else CT_EMPTY. CT_NOMEM. */
int ct_run_open(const char *const *paths, size_t n_paths, const struct ct_run_options *options,
		struct ct_run **run, struct ct_err *err);
void ct_run_close(struct ct_run *run);

struct ct_process_reader;

/* Read process `index` of the run from its first block. */
int ct_process_open(const struct ct_run *run, size_t index, struct ct_process_reader **reader,
		    struct ct_err *err);

/* Its segments, oldest first, with those that a live process has opened since the run was. Borrowed
 * until the reader is closed. */
const char *const *ct_process_segments(const struct ct_process_reader *reader, size_t *n);

/* Memory for decoding: a decoder and the block it fills. Readers that one thread uses in turn may
 * share it; a block is then valid until any of them reads the next one. NULL: out of memory. */
struct ct_decoding;
struct ct_decoding *ct_decoding_new(void);
void ct_decoding_free(struct ct_decoding *decoding);

/* The same, decoding in `decoding`, which is borrowed until the reader is closed; NULL: the reader
 * allocates its own. */
int ct_process_open_in(const struct ct_run *run, size_t index, struct ct_decoding *decoding,
		       struct ct_process_reader **reader, struct ct_err *err);

/* Sets `decoding`, borrowed until the reader is closed or gets another one. So a thread may
 * continue with a reader that another thread has used. Between blocks. */
void ct_process_decode_in(struct ct_process_reader *reader, struct ct_decoding *decoding);

/* Reads without operations and launches: ct_process_next() then returns the other records, and the
 * times and number of what it skips (struct ct_block). It does not decode most blocks. This applies
 * to blocks with a number below `before`; CT_SKIM_ALL: to all, and to the ring; CT_SKIM_OPS: see
 * segment_read.h, the ring is not skimmed. Before the first block. */
void ct_process_skim(struct ct_process_reader *reader, uint32_t before);

/* Starts with this one of its segments, as if the earlier ones had been removed for MAX_BYTES: the
 * first block of each has what is known of communicators, names and facts
 * (docs/dev/TRACE_FORMAT.md). Of blocks of which nothing is returned, only the headers are read,
 * and their checksums are not checked. Before the first block. */
void ct_process_read_tail(struct ct_process_reader *reader, size_t segment);

/* The latest segment with which those from it on have so many bytes, as they were when the run was
 * opened; 0: there are not so many. */
size_t ct_process_tail(const struct ct_process_reader *reader, uint64_t bytes);

/* The process runs, and is to be read as it goes on: where it has written no more yet,
 * ct_process_next() returns CT_PROCESS_WAITS, and continues when called again. Once it has ended,
 * its ring comes last, as always. Before the first block; the run stays open. */
#define CT_PROCESS_WAITS 2 /* code: beside 1, a block, and 0, the end */
void ct_process_follow(struct ct_process_reader *reader);

/* Next block: 1 and *block (owned by the reader until the next call), 0 at the end, negative on
 * failure. Blocks come oldest first. Records that are only in the ring come last, as blocks of type
 * CT_BLOCK_DATA with ops that may have no return. String ids, comm ids and thread ids are the
 * process's own. */
int ct_process_next(struct ct_process_reader *reader, const struct ct_block **block,
		    struct ct_err *err);

/* Bytes of its segments that are behind it, of segment_bytes. */
uint64_t ct_process_position(const struct ct_process_reader *reader);

/* Bytes that readers of the process have read from its segments, but for what opening the run took.
 * A reader counts once it is closed. */
uint64_t ct_process_read_bytes(const struct ct_run *run, size_t index);

/* What was missing so far; complete after ct_process_next() returned 0. */
const struct ct_gaps *ct_process_gaps(const struct ct_process_reader *reader);

void ct_process_close(struct ct_process_reader *reader);

/* The bytes of a rare record, at least `len` of them (zero-padded copy), for payload structs that
 * may be shorter in old files and longer in new ones. */
void ct_rare_get_part(const struct ct_block *block, const struct ct_rare *rare, void *out,
		      size_t len);
static inline void ct_rare_get(const struct ct_block *block, const struct ct_rare *rare, void *out,
			       size_t len)
{
	/* mostly all of it is there */
	if (rare->len >= len && rare->at <= block->n_bytes && len <= block->n_bytes - rare->at)
		memcpy(out, block->bytes + rare->at, len);
	else
		ct_rare_get_part(block, rare, out, len);
}

#endif
