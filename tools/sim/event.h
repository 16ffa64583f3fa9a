/* SPDX-License-Identifier: Apache-2.0 */
/* event.h — an event is the last mark that it was recorded as. The lock is held for all of it. */
#ifndef CT_SIM_EVENT_H
#define CT_SIM_EVENT_H

#include "interpose/abi/cuda.h"

struct sim_event {
	struct sim_context *context;
	unsigned int flags;
	struct sim_mark *mark; /* NULL: never recorded */
};

/* A handle that is none: CUDA_ERROR_INVALID_HANDLE; an event of a context with an error: that. */
CUresult sim_event_get(CUevent handle, struct sim_event **event);

#endif
