/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#ifdef __x86_64__
#include <nmmintrin.h>
#include <wmmintrin.h>
#endif

#include "trace/block.h"

/* Polynomial 0x1EDC6F41, reflected (RFC 3720 appendix B.4). One 16-entry table, for processors
 * without an instruction for it. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t ct_crc32c_by_table(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

#ifdef __x86_64__
/* size: of three parts that are summed at once, since the instruction takes three cycles and one
 * can begin in each. */
#define PART_BYTES 1024u

/* fact: x to the power of 8 PART_BYTES - 33, or 16 PART_BYTES - 33, modulo the polynomial,
 * reflected. */
#define AFTER_ONE 0x170076fau
#define AFTER_TWO 0xa51b6135u

__attribute__((target("sse4.2"))) static uint64_t add_word(uint64_t crc, const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return _mm_crc32_u64(crc, word);
}

/* The sum as it is so many zeros later: both factors are reflected, so that their product is x
 * times too large, and the instruction multiplies by x^32. */
__attribute__((target("sse4.2,pclmul"))) static uint32_t shifted(uint64_t crc, uint32_t power)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)crc),
					       _mm_cvtsi64_si128(power), 0);

	return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t by_instruction(uint32_t crc,
									const void *data,
									size_t len)
{
	const uint8_t *p = data;
	uint64_t wide = (uint32_t)~crc;

	for (; len >= 3 * PART_BYTES; len -= 3 * PART_BYTES, p += 3 * PART_BYTES) {
		uint64_t second = 0, third = 0;

		for (size_t i = 0; i < PART_BYTES; i += sizeof(uint64_t)) {
			wide = add_word(wide, p + i);
			second = add_word(second, p + PART_BYTES + i);
			third = add_word(third, p + 2 * PART_BYTES + i);
		}
		wide = shifted(wide, AFTER_TWO) ^ shifted(second, AFTER_ONE) ^ third;
	}
	for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), p += sizeof(uint64_t))
		wide = add_word(wide, p);
	crc = (uint32_t)wide;
	for (; len; len--)
		crc = _mm_crc32_u8(crc, *p++);
	return ~crc;
}
#endif

uint32_t ct_crc32c(uint32_t crc, const void *data, size_t len)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
		return by_instruction(crc, data, len);
#endif
	return ct_crc32c_by_table(crc, data, len);
}
