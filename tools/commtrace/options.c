/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/codes.h"
#include "tools/commtrace/nearest.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/say.h"

static const struct argp_option common_table[] = {
	{ "color", CT_KEY_COLOR, "WHEN", 0,
	  "auto, always or never (default auto; NO_COLOR is obeyed)", 100 },
	{ "help", CT_KEY_HELP, 0, 0, "Show this", 100 },
	{ 0 }
};

/* State of one ct_options_parse(), the argp input. */
struct parse {
	const struct ct_options *options;
	int code; /* -1: go on */
};

static int show_help(const struct ct_options *options, const struct argp *argp)
{
	const struct ct_command *command = ct_command_find(options->command);
	const char *space = command->synopsis[0] ? " " : "";
	char name[64];

	snprintf(name, sizeof(name), "commtrace %s", command->name);
	printf("Usage: %s%s%s\n%c%s.\n\n", name, space, command->synopsis,
	       command->help[0] - 'a' + 'A', command->help + 1);
	setenv("ARGP_HELP_FMT", "rmargin=100,opt-doc-col=24,no-dup-args-note", 1);
	argp_help(argp, stdout, ARGP_HELP_LONG, name);
	if (options->example)
		printf("\nExample:\n%s\n", options->example);
	return ct_stdout_close();
}

/* Every long option that this command knows, its own ones and then the common ones, one per call. */
static const struct argp_option *each_option(const struct ct_options *options, size_t *i)
{
	size_t own = 0;

	for (; options->table &&
	       (options->table[own].name || options->table[own].key || options->table[own].doc);
	     own++) {
		if (own >= *i && options->table[own].name) {
			*i = own + 1;
			return &options->table[own];
		}
	}
	for (size_t k = *i > own ? *i - own : 0;
	     k + 1 < sizeof(common_table) / sizeof(common_table[0]); k++) {
		if (common_table[k].name) {
			*i = own + k + 1;
			return &common_table[k];
		}
	}
	return NULL;
}

static void bad_long_option(const struct ct_options *options, const char *word)
{
	const struct argp_option *option, *exact = NULL, *first = NULL, *second = NULL;
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name), i = 0;
	char typed[64];
	struct ct_nearest near = { .word = typed };

	snprintf(typed, sizeof(typed), "%.*s", (int)len, name);
	while ((option = each_option(options, &i))) {
		ct_nearest_offer(&near, option->name);
		if (strncmp(option->name, name, len) != 0)
			continue;
		if (strlen(option->name) == len)
			exact = option;
		second = first ? option : NULL;
		first = first ? first : option;
	}
	if (!exact && first && !second)
		exact = first; /* getopt accepts a beginning that fits one option only */
	if (exact && exact->arg) {
		ct_say("option '--%s' of '%s' needs a value: --%s=%s", exact->name,
		       options->command, exact->name, exact->arg);
	} else if (exact) {
		ct_say("option '--%s' of '%s' takes no value", exact->name, options->command);
	} else if (second) {
		ct_say("option '--%s' of '%s' is ambiguous: '--%s' or '--%s'", typed,
		       options->command, first->name, second->name);
	} else {
		ct_say("unknown option '--%s' of '%s'", typed, options->command);
		if (near.best) {
			ct_hint("did you mean '--%s'?", near.best);
			return;
		}
	}
	ct_hint("commtrace %s --help lists the options", options->command);
}

/* getopt stops behind a bad long option and behind the last letter of a bad cluster, in front of it else. */
static void bad_option(const struct ct_options *options, const struct argp_state *state)
{
	const char *word = state->next > 0 ? state->argv[state->next - 1] : "";
	const struct argp_option *option;
	size_t i = 0;

	if (strncmp(word, "--", 2) == 0 && word[2]) {
		bad_long_option(options, word);
		return;
	}
	if (word[0] != '-' && state->next < state->argc)
		word = state->argv[state->next];
	while (word[0] == '-' && (option = each_option(options, &i))) {
		if (option->key == (unsigned char)word[strlen(word) - 1] && option->arg) {
			ct_say("option '-%c' of '%s' needs a value: -%c %s", option->key,
			       options->command, option->key, option->arg);
			ct_hint("commtrace %s --help lists the options", options->command);
			return;
		}
	}
	ct_say("unknown option '%s' of '%s'", word, options->command);
	ct_hint("commtrace %s --help lists the options", options->command);
}

/* What is no word of the common ones. */
static error_t take_color(struct parse *parse, const char *arg)
{
	const struct ct_options *options = parse->options;
	const char *own = options->colors ? options->colors : "";
	char words[128];

	snprintf(words, sizeof(words), "auto always never%s%s", own[0] ? " " : "", own);
	parse->code = ct_option_word(options->command, "--color", words, arg) < 0
			      ? CT_CODE_USAGE
			      : options->take(options->into, CT_KEY_COLOR, arg);
	if (parse->code)
		return EINVAL;
	parse->code = -1;
	return 0;
}

