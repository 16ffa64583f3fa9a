/* SPDX-License-Identifier: Apache-2.0 */
/* param.c — the interface to NCCL's parameters: there are none. */
#include <stddef.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/log.h"

static ncclResult_t no_such(const char *call)
{
	sim_nccl_misuse(call, "no such parameter");
	return ncclInvalidArgument;
}

SIM_NCCL(ncclResult_t, ncclParamBind, (void **handle, const char *key))
{
	(void)key;
	if (handle)
		*handle = NULL;
	return no_such(__func__);
}

SIM_NCCL(ncclResult_t, ncclParamGet, (void *handle, void *value, int size, int *length))
{
	(void)handle, (void)value, (void)size, (void)length;
	return no_such(__func__);
}

#define GET(name)                                                                                  \
	SIM_NCCL(ncclResult_t, name, (void *handle, void *value))                                  \
	{                                                                                          \
		(void)handle, (void)value;                                                         \
		return no_such(__func__);                                                          \
	}
GET(ncclParamGetI8)
GET(ncclParamGetI16)
GET(ncclParamGetI32)
GET(ncclParamGetI64)
GET(ncclParamGetU8)
GET(ncclParamGetU16)
GET(ncclParamGetU32)
GET(ncclParamGetU64)
GET(ncclParamGetStr)

SIM_NCCL(ncclResult_t, ncclParamGetParameter, (const char *key, const char **value, int *length))
{
	(void)key, (void)value, (void)length;
	return no_such(__func__);
}

SIM_NCCL(ncclResult_t, ncclParamGetAllParameterKeys, (const char ***table, int *length))
{
	if (!table || !length)
		return no_such(__func__);
	*table = NULL;
	*length = 0;
	return ncclSuccess;
}

SIM_NCCL(void, ncclParamDumpAll, (void))
{
}
