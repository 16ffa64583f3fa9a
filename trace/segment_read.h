/* SPDX-License-Identifier: Apache-2.0 */
/* segment_read.h — read one segment file, forgiving what crashes and copying leave: a torn tail, a
 * damaged block in the middle, bytes that were never a segment. One reader, one thread. */
#ifndef CT_TRACE_SEGMENT_READ_H
#define CT_TRACE_SEGMENT_READ_H

#include <stdint.h>

#include "trace/block_read.h"
#include "trace/format.h"
#include "trace/status.h"

struct ct_segment_reader;

/* What could not be read, counted while reading. */
struct ct_damage {
	uint64_t skipped_bytes;	 /* in the middle: damaged blocks */
	uint64_t torn_bytes;	 /* at the end: a block that was being written */
	uint32_t damaged_blocks; /* whose frame did not decode */
	uint64_t first_at;	 /* file offset of the first damage, 0 if none */
	char first_why[120];
};

/* CT_NOTFOUND, CT_IO, or CT_FORMAT / CT_VERSION if the file has no readable segment header. `path`
 * is copied. */
int ct_segment_open_read(const char *path, struct ct_segment_reader **reader, struct ct_err *err);

/* The same over bytes in memory (borrowed until close); for tests and fuzzing. */
int ct_segment_open_memory(const void *data, size_t bytes, struct ct_segment_reader **reader,
			   struct ct_err *err);

const struct ct_segment_header *ct_segment_header(const struct ct_segment_reader *reader);

/* Decode with `decoder`, which the caller owns: readers of one thread may share one. Without this
 * call the reader creates its own for its first block. */
void ct_segment_decode_by(struct ct_segment_reader *reader, struct ct_decoder *decoder);

/* Returns only records other than operations and waits (ct_block_skim). Blocks without such records
 * are not decoded, except for the last of them, whose rest comes once more at the end (is_again).
 * Their checksums are still checked. This applies to blocks with a number below `before`;
 * CT_SKIM_ALL: to all. */
#define CT_SKIM_ALL UINT32_MAX
/* code: instead of a number: operations and waits of all blocks are left out, and the other records
 * of all are returned. */
#define CT_SKIM_OPS (UINT32_MAX - 1)
void ct_segment_skim(struct ct_segment_reader *reader, uint32_t before);

/* What nothing is returned of (ct_segment_skim) is not even read, as far as the headers of blocks
 * follow one another: its checksums are not checked, and damage in it is not counted. */
void ct_segment_hop(struct ct_segment_reader *reader);

/* The file grows: what is at its end now is not a torn tail, but a block that is being written.
 * ct_segment_next_block() returns 0 there, and continues when called again. `follows` 0: from now
 * on the end is the end. */
void ct_segment_follow(struct ct_segment_reader *reader, int follows);

/* Next block that can be decoded. 1 and *block, 0 at the end, or CT_NOMEM / CT_IO. Damage is
 * skipped up to the next good block header and counted. */
int ct_segment_next_block(struct ct_segment_reader *reader, struct ct_block *block,
			  struct ct_err *err);

/* Header of the block that ct_segment_next_block() returned last. */
const struct ct_block_header *ct_segment_block_header(const struct ct_segment_reader *reader);

/* Goes to the last complete block, found from the end of the file without reading the rest. The
 * next ct_segment_next_block() returns it. 1, 0 if there is none, or CT_NOMEM / CT_IO. */
int ct_segment_seek_last(struct ct_segment_reader *reader, struct ct_err *err);

/* Where in the file the block ends that was returned last. */
uint64_t ct_segment_position(const struct ct_segment_reader *reader);

/* Bytes that were read from the file so far, those that were read twice counted twice. */
uint64_t ct_segment_read_bytes(const struct ct_segment_reader *reader);

const struct ct_damage *ct_segment_damage(const struct ct_segment_reader *reader);

void ct_segment_close_read(struct ct_segment_reader *reader);

#endif
