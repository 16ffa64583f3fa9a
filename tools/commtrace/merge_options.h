/* SPDX-License-Identifier: Apache-2.0 */
/* merge_options.h — what `commtrace merge` was asked for. */
#ifndef CT_MERGE_OPTIONS_H
#define CT_MERGE_OPTIONS_H

#include "analyzer/timeline/timeline.h"
#include "tools/commtrace/options.h"

enum ct_merge_format { CT_MERGE_PFTRACE, CT_MERGE_TUPLES };

struct ct_merge {
	struct ct_paths paths;
	const char *out_path, *format_word;
	int force, format, has_window;
	int *ranks;
	size_t n_ranks, cap_ranks;
	struct ct_chart_options chart;
};

/* Returns -1 to go on, or the exit status, as ct_options_parse(). ct_merge_options_fini() in any case. */
int ct_merge_options(struct ct_merge *merge, int argc, char **argv);
void ct_merge_options_fini(struct ct_merge *merge);

#endif
