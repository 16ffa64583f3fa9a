/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/text.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the first character of `s`, 0 if it must not be shown. Overlong forms, surrogates and
 * values above U+10FFFF are refused as RFC 3629 says. */
static size_t character(const unsigned char *s, size_t len)
{
	uint32_t value;
	size_t n;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
		return 0;
	value = s[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3fu);
	}
	if ((n == 3 && value < 0x800) || (n == 4 && (value < 0x10000 || value > 0x10ffff)) ||
	    (value >= 0xd800 && value < 0xe000))
		return 0;
	if (value < 0xa0 || (value >= 0x200b && value <= 0x200f) ||
	    (value >= 0x2028 && value <= 0x202e) || (value >= 0x2060 && value <= 0x206f) ||
	    value == 0xfeff)
		return 0;
	return n;
}

size_t ct_text_clean(char *dst, size_t cap, const char *src, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len && src[i];) {
		size_t n = character((const unsigned char *)src + i, len - i);
		size_t width = n ? n : 1;

		if (out + width >= cap)
			break;
		if (n)
			memcpy(dst + out, src + i, n);
		else
			dst[out] = '?';
		out += width;
		i += width;
	}
	dst[out] = '\0';
	return out;
}

/* What is between the quotes is added piece by piece; one that does not fit ends it. */
struct quoted {
	char *to;
	size_t cap, len;
	int is_cut;
};

static void put(struct quoted *q, const char *bytes, size_t n)
{
	q->is_cut |= q->len + n >= q->cap;
	if (q->is_cut)
		return;
	memcpy(q->to + q->len, bytes, n);
	q->len += n;
}

static void put_octal(struct quoted *q, unsigned char byte)
{
	const char octal[4] = { '\\', (char)('0' + (byte >> 6)), (char)('0' + (byte >> 3 & 7)),
				(char)('0' + (byte & 7)) };

	put(q, octal, sizeof(octal));
}

enum quoting { QUOTE_NOTHING, QUOTE_SPACES, QUOTE_BYTES };

static enum quoting quoting_of(const char *path, size_t len)
{
	static const char safe[] = "_@%+=:,./-";
	enum quoting quoting = len ? QUOTE_NOTHING : QUOTE_SPACES;

	for (size_t i = 0; i < len;) {
		size_t n = character((const unsigned char *)path + i, len - i);
		unsigned char c = (unsigned char)path[i];

		if (!n)
			return QUOTE_BYTES;
		if (n == 1 && !(c >= '0' && c <= '9') && !((c | 32) >= 'a' && (c | 32) <= 'z') &&
		    !strchr(safe, c))
			quoting = QUOTE_SPACES;
		i += n;
	}
	return quoting;
}

size_t ct_text_quote(char *to, size_t cap, const char *path)
{
	struct quoted q = { .to = to, .cap = cap };
	size_t len = strlen(path);
	enum quoting quoting = quoting_of(path, len);

	if (quoting == QUOTE_BYTES)
		put(&q, "$", 1);
	if (quoting != QUOTE_NOTHING)
		put(&q, "'", 1);
	if (path[0] == '-')
		put(&q, "./", 2);
	for (size_t i = 0; i < len;) {
		size_t n = character((const unsigned char *)path + i, len - i);
		int is_special = path[i] == '\'' || path[i] == '\\';

		if (!n)
			put_octal(&q, (unsigned char)path[i]);
		else if (quoting == QUOTE_BYTES && is_special)
			put_octal(&q, (unsigned char)path[i]);
		else if (path[i] == '\'')
			put(&q, "'\\''", 4);
		else
			put(&q, path + i, n);
		i += n ? n : 1;
	}
	if (quoting != QUOTE_NOTHING)
		put(&q, "'", 1);
	if (q.is_cut)
		q.len = 0;
	to[q.len] = '\0';
	return q.len;
}
