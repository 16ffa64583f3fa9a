/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h — what the driver says about a GPU, as facts of the start record. By the poll thread,
 * once per CUDA context, with the context current; CUDA may take its time in it. */
#ifndef CT_INTERPOSE_GPU_DRIVER_DESCRIBE_H
#define CT_INTERPOSE_GPU_DRIVER_DESCRIBE_H

#include "interpose/gpu/driver/cuda.h"
#include "trace/facts.h"

/* Add the device's facts, unless the list has them already. */
void ct_gpu_describe(const struct ct_cuda *cuda, int device, struct ct_facts *facts);

#endif
