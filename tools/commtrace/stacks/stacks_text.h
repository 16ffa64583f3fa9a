/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_text.h — the stacks of a process as text: what it is, the last operation of its rank, and
 * each thread; threads with the same stack together. One thread. */
#ifndef CT_TOOLS_COMMTRACE_STACKS_STACKS_TEXT_H
#define CT_TOOLS_COMMTRACE_STACKS_STACKS_TEXT_H

#include "analyzer/hang/hang_run.h"
#include "analyzer/render/text.h"
#include "tools/commtrace/stacks/stacks_read.h"

/* `hang`: the run that recorded it, with its rank there; NULL: it is not recorded. */
void ct_stacks_text(struct ct_text *text, const struct ct_taken *taken,
		    const struct ct_hang_run *hang, int rank);

#endif
