/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h: what is made from the tables of the command line while the project is built. Everything
 * goes to standard output. */
#ifndef CT_TOOLS_PAGES_PAGES_H
#define CT_TOOLS_PAGES_PAGES_H

#include "tools/commtrace/base/command_table.h"

/* commtrace-COMMAND(1). */
void ct_page_man(const struct ct_command *command);

/* commtrace(1): the template with the lines @COMMANDS@ and @SETTINGS@ replaced. 0, or -1 with errno
 * set. */
int ct_page_man_overview(const char *template_path);

/* docs/reference/COMMANDS.md. */
void ct_page_markdown(void);

void ct_page_bash(void);
void ct_page_zsh(void);

#endif
