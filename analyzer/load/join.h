/* SPDX-License-Identifier: Apache-2.0 */
/* join.h — joins the ops of one process with their launches, in any order. A launch's record is
 * written when the work has ended, so it may be blocks after its ops. The ops of a launch are
 * handed out together, once all are present. Both sides wait in bounded tables; when one is full,
 * its oldest entry is handed out as it is. One thread. */
#ifndef CT_ANALYZER_LOAD_JOIN_H
#define CT_ANALYZER_LOAD_JOIN_H

#include <stdint.h>

#include "analyzer/base/pool.h"
#include "trace/record.h"

#define CT_JOIN_MAX 65536u /* size: ops, and launches without any, that wait */

struct ct_join;

/* Gets the ops of one launch, in the order in which they came; each op with a launch id comes once.
 * `launch` is NULL if it never came, n < launch->n_ops if ops did not. Nonzero stops. */
typedef int (*ct_join_fn)(void *arg, const struct ct_op *ops, uint32_t n,
			  const struct ct_launch *launch);

/* `entries` is borrowed until ct_join_free(); joins of one thread may share it. NULL: out of
 * memory. */
struct ct_join *ct_join_new(ct_join_fn joined, void *arg, struct ct_pool *entries);
void ct_join_free(struct ct_join *join);

/* From now on it takes entries from these, and gives back to these also what it took from others:
 * all of them are to live until ct_join_free(). */
void ct_join_lend(struct ct_join *join, struct ct_pool *entries);

/* 0, CT_NOMEM, or what the callback returned. */
int ct_join_op(struct ct_join *join, const struct ct_op *op);
int ct_join_launch(struct ct_join *join, const struct ct_launch *launch);

/* Hand out the ops that still wait, oldest first. */
int ct_join_finish(struct ct_join *join);

#endif
