/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.h — a timeline as a file for ui.perfetto.dev: a sink that writes packets, deflated in
 * blocks.
 *
 * It checks what it is given: on each track slices nest or follow each other, and a track that was
 * left does not come again. Perfetto would show anything else wrongly and without a word. One
 * thread; another one of its own may deflate. docs/reference/PERFETTO.md. */
#ifndef CT_ANALYZER_RENDER_PERFETTO_H
#define CT_ANALYZER_RENDER_PERFETTO_H

#include <stdio.h>

#include "analyzer/timeline/timeline.h"

/* Beyond this no browser opens it. */
#define CT_PERFETTO_MAX_BYTES 1000000000ull

struct ct_perfetto;

/* The level of deflate for files that are kept: six-fold. Level 2 makes files 3 % smaller, and
 * takes a timeline 9 % more time. */
#define CT_PERFETTO_LEVEL 1

/* Write to `out`, which is the caller's. `level` of deflate, 0: packets as they are. More than one
 * thread: another one deflates, and the file is the same. NULL: out of memory. */
struct ct_perfetto *ct_perfetto_new(FILE *out, int level, unsigned threads);
void ct_perfetto_free(struct ct_perfetto *perfetto);

/* To be drawn into, once. Failures: CT_NOMEM, CT_IO, CT_FULL (CT_PERFETTO_MAX_BYTES). */
struct ct_timeline_sink ct_perfetto_sink(struct ct_perfetto *perfetto);

struct ct_perfetto_size {
	uint64_t raw_bytes; /* before compression, what a reader has to hold */
	uint64_t bytes;
};

/* After drawing. 0, or CT_RANGE: slices did not nest, the file must not be used; *err says how many
 * and which first. */
int ct_perfetto_check(const struct ct_perfetto *perfetto, struct ct_perfetto_size *size,
		      struct ct_err *err);

#endif
