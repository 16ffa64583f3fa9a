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

/* `pattern` with each of its words replaced, in `memory`. NULL: out of memory, or a word is unknown
 * or has no text. */
const char *ct_template_fill(struct ct_arena *memory, const char *pattern,
			     const struct ct_word *words, size_t n);

#endif
