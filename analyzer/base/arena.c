/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CT_ARENA_PAGE 16384u

struct ct_arena_page {
	struct ct_arena_page *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct ct_arena {
	struct ct_arena_page *pages; /* the first one is being filled */
};

struct ct_arena *ct_arena_new(void)
{
	return calloc(1, sizeof(struct ct_arena));
}

void ct_arena_free(struct ct_arena *arena)
{
	struct ct_arena_page *page = arena ? arena->pages : NULL;

	while (page) {
		struct ct_arena_page *next = page->next;

		free(page);
		page = next;
	}
	free(arena);
}

static void *take(struct ct_arena *arena, size_t bytes)
{
	struct ct_arena_page *page = arena->pages;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!page || page->size - page->used < bytes) {
		size_t size = bytes > CT_ARENA_PAGE ? bytes : CT_ARENA_PAGE;

		page = malloc(sizeof(*page) + size);
		if (!page)
			return NULL;
		page->size = size;
		page->used = 0;
		page->next = arena->pages;
		arena->pages = page;
	}
	page->used += bytes;
	return page->bytes + page->used - bytes;
}

void *ct_arena_calloc(struct ct_arena *arena, size_t n, size_t size)
{
	size_t bytes;
	void *at;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	at = take(arena, bytes);
	if (at)
		memset(at, 0, bytes);
	return at;
}

/* Bytes of the character that `s` begins with, 0 if it is not one that may be shown. Overlong forms, surrogates
 * and values above U+10FFFF are refused as RFC 3629 says. */
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

const char *ct_arena_text(struct ct_arena *arena, const char *bytes, size_t len)
{
	char *text;

	len = strnlen(bytes, len);
	text = take(arena, len + 1);
	if (text)
		ct_text_clean(text, len + 1, bytes, len);
	return text;
}

const char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len >= 0)
		text = take(arena, (size_t)len + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return text;
}
