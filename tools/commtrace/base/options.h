/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: the command line of one command, parsed with getopt_long() as options.def describes it.
 *
 * Values are borrowed from argv. Numbers and words are checked while they are parsed; every message
 * names the option, the command and what would be right. One thread. */
#ifndef CT_TOOLS_COMMTRACE_BASE_OPTIONS_H
#define CT_TOOLS_COMMTRACE_BASE_OPTIONS_H

#include "tools/commtrace/base/command_table.h"

/* commtrace-mpi has files in a directory of its own, and leaves in this variable the paths that it
 * was given, with line feeds between. */
#define CT_TYPED_RUNS "CT_MPI_RUNS"

struct ct_paths {
	const char **path;
	size_t n;
};

/* What was typed. */
struct ct_cli {
	const struct ct_command *command;
	struct ct_given {
		const struct ct_option *option;
		const char *value; /* NULL: takes none */
	} * given;
	size_t n_given;
	struct ct_paths paths; /* the arguments */
	char **program;	       /* of CT_TAKES_PROGRAM: the first argument and all behind it; of
				  CT_TAKES_PATHS_PROGRAM: all behind "--"; NULL: none */
};

/* Parse the line of this command; argv[0] is its name. Returns -1 to continue, or the exit status:
 * after --help, or after a usage error was reported. ct_cli_fini() in any case. */
int ct_cli_parse(struct ct_cli *args, enum ct_command_id command, int argc, char **argv);
void ct_cli_fini(struct ct_cli *args);

/* Was it given? */
int ct_cli_has(const struct ct_cli *args, enum ct_option_key key);

/* The value that was given last, else the default of the table, else NULL. */
const char *ct_cli_text(const struct ct_cli *args, enum ct_option_key key);

/* The same as a number; `none` where there is neither. */
long long ct_cli_number(const struct ct_cli *args, enum ct_option_key key, long long none);

/* The same as the position among the option's words, from 0; -1 where there is neither. */
int ct_cli_word(const struct ct_cli *args, enum ct_option_key key);

/* Position among the command's formats: from --format or --json, else the extension of -o FILE,
 * else 0. Returns -1 after a usage error. */
int ct_cli_format(const struct ct_cli *args);

/* "commtrace: ..." about the way a command was called; hints at its --help; returns CT_CODE_USAGE. */
int ct_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same about the value of an option, with a hint at what would be right. */
int ct_cli_bad_value(const struct ct_cli *args, enum ct_option_key key, const char *value,
		     const char *hint);

/* "unknown command", and the nearest one; returns CT_CODE_USAGE. */
int ct_unknown_command(const char *word);

#endif
