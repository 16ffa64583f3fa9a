/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pages/pages.h"

/* Text as roff takes it: no hyphen for a minus, no request at the beginning of a line. \n begins a
 * paragraph. */
static void put(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '\n')
			fputs("\n.PP\n", stdout);
		else
			putchar(*text);
	}
}

static void put_line(const char *before, const char *text, const char *after)
{
	fputs(before, stdout);
	put(text);
	fputs(after, stdout);
}

static void put_option(const struct ct_command *command, const struct ct_option *option)
{
	char help[CT_OPTION_HELP_TEXT];

	fputs(".TP\n", stdout);
	if (option->letter)
		printf("\\fB\\-%c\\fR, ", option->letter);
	put_line("\\fB\\-\\-", option->name, "\\fR");
	if (option->value)
		put_line("=\\fI", option->value, "\\fR");
	ct_option_help(command, option, help);
	put_line("\n", help, ".\n");
}

void ct_page_man(const struct ct_command *command)
{
	const struct ct_option *option = NULL;
	char synopsis[256];
	int group = -1;

	printf(".\\\" Made from tools/commtrace/base/commands.def and options.def.\n"
	       ".TH COMMTRACE\\-");
	for (const char *c = command->name; *c; c++)
		putchar(*c - 'a' + 'A');
	printf(" 1 \"\" \"commtrace %s\" \"User Commands\"\n.SH NAME\ncommtrace\\-%s \\- ",
	       CT_RELEASE, command->name);
	put_line("", command->summary, "\n.SH SYNOPSIS\n");
	ct_command_synopsis(command, synopsis);
	put_line("", synopsis, "\n");
	if (command->about[0])
		put_line(".SH DESCRIPTION\n", command->about, "\n");
	fputs(".SH OPTIONS\n", stdout);
	while ((option = ct_option_next(command, option))) {
		if ((int)option->group != group)
			printf(".SS %s\n", ct_option_groups[option->group]);
		group = (int)option->group;
		put_option(command, option);
	}
	fputs(".SH EXAMPLES\n.nf\n", stdout);
	for (const char *line = command->examples; *line;) {
		char one[160];
		size_t n = strcspn(line, "\n");

		snprintf(one, sizeof(one), "%.*s", (int)n, line);
		put_line("", one, "\n");
		line += n + (line[n] == '\n');
	}
	fputs(".fi\n.SH SEE ALSO\n.BR commtrace (1)\n", stdout);
}

static void put_commands(void)
{
	for (int group = 0; group < CT_COMMAND_GROUPS; group++) {
		printf(".SS %s\n", ct_command_groups[group]);
		for (size_t i = 0; i < CT_COMMANDS; i++) {
			if ((int)ct_commands[i].group != group)
				continue;
			printf(".TP\n.BR commtrace\\-%s (1)\n", ct_commands[i].name);
			put_line("", ct_commands[i].summary, ".\n");
		}
	}
}

static void put_settings(void)
{
	static const struct {
		const char *name, *fallback, *help;
	} settings[] = {
#define X(NAME, type, fallback, help) { #NAME, fallback, help },
#include "trace/settings.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		printf(".TP\n.B COMMTRACE_%s\n", settings[i].name);
		put(settings[i].help);
		if (settings[i].fallback[0])
			put_line(" (default: ", settings[i].fallback, ")");
		fputs(".\n", stdout);
	}
}

int ct_page_man_overview(const char *template_path)
{
	FILE *file = fopen(template_path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return -1;
	while (getline(&line, &size, file) > 0) {
		if (strcmp(line, "@COMMANDS@\n") == 0)
			put_commands();
		else if (strcmp(line, "@SETTINGS@\n") == 0)
			put_settings();
		else if (strncmp(line, ".TH ", 4) == 0)
			printf(".TH COMMTRACE 1 \"\" \"commtrace %s\" \"User Commands\"\n",
			       CT_RELEASE);
		else
			fputs(line, stdout);
	}
	free(line);
	fclose(file);
	return 0;
}
