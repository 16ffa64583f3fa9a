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

/* Bytes of the first `n` characters. */
static size_t bytes_of(const char *text, size_t n)
{
	size_t at = 0;

	while (text[at] && (((unsigned char)text[at] & 0xc0) == 0x80 || n-- > 0))
		at++;
	return at;
}

void ct_name_fit(char *to, size_t cap, const char *name, size_t columns)
{
	size_t n = 0, head = (columns - 2) / 2, tail = columns - 2 - head;

	for (const char *c = name; *c; c++)
		n += ((unsigned char)*c & 0xc0) != 0x80;
	if (n <= columns)
		snprintf(to, cap, "%s", name);
	else
		snprintf(to, cap, "%.*s..%s", (int)bytes_of(name, head), name,
			 name + bytes_of(name, n - tail));
}

void ct_host_fit(char *to, size_t cap, const char *host, size_t columns)
{
	char word[256];

	snprintf(word, sizeof(word), "%s", host);
	if (strlen(word) > columns)
		word[strcspn(word, ".")] = '\0';
	ct_name_fit(to, cap, word, columns);
}
