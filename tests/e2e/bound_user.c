/* SPDX-License-Identifier: Apache-2.0 */
/* bound_user.c — a library that calls NCCL, built with a copy in itself in several ways, and linked
 * with one. */
#include "interpose/abi/nccl.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
PUBLIC int bound_copy(void);

/* Which copy answers, -1: none. */
int bound_copy(void)
{
	ncclUniqueId id = { { 0 } };

	return ncclGetUniqueId(&id) == ncclSuccess ? id.internal[0] : -1;
}
