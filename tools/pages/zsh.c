/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "tools/pages/pages.h"

/* A text within '...' that _arguments reads: quotes, brackets and colons are escaped. */
static void put(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void put_option(const struct ct_command *command, const struct ct_option *option)
{
	const char *words = ct_option_words(command, option);
	/* A list of completions has space for the first sentence. */
	char brief[CT_OPTION_HELP_TEXT];
	char *end;

	snprintf(brief, sizeof(brief), "%s", option->help);
	end = strstr(brief, ". ");
	if (end)
		*end = '\0';
	fputs("\t\t", stdout);
	if (option->letter)
		printf("'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name, option->letter,
		       option->value ? "+" : "", option->name, option->value ? "=" : "");
	else
		printf("'--%s%s", option->name, option->value ? "=" : "");
	fputs("[", stdout);
	put(brief);
	fputs("]", stdout);
	if (option->value) {
		fputs(":", stdout);
		put(option->value);
		fputs(":", stdout);
	}
	if (option->value && words)
		printf("(%s)", words);
	else if (option->kind == CT_OPTION_IS_FILE)
		fputs("_files", stdout);
	else if (option->kind == CT_OPTION_IS_DIRECTORY)
		fputs("_files -/", stdout);
	fputs("' \\\n", stdout);
}

void ct_page_zsh(void)
{
	static const char *const arguments[] = {
		[CT_TAKES_NOTHING] = "",
		[CT_TAKES_PATHS] = "'*:run:_files'",
		[CT_TAKES_PATHS_PROGRAM] = "'*:run:_files'",
		[CT_TAKES_PROGRAM] = "'(-)1:program:_command_names -e' '*::arguments:_normal'",
		[CT_TAKES_COMMAND] = "'1:command:($commands)'",
	};

	fputs("#compdef commtrace\n"
	      "# zsh completion for commtrace, made from tools/commtrace/base/options.def.\n"
	      "_commtrace() {\n"
	      "\tlocal -a described\n"
	      "\tlocal -a commands=(",
	      stdout);
	for (size_t i = 0; i < CT_COMMANDS; i++)
		printf("%s%s", i ? " " : "", ct_commands[i].name);
	fputs(")\n\tif ((CURRENT == 2)); then\n\t\tdescribed=(\n", stdout);
	for (size_t i = 0; i < CT_COMMANDS; i++) {
		printf("\t\t\t'%s:", ct_commands[i].name);
		put(ct_commands[i].summary);
		puts("'");
	}
	fputs("\t\t)\n\t\t_describe command described\n\t\treturn\n\tfi\n"
	      "\tshift words\n\t((CURRENT--))\n\tcase $words[1] in\n",
	      stdout);
	for (size_t i = 0; i < CT_COMMANDS; i++) {
		const struct ct_option *option = NULL;

		printf("\t%s) _arguments -s \\\n", ct_commands[i].name);
		while ((option = ct_option_next(&ct_commands[i], option)))
			put_option(&ct_commands[i], option);
		printf("\t\t%s ;;\n", arguments[ct_commands[i].takes]);
	}
	fputs("\tesac\n}\n_commtrace \"$@\"\n", stdout);
}
