/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — the command line of one command, parsed with glibc's argp and answered in commtrace's words.
 *
 * What a command declares is a table of argp options and a function that takes one option at a time. --help,
 * --color and the messages for unknown, ambiguous or incomplete options are the same for all commands. */
#ifndef CT_OPTIONS_H
#define CT_OPTIONS_H

#include <argp.h>
#include <stddef.h>

struct ct_command {
	const char *name;
	const char *synopsis;
	const char *help;
	int (*main)(int argc,
		    char **argv); /* argv[0] is the command's name; returns the exit status */
};

/* commands.def as a table, ended by a row without name. */
extern const struct ct_command ct_commands[];

/* NULL if there is none. */
const struct ct_command *ct_command_find(const char *name);

/* Keys of options without a short letter. */
enum {
	CT_KEY_HELP = 0x100,
	CT_KEY_COLOR,
	CT_KEY_FORMAT,
	CT_KEY_FORCE,
	CT_KEY_FAIL_ON,
	CT_KEY_RANK,
	CT_KEY_COMM,
	CT_KEY_LIMIT,
	CT_KEY_JOB,
	CT_KEY_SET,
	CT_KEY_PLUGIN,
	CT_KEY_WINDOW,
	CT_KEY_RANKS,
	CT_KEY_MAX_SLICES,
	CT_KEY_FLOWS,
	CT_KEY_CALLS,
	CT_KEY_EXPECT,
	CT_KEY_CYCLE_ANCHOR,
	CT_KEY_OF,
	CT_KEY_LAYER,
	CT_KEY_BY,
	CT_KEY_BACKEND,
	CT_KEY_ROLE,
	CT_KEY_TRAFFIC_MODEL,
	CT_KEY_NO_BROWSER,
	CT_KEY_KEEP,
	CT_KEY_IDLE,
	CT_KEY_PORT,
	CT_KEY_JSON,
	CT_KEY_ATTEMPT,
	CT_KEY_CHECK,
	CT_KEY_WHOLE,
};

/* Paths given as arguments, borrowed from argv. */
struct ct_paths {
	const char **path;
	size_t n;
};

/* Where the value of an option goes that nothing else depends on; one of these. */
struct ct_option_put {
	int key;
	const char **text;
	const char *constant; /* goes to `text`, of an option without a value */
	int *flag;	      /* becomes 1 */
	long long *number, least, most;
};

struct ct_options {
	const char *command;
	const struct argp_option *table;  /* ended by { 0 }; NULL: only the common ones */
	const struct ct_option_put *puts; /* ended by { 0 }; NULL: none */
	struct ct_paths *paths;		  /* where arguments go; NULL: take() gets them */
	/* One of the other options, or one argument (key ARGP_KEY_ARG). Returns 0 or the exit status after it has said why.
	 * NULL: takes neither. */
	int (*take)(void *into, int key, const char *arg);
	void *into;
	const char *example; /* shown by --help: one or more lines, each indented by two spaces */
	/* Words that --color takes beside auto, always and never, for take(). NULL: none. */
	const char *colors;
	/* Where not NULL: options end at the first argument, which is put there with all that follow it. */
	char ***rest;
};

/* Returns -1 to go on, or the exit status: after --help, or after a usage error that has been told. */
int ct_options_parse(const struct ct_options *options, int argc, char **argv);

/* "commtrace: ..." about the way a command was called; hints at its --help; returns CT_CODE_USAGE. */
int ct_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Value of an option that must be one of some words; "text jsonl" is a list of two. Returns its place in the
 * list from 0, or -1 after a usage error. */
int ct_option_word(const char *command, const char *option, const char *words, const char *arg);

/* A whole number in [min, max]. 0, or CT_CODE_USAGE after a usage error. */
int ct_option_number(const char *command, const char *option, const char *arg, long long min,
		     long long max, long long *value);

/* Append. Returns 0, or CT_CODE_FAILED when memory is out. */
int ct_paths_add(struct ct_paths *paths, const char *path);
void ct_paths_fini(struct ct_paths *paths);

#endif
