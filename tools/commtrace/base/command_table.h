/* SPDX-License-Identifier: Apache-2.0 */
/* command_table.h: commands.def and options.def as tables. Constant data and pure functions, and no
 * code of a command: the program that writes manual pages and completions uses them, too. */
#ifndef CT_TOOLS_COMMTRACE_BASE_COMMAND_TABLE_H
#define CT_TOOLS_COMMTRACE_BASE_COMMAND_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum ct_command_id {
#define GROUP(id, title)
#define COMMAND(name, ...) CT_COMMAND_##name,
#include "tools/commtrace/base/commands.def"
#undef COMMAND
#undef GROUP
	CT_COMMANDS,
};

enum ct_command_group {
#define GROUP(id, title) CT_COMMANDS_##id,
#define COMMAND(name, ...)
#include "tools/commtrace/base/commands.def"
#undef COMMAND
#undef GROUP
	CT_COMMAND_GROUPS,
};

/* What the arguments of a command are. */
enum ct_takes {
	CT_TAKES_NOTHING,
	CT_TAKES_PATHS,
	CT_TAKES_PROGRAM,	/* options end at the first argument */
	CT_TAKES_PATHS_PROGRAM, /* paths, and behind "--" a program */
	CT_TAKES_COMMAND,	/* the name of one */
};

struct ct_command {
	const char *name;
	enum ct_command_id id;
	enum ct_command_group group;
	enum ct_takes takes;
	const char *formats, *extensions; /* words; empty: the command has no --format */
	const char *synopsis, *summary;
	const char *about, *examples; /* lines; empty: none */
};

/* By id. */
extern const struct ct_command ct_commands[CT_COMMANDS];
extern const char *const ct_command_groups[CT_COMMAND_GROUPS];

/* NULL if there is none. */
const struct ct_command *ct_command_find(const char *name);
/* The likeliest command where `name` is none; NULL if none is near. */
const char *ct_command_near(const char *name);

enum ct_option_key {
#define OPTION(KEY, ...) CT_OPTION_##KEY,
#include "tools/commtrace/base/options.def"
#undef OPTION
	CT_OPTIONS,
};

enum ct_option_kind {
	CT_OPTION_IS_FLAG,
	CT_OPTION_IS_TEXT,
	CT_OPTION_IS_FILE,
	CT_OPTION_IS_DIRECTORY,
	CT_OPTION_IS_FORMAT, /* one of the command's formats */
	CT_OPTION_IS_NUMBER,
	CT_OPTION_IS_WORD,
};

enum ct_option_group {
	CT_GROUP_SELECT,
	CT_GROUP_ANALYSIS,
	CT_GROUP_RECORDING,
	CT_GROUP_OUTPUT,
	CT_GROUP_GENERAL,
	CT_OPTION_GROUPS,
};
extern const char *const ct_option_groups[CT_OPTION_GROUPS];

struct ct_option {
	enum ct_option_key key;
	uint32_t commands; /* a bit for each */
	char letter;	   /* 0: none */
	const char *name;
	const char *value; /* NULL: takes none */
	enum ct_option_kind kind;
	long long least, most; /* of a number */
	const char *words;     /* of a word, blanks between them */
	const char *fallback;  /* NULL: none */
	enum ct_option_group group;
	const char *help;
};

/* By key; groups are together. */
extern const struct ct_option ct_options[CT_OPTIONS];

/* Options of a command one by one: begin with NULL. NULL at the end. */
const struct ct_option *ct_option_next(const struct ct_command *command,
				       const struct ct_option *before);

/* Words that the value of the option may be for this command; NULL: any text. */
const char *ct_option_words(const struct ct_command *command, const struct ct_option *option);

/* size: what --help says of the option, with the values it takes and its default; cut where it does
 * not fit. */
#define CT_OPTION_HELP_TEXT 768u
void ct_option_help(const struct ct_command *command, const struct ct_option *option,
		    char text[CT_OPTION_HELP_TEXT]);

/* "commtrace report [OPTION]... RUN..." */
void ct_command_synopsis(const struct ct_command *command, char text[256]);

#endif
