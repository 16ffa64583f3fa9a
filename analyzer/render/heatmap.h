/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap.h — a heatmap as a file: SVG, and CSV, which has its numbers. The same heatmap gives the
 * same bytes. */
#ifndef CT_ANALYZER_RENDER_HEATMAP_H
#define CT_ANALYZER_RENDER_HEATMAP_H

#include <stdio.h>

#include "analyzer/charts/heatmap.h"

/* Each writes into `out`, whose errors the caller looks for. 0 or CT_NOMEM. */

/* Self-contained, without script or font; a few cells have their value (<title>). */
int ct_heatmap_svg(const struct ct_heatmap *heatmap, FILE *out);

/* Lines that begin with # say what it is; then the names of the columns, and a line for each row.
 * Numbers are whole and in full, ratios with six decimals; an empty field is not known, `-`
 * nothing. */
int ct_heatmap_csv(const struct ct_heatmap *heatmap, FILE *out);

#endif
