/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl/failed.h"

#include <errno.h>

#include "interpose/errors.h"
#include "interpose/recorder.h"

/* A read of a text: harmless at any time, also of a communicator that hangs. Not wrapped. */
typedef const char *last_error_fn(ncclComm_t comm);
static struct ct_real real_last_error = { .symbol = "ncclGetLastError", .names = ct_nccl_sonames };

static void record(const struct ct_error *error, const void *library)
{
	last_error_fn *ask;
	int saved = errno;

	if (!ct_error_is_new(error))
		return;
	ask = (last_error_fn *)ct_real_find(&real_last_error, library);
	ct_error_record(error, ask ? ask(NULL) : NULL);
	errno = saved;
}

void ct_nccl_failed(uint32_t call, uint32_t comm, int result, const void *library)
{
	record(
		&(struct ct_error){
			.comm = comm, .call = call, .result = result, .backend = CT_BACKEND_NCCL },
		library);
}

void ct_nccl_failed_async(ncclComm_t comm, int result, const void *library)
{
	const struct ct_traced_comm *known = comm ? ct_comms_find(comm) : NULL;

	record(&(struct ct_error){ .comm = known ? known->id : 0,
				   .call = ct_nccl_call_ids[CT_NCCL_ncclCommGetAsyncError],
				   .result = result,
				   .backend = CT_BACKEND_NCCL,
				   .is_async = 1 },
	       library);
}
