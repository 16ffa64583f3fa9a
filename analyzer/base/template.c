/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/template.h"

#include <string.h>

/* The word that `rest` begins with; NULL: none of these. */
static const struct ct_word *find(const char *rest, const struct ct_word *words, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (strncmp(rest, words[k].name, strlen(words[k].name)) == 0)
			return &words[k];
	return NULL;
}

const char *ct_template_fill(struct ct_arena *memory, const char *pattern,
			     const struct ct_word *words, size_t n)
{
	return ct_template_fill_with(memory, pattern, CT_NO_WORDS, words, n);
}

const char *ct_template_fill_with(struct ct_arena *memory, const char *pattern,
				  const struct ct_word *common, size_t n_common,
				  const struct ct_word *words, size_t n)
{
	const char *rest = pattern, *text = "";

	while (*rest && text) {
		size_t before = strcspn(rest, "{");
		const struct ct_word *word;

		text = ct_arena_printf(memory, "%s%.*s", text, (int)before, rest);
		rest += before;
		if (!*rest)
			break;
		word = find(rest, common, n_common);
		word = word ? word : find(rest, words, n);
		if (!word || !word->text || !text)
			return NULL;
		text = ct_arena_printf(memory, "%s%s", text, word->text);
		rest += strlen(word->name);
	}
	return text;
}
