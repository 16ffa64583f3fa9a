/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CT_ARENA_PAGE 16384u /* size: bytes that are asked of malloc() at once */

struct ct_arena_page {
	struct ct_arena_page *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct ct_arena {
	struct ct_arena_page *pages; /* the first one is being filled */
	int failed;
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

int ct_arena_failed(const struct ct_arena *arena)
{
	return arena->failed;
}

void ct_arena_fail(struct ct_arena *arena)
{
	arena->failed = 1;
}

static void *take_bytes(struct ct_arena *arena, size_t bytes)
{
	struct ct_arena_page *page = arena->pages;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!page || page->size - page->used < bytes) {
		size_t size = bytes > CT_ARENA_PAGE ? bytes : CT_ARENA_PAGE;

		page = malloc(sizeof(*page) + size);
		if (!page) {
			arena->failed = 1;
			return NULL;
		}
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

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2) {
		arena->failed = 1;
		return NULL;
	}
	at = take_bytes(arena, bytes);
	if (at)
		memset(at, 0, bytes);
	return at;
}

const char *ct_arena_text(struct ct_arena *arena, const char *bytes, size_t len)
{
	char *text;

	len = strnlen(bytes, len);
	text = take_bytes(arena, len + 1);
	if (!text)
		return "";
	ct_text_clean(text, len + 1, bytes, len);
	return text;
}

const char *ct_arena_vprintf(struct ct_arena *arena, const char *fmt, va_list ap)
{
	char *text = NULL;
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	if (len >= 0)
		text = take_bytes(arena, (size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, fmt, again);
	else
		arena->failed = 1;
	va_end(again);
	return text ? text : "";
}

const char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = ct_arena_vprintf(arena, fmt, ap);
	va_end(ap);
	return text;
}
