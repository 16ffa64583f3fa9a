/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h — the functions of the CUDA driver that the simulator has: its libcuda.so.1 exports
 * these and sim.h's, and nothing that it cannot do. What they do and return is CUDA's own
 * documentation. Never included beside the real cuda.h; where that is found, abi_check.c holds the
 * table against it. */
#ifndef CT_TOOLS_SIM_DRIVER_H
#define CT_TOOLS_SIM_DRIVER_H

#include <stddef.h>

#include "interpose/abi/cuda.h"
#include "tools/sim/sim.h"

typedef unsigned long long CUdeviceptr;
typedef void (*CUhostFn)(void *arg);
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;

#define CUDA_VERSION_SIMULATED 13000

#define SIM_CALL(name, params) SIM_EXPORT CUresult name params;
#include "tools/sim/driver_calls.def"

#endif
