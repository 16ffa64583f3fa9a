/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/html/escape.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

/* The character at `at`, beyond ASCII, of which `left` bytes are there; *len: how many it takes. */
static uint32_t decode(const char *at, size_t left, size_t *len)
{
	unsigned char lead = (unsigned char)*at;
	size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	uint32_t code = more ? lead & (0x3fu >> more) : REPLACEMENT;

	*len = 1;
	if (more >= left)
		return REPLACEMENT;
	for (size_t i = 1; i <= more; i++) {
		if (((unsigned char)at[i] & 0xc0) != 0x80)
			return REPLACEMENT;
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	}
	*len = more + 1;
	return code;
}

void ct_html_text(const char *text, FILE *out)
{
	size_t left = strlen(text), len;

	for (; left; text += len, left -= len) {
		len = 1;
		if ((unsigned char)*text >= 0x80)
			fprintf(out, "&#%u;", (unsigned)decode(text, left, &len));
		else if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

/* As JSON writes a character: beyond 16 bits as a pair (RFC 8259, 7). */
static void put_unit(uint32_t code, FILE *out)
{
	if (code > 0xffff) {
		code -= 0x10000;
		fprintf(out, "\\u%04x", (unsigned)(0xd800 + (code >> 10)));
		code = 0xdc00 + (code & 0x3ff);
	}
	fprintf(out, "\\u%04x", (unsigned)code);
}

static int is_plain(char c)
{
	return (unsigned char)c < 0x80 && c != '<' && c != '>' && c != '&';
}

void ct_html_json(const char *bytes, size_t n, FILE *out)
{
	size_t at = 0, len;

	while (at < n) {
		size_t begin = at;

		while (at < n && is_plain(bytes[at]))
			at++;
		fwrite(bytes + begin, 1, at - begin, out);
		if (at == n)
			break;
		len = 1;
		put_unit((unsigned char)bytes[at] < 0x80 ? (uint32_t)bytes[at]
							 : decode(bytes + at, n - at, &len),
			 out);
		at += len;
	}
}
