/* SPDX-License-Identifier: Apache-2.0 */
/* links.h — how fast the communicators and the ways between ranks are, and which is slow
 * (docs/dev/algorithms/links.md).
 *
 *     st = ct_links_measure(pass, &links);
 *     ct_links_fill(&links, pass, report); ct_links_find(&links, pass, report, list); ...
 *     ct_links_fini(&links);
 *
 * One thread; what goes into the report is the report's. All return 0 or CT_NOMEM. */
#ifndef CT_ANALYZER_LINK_LINKS_H
#define CT_ANALYZER_LINK_LINKS_H

#include "analyzer/link/causes.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

/* size: rows of the report at most: the slow ones, then those with most time. */
#define CT_LINK_ROWS 128u

struct ct_links {
	const struct ct_instance_log *log; /* borrowed */
	struct ct_transfers transfers;
	struct ct_comparison comparison;
	struct ct_causes causes;
};

/* From the log of a closed pass. ct_links_fini() in any case. */
int ct_links_measure(const struct ct_model *model, const struct ct_instance_log *log,
		     struct ct_links *links);
void ct_links_fini(struct ct_links *links);

/* report->links. */
int ct_links_fill(const struct ct_links *links, const struct ct_model *model,
		  struct ct_report *report);

#endif
