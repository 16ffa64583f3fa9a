/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/names.h"
#include "analyzer/base/units.h"

#include <stdio.h>
#include <string.h>

/* size: longest host name in a line that has to fit. */
#define HOST_COLUMNS 24

const char *ct_ranks_text(struct ct_arena *memory, const int *ranks, size_t n, size_t most)
{
	size_t cap = 16 + 12 * (n < most ? n : most);
	char *text = ct_arena_calloc(memory, cap, 1);
	size_t at = 0;

	for (size_t i = 0; text && i < n && i < most; i++) {
		at += (size_t)snprintf(text + at, cap - at, "%s%s", i ? "," : "",
				       ct_text_rank(ranks[i]).s);
	}
	if (text && n > most)
		snprintf(text + at, cap - at, ",...");
	return text ? text : "";
}

const char *ct_host_word(struct ct_arena *memory, const char *host)
{
	char *word = ct_arena_calloc(memory, HOST_COLUMNS + 1, 1);

	if (!word)
		return "";
	ct_text_clean(word, HOST_COLUMNS + 1, host, strlen(host));
	for (char *c = word; *c; c++)
		*c = *c == ' ' ? '_' : *c;
	return *word ? word : "?";
}
