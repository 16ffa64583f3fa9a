/* SPDX-License-Identifier: Apache-2.0 */
/* site_text.h — the parts of a call site as it is recorded: frames of Python, the innermost first,
 * "FILE:LINE FUNCTION < FILE:LINE FUNCTION"; without Python "OBJECT+0xOFFSET (build ID)". */
#ifndef CT_ANALYZER_MODEL_SITE_TEXT_H
#define CT_ANALYZER_MODEL_SITE_TEXT_H

#include <stddef.h>

#include "analyzer/base/arena.h"

/* Between a frame and the one that called it. */
#define CT_SITE_CALLER " < "

/* The colon before the line's number in the frame that `site` begins with, and how many digits that
 * number has; NULL: the frame names no line. */
const char *ct_site_colon(const char *site, size_t *digits);

/* "between train.py:111 and train.py:117", or "at train.py:117" where both are one line: the
 * innermost frames in which the two sites differ, without folders. NULL: one of them names no line,
 * or out of memory. */
const char *ct_sites_between(struct ct_arena *memory, const char *before, const char *after);

#endif
