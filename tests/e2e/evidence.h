/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h — all that a run holds of one process, in memory, for tests that hold it against
 * another truth.
 *
 * Filled by one thread through the reader, as any tool would; the caller's until evidence_free().
 * Ops keep the order in which the reader gave them: a thread's own are in the order of its calls.
 */
#ifndef CT_TESTS_E2E_EVIDENCE_H
#define CT_TESTS_E2E_EVIDENCE_H

#include "trace/reader.h"

struct evidence {
	struct ct_process_info info;
	struct ct_op *ops;	    /* op.tid is filled in */
	struct ct_launch *launches; /* by id */
	struct ct_comm_rec *comms;
	uint32_t *strings; /* ids */
	uint32_t *opens;   /* ids of the launches that had not ended, by the last word on them */
	size_t n_ops, n_launches, n_comms, n_strings, n_opens;
	size_t n_others; /* records of other kinds that stood in the ring: hosts, v-counts, matches */
	struct ct_gaps gaps;
};

/* The process of `run` (may be NULL) with this pid that recorded last; NULL: there is none. */
const struct ct_process_info *evidence_process(const struct ct_run *run, uint32_t pid);

/* Read all of one process of the run. 0, or a negative status and *err. */
int evidence_read(const struct ct_run *run, const struct ct_process_info *process,
		  struct evidence *e, struct ct_err *err);
void evidence_free(struct evidence *e);

/* NULL: there is none. */
const struct ct_launch *evidence_launch(const struct evidence *e, uint32_t id);
int evidence_is_open(const struct evidence *e, uint32_t launch);
const struct ct_comm_rec *evidence_comm(const struct evidence *e, uint32_t id);
int evidence_has_string(const struct evidence *e, uint32_t id);

/* Records that the recorder counted as lost, over the reasons whose numbers are records. */
uint64_t evidence_lost(const struct evidence *e);

/* Open the run(s), with rings of this host where the environment puts them. NULL: no
 * process is in it. Says why and exits 2 if it cannot be read. */
struct ct_run *evidence_open(const char *program, const char *const *paths, size_t n_paths);

#endif
