/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_append.h — protobuf fields written straight into a buffer: the hot path of a timeline,
 * an order of magnitude faster than building a message and packing it. The caller sees to it that
 * there is space.
 *
 * A length that is not known yet takes two bytes, which may be one more than it needs: every
 * protobuf reader takes a varint with leading zeros. So the content of a message must stay below 16
 * KiB. Pure. */
#ifndef CT_ANALYZER_RENDER_PERFETTO_APPEND_H
#define CT_ANALYZER_RENDER_PERFETTO_APPEND_H

#include <stdint.h>
#include <string.h>

#define CT_APPEND_MAX 16383u

enum ct_wire { CT_WIRE_VARINT = 0, CT_WIRE_FIXED64 = 1, CT_WIRE_BYTES = 2 };

static inline uint8_t *ct_append_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *ct_append_key(uint8_t *at, unsigned field, enum ct_wire wire)
{
	return ct_append_varint(at, field << 3 | wire);
}

static inline uint8_t *ct_append_uint(uint8_t *at, unsigned field, uint64_t value)
{
	return ct_append_varint(ct_append_key(at, field, CT_WIRE_VARINT), value);
}

static inline uint8_t *ct_append_fixed64(uint8_t *at, unsigned field, uint64_t value)
{
	at = ct_append_key(at, field, CT_WIRE_FIXED64);
	memcpy(at, &value, sizeof(value)); /* little-endian, as the wire is */
	return at + sizeof(value);
}

static inline uint8_t *ct_append_double(uint8_t *at, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return ct_append_fixed64(at, field, bits);
}

/* At most `most` bytes of it, and no half of a character of UTF-8. */
static inline uint8_t *ct_append_text(uint8_t *at, unsigned field, const char *text, size_t most)
{
	size_t len = strnlen(text, most + 1);

	if (len > most)
		for (len = most; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
			;
	at = ct_append_varint(ct_append_key(at, field, CT_WIRE_BYTES), len);
	memcpy(at, text, len);
	return at + len;
}

/* Begin a message in a message; *mark is for ct_append_close(). */
static inline uint8_t *ct_append_open(uint8_t *at, unsigned field, uint8_t **mark)
{
	at = ct_append_key(at, field, CT_WIRE_BYTES);
	*mark = at;
	return at + 2;
}

static inline void ct_append_close(const uint8_t *at, uint8_t *mark)
{
	unsigned len = (unsigned)(at - mark - 2);

	mark[0] = (uint8_t)(len | 0x80);
	mark[1] = (uint8_t)(len >> 7 & 0x7f);
}

/* The same for a message below 128 bytes. */
static inline uint8_t *ct_append_open_short(uint8_t *at, unsigned field, uint8_t **mark)
{
	at = ct_append_key(at, field, CT_WIRE_BYTES);
	*mark = at;
	return at + 1;
}

static inline void ct_append_close_short(const uint8_t *at, uint8_t *mark)
{
	*mark = (uint8_t)(at - mark - 1);
}

#endif
