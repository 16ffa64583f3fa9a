/* SPDX-License-Identifier: Apache-2.0 */
/* say.h — every word of commtrace on stderr, and whether output is coloured.
 *
 * One message is one line: control characters in it (file names may hold any) become '?'. Main
 * thread only. */
#ifndef CT_TOOLS_COMMTRACE_BASE_SAY_H
#define CT_TOOLS_COMMTRACE_BASE_SAY_H

#include <stdio.h>

#include "trace/status.h"

/* "commtrace: ..." */
void ct_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "commtrace: warning: ..." */
void ct_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "hint: ..." */
void ct_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Colour by --color (auto, always, never), NO_COLOR and whether `out` is a terminal. ct_color_set()
 * returns 0 if `when` is none of the three words. */
int ct_color_set(const char *when);
int ct_color_wanted(FILE *out);

#endif
