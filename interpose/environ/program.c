/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/program.h"

#include <string.h>

#include "trace/sys_file.h"

/* size: of a command line. What runs comes after a few options, before the program's arguments. */
#define START_BYTES 4096

/* The words of a command line, each with its NUL: a last word that was cut is none. */
struct words {
	char *at, *end;
};

/* NULL after the last one, and at an empty one: a program that has renamed itself leaves those. */
static char *next_word(struct words *words)
{
	char *word = words->at;
	char *nul = memchr(word, '\0', (size_t)(words->end - word));

	if (!nul || nul == word)
		return NULL;
	words->at = nul + 1;
	return word;
}

/* After the options of Python. Those of one letter share words ("-um") up to the first that takes
 * an argument, which is the rest of the word or the next one. NULL: neither script nor module. */
static char *find_script(struct words *words, int *is_module)
{
	char *word;

	while ((word = next_word(words)) && word[0] == '-') {
		char *letter = strpbrk(word, "cmWX"), *argument;

		if (strcmp(word, "--") == 0)
			return next_word(words);
		if (word[1] == '-') {
			if (strcmp(word, "--check-hash-based-pycs") == 0)
				next_word(words);
			continue;
		}
		if (!word[1] || (letter && *letter == 'c'))
			return NULL;
		if (!letter)
			continue;
		argument = letter[1] ? letter + 1 : next_word(words);
		*is_module = *letter == 'm';
		if (*is_module)
			return argument;
	}
	return word;
}

void ct_program_read(const char *root, struct ct_facts *facts)
{
	char exe[64], line[START_BYTES], *script;
	struct words words = { line, line };
	int is_module = 0;
	size_t len;

	if (!ct_file_link(exe, sizeof(exe), root, "/proc/self/exe") ||
	    strncmp(exe, "python", strlen("python")) != 0)
		return;
	words.end += ct_file_start(line, sizeof(line), root, "/proc/self/cmdline");
	script = next_word(&words) ? find_script(&words, &is_module) : NULL;
	if (!script)
		return;
	for (len = strlen(script); len > 1 && script[len - 1] == '/';)
		script[--len] = '\0'; /* a directory can be a script, too */
	ct_file_tidy(script);
	ct_facts_addf(facts, "program", "%s%s", is_module ? "-m " : "", script);
}
