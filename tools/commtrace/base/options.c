/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/nearest.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/help.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "trace/status.h"

/* What getopt_long() returns for the option with this key: above all letters. */
#define LONG(key) (0x100 + (int)(key))

static void hint_at_help(const char *command)
{
	ct_hint("'commtrace %s --help' lists the options", command);
}

int ct_usage(const char *command, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ct_say("%s", text);
	ct_hint("'commtrace %s --help' shows how it is used", command);
	return CT_CODE_USAGE;
}

int ct_unknown_command(const char *word)
{
	const char *near = ct_command_near(word);

	ct_say("unknown command '%s'", word);
	if (near)
		ct_hint("did you mean '%s'?", near);
	else
		ct_hint("'commtrace help' lists the commands");
	return CT_CODE_USAGE;
}

/* ---- values ---- */

int ct_cli_bad_value(const struct ct_cli *args, enum ct_option_key key, const char *value,
		     const char *hint)
{
	ct_say("bad value '%s' of option '--%s' of '%s'", value, ct_options[key].name,
	       args->command->name);
	ct_hint("%s", hint);
	return CT_CODE_USAGE;
}

static int check_number(const struct ct_cli *args, const struct ct_option *option,
			const char *value)
{
	char *end, hint[96];
	long long number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (!errno && end != value && !*end && number >= option->least && number <= option->most)
		return -1;
	if (option->most >= INT32_MAX)
		snprintf(hint, sizeof(hint), "it is a whole number, %lld or more", option->least);
	else
		snprintf(hint, sizeof(hint), "it is a whole number from %lld to %lld",
			 option->least, option->most);
	return ct_cli_bad_value(args, option->key, value, hint);
}

static int check_word(const struct ct_cli *args, const struct ct_option *option, const char *value)
{
	const char *words = ct_option_words(args->command, option);
	char hint[256];

	if (ct_word_find(words, value) >= 0)
		return -1;
	snprintf(hint, sizeof(hint), "it is one of: %s", words);
	return ct_cli_bad_value(args, option->key, value, hint);
}

static const struct ct_given *find(const struct ct_cli *args, enum ct_option_key key)
{
	for (size_t i = args->n_given; i > 0; i--) {
		if (args->given[i - 1].option->key == key)
			return &args->given[i - 1];
	}
	return NULL;
}

/* The last value of an option counts, so that a script can add one. But of two files one would not
 * be written, or not read. */
static int check_once(const struct ct_cli *args, const struct ct_option *option, const char *value)
{
	const struct ct_given *before = find(args, option->key);

	if (!before ||
	    (option->kind != CT_OPTION_IS_FILE && option->kind != CT_OPTION_IS_DIRECTORY))
		return -1;
	return ct_usage(args->command->name, "option '--%s' of '%s' was given twice: '%s' and '%s'",
			option->name, args->command->name, before->value, value);
}

/* Returns -1 to continue, or the exit status. */
static int add(struct ct_cli *args, const struct ct_option *option, const char *value)
{
	int code = -1;

	if (option->key == CT_OPTION_HELP)
		return ct_help_print(args->command);
	if (option->kind == CT_OPTION_IS_NUMBER)
		code = check_number(args, option, value);
	else if (option->value && ct_option_words(args->command, option))
		code = check_word(args, option, value);
	if (code < 0)
		code = check_once(args, option, value);
	if (code < 0 && option->key == CT_OPTION_COLOR)
		ct_color_set(value);
	args->given[args->n_given++] = (struct ct_given){ option, value };
	return code;
}

int ct_cli_has(const struct ct_cli *args, enum ct_option_key key)
{
	return find(args, key) != NULL;
}

const char *ct_cli_text(const struct ct_cli *args, enum ct_option_key key)
{
	const struct ct_given *given = find(args, key);

	return given ? given->value : ct_options[key].fallback;
}

long long ct_cli_number(const struct ct_cli *args, enum ct_option_key key, long long none)
{
	const char *text = ct_cli_text(args, key);

	return text ? strtoll(text, NULL, 10) : none;
}

int ct_cli_word(const struct ct_cli *args, enum ct_option_key key)
{
	const char *text = ct_cli_text(args, key);

	return text ? ct_word_find(ct_option_words(args->command, &ct_options[key]), text) : -1;
}

int ct_cli_format(const struct ct_cli *args)
{
	const char *format = ct_cli_text(args, CT_OPTION_FORMAT);
	const char *path = ct_cli_text(args, CT_OPTION_OUTPUT);
	const char *formats = args->command->formats, *extensions = args->command->extensions;
	const char *dot = path ? strrchr(path, '.') : NULL;
	const char *json = ct_cli_has(args, CT_OPTION_JSON)	    ? "json"
			   : ct_cli_has(args, CT_OPTION_JSON_LINES) ? "jsonl"
								    : NULL;
	int position;

	if (json && format && strcmp(format, json) != 0) {
		ct_usage(args->command->name, "'--json' and '--format=%s' exclude each other",
			 format);
		return -1;
	}
	if (json)
		format = json;
	if (format)
		return ct_word_find(formats, format);
	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (!dot || strchr(dot, '/'))
		dot = "";
	position = dot[0] ? ct_word_find(extensions, dot + 1) : -1;
	if (position >= 0)
		return position;
	ct_say("cannot write '%s': no format belongs to the extension '%s'", path, dot);
	ct_hint("known extensions: %s; or use --format=%.*s", extensions,
		(int)strcspn(formats, " "), formats);
	return -1;
}

/* ---- what cannot be parsed ---- */

