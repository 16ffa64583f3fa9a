/* SPDX-License-Identifier: Apache-2.0 */
/* output.h — blocks into the segments of this process: numbering, checkpoints, rotation, the bound
 * on bytes. The write thread's alone. */
#ifndef CT_INTERPOSE_OUTPUT_H
#define CT_INTERPOSE_OUTPUT_H

#include <sys/types.h>

#include "interpose/state.h"
#include "trace/segment.h"

struct ct_writer_options;

struct ct_output {
	struct ct_segment_writer segment;
	struct ct_encoder *encoder; /* NULL: at rest */
	struct ct_state state;
	struct ct_block checkpoint;
	const struct ct_writer_options *options;
	uint64_t *records; /* in segments segment.oldest.., for what trimming loses */
	uint32_t cap_records;
	uint32_t blocks; /* number of the next block */
	int fresh;	 /* the open segment has no checkpoint yet */
	int failing;	 /* the last append failed, and that was said */
	dev_t dev;	 /* of the open segment: descriptors can be closed and used by others ... */
	ino_t ino;
	dev_t dir_dev; /* ... and of the run directory */
	ino_t dir_ino;
	const char *dir; /* its path, the process's */
	uint64_t segment_bytes;
	uint64_t max_bytes;
};

/* 0 or CT_NOMEM. `ring`, `options` and the path of the run directory in `process` are borrowed
 * until ct_output_close(). */
int ct_output_init(struct ct_output *output, struct ct_ring *ring, const struct ct_process *process,
		   const struct ct_writer_options *options);

/* Ensures that a segment with space for one more block is open: a new one, with its checkpoint, if
 * needed. Call it before reading the state for the block. Otherwise an older block after the
 * checkpoint would undo the checkpoint's content (an ended communicator would be live again). 0,
 * CT_IO, CT_NOMEM, CT_RANGE. */
int ct_output_ready(struct ct_output *output);

/* Append the block under the next number, after ct_output_ready(). The same results; CT_IO also if
 * the segment is not there any more: nothing was written then, and the next ct_output_ready() opens
 * another one. */
int ct_output_block(struct ct_output *output, struct ct_block *block);

/* `n` records went into the open segment. */
void ct_output_count(struct ct_output *output, uint32_t n);

/* No block is due soon: frees what coding one takes. The next block allocates it again, or fails
 * with CT_NOMEM. */
void ct_output_rest(struct ct_output *output);

/* Closes the open segment, which stays as it is, and frees all else. */
void ct_output_close(struct ct_output *output);

#endif
