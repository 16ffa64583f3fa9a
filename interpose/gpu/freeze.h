/* SPDX-License-Identifier: Apache-2.0 */
/* freeze.h — communicators whose work the program has given up. Aborting ends kernels that are
 * stuck, some time later, and such an end is not the operation's. So the moment of the program's
 * request is noted, and a launch that was called before it and has not ended before it is recorded
 * as CT_RESULT_ABORTED, whatever becomes of its kernel.
 *
 * A fixed table by communicator id (the ring's, never reused); any thread; no locks.
 */
#ifndef CT_INTERPOSE_GPU_FREEZE_H
#define CT_INTERPOSE_GPU_FREEZE_H

#include <stdint.h>

struct ct_launch;

/* None is. Before the gate opens. */
void ct_freeze_init(void);

/* Freeze what the communicator has open now; 0 is none. Returns what ct_freeze_undo() takes if the
 * library refuses. */
uint64_t ct_freeze(uint32_t comm);
void ct_freeze_undo(uint32_t comm, uint64_t was);

/* A launch that was called at `called_ns` is about to be recorded: if it was frozen, its end is
 * taken away, its start unless that came before, and its result says so. */
void ct_freeze_apply(struct ct_launch *launch, uint64_t called_ns);

#endif
