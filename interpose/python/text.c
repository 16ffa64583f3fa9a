/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/text.h"

#include <string.h>

#define MOST_CHARACTERS 4096u /* size: of a file's or function's name: PATH_MAX */

struct string_layout {
	uint32_t width; /* bytes of a character */
	int is_ascii;
};

/* State: how it is interned, then kind (3 bits), compact, ascii. Builds differ in the width of the
 * first. At a wrong offset there is no kind. */
static int shape_of(uint32_t state, struct string_layout *shape)
{
	static const uint8_t shifts[] = { 2, 8, 16 };

	for (size_t i = 0; i < sizeof(shifts); i++) {
		uint32_t bits = state >> shifts[i], kind = bits & 7, is_ascii = bits >> 4 & 1;

		if ((kind == 1 || ((kind == 2 || kind == 4) && !is_ascii)) && bits >> 3 & 1) {
			*shape = (struct string_layout){ kind, (int)is_ascii };
			return 0;
		}
	}
	return -1;
}

static uint32_t utf8_of(uint32_t c, char out[4])
{
	if (c < 0x20 || c == 0x7f)
		c = '?';
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd; /* half of a pair: Python's way to keep invalid UTF-8 */
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

static uint32_t character(const unsigned char *at, uint32_t width)
{
	uint32_t c = at[0];

	if (width >= 2)
		c |= (uint32_t)at[1] << 8;
	if (width == 4)
		c |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	return c;
}

/* Characters from `from` on, at most `n`, until `to` is full; how many bytes. *all: all found space.
 */
static int64_t copy(ct_python_read read, uintptr_t data, uint32_t width, uint64_t from, uint64_t n,
		    char *to, size_t room, int *all)
{
	unsigned char piece[256];
	uint32_t per = (uint32_t)sizeof(piece) / width;
	size_t used = 0;

	*all = 1;
	for (uint64_t i = 0; i < n; i++) {
		char c[4];
		uint32_t len;

		if (i % per == 0) {
			uint64_t left = n - i < per ? n - i : per;

			if (read(data + (from + i) * width, piece, left * width) != 0)
				return -1;
		}
		len = utf8_of(character(&piece[i % per * width], width), c);
		if (used + len >= room) {
			*all = 0;
			break;
		}
		memcpy(to + used, c, len);
		used += len;
	}
	to[used] = '\0';
	return (int64_t)used;
}

int ct_python_text(const struct ct_python *py, ct_python_read read, uintptr_t object, char *to,
		   size_t room, enum ct_python_keep keep)
{
	struct string_layout shape;
	uintptr_t type, data;
	uint64_t n, from = 0;
	uint32_t state;
	int all;

	to[0] = '\0';
	if (read(object + py->at.object_type, &type, sizeof(type)) != 0 ||
	    (py->text_type && type != py->text_type) ||
	    read(object + py->at.text_size, &n, sizeof(n)) != 0 ||
	    read(object + py->at.text_state, &state, sizeof(state)) != 0 ||
	    shape_of(state, &shape) != 0 || n == 0 || n > MOST_CHARACTERS)
		return -1;
	data = object + (shape.is_ascii ? py->at.text_ascii : py->at.text_other);
	if (copy(read, data, shape.width, 0, n, to, room, &all) < 0)
		return -1;
	if (all || keep == CT_PYTHON_KEEP_FRONT)
		return 0;
	/* the end has as many characters as surely fit, whatever they are */
	memcpy(to, "...", 4);
	from = n - (room - 4) / (shape.is_ascii	    ? 1
				 : shape.width == 1 ? 2
				 : shape.width == 2 ? 3
						    : 4);
	return copy(read, data, shape.width, from, n - from, to + 3, room - 3, &all) < 0 ? -1 : 0;
}
