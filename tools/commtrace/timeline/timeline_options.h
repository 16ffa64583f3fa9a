/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_options.h — the options of `commtrace timeline`. */
#ifndef CT_TOOLS_COMMTRACE_TIMELINE_TIMELINE_OPTIONS_H
#define CT_TOOLS_COMMTRACE_TIMELINE_TIMELINE_OPTIONS_H

#include "analyzer/timeline/timeline.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/selection.h"

enum ct_timeline_format { CT_TIMELINE_PFTRACE, CT_TIMELINE_TUPLES };

struct ct_timeline_request {
	struct ct_cli args;
	const char *out_path; /* NULL: standard output */
	int force, format;
	struct ct_selection selection;
	struct ct_timeline_options options;
};

/* Returns -1 to continue, or the exit status, as ct_cli_parse(). ct_timeline_request_fini() in any
 * case. */
int ct_timeline_request_read(struct ct_timeline_request *request, int argc, char **argv);
void ct_timeline_request_fini(struct ct_timeline_request *request);

#endif
