/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/context.h"

#include "tools/sim/device.h"
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/event.h"
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

CUresult sim_context_get(CUcontext handle, struct sim_context **context)
{
	*context = sim_handle_get(SIM_CONTEXT, handle);
	if (!*context)
		return sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "not a context");
	if (!(*context)->is_active)
		return sim_gone(CUDA_ERROR_CONTEXT_IS_DESTROYED, "with a destroyed context");
	return CUDA_SUCCESS;
}

static uint64_t last_id;

static struct sim_context *new_context(struct sim_device *device)
{
	struct sim_context *c = sim_alloc(sizeof(*c));

	c->handle = sim_handle_new(SIM_CONTEXT, c);
	c->device = device;
	any = true;
	return c;
}

static void activate(struct sim_context *c)
{
	c->is_active = true;
	c->id = ++last_id;
	c->error = CUDA_SUCCESS;
	c->legacy = sim_stream_new(c, CU_STREAM_DEFAULT, 0);
}

static void lose_event(void *handle, void *object, void *context)
{
	struct sim_event *e = object;

	if (e->context != context)
		return;
	sim_handle_lose(handle);
	sim_event_free(e);
}

static void lose_stream(void *handle, void *object, void *context)
{
	struct sim_stream *s = object;

	if (s->context != context)
		return;
	sim_handle_lose(handle);
	s->handle = NULL;
	sim_stream_retire(s);
}

/* Work in flight continues, and can no longer be queried. */
static void deactivate(struct sim_context *c)
{
	if (!c->is_active)
		return;
	c->is_active = false;
	sim_handle_each(SIM_EVENT, lose_event, c);
	sim_handle_each(SIM_STREAM, lose_stream, c);
	sim_stream_retire(c->legacy);
	c->legacy = NULL;
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
	if (!d->primary) {
		d->primary = new_context(d);
		d->primary->is_primary = true;
	}
	if (!d->primary->is_active)
		activate(d->primary);
	d->primary->retained++;
	*context = d->primary->handle;
	return sim_leave(CUDA_SUCCESS);
}

/* Enter with a device. */
static CUresult enter_device(const char *call, CUdevice device, struct sim_device **d)
{
	CUresult result = sim_enter(call);

	if (result)
		return result;
	*d = sim_device_get(device);
	return *d ? CUDA_SUCCESS
		  : sim_leave(sim_misuse(CUDA_ERROR_INVALID_DEVICE, "no such device"));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	struct sim_device *d;
	CUresult result = enter_device(__func__, device, &d);

	if (result)
		return result;
	if (!d->primary || !d->primary->retained)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "not retained"));
	if (!--d->primary->retained)
		deactivate(d->primary);
	return sim_leave(CUDA_SUCCESS);
}

static CUresult reset(const char *call, CUdevice device)
{
	struct sim_device *d;
	CUresult result = enter_device(call, device, &d);

	if (result)
		return result;
	if (d->primary)
		deactivate(d->primary);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	return reset(__func__, device);
}

CUresult simResetUnseen(CUdevice device)
{
	return reset(__func__, device);
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
	struct sim_context *c;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!id)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	c = context ? sim_handle_get(SIM_CONTEXT, context) : sim_context_current();
	if (!c)
		return sim_leave(CUDA_ERROR_INVALID_CONTEXT);
	/* not misuse: this is how a library queries it */
	if (!c->is_active)
		return sim_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
	*id = c->id;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	struct sim_device *d;
	CUresult result = enter_device(__func__, device, &d);

	if (result)
		return result;
	if (!flags || !active)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*flags = 0;
	*active = d->primary && d->primary->is_active;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	struct sim_context *c;
	struct sim_device *d;
	CUresult result = enter_device(__func__, device, &d);

	if (result)
		return result;
	if (!context || flags || depth == MAX_DEPTH)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, NULL, or too many"));
	c = new_context(d);
	activate(c);
	*context = stack[depth++] = c->handle;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
	struct sim_context *c;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = sim_context_get(context, &c);
	if (!result && c->is_primary)
		result = sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "a primary context");
	if (result)
		return sim_leave(result);
	deactivate(c);
	if (depth && stack[depth - 1] == context)
		depth--;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc resources, CUdevice device,
			  unsigned int flags)
{
	struct sim_green *g;
	struct sim_device *d;
	CUresult result = enter_device(__func__, device, &d);

	(void)resources; /* whichever they are, they are enough */
	if (result)
		return result;
	if (!green || flags != CU_GREEN_CTX_DEFAULT_STREAM)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, or NULL"));
	if (!d->primary || !d->primary->is_active)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_CONTEXT, "no primary context yet"));
	g = sim_alloc(sizeof(*g));
	g->context = d->primary;
	*green = sim_handle_new(SIM_GREEN, g);
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
	struct sim_context *c;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = context ? sim_context_get(context, &c) : CUDA_SUCCESS;
	if (result)
		return sim_leave(result);
	if (!context)
		depth -= depth > 0;
	else
		stack[depth ? depth - 1 : depth++] = context;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	struct sim_context *c;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = sim_context_get(context, &c);
	if (result)
		return sim_leave(result);
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
