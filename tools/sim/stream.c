/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c — the driver's calls on streams. */
#include "tools/sim/stream.h"

#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/event.h"
#include "tools/sim/handle.h"
#include "tools/sim/thread_stream.h"

CUresult sim_stream_get(CUstream handle, struct sim_context *current, struct sim_stream **stream)
{
	if (!handle || handle == CU_STREAM_LEGACY)
		*stream = current->legacy;
	else if (handle == CU_STREAM_PER_THREAD)
		*stream = sim_thread_stream(current);
	else
		*stream = sim_handle_get(SIM_STREAM, handle);
	if (sim_handle_is_lost(SIM_STREAM, handle))
		return sim_gone(CUDA_ERROR_INVALID_HANDLE, "with a stream of a destroyed context");
	if (!*stream)
		return sim_misuse(CUDA_ERROR_INVALID_HANDLE, "not a stream, or destroyed");
	return (*stream)->context->error;
}

/* Enter with a stream of the current thread's. */
static CUresult enter(const char *call, CUstream handle, struct sim_stream **stream)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(call, &c);

	if (result)
		return result;
	result = sim_stream_get(handle, c, stream);
	return result ? sim_leave(result) : CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	struct sim_context *c;
	struct sim_stream *s;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	if (!stream || flags & ~(unsigned int)CU_STREAM_NON_BLOCKING)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, or NULL"));
	if (priority > SIM_PRIORITY_LEAST)
		priority = SIM_PRIORITY_LEAST;
	if (priority < SIM_PRIORITY_GREATEST)
		priority = SIM_PRIORITY_GREATEST;
	s = sim_stream_new(c, flags, priority);
	s->handle = sim_handle_new(SIM_STREAM, s);
	*stream = s->handle;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned int flags,
				int priority)
{
	struct sim_green *g;
	struct sim_stream *s;
	CUresult result = sim_enter(__func__);

	(void)priority;
	if (result)
		return result;
	g = sim_handle_get(SIM_GREEN, green);
	if (!stream || !g || flags != CU_STREAM_NON_BLOCKING)
		return sim_leave(
			sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, NULL, or no context"));
	s = sim_stream_new(g->context, flags, 0);
	s->green = green;
	s->handle = sim_handle_new(SIM_STREAM, s);
	*stream = s->handle;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	struct sim_stream *s;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (!s->handle)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_HANDLE, "a default stream"));
	if (s->captured.capture)
		return sim_leave(sim_capture_refuse(s, "a stream that is captured"));
	sim_handle_free(s->handle);
	s->handle = NULL;
	sim_stream_retire(s);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuStreamQuery(CUstream stream)
{
	struct sim_stream *s;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	result = sim_capture_sync(s, s->context);
	if (!result && !sim_stream_idle(s))
		result = CUDA_ERROR_NOT_READY;
	return sim_leave(result);
}

CUresult cuStreamSynchronize(CUstream stream)
{
	struct sim_stream *s;
	struct sim_context *c;
	struct sim_mark *mark;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	c = s->context;
	result = sim_capture_sync(s, c);
	if (result)
		return sim_leave(result);
	/* The legacy default stream stands for all that it is in order with. */
	mark = s == c->legacy ? sim_stream_mark(s) : sim_stream_tail(s);
	if (!mark)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	result = sim_mark_await(mark, c);
	sim_mark_drop(mark);
	return sim_leave(result);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	struct sim_stream *s;
	struct sim_event *e;
	struct sim_capture *capture;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (flags & ~(unsigned int)CU_EVENT_WAIT_EXTERNAL || (flags && !s->captured.capture))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags"));
	result = sim_event_get(event, &e);
	if (!result)
		result = sim_capture_of(s, &capture);
	if (!result && (capture || e->captured.capture))
		result = sim_capture_wait(s, e, event, flags != 0);
	else if (!result && e->mark)
		result = sim_stream_wait(s, e->mark);
	if (!result && !capture && !e->captured.capture)
		sim_stream_pushed(s);
	return sim_leave(result);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	struct sim_stream *s;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (!context)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	/* not misuse: the caller cannot know */
	if (s->green)
		return sim_leave(CUDA_ERROR_NOT_SUPPORTED);
	*context = s->context->handle;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green)
{
	struct sim_stream *s;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (!context || !green)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*context = s->context->handle;
	*green = s->green;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
	struct sim_stream *s;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (!flags)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*flags = s->flags;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
	struct sim_stream *s;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (!priority)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*priority = s->priority;
	return sim_leave(CUDA_SUCCESS);
}
