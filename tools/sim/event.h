/* SPDX-License-Identifier: Apache-2.0 */
/* event.h — an event is the last mark that it was recorded as. The lock is held for all of it. */
#ifndef CT_TOOLS_SIM_EVENT_H
#define CT_TOOLS_SIM_EVENT_H

#include "interpose/abi/cuda.h"
#include "tools/sim/graph.h"

struct sim_event {
	struct sim_context *context;
	unsigned int flags;
	struct sim_mark *mark; /* NULL: never recorded */
	struct sim_captured
		captured; /* if the last time was in a capture, and then there is no mark */
};

/* A handle that is none: CUDA_ERROR_INVALID_HANDLE; an event of a context with an error: that. */
CUresult sim_event_get(CUevent handle, struct sim_event **event);

/* Its handle is gone. */
void sim_event_free(struct sim_event *event);

/* It is recorded as this mark, which is taken over. */
void sim_event_set(struct sim_event *event, struct sim_mark *mark);

#endif
