/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h — how large operations are and how fast by size: over all communicators, and for each of them a curve with its
 * fit (docs/dev/algorithms/charts.md, "Sizes"). From the classes of the model, so of the whole run; only fits are the log's. One thread. */
#ifndef CT_ANALYZER_CHARTS_SIZES_H
#define CT_ANALYZER_CHARTS_SIZES_H

#include "analyzer/link/links.h"
#include "analyzer/model/model.h"

/* Curves of a report at most: those with most transfer time. */
#define CT_CURVES 32u

/* report->histogram. After comms with their peaks. 0 or CT_NOMEM. */
int ct_histogram_fill(const struct ct_model *model, struct ct_report *report);

/* report->curves. 0 or CT_NOMEM. */
int ct_curves_fill(const struct ct_links *links, const struct ct_model *model,
		   struct ct_report *report);

/* What a class's bytes over its time count on the wire; 0: bus bandwidth is not defined. */
double ct_class_bus_factor(const struct ct_class *class);

#endif
