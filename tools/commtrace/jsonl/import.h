/* SPDX-License-Identifier: Apache-2.0 */
/* import.h — a run made from lines of JSON: first all of it into memory (a communicator's members
 * are known only at the last line), then process by process into segments. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_JSONL_IMPORT_H
#define CT_TOOLS_COMMTRACE_JSONL_IMPORT_H

#include <jansson.h>
#include <stdio.h>

#include "trace/record.h"

/* The op's comm is an index into ct_import.comms + 1, its call and site are string ids. */
struct ct_import_op {
	struct ct_op op; /* launch 0 in spite of has_launch: gets an id before it is written */
	struct ct_launch launch; /* its id and n_ops are not set */
	uint8_t has_launch;	 /* 0: the call itself is the span */
	uint8_t open;		 /* the launch was under way when recording ended ... */
	uint8_t started;	 /* ... and had begun, at an unknown time */
	unsigned long line;
	uint32_t group_ops; /* of the first op of a launch: ops that share it; 0: not the first */
};

/* A call that moves no data. */
struct ct_import_call {
	uint64_t enter_ns, return_ns; /* 0: it had not returned */
	uint32_t tid;
	uint32_t call; /* string id, 0 none */
	uint32_t site; /* likewise */
	uint32_t comm; /* index + 1, 0 none */
	int32_t result;
};

struct ct_import_member {
	uint32_t comm; /* index */
	int32_t rank;  /* in it, -1 not given */
};

struct ct_import_process {
	char host[64];
	int32_t rank;
	uint32_t pid, restart, world_size; /* world_size 0: not given */
	int64_t clock_offset_ns;
	struct ct_import_op *ops; /* by entry, after reading */
	size_t n_ops, cap_ops;
	struct ct_import_call *calls; /* by entry, after reading */
	size_t n_calls;
	struct ct_import_member *members;
	size_t n_members;
};

struct ct_import_comm {
	uint64_t hash;
	unsigned backend;
	uint32_t nranks; /* largest given; 0 never */
	char *name;
	int32_t *seen; /* ranks that have ops on it, sorted after reading */
	size_t n_seen;
};

struct ct_import {
	const char *file; /* for messages */
	unsigned long line;
	struct ct_import_process *processes;
	size_t n_processes;
	struct ct_import_comm *comms;
	size_t n_comms;
	/* Names of calls have ids below 65536, which is what an op has space for; sites come above.
	 */
	char **calls, **sites;
	size_t n_calls, n_sites;
	/* What is known already: text -> index. */
	json_t *process_index, *comm_index, *call_index, *site_index;
	size_t n_ops;
	size_t n_unknown_keys;
	char unknown_key[64];
	unsigned long unknown_line;
};

#define CT_IMPORT_FIRST_SITE 65536u /* code: ids of sites are above those of calls, of 16 bits */

/* Add all lines of `in`. 0, or an exit status after it was said at which file:line:column what is
 * wrong. */
int ct_import_read(struct ct_import *import, FILE *in);

/* Write all of it into the directory open as `dirfd`, which will be known as `run_dir`. 0, or an
 * exit status after it was said why; files may then be left behind in the directory. */
int ct_import_write(struct ct_import *import, int dirfd, const char *run_dir);

void ct_import_fini(struct ct_import *import);

#endif
