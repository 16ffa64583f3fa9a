/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h — the driver functions of the program's own CUDA, if it has one.
 *
 * Found in a libcuda.so.1 that is loaded already: the tracer never loads it, never initialises it,
 * links nothing. A program without it has no GPU to time. Looking takes the loader's lock; it is
 * done when a communicator is made, or at the first launch, never again once it was found.
 */
#ifndef CT_INTERPOSE_GPU_DRIVER_CUDA_H
#define CT_INTERPOSE_GPU_DRIVER_CUDA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/abi/cuda.h"
#include "interpose/guard.h"

/* Members named by the table: cuda->event_record(event, stream). */
struct ct_cuda {
#define CUDA_CALL(field, symbol, params) CUresult(*field) params;
#define CUDA_CALL_OPTIONAL(field, symbol, params) CUresult(*field) params; /* or NULL */
#include "interpose/abi/cuda_calls.def"
};

/* The functions, NULL before ct_cuda_find() has found them. Any thread. */
extern _Atomic(const struct ct_cuda *) ct_cuda_found CT_NEAR;
static inline const struct ct_cuda *ct_cuda(void)
{
	/* acquire: pairs with the release of the thread that found them */
	return atomic_load_explicit(&ct_cuda_found, memory_order_acquire);
}

/* Look for them; NULL if there are none (yet). Any thread; not on the call path. */
const struct ct_cuda *ct_cuda_find(void);

/* An error after which CUDA is of no use any more: a fault on the device sticks, the driver is
 * gone. */
static inline int ct_cuda_is_fatal(CUresult result)
{
	return result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_UNKNOWN ||
	       ((int)result >= CUDA_ERROR_ILLEGAL_ADDRESS && (int)result < 800 &&
		result != CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

/* Take these from now on; NULL: forget what was found. Before recording starts, for tests. */
void ct_cuda_use(const struct ct_cuda *cuda);

#endif
