/* SPDX-License-Identifier: Apache-2.0 */
/* template.h — sentences of a table with their words filled in: "{who} never entered {op}". Pure. */
#ifndef CT_ANALYZER_BASE_TEMPLATE_H
#define CT_ANALYZER_BASE_TEMPLATE_H

#include <stddef.h>

#include "analyzer/base/arena.h"

struct ct_word {
	const char *name; /* with its braces */
	const char *text;
};

/* Words and their number, as two arguments. */
#define CT_WORDS(...)                                                                              \
	(const struct ct_word[]){ __VA_ARGS__ },                                                   \
		sizeof((const struct ct_word[]){ __VA_ARGS__ }) / sizeof(struct ct_word)
#define CT_NO_WORDS NULL, 0

/* `pattern` with each of its words replaced, in `memory`. NULL: out of memory, or a word is unknown
 * or has no text. */
const char *ct_template_fill(struct ct_arena *memory, const char *pattern,
			     const struct ct_word *words, size_t n);

/* The same with `common` words, which are looked up before the others. */
const char *ct_template_fill_with(struct ct_arena *memory, const char *pattern,
				  const struct ct_word *common, size_t n_common,
				  const struct ct_word *words, size_t n);

#endif
