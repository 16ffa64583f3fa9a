/* SPDX-License-Identifier: Apache-2.0 */
/* merge_options.h — what `commtrace merge` was asked for. */
#ifndef CT_MERGE_OPTIONS_H
#define CT_MERGE_OPTIONS_H

#include "analyzer/timeline/timeline.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/selection.h"

enum ct_merge_format { CT_MERGE_PFTRACE, CT_MERGE_TUPLES };

struct ct_merge {
	struct ct_cli args;
	const char *out_path; /* NULL: standard output */
	int force, format;
	struct ct_selection selection;
	struct ct_chart_options chart;
};

/* Returns -1 to go on, or the exit status, as ct_cli_parse(). ct_merge_options_fini() in any case. */
int ct_merge_options(struct ct_merge *merge, int argc, char **argv);
void ct_merge_options_fini(struct ct_merge *merge);

#endif
