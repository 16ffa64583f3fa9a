/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h — memory that is freed at once: values and strings that live as long as a report or a process's
 * reading. Not for what grows with the length of a run. One thread per arena. */
#ifndef CT_ARENA_H
#define CT_ARENA_H

#include <stddef.h>

#include "trace/text.h"

struct ct_arena;

struct ct_arena *ct_arena_new(void); /* NULL: out of memory */
void ct_arena_free(struct ct_arena *arena);

/* `n` elements of `size` bytes, zeroed, aligned for anything; NULL: out of memory. n * size may be 0. */
void *ct_arena_calloc(struct ct_arena *arena, size_t n, size_t size);

/* Copy of `len` bytes as printable UTF-8 (see ct_text_clean). NULL: out of memory. */
const char *ct_arena_text(struct ct_arena *arena, const char *bytes, size_t len);

/* Formatted text. NULL: out of memory. */
const char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
