/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h — the arithmetic of the reductions, element by element, in the type's own precision. */
#ifndef CT_TOOLS_SIM_NCCL_REDUCE_H
#define CT_TOOLS_SIM_NCCL_REDUCE_H

#include <stddef.h>

#include "interpose/abi/nccl.h"

/* Bytes of one element; 0 for no type of NCCL. */
size_t sim_type_bytes(ncclDataType_t type);

/* into[i] = into[i] op from[i]; an average is summed here and divided at the end. */
void sim_reduce(void *into, const void *from, size_t n, ncclDataType_t type, ncclRedOp_t op);

/* values[i] /= ranks: the end of an average. Integers are cut. */
void sim_divide(void *values, size_t n, ncclDataType_t type, int ranks);

/* values[i] *= *scalar, of the same type: the beginning of a pre-multiplied sum. */
void sim_scale(void *values, size_t n, ncclDataType_t type, const void *scalar);

#endif
