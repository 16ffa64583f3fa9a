/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/finding_text.h"

static const struct text_row {
	const char *headline, *cause, *advice, *command;
} rows[] = {
#define FINDING(name, headline, cause, advice, command)                                            \
	[CT_TEXT_##name] = { headline, cause, advice, command },
#include "analyzer/findings/finding_texts.def"
};

static const char *const parts[] = {
#define PART(name, text) [CT_PART_##name] = text,
#include "analyzer/findings/finding_texts.def"
};

/* Nothing where there is no pattern. Words of commands (command.h) stay as they are. */
static void fill(struct ct_arena *memory, const char *pattern, const struct ct_word *words,
		 size_t n, const char **text)
{
	if (!pattern)
		return;
	*text = ct_template_fill_with(memory, pattern,
				      CT_WORDS({ "{ssh}", "{ssh}" }, { "{gpu}", "{gpu}" },
					       { "{run}", "{run}" }),
				      words, n);
	*text = *text ? *text : "";
}

void ct_finding_say(struct ct_findings *list, struct ct_finding *f, enum ct_finding_text at,
		    const struct ct_word *words, size_t n)
{
	const struct text_row *row = &rows[at];

	fill(list->memory, row->headline, words, n, &f->headline);
	fill(list->memory, row->cause, words, n, &f->cause);
	fill(list->memory, row->advice, words, n, &f->advice);
	fill(list->memory, row->command, words, n, &f->command);
}

const char *ct_finding_part(struct ct_arena *memory, enum ct_finding_part part,
			    const struct ct_word *words, size_t n)
{
	const char *text = "";

	fill(memory, parts[part], words, n, &text);
	return text;
}