/* The options of every command: a group of its own for argp. */
static error_t take_common(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;

	switch (key) {
	case CT_KEY_HELP:
		parse->code = CT_CODE_DONE;
		return EINVAL; /* ends the parsing; the code tells that it is no error */
	case CT_KEY_COLOR:
		if (ct_color_set(arg))
			return 0;
		return take_color(parse, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* An option that is only put somewhere. 0 or an exit status; -1: it is none. */
static int put(const struct ct_options *options, int key, const char *arg)
{
	const struct ct_option_put *p = options->puts;
	const struct argp_option *row = options->table;
	char name[32];

	if (key == ARGP_KEY_ARG && options->paths)
		return ct_paths_add(options->paths, arg);
	while (p && p->key && p->key != key)
		p++;
	if (!p || !p->key)
		return -1;
	if (p->text)
		*p->text = p->constant ? p->constant : arg;
	if (p->flag)
		*p->flag = 1;
	if (!p->number)
		return 0;
	while (row->key != key)
		row++;
	snprintf(name, sizeof(name), "--%s", row->name);
	return ct_option_number(options->command, name, arg, p->least, p->most, p->number);
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	const struct ct_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_INIT:
		if (options->table)
			state->child_inputs[0] = state->input;
		return 0;
	case CT_KEY_HELP:
	case CT_KEY_COLOR:
		return take_common(key, arg, state);
	case ARGP_KEY_ARG:
		if (options->rest) {
			*options->rest = state->argv + state->next - 1;
			state->next = state->argc;
			return 0;
		}
		if (!options->take && !options->paths) {
			parse->code = ct_usage(options->command,
					       "'%s' takes no argument, but got '%s'",
					       options->command, arg);
			return EINVAL;
		}
		break;
	case ARGP_KEY_ERROR:
		if (parse->code < 0) {
			bad_option(options, state);
			parse->code = CT_CODE_USAGE;
		}
		return 0;
	case ARGP_KEY_ARGS:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_END:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_FINI:
		return ARGP_ERR_UNKNOWN;
	default:
		break;
	}
	parse->code = put(options, key, arg);
	if (parse->code < 0)
		parse->code = options->take ? options->take(options->into, key, arg)
					    : ARGP_ERR_UNKNOWN;
	if (parse->code)
		return EINVAL;
	parse->code = -1;
	return 0;
}

int ct_options_parse(const struct ct_options *options, int argc, char **argv)
{
	const struct argp common = { .options = common_table, .parser = take_common };
	const struct argp_child children[] = { { &common, 0, 0, 0 }, { 0 } };
	/* A parent without options leaks memory in glibc's argp_help(). */
	const struct argp argp = { .options = options->table ? options->table : common_table,
				   .parser = take,
				   .children = options->table ? children : NULL };
	struct parse parse = { .options = options, .code = -1 };
	unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_NO_EXIT;
	error_t error;

	if (options->rest)
		flags |= ARGP_IN_ORDER;
	error = argp_parse(&argp, argc, argv, flags, NULL, &parse);
	if (parse.code == CT_CODE_DONE)
		return show_help(options, &argp);
	if (parse.code >= 0)
		return parse.code;
	if (error) {
		ct_say("cannot read the options of '%s': %s", options->command, strerror(error));
		return CT_CODE_FAILED;
	}
	return -1;
}

int ct_usage(const char *command, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ct_say("%s", text);
	ct_hint("commtrace %s --help tells how it is used", command);
	return CT_CODE_USAGE;
}

int ct_option_word(const char *command, const char *option, const char *words, const char *arg)
{
	int place = ct_word_find(words, arg);

	if (place >= 0)
		return place;
	ct_say("bad value '%s' of option '%s' of '%s'", arg, option, command);
	ct_hint("it is one of: %s", words);
	return -1;
}

int ct_option_number(const char *command, const char *option, const char *arg, long long min,
		     long long max, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(arg, &end, 10);
	if (!errno && end != arg && !*end && *value >= min && *value <= max)
		return 0;
	ct_say("bad value '%s' of option '%s' of '%s': not a whole number from %lld to %lld", arg,
	       option, command, min, max);
	ct_hint("commtrace %s --help tells how it is used", command);
	return CT_CODE_USAGE;
}

int ct_paths_add(struct ct_paths *paths, const char *path)
{
	const char **grown = reallocarray(paths->path, paths->n + 1, sizeof(*grown));

	if (!grown) {
		ct_say("cannot read the options: %s", ct_status_text(CT_NOMEM));
		return CT_CODE_FAILED;
	}
	paths->path = grown;
	paths->path[paths->n++] = path;
	return 0;
}

void ct_paths_fini(struct ct_paths *paths)
{
	free(paths->path);
	*paths = (struct ct_paths){ 0 };
}
