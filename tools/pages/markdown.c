/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "tools/pages/pages.h"

#define WIDTH 100u

static const char head[] =
	"<!-- Made by `commtrace-pages markdown` from tools/commtrace/base/*.def. -->\n"
	"# The command line\n"
	"\n"
	"Every command with its options, as `commtrace COMMAND --help` shows them. Exit codes\n"
	"and file formats are in [INTERFACES](../../docs/reference/INTERFACES.md), variables in\n"
	"[ENVIRONMENT](../../docs/reference/ENVIRONMENT.md).\n"
	"\n"
	"Every command has these options:\n"
	"\n";

/* Writes c so that Markdown shows it; returns its columns. */
static size_t put_char(char c)
{
	if (!strchr("|*<\\", c)) {
		putchar(c);
		return 1;
	}
	printf("\\%c", c);
	return 2;
}

static void put(const char *text)
{
	while (*text)
		put_char(*text++);
}

/* Paragraphs, separated by \n, in lines of WIDTH columns. */
static void put_paragraphs(const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (column && column + 1 + n > WIDTH) {
			putchar('\n');
			column = 0;
		}
		if (column) {
			putchar(' ');
			column++;
		}
		for (size_t i = 0; i < n; i++)
			column += put_char(text[i]);
		text += n;
		if (*text == '\n') {
			fputs("\n\n", stdout);
			column = 0;
		}
		text += *text != '\0';
	}
	fputs("\n\n", stdout);
}

static void put_option(const struct ct_command *command, const struct ct_option *option)
{
	char help[CT_OPTION_HELP_TEXT];

	fputs("| ", stdout);
	if (option->letter)
		printf("`-%c`, ", option->letter);
	printf("`--%s%s%s` | ", option->name, option->value ? "=" : "",
	       option->value ? option->value : "");
	ct_option_help(command, option, help);
	put(help);
	fputs(" |\n", stdout);
}

/* The options that every command has (is_general), or the others of this one. */
static void put_options(const struct ct_command *command, int is_general)
{
	const struct ct_option *option = NULL;
	int has_any = 0;

	while ((option = ct_option_next(command, option))) {
		if ((option->group == CT_GROUP_GENERAL) != is_general)
			continue;
		if (!has_any)
			fputs("| option | meaning |\n|---|---|\n", stdout);
		has_any = 1;
		put_option(command, option);
	}
	if (has_any)
		putchar('\n');
}

static void put_examples(const char *line)
{
	for (; *line; line += *line == '\n') {
		size_t n = strcspn(line, "\n");

		printf("* `%.*s`\n", (int)n, line);
		line += n;
	}
	putchar('\n');
}

void ct_page_markdown(void)
{
	char synopsis[256];

	fputs(head, stdout);
	put_options(&ct_commands[0], 1);
	for (int group = 0; group < CT_COMMAND_GROUPS; group++) {
		printf("## %s\n\n", ct_command_groups[group]);
		for (size_t i = 0; i < CT_COMMANDS; i++) {
			const struct ct_command *command = &ct_commands[i];

			if ((int)command->group != group)
				continue;
			ct_command_synopsis(command, synopsis);
			printf("### %s\n\n%s.\n\n`%s`\n\n", command->name, command->summary,
			       synopsis);
			put_options(command, 0);
			if (command->about[0])
				put_paragraphs(command->about);
			if (command->examples[0])
				put_examples(command->examples);
		}
	}
}
