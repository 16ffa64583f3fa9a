/* SPDX-License-Identifier: Apache-2.0 */
/* async_ops.h — what a nonblocking communicator still does after the call has returned
 * ncclInProgress: launches that have begun, communicators that are being made.
 * ncclCommGetAsyncError shows when it is done; the program calls it, and so does NCCL itself before
 * the next operation. A fixed table; any thread; nothing waits. Guard held.
 */
#ifndef CT_INTERPOSE_NCCL_ASYNC_OPS_H
#define CT_INTERPOSE_NCCL_ASYNC_OPS_H

#include "interpose/gpu/time.h"
#include "interpose/nccl/comm.h"

/* Map the table; 0 or CT_NOMEM. Before the gate opens. */
int ct_nccl_async_init(void);

/* How many wait; 0 lets all below pass without a search. */
extern _Atomic uint32_t ct_nccl_async_waiting CT_NEAR;
static inline uint32_t ct_nccl_async_count(void)
{
	return atomic_load_explicit(&ct_nccl_async_waiting, memory_order_relaxed);
}

/* A launch of this thread that has begun. No space: its end stays unknown (a counted loss). */
void ct_nccl_async_span(ncclComm_t comm, struct ct_gpu_span *span, CUstream stream);

/* A communicator that is being made: there when its parent is done. */
void ct_nccl_async_child(const struct ct_nccl_child *child);

/* A call that makes, ends or changes communicators, which has returned ncclInProgress: when `comm`
 * is done, it has another HOST_END, with the final result. NULL: no communicator can be queried. */
void ct_nccl_async_call(ncclComm_t comm, const struct ct_host_rec *call);

/* What `comm` was doing is done, or has failed. ncclInProgress: neither. */
void ct_nccl_async_settle(ncclComm_t comm, ncclResult_t state);

/* The next launch of `comm` has begun, and the end of the last one was not seen: its time stays
 * unknown. */
void ct_nccl_async_passed(ncclComm_t comm);

/* The communicator goes away. `result` is what the records of its launches say. */
void ct_nccl_async_gone(ncclComm_t comm, int result);

#endif
