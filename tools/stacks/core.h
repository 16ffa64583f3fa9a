/* SPDX-License-Identifier: Apache-2.0 */
/* core.h — a core: its memory, its threads and the files that were mapped. Every number in it is
 * checked against the file's length: a core may be cut off, since disks fill up and limits apply.
 * One thread. */
#ifndef CT_TOOLS_STACKS_CORE_H
#define CT_TOOLS_STACKS_CORE_H

#include "tools/stacks/target.h"

/* Fill everything but frames; where there are no threads to look at, target->error says why. `path`
 * is borrowed. */
void ct_core_open(struct ct_target *target, const char *path);

/* The stack of one thread is in its memory already. */
void ct_core_close(struct ct_target *target);

#endif
