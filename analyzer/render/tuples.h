/* SPDX-License-Identifier: Apache-2.0 */
/* tuples.h — a timeline as lines of text, one slice each: begin, duration (-1 did not end), depth,
 * the names of its tracks from the root with ' > ' between them, its own name; separated by tabs. A
 * value of a counter: time, value, the word counter, tracks. After a slice, for each number that
 * joins it to others by an arrow: when, the number, the word arrow, tracks, name. What any other
 * rendering of the same timeline must come to. */
#ifndef CT_ANALYZER_RENDER_TUPLES_H
#define CT_ANALYZER_RENDER_TUPLES_H

#include <stdio.h>

#include "analyzer/timeline/timeline.h"

struct ct_tuples;

/* Write to `out`, which is the caller's. NULL: out of memory. */
struct ct_tuples *ct_tuples_new(FILE *out);
void ct_tuples_free(struct ct_tuples *tuples);

/* To be drawn into, once. Failures: CT_NOMEM, CT_IO. */
struct ct_timeline_sink ct_tuples_sink(struct ct_tuples *tuples);

#endif
