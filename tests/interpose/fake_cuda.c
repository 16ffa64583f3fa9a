/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/fake_cuda.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONTEXTS 8
#define STREAMS 64
#define QUEUE 4096

struct CUctx_st {
	int device;
};

struct CUstream_st {
	CUcontext context;
	int own; /* made through the driver */
	CUevent queue[QUEUE];
	unsigned queued, happened;
};

struct CUevent_st {
	CUcontext context;
	unsigned int flags;
	unsigned waits; /* in queues */
	double device_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_driver driver;
static struct CUctx_st contexts[CONTEXTS];
static struct CUstream_st streams[STREAMS];
static unsigned n_contexts, n_streams;
static __thread CUcontext current, pushed_over;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct fake_driver *fake_lock(void)
{
	pthread_mutex_lock(&lock);
	return &driver;
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static CUresult leave(CUresult result)
{
	driver.calls++;
	fake_unlock();
	return result;
}

static CUresult ctx_get_current(CUcontext *context)
{
	fake_lock();
	*context = current;
	return leave(CUDA_SUCCESS);
}

static CUresult ctx_get_device(CUdevice *device)
{
	fake_lock();
	if (!current)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	*device = current->device;
	return leave(CUDA_SUCCESS);
}

static CUresult ctx_push(CUcontext context)
{
	fake_lock();
	pushed_over = current;
	current = context;
	return leave(CUDA_SUCCESS);
}

static CUresult ctx_pop(CUcontext *context)
{
	fake_lock();
	*context = current;
	current = pushed_over;
	return leave(CUDA_SUCCESS);
}

static CUstream add_stream(CUcontext context, int own)
{
	CUstream s = &streams[n_streams++];

	memset(s, 0, sizeof(*s));
	s->context = context;
	s->own = own;
	return s;
}

static CUresult stream_create(CUstream *stream, unsigned int flags)
{
	fake_lock();
	if (!current || flags != CU_STREAM_NON_BLOCKING)
		return leave(CUDA_ERROR_INVALID_VALUE);
	*stream = add_stream(current, 1);
	driver.streams_made++;
	return leave(CUDA_SUCCESS);
}

static CUresult stream_get_ctx(CUstream stream, CUcontext *context)
{
	fake_lock();
	if (!current)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	*context = stream->context;
	return leave(driver.stream_ctx_result);
}

static CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	(void)stream;
	fake_lock();
	if (!current)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	*status = driver.capture_status;
	return leave(driver.capture_result);
}

static void spend(unsigned ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (ns && clock_ns(CLOCK_MONOTONIC) < end)
		;
}

static __thread CUstreamCaptureMode capture_mode;

CUstreamCaptureMode fake_capture_mode(void)
{
	return capture_mode;
}

static CUresult event_create(CUevent *event, unsigned int flags)
{
	fake_lock();
	while (driver.creates_hang) {
		fake_unlock();
		usleep(1000);
		fake_lock();
	}
	spend(driver.create_ns);
	driver.unrelaxed += capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	if (driver.creates_fail)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	if (!current || (flags != CU_EVENT_DEFAULT && flags != CU_EVENT_DISABLE_TIMING))
		return leave(CUDA_ERROR_INVALID_VALUE);
	*event = calloc(1, sizeof(**event));
	(*event)->context = current;
	(*event)->flags = flags;
	driver.untimed += flags == CU_EVENT_DISABLE_TIMING;
	driver.created++;
	return leave(CUDA_SUCCESS);
}

/* 0 and 1 are the first stream of the current context, 2 is its second one. */
static CUstream real_stream(CUstream stream)
{
	uintptr_t handle = (uintptr_t)stream;
	int skip = handle == 2;

	if (handle > 2)
		return stream;
	for (unsigned i = 0; i < n_streams; i++)
		if (streams[i].context == current && !streams[i].own && skip-- == 0)
			return &streams[i];
	return NULL;
}

/* Now; returns CLOCK_MONOTONIC of the moment, to 0.3 us. */
static uint64_t happen(CUevent event)
{
	uint64_t before, now, after;

	do {
		before = clock_ns(CLOCK_MONOTONIC_RAW);
		now = clock_ns(CLOCK_MONOTONIC);
		after = clock_ns(CLOCK_MONOTONIC_RAW);
	} while (after - before > 300);
	event->device_ns = floor((double)before * (1 + FAKE_PPM * 1e-6) / 500) * 500;
	return now;
}

static CUresult event_record(CUevent event, CUstream handle)
{
	CUstream s;

	fake_lock();
	s = current ? real_stream(handle) : NULL;
	if (s && !s->own)
		spend(driver.record_ns);
	if (!current)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	s = real_stream(handle);
	if (!s || s->context != event->context)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->own && !driver.anchors_hang)
		happen(event);
	if (!s->own && driver.record_result != CUDA_SUCCESS)
		return leave(driver.record_result);
	event->waits += !s->own || driver.anchors_hang;
	if (!s->own) {
		s->queue[s->queued++ % QUEUE] = event;
		driver.recorded++;
	}
	return leave(CUDA_SUCCESS);
}

static CUresult event_query(CUevent event)
{
	CUresult result;
	struct fake_driver *d = fake_lock();

	while (d->queries_hang) {
		fake_unlock();
		usleep(1000);
		d = fake_lock();
	}
	result = event->waits ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
	if (!current)
		result = CUDA_ERROR_INVALID_CONTEXT;
	if (d->query_result != CUDA_SUCCESS)
		result = d->query_result;
	return leave(result);
}

static CUresult event_elapsed(float *ms, CUevent start, CUevent end)
{
	fake_lock();
	if (!current)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	if (start->waits || end->waits)
		return leave(CUDA_ERROR_NOT_READY);
	if (start->context != end->context || start->flags || end->flags)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	*ms = (float)((end->device_ns - start->device_ns + driver.elapsed_off_ns) / 1e6);
	if (*ms < 0 && driver.elapsed_backwards == 2)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (*ms < 0 && driver.elapsed_backwards == 1)
		*ms = 0;
	return leave(CUDA_SUCCESS);
}

static CUresult exchange_capture_mode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode was = capture_mode;

	fake_lock();
	if (driver.exchange_result != CUDA_SUCCESS)
		return leave(driver.exchange_result);
	driver.relaxed += *mode == CU_STREAM_CAPTURE_MODE_RELAXED;
	capture_mode = *mode;
	*mode = was;
	return leave(CUDA_SUCCESS);
}

const struct ct_cuda *fake_cuda(void)
{
	static const struct ct_cuda table = {
#define CUDA_CALL(field, symbol, params) .field = field,
#include "interpose/abi/cuda_calls.def"
	};

	memset(&driver, 0, sizeof(driver));
	n_contexts = n_streams = 0;
	current = NULL;
	return &table;
}

CUcontext fake_context(int device)
{
	contexts[n_contexts].device = device;
	return &contexts[n_contexts++];
}

void fake_set_current(CUcontext context)
{
	current = context;
}

CUstream fake_stream(CUcontext context)
{
	CUstream s;

	fake_lock();
	s = add_stream(context, 0);
	fake_unlock();
	return s;
}

void fake_move_stream(CUstream stream, CUcontext context)
{
	fake_lock();
	stream->context = context;
	fake_unlock();
}

uint64_t fake_advance(CUstream stream)
{
	uint64_t now = 0;

	fake_lock();
	if (stream->happened < stream->queued) {
		CUevent event = stream->queue[stream->happened++ % QUEUE];

		now = happen(event);
		event->waits--;
	}
	fake_unlock();
	return now;
}
