/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/site_text.h"

#include <string.h>

/* A file's name may have a colon and a blank, too. */
const char *ct_site_colon(const char *site, size_t *digits)
{
	const char *end = strstr(site, CT_SITE_CALLER);

	end = end ? end : site + strlen(site);
	for (const char *at = strchr(site, ':'); at && at < end; at = strchr(at + 1, ':')) {
		*digits = strspn(at + 1, "0123456789");
		if (at > site && *digits > 0 && *digits < 10 &&
		    (at[1 + *digits] == '\0' || at[1 + *digits] == ' '))
			return at;
	}
	return NULL;
}

/* FILE:LINE of its first frame; 0: it names no line. */
static size_t line_length(const char *site)
{
	size_t digits;
	const char *colon = ct_site_colon(site, &digits);

	return colon ? (size_t)(colon - site) + 1 + digits : 0;
}

static int is_same_line(const char *a, const char *b)
{
	return line_length(a) == line_length(b) && memcmp(a, b, line_length(a)) == 0;
}

/* The frame that called the first one; NULL: there is none. */
static const char *caller_of(const char *site)
{
	const char *at = strstr(site, CT_SITE_CALLER);

	return at ? at + strlen(CT_SITE_CALLER) : NULL;
}

static const char *line_text(struct ct_arena *memory, const char *site)
{
	size_t length = line_length(site);
	const char *name = site;

	for (const char *at = site; at < site + length; at++)
		name = *at == '/' ? at + 1 : name;
	return ct_arena_text(memory, name, length - (size_t)(name - site));
}

const char *ct_sites_between(struct ct_arena *memory, const char *before, const char *after)
{
	const char *a = before, *b = after;

	/* one function that makes all calls says nothing, its callers do */
	while (a && b && is_same_line(a, b)) {
		a = caller_of(a);
		b = caller_of(b);
	}
	if (!a || !b)
		a = b = after;
	if (!line_length(before) || !line_length(after) || !line_length(a) || !line_length(b))
		return NULL;
	return a == b ? ct_arena_printf(memory, "at %s", line_text(memory, a))
		      : ct_arena_printf(memory, "between %s and %s", line_text(memory, a),
					line_text(memory, b));
}
