/* SPDX-License-Identifier: Apache-2.0 */
/* abi_check.c — compiled only beside the real headers, and never run: a prototype, number or handle
 * of the simulator that is not CUDA's own does not compile. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#define SIM_CALL(name, params) CUresult name params;
#include "tools/sim/driver_calls.def"

#define RUNTIME_CALL(ret, name, params) ret name params;
#include "tools/sim/runtime_calls.def"

#define SAME(name, value) _Static_assert((int)(name) == (value), #name);
#define SIM_ERROR(driver, runtime, value, sentence) SAME(driver, value) SAME(runtime, value)
#define RUNTIME_ERROR(runtime, value, sentence) SAME(runtime, value)
#include "tools/sim/errors.def"

#define RUNTIME_COPY_KIND(name, value) SAME(name, value)
#define RUNTIME_CAPTURE_STATUS(name, value) SAME(name, value)
#define RUNTIME_CAPTURE_MODE(name, value) SAME(name, value)
#define RUNTIME_FLAG(name, value) SAME(name, value)
#include "tools/sim/runtime_values.def"
