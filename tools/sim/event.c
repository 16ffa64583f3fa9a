/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/event.h"

#include <stdlib.h>

#include "tools/sim/device.h"
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/handle.h"
#include "tools/sim/stream.h"

#define ALL_FLAGS                                                                                  \
	((unsigned int)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))

CUresult sim_event_get(CUevent handle, struct sim_event **event)
{
	*event = sim_handle_get(SIM_EVENT, handle);
	if (sim_handle_is_lost(SIM_EVENT, handle))
		return sim_gone(CUDA_ERROR_INVALID_HANDLE, "with an event of a destroyed context");
	if (!*event)
		return sim_misuse(CUDA_ERROR_INVALID_HANDLE, "not an event, or destroyed");
	return (*event)->context->error;
}

static uint64_t timed_records; /* of events with timing */

uint64_t simTimedRecords(void)
{
	uint64_t n;

	sim_lock();
	n = timed_records;
	sim_leave(CUDA_SUCCESS);
	return n;
}

/* Enter with an event, of whichever context. */
static CUresult enter(const char *call, CUevent handle, struct sim_event **event)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(call, &c);

	if (result)
		return result;
	result = sim_event_get(handle, event);
	return result ? sim_leave(result) : CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	struct sim_context *c;
	struct sim_event *e;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	if (!event || flags & ~ALL_FLAGS)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, or NULL"));
	if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "interprocess and timed"));
	result = sim_capture_unsafe();
	if (result)
		return sim_leave(result);
	e = sim_alloc(sizeof(*e));
	e->context = c;
	e->flags = flags;
	*event = sim_handle_new(SIM_EVENT, e);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent event)
{
	struct sim_event *e;
	CUresult result = enter(__func__, event, &e);

	if (result)
		return result;
	sim_handle_free(event);
	sim_event_free(e);
	return sim_leave(CUDA_SUCCESS);
}

void sim_event_free(struct sim_event *e)
{
	sim_mark_drop(e->mark);
	sim_captured_clear(&e->captured);
	free(e);
}

void sim_event_set(struct sim_event *e, struct sim_mark *mark)
{
	sim_mark_drop(e->mark);
	sim_captured_clear(&e->captured);
	e->mark = mark;
}

static CUresult record(CUevent event, CUstream stream, unsigned int flags,
		       struct sim_context *current)
{
	struct sim_stream *s;
	struct sim_event *e;
	struct sim_mark *mark;
	struct sim_capture *capture;
	CUresult result = sim_event_get(event, &e);

	if (!result)
		result = sim_stream_get(stream, current, &s);
	if (result)
		return result;
	if (s->context != e->context)
		return sim_misuse(CUDA_ERROR_INVALID_HANDLE,
				  "event and stream of different contexts");
	if (flags & ~(unsigned int)CU_EVENT_RECORD_EXTERNAL || (flags && !s->captured.capture))
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags outside a capture");
	result = sim_capture_of(s, &capture);
	if (result)
		return result;
	if (capture && !flags) {
		sim_mark_drop(e->mark);
		e->mark = NULL;
	}
	if (capture)
		return sim_capture_record(s, e, event, flags != 0);
	timed_records += !(e->flags & CU_EVENT_DISABLE_TIMING);
	mark = sim_stream_mark(s);
	if (!mark)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!(e->flags & CU_EVENT_DISABLE_TIMING))
		sim_device_timed(s->context->device, s, mark);
	sim_event_set(e, mark);
	if (!(e->flags & CU_EVENT_DISABLE_TIMING) && sim_device_timed_ns())
		result = sim_stream_busy(s, sim_device_timed_ns());
	sim_stream_pushed(s);
	return result;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	return result ? result : sim_leave(record(event, stream, 0, c));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	return result ? result : sim_leave(record(event, stream, flags, c));
}

CUresult cuEventQuery(CUevent event)
{
	struct sim_event *e;
	CUresult result = enter(__func__, event, &e);

	if (result)
		return result;
	result = sim_capture_event(e);
	if (!result)
		result = sim_capture_unsafe();
	if (!result && e->mark && !sim_mark_passed(e->mark))
		result = CUDA_ERROR_NOT_READY;
	return sim_leave(result);
}

CUresult cuEventSynchronize(CUevent event)
{
	struct sim_event *e;
	CUresult result = enter(__func__, event, &e);

	if (result)
		return result;
	result = sim_capture_event(e);
	if (!result)
		result = sim_capture_unsafe();
	/* The event may be destroyed meanwhile; contexts and marks with waiters stay. */
	if (!result && e->mark)
		result = sim_mark_await(e->mark, e->context);
	return sim_leave(result);
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
	struct sim_event *a, *b;
	struct sim_device *d;
	int64_t ns;
	CUresult result = sim_event_get(start, &a);

	if (!result)
		result = sim_event_get(end, &b);
	if (result)
		return result;
	if (!ms)
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	if ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)
		return sim_misuse(CUDA_ERROR_INVALID_HANDLE, "an event without timing");
	result = sim_capture_event(a);
	if (!result)
		result = sim_capture_event(b);
	if (result)
		return result;
	if (!a->mark || !b->mark)
		return sim_misuse(CUDA_ERROR_INVALID_HANDLE, "an event never recorded");
	if (a->context != b->context)
		return sim_misuse(CUDA_ERROR_INVALID_HANDLE, "events of different contexts");
	if (!sim_mark_passed(a->mark) || !sim_mark_passed(b->mark))
		return CUDA_ERROR_NOT_READY;
	d = a->context->device;
	ns = sim_device_stamp(d, b->mark->work) - sim_device_stamp(d, a->mark->work);
	/* no misuse: it is not documented what comes then */
	if (ns < 0 && sim_device_backwards() == SIM_ERROR_BACKWARDS)
		return CUDA_ERROR_INVALID_VALUE;
	*ms = ns < 0 && sim_device_backwards() == SIM_ZERO ? 0 : (float)((double)ns / 1e6);
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	return result ? result : sim_leave(elapsed(ms, start, end));
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	return result ? result : sim_leave(elapsed(ms, start, end));
}

CUresult simEventTime(CUevent event, uint64_t *ns)
{
	struct sim_event *e;
	CUresult result = CUDA_SUCCESS;

	sim_lock();
	e = sim_handle_get(SIM_EVENT, event);
	if (!e || !e->mark)
		result = CUDA_ERROR_INVALID_HANDLE;
	else if (!e->mark->known)
		result = CUDA_ERROR_NOT_READY;
	else
		*ns = sim_device_out(e->context->device, e->mark->work);
	return sim_leave(result);
}
