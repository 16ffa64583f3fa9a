/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h — memory that is freed at once: values and strings that live as long as a report or a
 * process's reading. Not for data that grows with the length of a run. One thread per arena. An
 * arena remembers a failed allocation: later texts are "" and never NULL, so callers check
 * ct_arena_failed() once, at the end. */
#ifndef CT_ANALYZER_BASE_ARENA_H
#define CT_ANALYZER_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "trace/text.h"

struct ct_arena;

struct ct_arena *ct_arena_new(void); /* NULL: out of memory */
void ct_arena_free(struct ct_arena *arena);

/* Did any allocation fail? Then the arena's contents are incomplete. */
int ct_arena_failed(const struct ct_arena *arena);

/* Marks the arena as failed, for other memory of the same values. */
void ct_arena_fail(struct ct_arena *arena);

/* `n` elements of `size` bytes, zeroed, aligned for anything; NULL: out of memory. n * size may be
 * 0. */
void *ct_arena_calloc(struct ct_arena *arena, size_t n, size_t size);

/* Copy of `len` bytes as printable UTF-8 (see ct_text_clean). Never NULL. */
const char *ct_arena_text(struct ct_arena *arena, const char *bytes, size_t len);

/* Formatted text. Never NULL. */
const char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *ct_arena_vprintf(struct ct_arena *arena, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#endif
