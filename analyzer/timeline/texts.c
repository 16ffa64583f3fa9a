/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/texts.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

/* What the table points to. */
struct text {
	const char *bytes;
	uint32_t number;
};

int ct_texts_init(struct ct_texts *texts)
{
	*texts = (struct ct_texts){ .memory = ct_arena_new() };
	return texts->memory ? CT_OK : CT_NOMEM;
}

void ct_texts_fini(struct ct_texts *texts)
{
	ct_arena_free(texts->memory);
	ct_table_fini(&texts->by_hash);
	free(texts->all);
	*texts = (struct ct_texts){ 0 };
}

static uint32_t fail(struct ct_texts *texts)
{
	texts->failed = 1;
	return 0;
}

uint32_t ct_texts_add(struct ct_texts *texts, const char *bytes)
{
	uint64_t hash = bytes ? ct_hash_text(bytes) : 0;
	struct text *text;

	if (!bytes)
		return 0;
	/* Two texts of one hash: the second takes the next free key. */
	while ((text = ct_table_get(&texts->by_hash, hash))) {
		if (strcmp(text->bytes, bytes) == 0)
			return text->number;
		hash++;
	}
	if (ct_grow(&texts->all, &texts->cap, texts->n + 1, sizeof(*texts->all)))
		return fail(texts);
	text = ct_arena_calloc(texts->memory, 1, sizeof(*text));
	if (!text)
		return fail(texts);
	text->bytes = ct_arena_printf(texts->memory, "%s", bytes);
	text->number = texts->n + 1;
	if (ct_arena_failed(texts->memory) || ct_table_put(&texts->by_hash, hash, text) != CT_OK)
		return fail(texts);
	texts->all[texts->n++] = text->bytes;
	return text->number;
}
