/* SPDX-License-Identifier: Apache-2.0 */
/* api.h — how the simulated libnccl.so.2 defines what it exports: like the real one, each function
 * as a strong pncclX with a weak ncclX at the same address, both without a symbol version. A call
 * of ncclX from inside goes through the PLT, where a tracer may stand, as it does in the real
 * library.
 */
#ifndef CT_TOOLS_SIM_NCCL_API_H
#define CT_TOOLS_SIM_NCCL_API_H

#include "interpose/abi/nccl.h"
#include "tools/sim/sim.h"

#define NCCL_CALL(symbol, name, since, op, params, args, count, type, redop, peer)                 \
	SIM_EXPORT ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) SIM_EXPORT ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) SIM_EXPORT ncclResult_t name params;
#define NCCL_SKIP(ret, name, since, params, reason) SIM_EXPORT ret name params;
#include "interpose/abi/nccl_calls.def"

/* As in nccl.h: a configuration without requests. */
#define NCCL_CONFIG_INITIALIZER                                                                    \
	{                                                                                          \
		.size = sizeof(ncclConfig_t), .magic = NCCL_CONFIG_MAGIC, .version = 22809,        \
		.blocking = NCCL_CONFIG_UNDEF_INT, .cgaClusterSize = NCCL_CONFIG_UNDEF_INT,        \
		.minCTAs = NCCL_CONFIG_UNDEF_INT, .maxCTAs = NCCL_CONFIG_UNDEF_INT,                \
		.splitShare = NCCL_CONFIG_UNDEF_INT, .trafficClass = NCCL_CONFIG_UNDEF_INT,        \
		.collnetEnable = NCCL_CONFIG_UNDEF_INT, .CTAPolicy = NCCL_CONFIG_UNDEF_INT,        \
		.shrinkShare = NCCL_CONFIG_UNDEF_INT, .nvlsCTAs = NCCL_CONFIG_UNDEF_INT,           \
		.nChannelsPerNetPeer = NCCL_CONFIG_UNDEF_INT,                                      \
		.nvlinkCentricSched = NCCL_CONFIG_UNDEF_INT,                                       \
	}

/* SIM_NCCL(ret, name, (params)) { body } */
#define SIM_NCCL(ret, name, params)                                                                \
	SIM_EXPORT ret p##name params;                                                             \
	SIM_EXPORT ret name params __attribute__((weak, alias("p" #name)));                        \
	ret p##name params

#endif
