/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/text.h"

#include <string.h>

#define MOST_BYTES (1u << 20) /* size: of a table of lines; a longer one is not a table */

/* A table's bytes one after the other. */
struct byte_stream {
	ct_python_read read;
	uintptr_t at;
	uint64_t left; /* of the table, behind what is in the piece */
	uint32_t next, n;
	unsigned char piece[256];
};

/* The next byte, or -1. */
static int next_byte(struct byte_stream *s)
{
	if (s->next == s->n) {
		s->n = s->left < sizeof(s->piece) ? (uint32_t)s->left : (uint32_t)sizeof(s->piece);
		s->next = 0;
		if (s->n == 0 || s->read(s->at, s->piece, s->n) != 0) {
			s->n = 0;
			s->left = 0;
			return -1;
		}
		s->at += s->n;
		s->left -= s->n;
	}
	return s->piece[s->next++];
}

/* Up to 3.9: pairs of how much further instruction and line are. */
static int64_t line_in_pairs(struct byte_stream *s, int64_t line, int64_t at)
{
	int64_t offset = 0;

	for (;;) {
		int step = next_byte(s), up = next_byte(s);

		if (step < 0 || up < 0)
			return line;
		offset += step;
		if (offset > at)
			return line;
		line += (signed char)up;
	}
}

/* 3.10: pairs of how many bytes of instructions, and how much further their line is than the last
 * one; -128: none. */
static int64_t line_in_ranges(struct byte_stream *s, int64_t line, int64_t at)
{
	int64_t offset = 0;

	for (;;) {
		int step = next_byte(s), up = next_byte(s);

		if (step < 0 || up < 0)
			return 0;
		offset += step;
		if ((signed char)up != -128)
			line += (signed char)up;
		if (offset > at)
			return (signed char)up == -128 ? 0 : line;
	}
}

/* Six bits a byte, lowest first, bit 6 says that there are more; the number's lowest bit is its
 * sign. */
static int64_t signed_number(struct byte_stream *s)
{
	uint64_t n = 0;
	int byte, shift = 0;

	do {
		byte = next_byte(s);
		if (byte < 0 || shift > 30)
			return 0;
		n |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return n & 1 ? -(int64_t)(n >> 1) : (int64_t)(n >> 1);
}

/* From 3.11 on: entries that begin with a byte with the highest bit: a form, and how many
 * instructions of two bytes. */
static int64_t line_in_entries(struct byte_stream *s, int64_t line, int64_t at)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NOTHING = 15 };
	int64_t offset = 0;
	int byte = next_byte(s);

	while (byte >= 0) {
		int form = byte >> 3 & 15;

		if (!(byte & 128))
			return 0;
		offset += ((byte & 7) + 1) * 2;
		if (form == NO_COLUMNS || form == LONG)
			line += signed_number(s);
		else if (form >= ONE_LINE && form < NO_COLUMNS)
			line += form - ONE_LINE;
		if (offset > at)
			return form == NOTHING ? 0 : line;
		do
			byte = next_byte(s);
		while (byte >= 0 && !(byte & 128));
	}
	return 0;
}

uint32_t ct_python_line_in(uint32_t version, ct_python_read read, uintptr_t table, uint64_t bytes,
			   uint32_t first, int64_t at)
{
	struct byte_stream s = { .read = read, .at = table, .left = bytes };
	int64_t line;

	if (at < 0 || bytes > MOST_BYTES)
		return 0;
	if (version < 0x030a)
		line = line_in_pairs(&s, first, at);
	else if (version == 0x030a)
		line = line_in_ranges(&s, first, at);
	else
		line = line_in_entries(&s, first, at);
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

uint32_t ct_python_line(const struct ct_python *py, ct_python_read read, uintptr_t code, int64_t at)
{
	uintptr_t table;
	uint64_t bytes;
	int32_t first;

	if (read(code + py->at.code_first, &first, sizeof(first)) != 0 || first < 0 ||
	    read(code + py->at.code_lines, &table, sizeof(table)) != 0 || !table ||
	    read(table + py->at.bytes_size, &bytes, sizeof(bytes)) != 0)
		return 0;
	return ct_python_line_in(py->version >> 16, read, table + py->at.bytes_data, bytes,
				 (uint32_t)first, at);
}
