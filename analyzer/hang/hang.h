/* SPDX-License-Identifier: Apache-2.0 */
/* hang.h — from a run to the verdict on a hang: collect (hang/collect.h), then diagnose
 * (hang/diagnose.h), and a verdict on ranks that died though none waits for them. The entry point
 * of this folder. One thread. */
#ifndef CT_ANALYZER_HANG_HANG_H
#define CT_ANALYZER_HANG_HANG_H

#include "analyzer/hang/collect.h"

/* Like ct_hang_collect(), with the result of `hang` and the report. */
int ct_hang_judge(struct ct_gather *log, struct ct_hang_run **out, struct ct_err *err);

/* Reads the run itself, which also synchronizes the clocks of several hosts; `options` may be NULL.
 * 0; CT_NOMEM; CT_IO; CT_NOTFOUND (no such start); CT_EMPTY (operations that a verdict needs were
 * left out of the files). */
int ct_hang_of_run(const struct ct_run *run, const struct ct_hang_options *options,
		   struct ct_arena *memory, struct ct_hang_run **out, struct ct_err *err);

/* The same by a reading of tails alone (tails.h), for a caller that reads everything anyway: *out
 * stays NULL if there are none, or they are not enough. Sets clocks of `starts` while it reads, and
 * then to NULL. */
int ct_hang_of_tails(const struct ct_run *run, struct ct_starts *starts, int restart,
		     const struct ct_hang_options *options, struct ct_arena *memory,
		     struct ct_hang_run **out, struct ct_err *err);

/* The rank of this number in the case, NULL: none. */
const struct ct_hang_rank *ct_hang_rank_of(const struct ct_hang_case *hang_case, int rank);

/* A rank's operation at its last heartbeat: the oldest unfinished one, else its last one; NULL:
 * none was recorded. */
const struct ct_hang_op *ct_hang_last_op(const struct ct_hang_case *hang_case, int rank);

#endif
