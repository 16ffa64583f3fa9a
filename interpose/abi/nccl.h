/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h — NCCL's public types, declared by ourselves: the library is built the same way with and
 * without NCCL's headers. Facts of the interface only; never included beside the real nccl.h. Where
 * that is found, abi_check.c proves numbers, offsets and prototypes against it.
 */
#ifndef CT_INTERPOSE_ABI_NCCL_H
#define CT_INTERPOSE_ABI_NCCL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/abi/cuda.h"

typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow_vidmem *ncclWindow_t;

/* Passed by value: on x86-64 its bytes are on the stack, on aarch64 behind a hidden pointer; the
 * compiler knows. */
#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
#define NCCL_RESULT(name, value) name = (value),
#include "interpose/abi/nccl_values.def"
} ncclResult_t;

typedef enum {
#define NCCL_DTYPE(name, value, dtype) name = (value),
#include "interpose/abi/nccl_values.def"
} ncclDataType_t;

typedef enum {
#define NCCL_REDOP(name, value, redop) name = (value),
#include "interpose/abi/nccl_values.def"
	ct_ncclMaxRedOp = INT_MAX /* the program's own are larger: four bytes */
} ncclRedOp_t;

typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;

#define NCCL_CONFIG_MAGIC 0xcafebeefu
#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_SPLIT_NOCOLOR (-1)
#define NCCL_SHRINK_ABORT 0x01
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_SUSPEND_MEM 0x01

/* The members of 2.28; older versions are shorter and newer ones longer, as in `size`. Read a
 * member only if the magic is right and `size` covers it. */
typedef struct {
	size_t size;
	unsigned int magic;
	unsigned int version;
	int blocking;
	int cgaClusterSize;
	int minCTAs;
	int maxCTAs;
	const char *netName;
	int splitShare;
	int trafficClass;
	const char *commName;
	int collnetEnable;
	int CTAPolicy;
	int shrinkShare;
	int nvlsCTAs;
	int nChannelsPerNetPeer;
	int nvlinkCentricSched;
} ncclConfig_t;

typedef struct {
	size_t size;
	unsigned int magic;
	unsigned int version;
	float estimatedTime;
} ncclSimInfo_t;

/* Signals of one peer to wait for, 2.29. */
typedef struct {
	int opCnt;
	int peer;
	int sigIdx;
	int ctx;
} ncclWaitSignalDesc_t;

/* What ncclCommMemStats() reports, 2.29. */
typedef enum {
	ncclStatGpuMemSuspend = 0,
	ncclStatGpuMemSuspended = 1,
	ncclStatGpuMemPersist = 2,
	ncclStatGpuMemTotal = 3
} ncclCommMemStat_t;

#endif
