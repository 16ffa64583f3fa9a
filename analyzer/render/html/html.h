/* SPDX-License-Identifier: Apache-2.0 */
/* html.h — a report as one HTML file that needs nothing else: no other file, no network, any
 * browser of the day.
 *
 * The files that it is made of are in this folder (assets.def). The verdict is in it as text;
 * everything else is the report's JSON, escaped so that no name can end the element it is in, and
 * scripts that show it. Only the scripts of this folder run: the policy in the file names their
 * hash. */
#ifndef CT_ANALYZER_RENDER_HTML_HTML_H
#define CT_ANALYZER_RENDER_HTML_HTML_H

#include <stdio.h>

#include "analyzer/model/report.h"

/* Write the page. The FILE stays the caller's; write errors are found by its ferror(). 0, or
 * CT_NOMEM. */
int ct_report_html(const struct ct_report *report, FILE *out);

#endif
