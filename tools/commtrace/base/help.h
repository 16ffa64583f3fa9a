/* SPDX-License-Identifier: Apache-2.0 */
/* help.h: what --help and `commtrace help` print, from the tables. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_BASE_HELP_H
#define CT_TOOLS_COMMTRACE_BASE_HELP_H

#include "tools/commtrace/base/command_table.h"

/* One command with its options, to standard output. Returns the exit status. */
int ct_help_print(const struct ct_command *command);

/* All commands by group. Returns the exit status. */
int ct_help_list(void);

#endif
