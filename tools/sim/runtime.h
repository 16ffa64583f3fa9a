/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h — inside the simulated runtime: it is a thin layer over the driver, as the real one. */
#ifndef CT_TOOLS_SIM_RUNTIME_H
#define CT_TOOLS_SIM_RUNTIME_H

#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"

/* Makes the context of this thread's device current, the first device's unless it chose another, if
 * none is. */
CUresult sim_runtime_begin(void);

/* The driver's result as the runtime's; a failure is this thread's last error. */
cudaError_t sim_runtime_end(CUresult result);

/* A call that is the driver's, in the current context. */
#define SIM_FORWARD(call)                                                                          \
	do {                                                                                       \
		CUresult sim_result = sim_runtime_begin();                                         \
                                                                                                   \
		return sim_runtime_end(sim_result ? sim_result : (call));                          \
	} while (0)

#endif
