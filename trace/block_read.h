/* SPDX-License-Identifier: Apache-2.0 */
/* block_read.h — a block's bytes back into records. Input is never trusted: every length is checked
 * before it is used, and damage is an error return, not undefined behaviour. One decoder per
 * thread. */
#ifndef CT_TRACE_BLOCK_READ_H
#define CT_TRACE_BLOCK_READ_H

#include <stddef.h>

#include "trace/block.h"
#include "trace/status.h"

/* Check a block header's magic, CRC and bounds. `at` is its file offset, for messages. CT_FORMAT if
 * it is not one. */
int ct_block_header_check(const struct ct_block_header *header, uint64_t at, struct ct_err *err);

struct ct_decoder;
struct ct_decoder *ct_decoder_new(void); /* NULL: out of memory */
void ct_decoder_free(struct ct_decoder *decoder);

/* Decode the frame of `header->bytes` bytes into *block (reset first). 0, CT_NOMEM, or CT_FORMAT
 * with the reason in *err; *block is then empty. */
int ct_block_decode(struct ct_decoder *decoder, const struct ct_block_header *header,
		    const void *frame, struct ct_block *block, struct ct_err *err);

/* Decodes extents and rare records, without operations, launches and WAIT, which leans on them:
 * block->skimmed_ops, begin_ns and end_ns cover these. `with_rares` 0: checks only the frame's
 * checksum, and the block has these fields alone. */
int ct_block_skim(struct ct_decoder *decoder, const struct ct_block_header *header,
		  const void *frame, int with_rares, struct ct_block *block, struct ct_err *err);

/* Without the frame, which may be damaged: the block has these fields alone. */
void ct_block_skim_header(const struct ct_block_header *header, struct ct_block *block);

/* The same from the columns of an unpacked frame; the header gives the numbers of records. For
 * tests and fuzzing: this is where damage that has a good checksum arrives. */
int ct_block_decode_raw(struct ct_decoder *decoder, const struct ct_block_header *header,
			const void *raw, size_t raw_bytes, struct ct_block *block,
			struct ct_err *err);

#endif
