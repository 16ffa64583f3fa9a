/* SPDX-License-Identifier: Apache-2.0 */
/* views.h — which parts of a run are drawn: the whole selection, its end, or, if it is too much for one file, windows
 * around findings. One thread. */
#ifndef CT_ANALYZER_TIMELINE_VIEWS_H
#define CT_ANALYZER_TIMELINE_VIEWS_H

#include "analyzer/timeline/timeline_index.h"

/* Ranks in a window around a finding: those that it names, those who waited for them, and others of their communicator. */
#define CT_VIEW_RANKS 32u

/* Windows around what hangs and around the worst findings, each of about `max_slices` at most, as the first reading lets one
 * expect. ranks[] are malloc'ed. Returns how many, up to CT_TIMELINE_INDEX_VIEWS, or CT_NOMEM. */
int ct_views_plan(const struct ct_timeline_index *tl_index, const struct ct_report *report,
		  uint64_t max_slices, struct ct_chart_view *views);

/* Make a window smaller, around its focus, until it fits. 0, or CT_FULL. */
int ct_views_fit(const struct ct_budget *budget, uint64_t max_slices, struct ct_chart_view *view);

/* The window in which the finding shows; NULL: none. */
const struct ct_chart_view *ct_views_of(const struct ct_chart_view *views, size_t n,
					const struct ct_finding *finding);

#endif
