/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h — for programs of users that are built with the simulator: what they use of NCCL's. */
#ifndef CT_TESTS_SIM_INCLUDE_NCCL_H
#define CT_TESTS_SIM_INCLUDE_NCCL_H

#include "tools/sim/nccl/api.h"

#define NCCL_VERSION_CODE 22809 /* whose calls it has */

#endif
