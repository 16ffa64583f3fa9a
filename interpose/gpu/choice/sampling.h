/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h — which instances are timed, where not all are.
 *
 * An instance is timed or not on all of its ranks, without a word between them: a hash of
 * (communicator key, sequence number) below a share decides. A smaller share keeps some of what a
 * larger one keeps, so ranks whose budgets differ (budget.h) still have the smallest share in
 * common. COMMTRACE_DUTY makes the share 0 outside windows of the wall clock. A communicator takes
 * a new share only every CT_GPU_SAMPLING_BLOCK sequence numbers: ranks that are a few operations
 * apart when a window begins then mostly begin with the same one. Messages are decided a block at a
 * time, by their number on their channel, equal for sender and receiver: channels that are used
 * together mostly are at the same block. A group is timed if its first collective is, or any of its
 * messages, so that a message that is to be timed is on both sides.
 *
 * Only times are left out, never the records of calls. Any thread; fixed memory; nothing waits.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_SAMPLING_H
#define CT_INTERPOSE_GPU_CHOICE_SAMPLING_H

#include "interpose/gpu/choice/options.h"
#include "interpose/gpu/choice/unusual.h"
#include "interpose/guard.h"

struct ct_traced_comm;

#define CT_GPU_SAMPLING_BLOCK 16u /* tuning: ranks are mostly fewer operations apart */
/* size: each halves the share: of a million launches one is still timed. */
#define CT_GPU_COARSEST 20u

/* Before the gate opens. */
void ct_gpu_sampling_init(const struct ct_gpu_options *options);

/* 0: all are timed. */
static inline int ct_gpu_is_sampling(void)
{
	return ct_gpu_is_unusual(CT_GPU_SAMPLING);
}

int ct_gpu_sampling(struct ct_traced_comm *comm, uint64_t seq, int is_message);

/* Is this instance timed? `seq` of a message: its number on its channel. */
static inline int ct_gpu_is_sampled(struct ct_traced_comm *comm, uint64_t seq, int is_message)
{
	if (__builtin_expect(!ct_gpu_is_sampling(), 1))
		return 1;
	return ct_gpu_sampling(comm, seq, is_message);
}

/* The budget's part. */
void ct_gpu_sampling_level(uint32_t level);

/* Nothing is timed as long as this holds. The poll thread's. */
void ct_gpu_sampling_pause(int is_paused);
int ct_gpu_sampling_is_paused(void);

/* Is the instance among this share of all? The same on every rank and in every version. Pure. */
int ct_gpu_is_in(uint64_t share, uint64_t key, uint64_t seq);

/* The share at this moment of CLOCK_REALTIME, by these options. Pure. */
uint64_t ct_gpu_share(const struct ct_gpu_options *options, uint32_t level, uint64_t unix_ns);

#endif
