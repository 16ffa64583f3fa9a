/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — ranks and hosts as words of a line. */
#ifndef CT_ANALYZER_MODEL_NAMES_H
#define CT_ANALYZER_MODEL_NAMES_H

#include <stddef.h>

#include "analyzer/base/arena.h"

/* Ranks as "2" or "1,2,5" or "0,1,2,..." (at most `most` of them); NULL: out of memory. */
const char *ct_ranks_text(struct ct_arena *memory, const int *ranks, size_t n, size_t most);

/* A host's name as one word that fits into a line; NULL: out of memory. */
const char *ct_host_word(struct ct_arena *memory, const char *host);

#endif
