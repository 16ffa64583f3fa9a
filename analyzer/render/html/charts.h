/* SPDX-License-Identifier: Apache-2.0 */
/* charts.h — the charts of a report as JSON for the page: everything that is drawn, written and
 * looked up in them. chart_draw.js lays it out at the width of the window, and computes no value.
 * Pure. */
#ifndef CT_ANALYZER_RENDER_HTML_CHARTS_H
#define CT_ANALYZER_RENDER_HTML_CHARTS_H

#include <jansson.h>

#include "analyzer/model/report.h"

/* { ramps, charts: [{ name, title, why, views }] }. A new reference, NULL when out of memory. */
json_t *ct_html_charts(const struct ct_report *report);

#endif
