/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h — the one spelling of what goes wrong in a job, for jobs that are simulated and traces
 * that are generated:
 *
 *     KIND:key=value,key=value,...        slow-rank:rank=5,pct=5,from=10
 *
 * Kinds and keys are the rows of faults.def. Pure functions; any thread may call them.
 */
#ifndef CT_TOOLS_WORKLOAD_FAULT_H
#define CT_TOOLS_WORKLOAD_FAULT_H

#include <stddef.h>
#include <stdint.h>

enum ct_fault_kind {
#define FAULT(name, id, where, needs, one_of, may, text) CT_FAULT_##id,
#include "tools/workload/faults.def"
	CT_FAULT_KINDS
};

/* As bits of `given`. */
enum ct_fault_key {
#define FAULT_KEY(name, type, least, most, text) CT_KEY_##name,
#include "tools/workload/faults.def"
	CT_FAULT_KEYS
};

enum ct_fault_field { CT_FIELD_op, CT_FIELD_count, CT_FIELD_dtype, CT_FIELD_redop, CT_FIELD_root };
enum ct_fault_call { CT_CALL_groupend, CT_CALL_init, CT_CALL_split, CT_CALL_finalize };

/* Where a fault can happen. */
enum ct_fault_where {
	CT_FAULT_ANYWHERE,
	CT_FAULT_IN_JOBS,   /* only where a job really runs */
	CT_FAULT_IN_TRACES, /* only where a trace is generated */
};

/* One fault. Keys have their names from the table; what was not given is 0, except to (UINT64_MAX)
 * and factor, keep (1). */
struct ct_fault {
	enum ct_fault_kind kind;
	uint32_t given; /* 1 << CT_KEY_... */
	int rank, peer, src, dst, host;
	int ranks[2];
	int signal, code;
	enum ct_fault_field field;
	enum ct_fault_call call;
	uint64_t op, every, from, to;
	double pct, ms, s, after, factor, keep;
};

/* 0, or -1 with a sentence about what is wrong with `text` in `why`. */
int ct_fault_parse(const char *text, struct ct_fault *fault, char *why, size_t size);

/* Whether the fault fits a job of so many ranks, nodes and steps; as above. */
int ct_fault_fits(const struct ct_fault *fault, int ranks, int nodes, uint64_t steps, char *why,
		  size_t size);

static inline int ct_fault_has(const struct ct_fault *fault, enum ct_fault_key key)
{
	return (fault->given >> key) & 1;
}

const char *ct_fault_name(enum ct_fault_kind kind);
enum ct_fault_where ct_fault_where(enum ct_fault_kind kind);

/* One line of help per kind: "slow-rank:rank=,pct=|ms=[,from=,to=]" and what it does. NULL behind
 * the last. */
const char *ct_fault_help(unsigned i, char *spelling, size_t size);

#endif
