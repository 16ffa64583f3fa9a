/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/help.h"

#include <stdio.h>
#include <string.h>

#include "tools/commtrace/base/out.h"

#define COLUMNS 80 /* fact: of a default terminal */
#define HELP_AT 26 /* size: most options are shorter; the help begins behind them */

/* Print `text` from column `at` on, wrapped at words; \n begins a paragraph. Lines after the first
 * begin at `indent`. */
static void wrap(const char *text, size_t at, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, " \n");

		if (at > indent && at + n > COLUMNS) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		}
		printf("%.*s", (int)n, text);
		at += n;
		text += n;
		if (*text == ' ' && at + 1 + strcspn(text + 1, " \n") <= COLUMNS) {
			putchar(' ');
			at++;
		} else if (*text == ' ') {
			at = COLUMNS;
		} else if (*text == '\n') {
			printf("\n%*s", (int)indent, "");
			at = indent;
		}
		text += *text != '\0';
	}
	putchar('\n');
}

static void print_option(const struct ct_command *command, const struct ct_option *option)
{
	char help[CT_OPTION_HELP_TEXT];
	int at;

	if (option->letter)
		at = printf("  -%c, --%s", option->letter, option->name);
	else
		at = printf("      --%s", option->name);
	if (option->value)
		at += printf("=%s", option->value);
	if (at + 2 > HELP_AT) {
		putchar('\n');
		at = 0;
	}
	printf("%*s", HELP_AT - at, "");
	ct_option_help(command, option, help);
	wrap(help, HELP_AT, HELP_AT);
}

int ct_help_print(const struct ct_command *command)
{
	char synopsis[256];

	ct_command_synopsis(command, synopsis);
	printf("Usage: %s\n%s.\n", synopsis, command->summary);
	for (int group = 0; group < CT_OPTION_GROUPS; group++) {
		const struct ct_option *option = NULL;
		int n = 0;

		while ((option = ct_option_next(command, option))) {
			if ((int)option->group != group)
				continue;
			if (!n++)
				printf("\n%s:\n", ct_option_groups[group]);
			print_option(command, option);
		}
	}
	if (command->about[0]) {
		putchar('\n');
		wrap(command->about, 0, 0);
	}
	puts("\nExamples:");
	for (const char *line = command->examples; *line;) {
		size_t n = strcspn(line, "\n");

		printf("  %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	return ct_stdout_close();
}

int ct_help_list(void)
{
	puts("Usage: commtrace COMMAND [OPTION]... [ARGUMENT]...\n"
	     "Find the rank that slows down or hangs your distributed training job.");
	for (int group = 0; group < CT_COMMAND_GROUPS; group++) {
		printf("\n%s:\n", ct_command_groups[group]);
		for (size_t i = 0; i < CT_COMMANDS; i++) {
			if ((int)ct_commands[i].group == group)
				printf("  %-8s  %s\n", ct_commands[i].name, ct_commands[i].summary);
		}
	}
	puts("\nExamples:\n"
	     "  commtrace run -o run1 -- torchrun --nproc_per_node 8 train.py\n"
	     "  commtrace report run1\n"
	     "  commtrace hang run1\n"
	     "\n"
	     "'commtrace COMMAND --help' explains a command; so does 'man commtrace-COMMAND'.\n"
	     "Exit status: 0 done, 1 failed or nothing recorded, 2 wrong usage, 3 finding or "
	     "hang,\n"
	     "125 'run' itself failed, 130 interrupted.");
	return ct_stdout_close();
}
