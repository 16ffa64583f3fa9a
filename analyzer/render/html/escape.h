/* SPDX-License-Identifier: Apache-2.0 */
/* escape.h — text and JSON in such a shape that nothing in them is markup, and all is ASCII: a
 * browser takes longer for a large page with a single other character in it. Invalid UTF-8 becomes
 * U+FFFD. Pure, except for the output. */
#ifndef CT_ANALYZER_RENDER_HTML_ESCAPE_H
#define CT_ANALYZER_RENDER_HTML_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Text between tags, or in an attribute with quotes: < > & " ' and what is beyond ASCII become
 * references. */
void ct_html_text(const char *text, FILE *out);

/* JSON inside <script type="application/json">, in UTF-8, a piece at a time, which never ends
 * inside a character (jansson's never do): < > & and what is beyond ASCII become \u003c and the
 * like, which in JSON is the same, since they occur in strings only. */
void ct_html_json(const char *bytes, size_t n, FILE *out);

#endif
