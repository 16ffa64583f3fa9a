/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h — the few lines that `commtrace run` says on stderr at the end. */
#ifndef CT_TOOLS_COMMTRACE_RUN_VERDICT_H
#define CT_TOOLS_COMMTRACE_RUN_VERDICT_H

#include "tools/commtrace/run/record_dir.h"

/* Say what was recorded in the directory and what follows from it: on the machine that ran rank 0,
 * or where no rank is known. `backends` as it was set for the program, NULL: default; `code` is
 * what the program ended with. */
void ct_verdict(const struct ct_record_dir *dir, const char *const *ring_dirs, const char *backends,
		int code);

#endif
