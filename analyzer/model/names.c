/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/names.h"
#include "analyzer/base/units.h"

#include <stdio.h>
#include <string.h>

/* fact: HOST_NAME_MAX of Linux; a headline shortens names itself. */
#define HOST_COLUMNS 64

const char *ct_ranks_text(struct ct_arena *memory, const int *ranks, size_t n, size_t most)
{
	size_t cap = 16 + 12 * (n < most ? n : most + 1), at = 0, i = 0, shown = 0;
	char *text = ct_arena_calloc(memory, cap, 1);

	while (text && i < n && shown < most) {
		size_t end = i;

		while (ranks[i] >= 0 && end + 1 < n && ranks[end + 1] == ranks[end] + 1)
			end++;
		/* two ranks are not a stretch */
		end = end < i + 2 ? i : end;
		at += (size_t)snprintf(text + at, cap - at, "%s%s", i ? "," : "",
				       ct_text_rank(ranks[i]).s);
		if (end > i)
			at += (size_t)snprintf(text + at, cap - at, "-%d", ranks[end]);
		shown += end > i ? 2 : 1;
		i = end + 1;
	}
	if (text && i < n)
		snprintf(text + at, cap - at, ",...");
	return text ? text : "";
}

const char *ct_ranks_words(struct ct_arena *memory, const int *ranks, size_t n, size_t most)
{
	return ct_arena_printf(memory, "rank%s %s", n == 1 ? "" : "s",
			       ct_ranks_text(memory, ranks, n, most));
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
