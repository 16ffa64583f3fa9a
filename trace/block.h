/* SPDX-License-Identifier: Apache-2.0 */
/* block.h — records of one process in memory, and their coding into the self-contained compressed
 * block that a segment is made of. block_read.h has the way back.
 *
 * A struct ct_block is a growable container owned by one thread; reset it and use it again. Coding
 * does not change it. Nothing here prints or exits; memory is the caller's through ct_block_fini()
 * and ct_encoder_fini().
 */
#ifndef CT_TRACE_BLOCK_H
#define CT_TRACE_BLOCK_H

#include <stddef.h>

#include "trace/format.h"
#include "trace/record.h"
#include "trace/status.h"

/* A run of slots of one chunk lap: which part of which ring the records come from. It names the
 * thread, and lets a reader that has both segment and ring keep each record once. Records of a
 * block are in the order of its extents. */
struct ct_extent {
	uint64_t lap; /* claim number of the chunk */
	uint32_t tid;
	uint32_t first; /* slot, from 0 */
	uint32_t n_slots;
	uint32_t n_ops; /* of them */
	uint32_t n_launches;
};

struct ct_rare {
	uint16_t kind;
	uint16_t len;
	uint32_t at; /* offset of its bytes in ct_block.bytes */
};

struct ct_block {
	enum ct_block_type type;
	uint32_t number;
	uint32_t quantum_ns;
	struct ct_extent *extents;
	struct ct_op *ops;
	struct ct_launch *launches;
	struct ct_rare *rares;
	uint8_t *bytes;
	uint32_t n_extents, n_ops, n_launches, n_rares, n_bytes;
	/* What a skimming reader left out (segment_read.h), else 0: operations, and the earliest
	 * and latest time of those and of launches. */
	uint32_t skimmed_ops;
	int is_left_out; /* by the writer of the file: CT_BLOCK_LEFT_OUT. Such a block is always
			    skimmed; one that is coded has its counts in skimmed_ops and
			    skimmed_launches */
	uint32_t skimmed_launches;
	int is_again; /* its header was returned before, as that of a skipped block */
	uint64_t begin_ns, end_ns;
	uint32_t cap_extents, cap_ops, cap_launches, cap_rares, cap_bytes;
};

/* tuning: host times are stored in multiples of this; a measurement error that the reader
 * publishes. Chosen so that it stays below the jitter of a clock read through two libraries
 * (reference: quantum table in docs/dev/TRACE_FORMAT.md). */
#define CT_BLOCK_QUANTUM_NS 32u

/* Empty the block, keep its memory. A zeroed struct is a valid empty block. */
void ct_block_reset(struct ct_block *block, enum ct_block_type type);
void ct_block_fini(struct ct_block *block);

/* Makes space for `more` elements of `size` behind the n that *array (a pointer) has. 0 or CT_NOMEM.
 */
int ct_block_room(void *array, uint32_t n, uint32_t more, uint32_t *cap, size_t size);

/* Makes space for so many operations, launches and others at once: space that is not used takes no
 * memory, where space that grows leaves behind what it grew out of. 0 or CT_NOMEM. */
int ct_block_reserve(struct ct_block *block, uint32_t records);

/* Append; each returns 0 or CT_NOMEM. Extents say in their order how many ops each holds. An op
 * without a return time gets CT_OP_UNRETURNED, one with it loses that. */
int ct_block_add_extent(struct ct_block *block, const struct ct_extent *extent);
int ct_block_add_op(struct ct_block *block, const struct ct_op *op);
int ct_block_add_launch(struct ct_block *block, const struct ct_launch *launch);
int ct_block_add_rare(struct ct_block *block, enum ct_kind kind, const void *data, size_t len);
/* A rare record made of a struct, followed by the bytes of a text (STRING, NAME, NOTE). */
int ct_block_add_text(struct ct_block *block, enum ct_kind kind, const void *head, size_t head_len,
		      const char *text);

/* Records in it, of any kind. */
static inline uint32_t ct_block_records(const struct ct_block *block)
{
	return block->n_ops + block->n_launches + block->n_rares;
}

/* The ops of a block by thread, which the extents name: begin with a zeroed one. Ops beyond the
 * extents: thread 0. */
struct ct_thread_ops {
	uint32_t extent;     /* to look at next */
	uint32_t first, end; /* of the ops */
	uint32_t tid;
};

/* The next ones of the first `n_ops` ops; 0: there are no more. */
static inline int ct_thread_ops_next(const struct ct_block *block, uint32_t n_ops,
				     struct ct_thread_ops *t)
{
	t->first = t->end;
	t->tid = 0;
	while (t->extent < block->n_extents && !block->extents[t->extent].n_ops)
		t->extent++;
	if (t->extent < block->n_extents && block->extents[t->extent].n_ops < n_ops - t->first) {
		t->end += block->extents[t->extent].n_ops;
	} else {
		t->end = n_ops;
	}
	if (t->extent < block->n_extents)
		t->tid = block->extents[t->extent++].tid;
	return t->first < t->end;
}

/* Scratch memory and zstd context, used again from block to block. */
struct ct_encoder;
struct ct_encoder *ct_encoder_new(void); /* NULL: out of memory */
void ct_encoder_free(struct ct_encoder *encoder);

/* Code `block` (its number included). *out points into the encoder and holds until its next use:
 * block header and zstd frame, ready for one write. 0, CT_NOMEM or CT_RANGE (more than
 * CT_BLOCK_MAX_RECORDS). */
int ct_block_encode(struct ct_encoder *encoder, const struct ct_block *block, const void **out,
		    size_t *out_bytes);

/* CRC-32C (Castagnoli) of `len` bytes, continuing from `crc` (0 to start). */
uint32_t ct_crc32c(uint32_t crc, const void *data, size_t len);
/* The same where the processor has no instruction for it; tests hold one against the other. */
uint32_t ct_crc32c_by_table(uint32_t crc, const void *data, size_t len);

#endif
