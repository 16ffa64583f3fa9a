/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h — what the command lines of the programs that run or write workloads have in common:
 * numbers and texts that a table puts into fields, and the end of --help. On a wrong argument argp
 * prints and exits. One thread. */
#ifndef CT_TOOLS_WORKLOAD_ARGUMENTS_H
#define CT_TOOLS_WORKLOAD_ARGUMENTS_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/workload/fault.h"

enum ct_argument_type {
	CT_ARGUMENT_INT,      /* int: a whole number from `least` to `most` */
	CT_ARGUMENT_UNSIGNED, /* unsigned: the same */
	CT_ARGUMENT_U64,      /* uint64_t: the same */
	CT_ARGUMENT_REAL,     /* double: from 0 to `most` */
	CT_ARGUMENT_TEXT,     /* const char * */
	CT_ARGUMENT_FLAG,     /* int: becomes 1 */
};

/* A field that is set as the option says; key 0 ends a table. */
struct ct_argument {
	int key;
	enum ct_argument_type type;
	size_t at; /* the field's offset in the options */
	uint64_t least, most;
};

/* Sets the field of `options` whose row has this key. 0, or ARGP_ERR_UNKNOWN: no row has it. */
error_t ct_argument_set(const struct ct_argument *rows, int key, const char *arg,
			struct argp_state *state, void *options);

/* The argument of option `key`, as a number or as one of two words (1: it is `yes`). */
uint64_t ct_argument_whole(struct argp_state *state, int key, const char *arg, uint64_t least,
			   uint64_t most);
double ct_argument_real(struct argp_state *state, int key, const char *arg, double most);
int ct_argument_one_of(struct argp_state *state, int key, const char *arg, const char *yes,
		       const char *no);

/* The argp.help_filter text below the options: workloads, the faults that the program accepts, exit
 * status. */
char *ct_argument_help(int key, const char *text, int (*accepts)(enum ct_fault_kind kind));

#endif
