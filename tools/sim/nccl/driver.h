/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h — the CUDA driver as NCCL reaches it: opened when first needed, never linked, so that
 * without one NCCL loads and says "unhandled cuda error", and no preload stands between the two. */
#ifndef CT_TOOLS_SIM_NCCL_DRIVER_H
#define CT_TOOLS_SIM_NCCL_DRIVER_H

#include "tools/sim/driver.h"

struct sim_driver {
#define DRIVER(symbol) __typeof__(&symbol) symbol;
#include "tools/sim/nccl/driver.def"
};

/* NULL if there is none. Any thread. */
const struct sim_driver *sim_driver(void);

#endif