static int needs_value(const struct ct_command *command, const struct ct_option *option)
{
	ct_say("option '--%s' of '%s' needs a value: --%s=%s", option->name, command->name,
	       option->name, option->value);
	hint_at_help(command->name);
	return CT_CODE_USAGE;
}

/* "--wrod" or "--wrod=value": the beginning of several options, or of none. */
static int unknown_long(const struct ct_command *command, const char *word)
{
	const struct ct_option *option = NULL, *first = NULL, *second = NULL;
	size_t len = strcspn(word + 2, "=");
	char typed[64];
	struct ct_nearest near = { .word = typed };

	snprintf(typed, sizeof(typed), "%.*s", (int)len, word + 2);
	while ((option = ct_option_next(command, option))) {
		ct_nearest_offer(&near, option->name);
		if (strncmp(option->name, word + 2, len) != 0)
			continue;
		second = first && !second ? option : second;
		first = first ? first : option;
	}
	if (second) {
		ct_say("option '--%s' of '%s' is ambiguous: '--%s' or '--%s'", typed, command->name,
		       first->name, second->name);
		hint_at_help(command->name);
		return CT_CODE_USAGE;
	}
	ct_say("unknown option '--%s' of '%s'", typed, command->name);
	if (near.best)
		ct_hint("did you mean '--%s'?", near.best);
	else
		hint_at_help(command->name);
	return CT_CODE_USAGE;
}

/* After getopt_long() returned `got`, ':' or '?'. */
static int refuse(const struct ct_cli *args, int got, char **argv)
{
	const struct ct_command *command = args->command;
	const struct ct_option *option = NULL;

	while (optopt && (option = ct_option_next(command, option))) {
		if (optopt == LONG(option->key) || optopt == option->letter)
			break;
	}
	if (got == ':' && option)
		return needs_value(command, option);
	if (option) {
		ct_say("option '--%s' of '%s' takes no value", option->name, command->name);
	} else if (optopt) {
		ct_say("unknown option '-%c' of '%s'", optopt, command->name);
	} else {
		return unknown_long(command, argv[optind - 1]);
	}
	hint_at_help(command->name);
	return CT_CODE_USAGE;
}

/* ---- the line ---- */

/* The options of a command as getopt_long() wants them. */
struct getopt_tables {
	struct option longs[CT_OPTIONS + 1];
	char letters[2 + 2 * CT_OPTIONS + 1];
};

static void list_known(const struct ct_command *command, struct getopt_tables *known)
{
	const struct ct_option *option = NULL;
	char *letter = known->letters;
	size_t n = 0;

	if (command->takes == CT_TAKES_PROGRAM)
		*letter++ = '+'; /* options end at the first argument */
	*letter++ = ':';	 /* a missing value is not an unknown option */
	while ((option = ct_option_next(command, option))) {
		known->longs[n++] = (struct option){ option->name,
						     option->value ? required_argument
								   : no_argument,
						     NULL, LONG(option->key) };
		if (option->letter)
			*letter++ = option->letter;
		if (option->letter && option->value)
			*letter++ = ':';
	}
	*letter = '\0';
	known->longs[n] = (struct option){ 0 };
}

/* The option for which getopt_long() returned this. */
static const struct ct_option *option_of(const struct ct_command *command, int got)
{
	const struct ct_option *option = NULL;

	while ((option = ct_option_next(command, option))) {
		if (got == LONG(option->key) || got == option->letter)
			break;
	}
	return option;
}

/* The index of "--"; none: `argc`. getopt_long() moves the arguments before it to those behind it. */
static int find_end(int argc, char **argv)
{
	int at = 1;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	return at;
}

/* `behind`: so many are behind "--". */
static int take_arguments(struct ct_cli *args, int argc, char **argv, int behind)
{
	if (args->command->takes == CT_TAKES_PATHS_PROGRAM && behind > 0) {
		argc -= behind;
		args->program = argv + argc;
	}
	if (args->command->takes == CT_TAKES_NOTHING && optind < argc)
		return ct_usage(args->command->name, "'%s' takes no argument, but got '%s'",
				args->command->name, argv[optind]);
	if (args->command->takes == CT_TAKES_PROGRAM)
		args->program = optind < argc ? argv + optind : NULL;
	else
		while (optind < argc)
			args->paths.path[args->paths.n++] = argv[optind++];
	return -1;
}

int ct_cli_parse(struct ct_cli *args, enum ct_command_id command, int argc, char **argv)
{
	struct getopt_tables known;
	int got, code = -1;
	int behind = argc - find_end(argc, argv) - 1;
	size_t most = 1; /* "-qq" is two options */

	for (int i = 0; i < argc; i++)
		most += strlen(argv[i]);
	*args = (struct ct_cli){ .command = &ct_commands[command] };
	args->given = calloc(most, sizeof(*args->given));
	args->paths.path = calloc((size_t)argc + 1, sizeof(*args->paths.path));
	if (!args->given || !args->paths.path) {
		ct_say("cannot read the options: %s", ct_status_text(CT_NOMEM));
		return CT_CODE_FAILED;
	}
	list_known(args->command, &known);
	optind = 0; /* `help report` parses twice */
	opterr = 0;
	while (code < 0 &&
	       (got = getopt_long(argc, argv, known.letters, known.longs, NULL)) != -1) {
		if (got == ':' || got == '?')
			code = refuse(args, got, argv);
		else
			code = add(args, option_of(args->command, got), optarg);
	}
	return code < 0 ? take_arguments(args, argc, argv, behind) : code;
}

void ct_cli_fini(struct ct_cli *args)
{
	free(args->given);
	free(args->paths.path);
	*args = (struct ct_cli){ 0 };
}
