/* SPDX-License-Identifier: Apache-2.0 */
/* format_segment.h — the bytes of a segment file: its header, and that of each block. See format.h.
 */
#ifndef CT_TRACE_FORMAT_SEGMENT_H
#define CT_TRACE_FORMAT_SEGMENT_H

#include <stdint.h>

#include "trace/format_process.h"

#define CT_SEGMENT_MAGIC 0x0000474553544331ull /* "1CTSEG\0\0" */
#define CT_BLOCK_MAGIC 0x4b425443u	       /* "CTBK" */

struct ct_segment_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* the first block follows here */
	uint32_t number;       /* 0, 1, ... within the process */
	uint32_t crc;	       /* CRC-32C of the header with this field 0 */
	uint64_t opened_ns;
	uint32_t flags; /* enum ct_segment_flags */
	uint8_t reserved[220];
	struct ct_process process;
};
_Static_assert(sizeof(struct ct_segment_header) == 1280, "segment header");

enum ct_segment_flags {
	CT_SEGMENT_THINNED = 1, /* written by `commtrace partial`: has blocks with CT_BLOCK_LEFT_OUT
				 */
};

enum ct_block_type {
	CT_BLOCK_DATA = 0,
	CT_BLOCK_CHECKPOINT = 1, /* first of a segment: all that later blocks lean on */
	CT_BLOCK_STATUS = 2,	 /* heartbeat */
	CT_BLOCK_END = 3,	 /* last block of a process that exited cleanly */
};

enum ct_block_flags {
	CT_BLOCK_HAS_RARES = 1, /* holds records of more than single operations and waits */
	CT_BLOCK_LEFT_OUT = 2, /* its operations, launches and waits were left out later, on purpose
				*/
};

struct ct_block_header {
	uint32_t magic;
	uint32_t header_crc; /* CRC-32C of the 64 bytes with this field 0 */
	uint32_t bytes;	     /* of the zstd frame that follows */
	uint32_t raw_bytes;  /* of the columns in it */
	uint32_t crc;	     /* CRC-32C of the frame */
	uint16_t type;	     /* enum ct_block_type */
	uint16_t flags;	     /* enum ct_block_flags */
	uint32_t number;     /* counts the blocks of a process over its segments: a gap is a loss */
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

/* Columns of a block: each { u8 id, varint length, bytes }. docs/dev/TRACE_FORMAT.md has each
 * coding. */
enum ct_column {
#define X(NAME, id, where, text) CT_COL_##NAME = id,
#include "trace/columns.def"
#undef X
};

#endif
