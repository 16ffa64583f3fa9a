/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/table.h"
#include "analyzer/model/site_text.h"
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

/* ---- call sites ---- */

/* Longer ones are cut; in the file they are, too. */
#define TEXT (CT_TIMELINE_FRAME_TEXT + 32)
#define SITE 1024 /* a string of a ring has at most 1000 bytes */

static void frame_of(struct ct_texts *texts, const char *whose, const char *site,
		     struct ct_timeline_frame *frame)
{
	size_t digits = 0;
	const char *colon = ct_site_colon(site, &digits), *function = site;
	char text[TEXT];

	*frame = (struct ct_timeline_frame){ 0 };
	if (colon) {
		snprintf(text, sizeof(text), "%.*s", (int)(colon - site), site);
		frame->file = ct_texts_add(texts, text);
		frame->line = (uint32_t)strtoul(colon + 1, NULL, 10);
		function = colon + 1 + digits;
		function += *function == ' ';
	}
	/* Without a function, the call site is used instead: a frame without a name is not shown. */
	if (!*function)
		function = site;
	snprintf(text, sizeof(text), "%s%s%.*s", whose ? whose : "", whose ? ": " : "",
		 (int)CT_TIMELINE_FRAME_TEXT, function);
	frame->function = ct_texts_add(texts, text);
}

void ct_frame_of(struct ct_texts *texts, const char *whose, const char *all,
		 struct ct_timeline_frame *frame)
{
	const char *end = strstr(all, CT_SITE_CALLER);
	char site[SITE];

	snprintf(site, sizeof(site), "%.*s", end ? (int)(end - all) : SITE, all);
	frame_of(texts, whose, site, frame);
}

uint8_t ct_frames_of(struct ct_texts *texts, const char *site, struct ct_timeline_frame *frames)
{
	const char *parts[CT_TIMELINE_FRAMES];
	uint8_t n = 0;

	for (const char *at = site; at && n < CT_TIMELINE_FRAMES; at = strstr(at, CT_SITE_CALLER)) {
		at += at == site ? 0 : strlen(CT_SITE_CALLER);
		parts[n++] = at;
	}
	for (uint8_t i = 0; i < n; i++)
		ct_frame_of(texts, NULL, parts[n - 1 - i], &frames[i]);
	return n;
}
