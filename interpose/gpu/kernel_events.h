/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_events.h — what we request from NCCL about kernels (profiled.h), and when we must not.
 *
 * A profiler's request is a word in NCCL's own memory, one for each copy of NCCL, which it reads in
 * the call of each op. While the word requests kernels, channel by channel, NCCL puts a host node
 * into every plan that it captures: each launch of that graph then waits for a thread of the host,
 * for as long as the graph lives. So the bit is cleared while a call that is captured, or may be,
 * is inside NCCL; and for good where a captured call is known only once NCCL has read it.
 *
 * Any thread. The lock is held for a few instructions; a thread that does not get it soon drops the
 * bit for good.
 */
#ifndef CT_INTERPOSE_GPU_KERNEL_EVENTS_H
#define CT_INTERPOSE_GPU_KERNEL_EVENTS_H

/* Nothing requested, nothing held. Before the gate opens. */
void ct_kernel_events_init(void);

/* For a communicator whose NCCL reads `mask`, these types, NCCL_PROFILE_..., are requested from
 * NCCL; 1: with the channels of kernels. The word is written until it is closed as often as this
 * was called. */
int ct_kernel_events_request(int *mask, int types);
void ct_kernel_events_close(const int *mask);

/* 0: dropped for good. */
int ct_kernel_events_are_reported(void);

/* Around a call that is captured; by many threads at once. */
void ct_kernel_events_hold(void);
void ct_kernel_events_release(void);

/* NCCL reports a captured call. If no call is held, this one was unknown before: drops the bit. */
void ct_kernel_events_captured(void);

#endif
