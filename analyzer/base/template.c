/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/template.h"

#include <string.h>

const char *ct_template_fill(struct ct_arena *memory, const char *pattern,
			     const struct ct_word *words, size_t n)
{
	const char *rest = pattern, *text = "";

	while (*rest && text) {
		size_t before = strcspn(rest, "{"), k = 0;

		text = ct_arena_printf(memory, "%s%.*s", text, (int)before, rest);
		rest += before;
		if (!*rest)
			break;
		while (k < n && strncmp(rest, words[k].name, strlen(words[k].name)) != 0)
			k++;
		if (k == n || !words[k].text || !text)
			return NULL;
		text = ct_arena_printf(memory, "%s%s", text, words[k].text);
		rest += strlen(words[k].name);
	}
	return text;
}
