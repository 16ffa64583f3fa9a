/* SPDX-License-Identifier: Apache-2.0 */
/* marker_names.h — which NVTX ranges mark cycles, by their names: those that begin with a word of COMMTRACE_NVTX, in any
 * case, with nothing or no letter behind it.
 *
 * The words are read once, before any callback can run, and only looked at after that. Nothing allocates or waits; any
 * thread. */
#ifndef CT_MARKER_NAMES_H
#define CT_MARKER_NAMES_H

#include <stdatomic.h>
#include <stdint.h>
#include <wchar.h>

#include "interpose/guard.h"

#define CT_MARKER_WORDS 16u /* of the setting; others are ignored ... */
#define CT_MARKER_NAME_BYTES                                                                       \
	32u /* ... as are longer ones, with their NUL. Of a longer name the beginning is kept */

/* From a comma-separated list; returns how many there are. */
unsigned ct_marker_words_read(const char *list);

/* By first byte: may a name be one of them? Nearly all are not. */
extern uint8_t ct_marker_first[256] CT_NEAR;

int ct_marker_matches_slow(const char *name);

/* NULL: a range without a name. */
static inline int ct_marker_matches(const char *name)
{
	return name && __builtin_expect(ct_marker_first[(uint8_t)*name], 0) &&
	       ct_marker_matches_slow(name);
}

/* The beginning of a wide name; what is not ASCII becomes '?'. Returns `narrow`; NULL of NULL. */
const char *ct_marker_narrow(const wchar_t *name, char narrow[CT_MARKER_NAME_BYTES]);

/* What a program registers: a handle for a name that matches, NULL for others, and where there is no room (*lost = 1). */
const void *ct_marker_register(const char *name, int *lost);

/* The name behind a handle of this library; NULL: it is none. */
const char *ct_marker_registered(const void *handle);

#endif
