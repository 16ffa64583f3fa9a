/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/command_table.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/nearest.h"
#include "analyzer/charts/heatmap.h"

const struct ct_command ct_commands[CT_COMMANDS] = {
#define GROUP(id, title)
#define COMMAND(name, group, takes, formats, extensions, synopsis, summary, about, examples)       \
	{ #name,                                                                                   \
	  CT_COMMAND_##name,                                                                       \
	  CT_COMMANDS_##group,                                                                     \
	  CT_TAKES_##takes,                                                                        \
	  formats,                                                                                 \
	  extensions,                                                                              \
	  synopsis,                                                                                \
	  summary,                                                                                 \
	  about,                                                                                   \
	  examples },
#include "tools/commtrace/base/commands.def"
#undef COMMAND
#undef GROUP
};

const char *const ct_command_groups[CT_COMMAND_GROUPS] = {
#define GROUP(id, title) title,
#define COMMAND(...)
#include "tools/commtrace/base/commands.def"
#undef COMMAND
#undef GROUP
};

const char *const ct_option_groups[CT_OPTION_GROUPS] = { "Selection", "Analysis", "Recording",
							 "Output", "General" };

#define ON(command) (1u << CT_COMMAND_##command)
#define EVERY UINT32_MAX
#define FLAG CT_OPTION_IS_FLAG, 0, 0, NULL
#define TEXT CT_OPTION_IS_TEXT, 0, 0, NULL
#define FILE CT_OPTION_IS_FILE, 0, 0, NULL
#define DIRECTORY CT_OPTION_IS_DIRECTORY, 0, 0, NULL
#define FORMAT CT_OPTION_IS_FORMAT, 0, 0, NULL
#define NUMBER(least, most) CT_OPTION_IS_NUMBER, least, most, NULL
#define WORD(words) CT_OPTION_IS_WORD, 0, 0, words
/* `kind` is four fields. */
#define OPTION(key, commands, letter, name, value, kind, fallback, group, help)                    \
	{ CT_OPTION_##key, commands, letter, name, value, kind, fallback, CT_GROUP_##group, help },

const struct ct_option ct_options[CT_OPTIONS] = {
#include "tools/commtrace/base/options.def"
};

_Static_assert(CT_COMMANDS <= 32, "a bit for each command");

const struct ct_command *ct_command_find(const char *name)
{
	for (size_t i = 0; i < CT_COMMANDS; i++) {
		if (strcmp(ct_commands[i].name, name) == 0)
			return &ct_commands[i];
	}
	return NULL;
}

const char *ct_command_near(const char *name)
{
	struct ct_nearest near = { .word = name };

	for (size_t i = 0; i < CT_COMMANDS; i++)
		ct_nearest_offer(&near, ct_commands[i].name);
	return near.best;
}

const struct ct_option *ct_option_next(const struct ct_command *command,
				       const struct ct_option *before)
{
	for (size_t i = before ? (size_t)(before - ct_options) + 1 : 0; i < CT_OPTIONS; i++) {
		if (ct_options[i].commands & 1u << command->id)
			return &ct_options[i];
	}
	return NULL;
}

const char *ct_option_words(const struct ct_command *command, const struct ct_option *option)
{
	return option->kind == CT_OPTION_IS_FORMAT ? command->formats : option->words;
}

/* Does the help explain each of the words already, or name it as one of a list? */
static int names_all(const char *help, const char *words)
{
	char word[32];

	for (; *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");

		snprintf(word, sizeof(word), "%.*s:", (int)n, words);
		if (!strstr(help, word))
			return 0;
		words += n;
	}
	return 1;
}

static size_t append(char *text, size_t len, const char *more, size_t n)
{
	return len + (size_t)snprintf(text + len, CT_OPTION_HELP_TEXT - len, "%.*s", (int)n, more);
}

void ct_option_help(const struct ct_command *command, const struct ct_option *option,
		    char text[CT_OPTION_HELP_TEXT])
{
	const char *words = ct_option_words(command, option), *between = " (";
	const char *fallback = option->fallback;
	char first[64];
	size_t len = append(text, 0, option->help, strlen(option->help));

	if (words && !names_all(option->help, words)) {
		for (; *words; words += strspn(words, " ")) {
			size_t n = strcspn(words, " ");

			len = append(text, len, between, 2);
			len = append(text, len, words, n);
			between = ", ";
			words += n;
		}
		between = "; ";
	}
	if (option->kind == CT_OPTION_IS_FORMAT) {
		snprintf(first, sizeof(first), "%s%.*s",
			 command->extensions[0] ? "that of FILE, else " : "",
			 (int)strcspn(command->formats, " "), command->formats);
		fallback = first;
	}
	if (fallback) {
		len = append(text, len, between, 2);
		len = append(text, len, "default: ", 9);
		len = append(text, len, fallback, strlen(fallback));
		between = "; ";
	}
	if (between[0] == ';' || (between[0] == ',' && !fallback))
		append(text, len, ")", 1);
}

void ct_command_synopsis(const struct ct_command *command, char text[256])
{
	const struct ct_option *own = ct_option_next(command, NULL);

	snprintf(text, 256, "commtrace %s%s%s%s", command->name,
		 own && own->group != CT_GROUP_GENERAL ? " [OPTION]..." : "",
		 command->synopsis[0] ? " " : "", command->synopsis);
}
