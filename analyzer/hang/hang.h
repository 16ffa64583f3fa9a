/* SPDX-License-Identifier: Apache-2.0 */
/* hang.h — from a run to the verdict on a hang: collect (hang/collect.h), diagnose (hang/diagnose.h), and what only both together
 * tell: that a job that nobody waits in can still have died. The door of this room. One thread. */
#ifndef CT_HANG_HANG_H
#define CT_HANG_HANG_H

#include "analyzer/hang/collect.h"

/* As ct_hang_collect(), with the result: what `hang` and the report say. */
int ct_hang_judge(struct ct_gather *log, struct ct_hang_run **out, struct ct_err *err);

/* The same with a reading of its own, which also synchronizes the clocks of several hosts; `options` may be NULL. 0; CT_NOMEM;
 * CT_IO; CT_NOTFOUND (no such start). */
int ct_hang_of_run(const struct ct_run *run, const struct ct_hang_options *options,
		   struct ct_arena *memory, struct ct_hang_run **out, struct ct_err *err);

/* The rank of this number in the case, NULL: none. */
const struct ct_hang_rank *ct_hang_rank_of(const struct ct_hang_case *hang_case, int rank);

/* What a rank was in when it was heard of last: the oldest of its operations that had not ended, else its last one; NULL: none is
 * on record. */
const struct ct_hang_op *ct_hang_last_op(const struct ct_hang_case *hang_case, int rank);

#endif
