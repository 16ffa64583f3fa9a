/* SPDX-License-Identifier: Apache-2.0 */
/* diff_page.h — what `commtrace diff` found, as one HTML file without scripts: its text, and
 * bandwidth by size in both runs. */
#ifndef CT_ANALYZER_RENDER_HTML_DIFF_PAGE_H
#define CT_ANALYZER_RENDER_HTML_DIFF_PAGE_H

#include <stdio.h>

#include "analyzer/base/arena.h"
#include "analyzer/model/report.h"

/* One of the runs. Borrowed. */
struct ct_diff_page_run {
	const char *path, *text; /* of the base NULL: ct_diff_text() of the run */
	const struct ct_report *report;
};

/* `runs[0]` is the base. The FILE stays the caller's; write errors are found by its ferror(). 0, or
 * CT_NOMEM. */
int ct_diff_page(const struct ct_diff_page_run *runs, size_t n, struct ct_arena *memory, FILE *out);

#endif
