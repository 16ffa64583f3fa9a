/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — ranks and hosts as words of a line. */
#ifndef CT_ANALYZER_MODEL_NAMES_H
#define CT_ANALYZER_MODEL_NAMES_H

#include <stddef.h>

#include "analyzer/base/arena.h"

/* size: numbers in a list of ranks, so that it fits a line. */
#define CT_RANKS_SHOWN 16u

/* Sorted ranks as "2", "0,1,3-15" or "0-2,5,7,..." (at most `most` numbers). "": out of memory. */
const char *ct_ranks_text(struct ct_arena *memory, const int *ranks, size_t n, size_t most);

/* "rank 2", "ranks 0,1,3-15" */
const char *ct_ranks_words(struct ct_arena *memory, const int *ranks, size_t n, size_t most);

/* A host's name as one word that fits into a line; NULL: out of memory. */
const char *ct_host_word(struct ct_arena *memory, const char *host);

/* A name in `columns` characters (at least 4), into `to` of 4 * columns + 4 bytes: cut in the
 * middle, since names differ at their ends; a host's name first loses its domain. */
void ct_name_fit(char *to, size_t cap, const char *name, size_t columns);
void ct_host_fit(char *to, size_t cap, const char *host, size_t columns);

#endif
