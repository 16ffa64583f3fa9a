/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_runtime.h — for programs of users that are built with the simulator: what they use of
 * CUDA's. */
#ifndef CT_TESTS_SIM_INCLUDE_CUDA_RUNTIME_H
#define CT_TESTS_SIM_INCLUDE_CUDA_RUNTIME_H

#include "tools/sim/cudart.h"

#endif
