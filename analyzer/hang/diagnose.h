/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h — the cause of a hang: verdicts from the state of all ranks. One wait-for graph covers
 * all communicators, libraries and host calls. A node that others wait for, and that itself waits
 * for none, is the cause (docs/dev/algorithms/hangs.md). Pure: reads only the case
 * and keeps no state. Time and memory are linear in ops, members and edges. One thread per arena.
 */
#ifndef CT_ANALYZER_HANG_DIAGNOSE_H
#define CT_ANALYZER_HANG_DIAGNOSE_H

#include "analyzer/base/arena.h"
#include "analyzer/hang/hang_result.h"

/* The arena owns the result, which points into the case. Without verdicts nothing is stalled, or a
 * stall cannot be explained without guessing. Invalid indices in the case count as unknown. 0 or
 * CT_NOMEM. */
int ct_hang_diagnose(const struct ct_hang_case *c, struct ct_arena *arena,
		     struct ct_hang_result **result);

#endif
