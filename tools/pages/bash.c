/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tools/pages/pages.h"

/* COMP_WORDBREAKS holds '=': --format=js is three words. */
static const char
	head[] = "# bash completion for commtrace, made from tools/commtrace/base/options.def.\n"
		 "_commtrace() {\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		 "\tlocal command=${COMP_WORDS[1]} options= i\n"
		 "\tCOMPREPLY=()\n"
		 "\tif [ \"$cur\" = = ]; then\n"
		 "\t\tcur=\n"
		 "\telif [ \"$prev\" = = ]; then\n"
		 "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
		 "\tfi\n";

static const char tail[] = "\tif [[ $cur == -* ]]; then\n"
			   "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
			   "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null\n"
			   "\t\treturn\n"
			   "\tfi\n"
			   "\tcase $command in\n";

static void put_values(const struct ct_command *command, const struct ct_option *option)
{
	const char *words = ct_option_words(command, option);

	if (!option->value)
		return;
	printf("\t'%s --%s'", command->name, option->name);
	if (option->letter)
		printf(" | '%s -%c'", command->name, option->letter);
	fputs(") ", stdout);
	if (words)
		printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", words);
	else if (option->kind == CT_OPTION_IS_FILE)
		fputs("compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); ",
		      stdout);
	else if (option->kind == CT_OPTION_IS_DIRECTORY)
		fputs("compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$cur\")); ",
		      stdout);
	fputs("return ;;\n", stdout);
}

static void put_command_names(void)
{
	for (size_t i = 0; i < CT_COMMANDS; i++)
		printf("%s%s", i ? " " : "", ct_commands[i].name);
}

/* A case pattern of all commands whose arguments are such, or of the kind that is both. */
static void put_arguments(enum ct_takes takes, const char *what)
{
	const char *between = "\t";

	for (size_t i = 0; i < CT_COMMANDS; i++) {
		if (ct_commands[i].takes != takes && ct_commands[i].takes != CT_TAKES_PATHS_PROGRAM)
			continue;
		printf("%s%s", between, ct_commands[i].name);
		between = " | ";
	}
	printf(") %s ;;\n", what);
}

void ct_page_bash(void)
{
	const struct ct_option *option;

	fputs(head, stdout);
	fputs("\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '", stdout);
	put_command_names();
	fputs("' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $command in\n", stdout);
	/* What follows -- is the program's. */
	put_arguments(CT_TAKES_PROGRAM, "for ((i = 2; i < COMP_CWORD; i++)); do\n"
					"\t\t\t[ \"${COMP_WORDS[i]}\" = -- ] || continue\n"
					"\t\t\tif declare -F _command_offset >/dev/null; then\n"
					"\t\t\t\t_command_offset $((i + 1))\n"
					"\t\t\telse\n"
					"\t\t\t\tcompopt -o filenames 2>/dev/null\n"
					"\t\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\"))\n"
					"\t\t\tfi\n"
					"\t\t\treturn\n"
					"\t\tdone");
	fputs("\tesac\n\tcase \"$command $prev\" in\n", stdout);
	for (size_t i = 0; i < CT_COMMANDS; i++) {
		option = NULL;
		while ((option = ct_option_next(&ct_commands[i], option)))
			put_values(&ct_commands[i], option);
	}
	fputs("\tesac\n\tcase $command in\n", stdout);
	for (size_t i = 0; i < CT_COMMANDS; i++) {
		printf("\t%s) options='", ct_commands[i].name);
		option = NULL;
		while ((option = ct_option_next(&ct_commands[i], option))) {
			if (option->letter)
				printf("-%c ", option->letter);
			printf("--%s%s ", option->name, option->value ? "=" : "");
		}
		puts("' ;;");
	}
	fputs("\tesac\n", stdout);
	fputs(tail, stdout);
	put_arguments(CT_TAKES_PATHS, "compopt -o filenames 2>/dev/null; "
				      "COMPREPLY=($(compgen -f -- \"$cur\"))");
	fputs("\thelp) COMPREPLY=($(compgen -W '", stdout);
	put_command_names();
	fputs("' -- \"$cur\")) ;;\n\tesac\n}\ncomplete -F _commtrace commtrace\n", stdout);
}
