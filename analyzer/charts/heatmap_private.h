/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap_private.h — what the makers of heatmaps share: heatmap_traffic.c, heatmap_ranks.c,
 * heatmap_slowdown.c. */
#ifndef CT_ANALYZER_CHARTS_HEATMAP_PRIVATE_H
#define CT_ANALYZER_CHARTS_HEATMAP_PRIVATE_H

#include "analyzer/charts/heatmap.h"

/* One that is under way. */
struct ct_heatmap_make {
	const struct ct_report *report;
	const struct ct_heatmap_request *request;
	struct ct_arena *memory;
	struct ct_heatmap *heatmap;
	struct ct_err *err;
};

/* Each makes the heatmap that its name says; statuses as of ct_heatmap_make(). */
int ct_heatmap_traffic(const struct ct_heatmap_make *make);
int ct_heatmap_waits(const struct ct_heatmap_make *make);
int ct_heatmap_steps(const struct ct_heatmap_make *make);
int ct_heatmap_slowdown(const struct ct_heatmap_make *make);

/* The host of a rank; NULL: not known. */
const char *ct_heatmap_host_of(const struct ct_report *report, int rank);

/* Space for names and cells, which are all NOTHING. 0, CT_EMPTY without rows or columns, CT_RANGE,
 * CT_NOMEM. */
int ct_heatmap_size(const struct ct_heatmap_make *make, size_t rows, size_t columns);

/* Name number `i` of an axis, and its key (NULL: the name). 0 or CT_NOMEM; `name` NULL is CT_NOMEM.
 */
int ct_heatmap_name(struct ct_heatmap_axis *axis, size_t i, const char *name, const char *key);

/* A sentence; NULL, and more than there is space for, are left out. */
void ct_heatmap_note(struct ct_heatmap *heatmap, const char *text);

/* Shades and marks. Logarithmic from the smallest value to the largest, a factor of ten at least. 0
 * or CT_NOMEM. */
int ct_heatmap_scale_log(const struct ct_heatmap_make *make);
/* The square root of a value's share of `whole`: small shares are seen, too. 0 or CT_NOMEM. */
int ct_heatmap_scale_share(const struct ct_heatmap_make *make, uint64_t whole);
/* From half to twice, as the root of the logarithm: a few percent are seen, too. `ratios`: by cell,
 * NAN unknown. */
void ct_heatmap_scale_ratio(struct ct_heatmap *heatmap, const double *ratios);

#endif
