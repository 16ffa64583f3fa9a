/* SPDX-License-Identifier: Apache-2.0 */
/* block_columns.h — the columns of a block while it is coded, and their compression into the frames
 * behind its header. One thread. */
#ifndef CT_TRACE_BLOCK_COLUMNS_H
#define CT_TRACE_BLOCK_COLUMNS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/block_model.h"
#include "trace/format.h"

/* One column being filled. Room is made for the worst case before the loop that fills it. */
struct ct_column_bytes {
	uint8_t *start;
	uint8_t *p;
	size_t cap;
};

enum { CT_N_COLUMNS = CT_COL_RARE_BITS + 1 };

/* A zeroed struct is valid; its memory is used again from block to block. */
struct ct_block_columns {
	struct ct_column_bytes all[CT_N_COLUMNS];
	struct ZSTD_CCtx_s *zstd;
	uint8_t *raw;
	size_t raw_cap;
	uint8_t *out; /* header_bytes for the block's header, then the frames */
	size_t out_cap;
};

/* 0 or CT_NOMEM. */
int ct_block_columns_init(struct ct_block_columns *columns);
void ct_block_columns_fini(struct ct_block_columns *columns);

/* Empties the column, and makes space for so many bytes, and for 8 that are stored at once. 0 or
 * CT_NOMEM. */
int ct_block_column_open(struct ct_block_columns *columns, enum ct_column id, size_t worst_bytes);

/* Compresses all columns that hold anything. *raw_bytes and *frame_bytes: without and with
 * compression. 0, CT_NOMEM or CT_RANGE (more than CT_BLOCK_MAX_RAW). */
int ct_block_columns_compress(struct ct_block_columns *columns, size_t header_bytes,
			      size_t *raw_bytes, size_t *frame_bytes);

static inline uint8_t *ct_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 128) {
		*p++ = (uint8_t)v | 128;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Where low bits of class bytes go. In the loops that use it, it is a copy: stores of bytes may
 * change anything that is in memory. */
struct ct_bits {
	uint8_t *p;
	uint64_t bits; /* not written yet */
	unsigned n;    /* of them, at most 31 */
};

static inline void ct_put_few_bits(struct ct_bits *b, uint64_t v, unsigned n) /* at most 32 */
{
	uint32_t word;

	b->bits |= v << b->n;
	b->n += n;
	if (b->n < 32)
		return;
	word = htole32((uint32_t)b->bits);
	memcpy(b->p, &word, sizeof(word));
	b->p += sizeof(word);
	b->bits >>= 32;
	b->n -= 32;
}

/* A timing residual: a byte for its magnitude (exponent and two bits of mantissa), which zstd's
 * entropy coder squeezes, and its remaining bits, which are noise, raw. 15 % smaller than varints. */
__attribute__((always_inline)) static inline uint8_t *ct_put_class(uint8_t *p, struct ct_bits *b,
								   int64_t residual)
{
	uint64_t v = ct_zigzag(residual);
	unsigned low;

	if (v < 8) {
		*p++ = (uint8_t)v;
		return p;
	}
	low = (63u ^ (unsigned)__builtin_clzll(v)) - 2;
	*p++ = (uint8_t)(4 * low + (v >> low));
	v &= (1ull << low) - 1;
	if (__builtin_expect(low > 32, 0)) {
		ct_put_few_bits(b, v & 0xffffffffu, 32);
		v >>= 32;
		low -= 32;
	}
	ct_put_few_bits(b, v, low);
	return p;
}

#endif
