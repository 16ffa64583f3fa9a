/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer ones are cut; in the file they are, too. */
#define TEXT (CT_CHART_FRAME_TEXT + 32)
#define SITE 1024 /* a string of a ring has at most 1000 bytes */

/* Between a frame and the one that called it. */
#define CALLER " < "

/* The colon before the line's number; NULL: there is none. A file's name may have a colon and a blank, too. */
static const char *colon_of(const char *site, size_t *digits)
{
	for (const char *at = strchr(site, ':'); at; at = strchr(at + 1, ':')) {
		*digits = strspn(at + 1, "0123456789");
		if (at > site && *digits > 0 && *digits < 10 &&
		    (at[1 + *digits] == '\0' || at[1 + *digits] == ' '))
			return at;
	}
	return NULL;
}

static void frame_of(struct ct_texts *texts, const char *whose, const char *site,
		     struct ct_chart_frame *frame)
{
	size_t digits = 0;
	const char *colon = colon_of(site, &digits), *function = site;
	char text[TEXT];

	*frame = (struct ct_chart_frame){ 0 };
	if (colon) {
		snprintf(text, sizeof(text), "%.*s", (int)(colon - site), site);
		frame->file = ct_texts_add(texts, text);
		frame->line = (uint32_t)strtoul(colon + 1, NULL, 10);
		function = colon + 1 + digits;
		function += *function == ' ';
	}
	/* Where no function is told, the place stands for it: a frame without a name is not shown. */
	if (!*function)
		function = site;
	snprintf(text, sizeof(text), "%s%s%.*s", whose ? whose : "", whose ? ": " : "",
		 (int)CT_CHART_FRAME_TEXT, function);
	frame->function = ct_texts_add(texts, text);
}

void ct_frame_of(struct ct_texts *texts, const char *whose, const char *all,
		 struct ct_chart_frame *frame)
{
	const char *end = strstr(all, CALLER);
	char site[SITE];

	snprintf(site, sizeof(site), "%.*s", end ? (int)(end - all) : SITE, all);
	frame_of(texts, whose, site, frame);
}

uint8_t ct_frames_of(struct ct_texts *texts, const char *site, struct ct_chart_frame *frames)
{
	const char *parts[CT_CHART_FRAMES];
	uint8_t n = 0;

	for (const char *at = site; at && n < CT_CHART_FRAMES; at = strstr(at, CALLER)) {
		at += at == site ? 0 : strlen(CALLER);
		parts[n++] = at;
	}
	for (uint8_t i = 0; i < n; i++)
		ct_frame_of(texts, NULL, parts[n - 1 - i], &frames[i]);
	return n;
}
