/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/context.h"

#include "tools/sim/device.h"
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/graph.h"
#include "tools/sim/handle.h"
#include "tools/sim/stream.h"

#define MAX_DEPTH 32

static __thread CUcontext stack[MAX_DEPTH]; /* of this thread; the last is current */
static __thread unsigned depth;

static bool any;

struct sim_context *sim_context_current(void)
{
	return depth ? sim_handle_get(SIM_CONTEXT, stack[depth - 1]) : NULL;
}

bool sim_context_any(void)
{
	return any;
}

void sim_context_fail(struct sim_context *context, CUresult error)
{
	if (context->error)
		return;
	context->error = error;
	for (struct sim_stream *s = context->streams; s; s = s->next)
		sim_stream_wake(s);
}

static struct sim_context *new_primary(struct sim_device *device)
{
	struct sim_context *c = sim_alloc(sizeof(*c));

	c->handle = sim_handle_new(SIM_CONTEXT, c);
	c->device = device;
	c->legacy = sim_stream_new(c, CU_STREAM_DEFAULT, 0);
	any = true;
	return c;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	CUresult result = sim_enter(__func__);
	struct sim_device *d;

	if (result)
		return result;
	d = sim_device_get(device);
	if (!d)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_DEVICE, "no such device"));
	if (!context)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	if (!d->primary)
		d->primary = new_primary(d);
	*context = d->primary->handle;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!context)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*context = depth ? stack[depth - 1] : NULL;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (context && !sim_handle_get(SIM_CONTEXT, context))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "not a context"));
	if (!context)
		depth -= depth > 0;
	else
		stack[depth ? depth - 1 : depth++] = context;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!sim_handle_get(SIM_CONTEXT, context))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "not a context"));
	if (depth == MAX_DEPTH)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "pushed without popping"));
	stack[depth++] = context;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!depth)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "no current context"));
	depth--;
	if (context)
		*context = stack[depth];
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	if (!device)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*device = c->device->ordinal;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	result = sim_capture_sync(NULL, c);
	return sim_leave(result ? result : sim_streams_await(c));
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	if (least)
		*least = SIM_PRIORITY_LEAST;
	if (greatest)
		*greatest = SIM_PRIORITY_GREATEST;
	return sim_leave(CUDA_SUCCESS);
}
