/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/workload/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/workload/workload.h"

/* argp_parse() puts the program's options into a child of its own. */
static const char *name_in(const struct argp *argp, int key)
{
	const struct argp_option *option = argp->options;
	const char *name = NULL;

	for (; option && (option->name || option->key || option->doc); option++)
		if (option->key == key)
			return option->name;
	for (const struct argp_child *child = argp->children; child && child->argp && !name;
	     child++)
		name = name_in(child->argp, key);
	return name;
}

static const char *name_of(const struct argp_state *state, int key)
{
	return name_in(state->root_argp, key);
}

uint64_t ct_argument_whole(struct argp_state *state, int key, const char *arg, uint64_t least,
			   uint64_t most)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(arg, &end, 10);
	if (errno || end == arg || *end || arg[0] == '-' || number < least || number > most)
		argp_error(state, "--%s: '%s' is not a whole number from %llu to %llu",
			   name_of(state, key), arg, (unsigned long long)least,
			   (unsigned long long)most);
	return number;
}

double ct_argument_real(struct argp_state *state, int key, const char *arg, double most)
{
	char *end;
	double number = strtod(arg, &end);

	if (end == arg || *end || !isfinite(number) || number < 0 || number > most)
		argp_error(state, "--%s: '%s' is not a number from 0 to %g", name_of(state, key),
			   arg, most);
	return number;
}

int ct_argument_one_of(struct argp_state *state, int key, const char *arg, const char *yes,
		       const char *no)
{
	if (strcmp(arg, yes) && strcmp(arg, no))
		argp_error(state, "--%s: '%s' is neither %s nor %s", name_of(state, key), arg, yes,
			   no);
	return strcmp(arg, yes) == 0;
}

error_t ct_argument_set(const struct ct_argument *rows, int key, const char *arg,
			struct argp_state *state, void *options)
{
	const struct ct_argument *row = rows;
	void *field;

	while (row->key && row->key != key)
		row++;
	if (!row->key)
		return ARGP_ERR_UNKNOWN;
	field = (char *)options + row->at;
	switch (row->type) {
	case CT_ARGUMENT_INT:
		*(int *)field = (int)ct_argument_whole(state, key, arg, row->least, row->most);
		break;
	case CT_ARGUMENT_UNSIGNED:
		*(unsigned *)field = (unsigned)ct_argument_whole(state, key, arg, row->least,
								 row->most);
		break;
	case CT_ARGUMENT_U64:
		*(uint64_t *)field = ct_argument_whole(state, key, arg, row->least, row->most);
		break;
	case CT_ARGUMENT_REAL:
		*(double *)field = ct_argument_real(state, key, arg, (double)row->most);
		break;
	case CT_ARGUMENT_TEXT:
		*(const char **)field = arg;
		break;
	case CT_ARGUMENT_FLAG:
		*(int *)field = 1;
		break;
	}
	return 0;
}

char *ct_argument_help(int key, const char *text, int (*accepts)(enum ct_fault_kind kind))
{
	size_t size = 0;
	char *all = NULL, spelling[256];
	const char *name, *what;
	FILE *out;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&all, &size);
	if (!out)
		return NULL;
	fprintf(out, "Workloads:\n");
	for (unsigned i = 0; (what = ct_workload_help(i, &name)); i++)
		fprintf(out, "  %-20s  %s\n", name, what);
	fprintf(out, "\nFaults (op: data-moving op of the rank, from 0; from, to: steps):\n");
	for (unsigned i = 0; (what = ct_fault_help(i, spelling, sizeof(spelling))); i++) {
		if (accepts((enum ct_fault_kind)i))
			fprintf(out, "  %s\n      %s\n", spelling, what);
	}
	fprintf(out, "\nExit status: 0 done, 1 failed, 2 usage.\n");
	fclose(out);
	return all;
}
