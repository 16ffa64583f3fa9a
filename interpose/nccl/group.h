/* SPDX-License-Identifier: Apache-2.0 */
/* group.h — groups: what a thread calls between ncclGroupStart and the outermost ncclGroupEnd.
 *
 * NCCL launches nothing before that end, and then one piece of work for each communicator, so the
 * operations of a group share a launch for each (communicator, stream). Groups belong to their
 * thread: the block here is found through ct_self, comes from a pool that is mapped when recording
 * starts, and goes back when the thread ends. Depth is that of the program's own calls; NCCL's can
 * be higher after an error, and only its results are believed.
 */
#ifndef CT_INTERPOSE_NCCL_GROUP_H
#define CT_INTERPOSE_NCCL_GROUP_H

#include "interpose/gpu/time.h"
#include "interpose/guard.h"
#include "interpose/nccl/comm.h"
#include "interpose/recorder.h"

#define CT_NCCL_PAIRS 128u   /* size: ten communicators for each of eight GPUs of a thread */
#define CT_NCCL_CHILDREN 64u /* size: eight for each of those GPUs, made in one group */

struct ct_nccl_pair {
	struct ct_gpu_launch launch;
	ncclComm_t comm;
	struct ct_gpu_span *span; /* while the group's end is inside NCCL; NULL: captured, nothing
				     is launched */
	int has_collective;
};

struct ct_nccl_thread {
	_Atomic uint32_t taken; /* of the pool */
	uint32_t depth;
	uint32_t n_pairs;
	uint32_t n_children;
	struct ct_nccl_pair pairs[CT_NCCL_PAIRS];
	struct ct_nccl_child children[CT_NCCL_CHILDREN];
};

/* Map the pool; 0 or CT_NOMEM. Before the gate opens. */
int ct_nccl_group_init(void);

/* Is the thread in a group? Guard held, like all below. */
static inline int ct_nccl_in_group(void)
{
	return ct_self.nccl && ct_self.nccl->depth > 0;
}

/* The launch of this thread's group on (comm, stream), a new one if there is none yet: fill in what
 * its first op is. NULL: no space (a counted loss), the op's launch is never timed. */
struct ct_nccl_pair *ct_nccl_group_pair(const struct ct_traced_comm *comm, ncclComm_t handle,
					CUstream stream);

/* The next op of the launch: a message or a collective, that is to be timed or not
 * (gpu/choice/sampling.h). */
void ct_nccl_group_pick(struct ct_nccl_pair *pair, int is_message, int picked);

/* A communicator whose making was begun, with ncclSuccess or ncclInProgress: it is there when the
 * group has ended, now, or later. */
void ct_nccl_group_child(const struct ct_nccl_child *child, ncclResult_t result);

/* The record of a launch that did no work on a GPU, or whose work is not timed: no times. */
void ct_nccl_untimed(uint32_t launch, uint32_t comm, uint32_t n_ops, int result);

/* ct_host_end() with a result of NCCL, which is recorded if it is an error. If it is ncclInProgress
 * and the thread is in no group, the call has another end when `asked` is done; NULL: no
 * communicator can be queried. `library` is an address in the copy of NCCL that was called. */
void ct_nccl_host_end(struct ct_host_frame *f, ncclResult_t result, ncclComm_t asked,
		      const void *library);

#endif
