/* SPDX-License-Identifier: Apache-2.0 */
/* curves.h — how fast operations are by size: for each communicator a curve with its fit
 * (docs/dev/algorithms/charts.md, "Curves"). From the classes of the model, so of the whole run;
 * only fits are the log's. One thread. */
#ifndef CT_ANALYZER_CHARTS_CURVES_H
#define CT_ANALYZER_CHARTS_CURVES_H

#include "analyzer/link/links.h"
#include "analyzer/model/model.h"

/* Curves of a report at most: those with most transfer time. */
#define CT_CURVES 32u

/* report->curves. 0 or CT_NOMEM. */
int ct_curves_fill(const struct ct_links *links, const struct ct_model *model,
		   struct ct_report *report);

#endif
