/* SPDX-License-Identifier: Apache-2.0 */
/* context.h — the primary context of each device, and each thread's stack of current ones. A context lives as long
 * as the process. The lock is held for all of it. */
#ifndef CT_SIM_CONTEXT_H
#define CT_SIM_CONTEXT_H

#include <stdbool.h>

#include "interpose/abi/cuda.h"

struct sim_context {
	CUcontext handle;
	struct sim_device *device;
	CUresult error; /* of a kernel that failed: everything in the context answers with it */
	struct sim_stream
		*streams; /* all whose work may not be done, destroyed ones too; linked by next */
	struct sim_stream *legacy; /* the legacy default stream */
};

/* This thread's current context, or NULL. */
struct sim_context *sim_context_current(void);

/* Has any been made yet? */
bool sim_context_any(void);

/* Makes the error sticky and wakes all who wait for the context's work. */
void sim_context_fail(struct sim_context *context, CUresult error);

#endif
