/* SPDX-License-Identifier: Apache-2.0 */
/* marker_names.h — which NVTX ranges mark steps, by their names. A marker's name begins with a word
 * of COMMTRACE_NVTX, in any case, and no letter follows.
 *
 * The words are parsed once, before any callback can run, and are read-only after that. Nothing
 * allocates or waits; any thread may call. */
#ifndef CT_INTERPOSE_NVTX_MARKER_NAMES_H
#define CT_INTERPOSE_NVTX_MARKER_NAMES_H

#include <stdatomic.h>
#include <stdint.h>
#include <wchar.h>

#include "interpose/guard.h"

#define CT_MARKER_WORDS 16u /* size: of the setting, a handful; further ones are ignored */
/* fact: of a record: longer words are ignored, counting the NUL. A longer range name is cut. */
#define CT_MARKER_NAME_BYTES 32u

/* Parses a comma-separated list; returns the number of words. */
unsigned ct_marker_words_read(const char *list);

/* Whether a name with this first byte may match. Nearly all names do not. */
extern uint8_t ct_marker_first[256] CT_NEAR;

int ct_marker_matches_slow(const char *name);

/* name: NULL for a range without one. */
static inline int ct_marker_matches(const char *name)
{
	return name && __builtin_expect(ct_marker_first[(uint8_t)*name], 0) &&
	       ct_marker_matches_slow(name);
}

/* Copies the beginning of a wide name; other than ASCII becomes '?'. Returns `narrow`, or NULL if
 * name is NULL. */
const char *ct_marker_narrow(const wchar_t *name, char narrow[CT_MARKER_NAME_BYTES]);

/* The handle for a name that a program registers. NULL for a name that does not match, or without
 * space (*lost = 1). */
const void *ct_marker_register(const char *name, int *lost);

/* The name of a handle of this library; NULL for any other pointer. */
const char *ct_marker_registered(const void *handle);

#endif
