/* SPDX-License-Identifier: Apache-2.0 */
/* context.h — the primary context of each device, those that the program makes besides, and each
 * thread's stack of current ones. The struct of a context lives as long as the process; what the
 * program has in it goes when it is destroyed. A primary context that is destroyed and retained
 * again has the handle that it had: real drivers do that, too. The lock is held for all of it. */
#ifndef CT_TOOLS_SIM_CONTEXT_H
#define CT_TOOLS_SIM_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/abi/cuda.h"

struct sim_context {
	CUcontext handle;
	struct sim_device *device;
	uint64_t id;		    /* another one each time it becomes active */
	bool is_primary, is_active; /* active: made, and not destroyed since */
	unsigned retained;
	CUresult error; /* of a kernel that failed: everything in the context answers with it */
	struct sim_stream
		*streams; /* all whose work may not be done, destroyed ones too; linked by next */
	struct sim_stream *legacy; /* the legacy default stream */
};

/* A part of a device that streams are made for. They belong to the device's primary context. */
struct sim_green {
	struct sim_context *context;
};

/* This thread's current context, or NULL. It may have been destroyed. */
struct sim_context *sim_context_current(void);

/* The context behind a handle: CUDA_ERROR_INVALID_CONTEXT if that is none,
 * CUDA_ERROR_CONTEXT_IS_DESTROYED. */
CUresult sim_context_get(CUcontext handle, struct sim_context **context);

/* Has any been made yet? */
bool sim_context_any(void);

/* Makes the error sticky and wakes all that wait for the context's work. */
void sim_context_fail(struct sim_context *context, CUresult error);

#endif
