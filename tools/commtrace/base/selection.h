/* SPDX-License-Identifier: Apache-2.0 */
/* selection.h: the part of a run that --ranks and --window choose, the same for every command that
 * has them. */
#ifndef CT_TOOLS_COMMTRACE_BASE_SELECTION_H
#define CT_TOOLS_COMMTRACE_BASE_SELECTION_H

#include "tools/commtrace/base/options.h"

struct ct_selection {
	int *ranks; /* in order, each once; NULL: all */
	size_t n_ranks, cap_ranks;
	int has_window;
	uint64_t from_ns, to_ns; /* since the run began; UINT64_MAX: to its end */
};

/* Read both options. 0, or an exit status after it was reported. ct_selection_fini() in any case. */
int ct_selection_read(struct ct_selection *selection, const struct ct_cli *args);
void ct_selection_fini(struct ct_selection *selection);

/* Position of the rank in the list, -1: it is not chosen. Without a list 0. */
ptrdiff_t ct_selection_find(const struct ct_selection *selection, int rank);

#endif
