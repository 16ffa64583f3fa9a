/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h — the entry of every command, made from commands.def. argv[0] is the command's name;
 * returns the exit status (codes.h) after everything that is to be said was said. */
#ifndef CT_TOOLS_COMMTRACE_CMD_H
#define CT_TOOLS_COMMTRACE_CMD_H

#define GROUP(id, title)
#define COMMAND(name, ...) int ct_cmd_##name(int argc, char **argv);
#include "tools/commtrace/base/commands.def"
#undef COMMAND
#undef GROUP

#endif
