/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — words of foreign programs, names of hosts and of files, as they may be shown on a
 * terminal.
 *
 * Stateless, allocates nothing; any thread.
 */
#ifndef CT_TRACE_TEXT_H
#define CT_TRACE_TEXT_H

#include <stddef.h>

/* Write the `len` bytes of `src` as printable UTF-8 into dst[cap] (cap > 0), always terminated, cut
 * at a whole character. Invalid UTF-8, control characters, line separators and marks that change
 * the writing direction become
 * '?': names come from foreign programs and end up in terminals and JSON. Stops at a NUL. Returns
 * the length written.
 */
size_t ct_text_clean(char *dst, size_t cap, const char *src, size_t len);

/* Quotes a path for a shell, into to[cap] (cap > 0), always terminated. It is unchanged if it has
 * no special characters, else in single quotes, or as $'...' if it has bytes that ct_text_clean()
 * would not show. "-run" becomes
 * "./-run", which is not an option. Returns the length, or 0 and an empty text if it does not fit:
 * a part of a path is another path. */
size_t ct_text_quote(char *to, size_t cap, const char *path);

#endif
