/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nvtx/marker_names.h"

#include <string.h>
#include <strings.h>

#define REGISTERED 64u /* size: names that mark steps; programs register a handful */

uint8_t ct_marker_first[256];

static struct {
	char text[CT_MARKER_NAME_BYTES];
	size_t len;
} words[CT_MARKER_WORDS];
static unsigned n_words;

/* Filled by one thread before its handle is given out, and never changed. */
static char registered[REGISTERED][CT_MARKER_NAME_BYTES];
static _Atomic uint32_t n_registered;

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char other_case(char c)
{
	return is_letter(c) ? (char)(c ^ ('a' ^ 'A')) : c;
}

unsigned ct_marker_words_read(const char *list)
{
	unsigned n = 0;

	memset(ct_marker_first, 0, sizeof(ct_marker_first));
	for (const char *p = list; *p && n < CT_MARKER_WORDS;) {
		size_t len = strcspn(p, ",");

		if (len && len < CT_MARKER_NAME_BYTES) {
			memcpy(words[n].text, p, len);
			words[n].text[len] = '\0';
			words[n++].len = len;
			ct_marker_first[(uint8_t)*p] = 1;
			ct_marker_first[(uint8_t)other_case(*p)] = 1;
		}
		p += len + (p[len] == ',');
	}
	n_words = n;
	return n;
}

__attribute__((noinline)) int ct_marker_matches_slow(const char *name)
{
	for (unsigned w = 0; w < n_words; w++) {
		if (strncasecmp(name, words[w].text, words[w].len) == 0 &&
		    !is_letter(name[words[w].len]))
			return 1;
	}
	return 0;
}

const char *ct_marker_narrow(const wchar_t *name, char narrow[CT_MARKER_NAME_BYTES])
{
	uint32_t n = 0;

	if (!name)
		return NULL;
	for (; n < CT_MARKER_NAME_BYTES - 1 && name[n]; n++)
		narrow[n] = name[n] > 0 && name[n] < 128 ? (char)name[n] : '?';
	narrow[n] = '\0';
	return narrow;
}

const void *ct_marker_register(const char *name, int *lost)
{
	uint32_t at = atomic_load_explicit(&n_registered, memory_order_relaxed);

	*lost = 0;
	if (!ct_marker_matches(name))
		return NULL;
	/* not a plain add: it would come around to the entries in use */
	do {
		if (at == REGISTERED) {
			*lost = 1;
			return NULL;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&n_registered, &at, at + 1, memory_order_relaxed, memory_order_relaxed));
	memcpy(registered[at], name, strnlen(name, CT_MARKER_NAME_BYTES - 1));
	return registered[at];
}

const char *ct_marker_registered(const void *handle)
{
	uintptr_t offset = (uintptr_t)handle - (uintptr_t)registered;

	return offset < sizeof(registered) && offset % CT_MARKER_NAME_BYTES == 0 ? handle : NULL;
}
