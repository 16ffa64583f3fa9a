/* SPDX-License-Identifier: Apache-2.0 */
/* failed.h — errors that NCCL reported to the program are recorded, with NCCL's text
 * (ncclGetLastError). Those are one text for the whole process, which another thread's error may
 * have replaced. ncclInProgress is none. Inside a recorded call; any thread; `library` is an
 * address in the copy of NCCL that reported it.
 */
#ifndef CT_INTERPOSE_NCCL_FAILED_H
#define CT_INTERPOSE_NCCL_FAILED_H

#include "interpose/nccl/nccl.h"

static inline int ct_nccl_is_error(ncclResult_t result)
{
	return __builtin_expect(result != ncclSuccess, 0) && result != ncclInProgress;
}

/* A call has returned it: string id of its name, id of the communicator or 0. */
void ct_nccl_failed(uint32_t call, uint32_t comm, int result, const void *library);

/* ncclCommGetAsyncError has answered it. */
void ct_nccl_failed_async(ncclComm_t comm, int result, const void *library);

#endif
