/* SPDX-License-Identifier: Apache-2.0 */
/* float.h — the short floating-point types: fp16, bf16, fp8 e4m3 (no infinity, NaN is 0x7f) and fp8
 * e5m2. */
#ifndef CT_TOOLS_SIM_NCCL_FLOAT_H
#define CT_TOOLS_SIM_NCCL_FLOAT_H

#include <stdint.h>

#include "interpose/abi/nccl.h"

/* The low bits of `bits` as a number; exact. */
float sim_float_decode(ncclDataType_t type, uint16_t bits);

/* To the nearest, ties to even; too large is infinity, in e4m3 NaN. */
uint16_t sim_float_encode(ncclDataType_t type, float value);

#endif
