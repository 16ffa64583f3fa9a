/* SPDX-License-Identifier: Apache-2.0 */
/* syncs.h — calls in which the host waits for a GPU, while they last. There are many and most are
 * short, so they have no records of their own (what was waited for has, once it is over); but one
 * that never returns has to leave evidence. So each notes in its thread's slot that it has begun,
 * and the beat thread puts on record what lasts: HOST_BEGIN between half a second and one and a
 * half after its beginning. Such a call records HOST_END when it returns.
 *
 * A fixed table; each thread touches its own slots, the beat thread looks at all. No locks. A
 * thread that finds no slot leaves no such evidence.
 */
#ifndef CT_INTERPOSE_GPU_RUNTIME_SYNCS_H
#define CT_INTERPOSE_GPU_RUNTIME_SYNCS_H

#include <stdint.h>

struct ct_sync;

/* No thread waits. Before the gate opens. */
void ct_syncs_init(void);

/* The call of this name (a string id) has been entered at `enter_ns`, for this stream as in LAUNCH,
 * 0 not known or all, from this call site (a string id). `frame` is in its wrapper's frame. NULL:
 * no space. */
struct ct_sync *ct_sync_begin(uint32_t call, uint64_t enter_ns, uint32_t stream, uint32_t site,
			      const void *frame);

/* It has returned; NULL is none. 1: its begin is on record, and ct_sync_record() is due, inside a
 * recorded call. */
int ct_sync_end(struct ct_sync *sync);
void ct_sync_record(const struct ct_sync *sync, uint64_t enter_ns, int result);

/* Beat thread: records what has lasted. */
void ct_syncs_look(uint64_t now_ns);

#endif
