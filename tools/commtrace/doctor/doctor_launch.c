/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/doctor_launch.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/base/nearest.h"

enum { ANY = -1 };

static const struct launch_row {
	enum ct_launch_kind kind;
	int positional;
	const char *names, *values, *pairs, *alone, *elsewhere;
} rows[] = {
#define LAUNCHER(kind, positional, names, values, pairs, alone, elsewhere)                         \
	{ CT_LAUNCH_##kind, positional, names, values, pairs, alone, elsewhere },
#include "tools/commtrace/doctor/doctor_launchers.def"
};

static const struct launch_row *row_of_word(const char *word)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (ct_word_find(rows[i].names, word) >= 0)
			return &rows[i];
	return NULL;
}

static const struct launch_row *row_of(const char *name)
{
	const struct launch_row *row = row_of_word(name);
	char word[64];

	if (row)
		return row;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "."), name);
	if (strncmp(word, "python", 6) == 0 || strncmp(word, "pypy", 4) == 0)
		return row_of_word("python");
	return row_of_word(word);
}

/* The words that an option takes from behind it; -1: that is not known. */
static int words_after(const struct launch_row *row, const char *name, int dashes, const char *next)
{
	char first[2] = { name[0], '\0' };

	if (ct_word_find(row->values, name) >= 0)
		return 1;
	if (ct_word_find(row->pairs, name) >= 0) /* or NAME=VALUE */
		return next && strchr(next, '=') ? 1 : 2;
	if (ct_word_find(row->alone, name) >= 0 || row->kind == CT_LAUNCH_HERE)
		return 0;
	if (dashes == 1 && (row->kind == CT_LAUNCH_PYTHON || ct_word_find(row->values, first) >= 0))
		return 0; /* -u, -n4 */
	return -1;
}

/* -m or -c of a Python, also behind other letters (-um). Of torchrun and its like, what -m says of
 * the file that follows. */
static void look_at_python(struct ct_launch_command *launch, const char *name, int dashes)
{
	char last = name[0] ? name[strlen(name) - 1] : '\0';

	if (dashes == 2 && strcmp(name, "no-python") == 0)
		launch->is_python_file = 0;
	else if (dashes == 2)
		launch->is_module |= strcmp(name, "module") == 0;
	else if (last == 'm')
		launch->is_module = 1;
	else if (last == 'c')
		launch->is_text = 1;
}

/* An option: its name, without dashes, value and underscores. Returns its dashes. */
static int name_of(const char *word, char name[64])
{
	int dashes = 1 + (word[1] == '-');

	snprintf(name, 64, "%.*s", (int)strcspn(word + dashes, "="), word + dashes);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	return dashes;
}

struct ct_launch_command ct_launch_look(const char *launcher, char **argv,
					int (*is_program)(const char *word))
{
	const struct launch_row *row = row_of(launcher);
	struct ct_launch_command launch = { .kind = row ? row->kind : CT_LAUNCH_NONE };
	int positional = row ? row->positional : 0, options_end = 0, doubt = 0;

	launch.is_python_file = launch.kind == CT_LAUNCH_PYTHON;
	for (char **word = argv + 1; row && *word && !launch.is_text; word++) {
		int dashes, taken;
		char name[64];

		if (!options_end && word[0][0] == '-' && word[0][1]) {
			dashes = name_of(*word, name);
			options_end = dashes == 2 && !word[0][2];
			if (launch.kind == CT_LAUNCH_PYTHON)
				look_at_python(&launch, name, dashes);
			launch.lies_elsewhere |= ct_word_find(row->elsewhere, name) >= 0;
			taken = options_end || strchr(*word, '=')
					? 0
					: words_after(row, name, dashes, word[1]);
			doubt = taken < 0;
			for (; taken > 0 && word[1]; taken--)
				word++;
			continue;
		}
		if (positional > 0) {
			positional--;
		} else if ((positional != ANY && !doubt && !strchr(*word, '=')) ||
			   (launch.is_python_file ? strstr(*word, ".py") != NULL
						  : is_program(*word))) {
			launch.program = word;
			break;
		}
		doubt = 0;
	}
	return launch;
}
