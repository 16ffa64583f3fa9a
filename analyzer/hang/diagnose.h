/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h — who keeps a job from going on: verdicts from what is known of all ranks.
 *
 * Everything that waits and everything that it waits for make one graph over all communicators, libraries and host calls; what
 * others wait for and what waits for nobody else is the cause (docs/reference/HANG.md, How it is found). Pure: nothing is read but the
 * case, nothing is kept. Time and memory are linear in ops, members and edges. One thread per arena. */
#ifndef CT_HANG_DIAGNOSE_H
#define CT_HANG_DIAGNOSE_H

#include "analyzer/base/arena.h"
#include "analyzer/hang/hang_result.h"

/* The result and all in it are the arena's, with pointers into the case. No verdicts: nothing is stalled, or nothing that is
 * can be explained without guessing. Indices in the case that lead nowhere are taken as unknown. 0 or CT_NOMEM. */
int ct_hang_diagnose(const struct ct_hang_case *c, struct ct_arena *arena,
		     struct ct_hang_result **result);

#endif
