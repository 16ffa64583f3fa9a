/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c — copies and fills. The bytes move when the stream has reached them, and arrive as fast as
 * the model says.
 *
 * As in CUDA, memory that is not pinned never outlives a call: what comes from there is read before
 * an asynchronous call returns, and what goes there has arrived. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/memory.h"
#include "tools/sim/stream.h"

/* To and from the host a copy begins after some 2 us and moves 50 bytes a ns; within a device, 1 us
 * and 2000. */
#define HOST_LATENCY_NS 2000u
#define HOST_BYTES_PER_NS 50u
#define DEVICE_LATENCY_NS 1000u
#define DEVICE_BYTES_PER_NS 2000u

enum side { ANYWHERE, HOST, DEVICE };

struct copy {
	void *to;
	const void *from; /* NULL: fill */
	void *staged;	  /* owned, or NULL */
	size_t bytes;
	unsigned char value;
	bool host; /* one end is there */
};

static uint64_t run(void *arg, uint64_t start_ns, CUresult *error)
{
	struct copy *c = arg;

	(void)error;
	if (c->from)
		memmove(c->to, c->from, c->bytes);
	else
		memset(c->to, c->value, c->bytes);
	if (!simTiming())
		return start_ns;
	return start_ns + (c->host ? HOST_LATENCY_NS + c->bytes / HOST_BYTES_PER_NS
				   : DEVICE_LATENCY_NS + c->bytes / DEVICE_BYTES_PER_NS);
}

static void done(void *arg)
{
	struct copy *c = arg;

	free(c->staged);
	free(c);
}

static CUresult check(const void *p, size_t bytes, enum side side, enum sim_memory *memory)
{
	bool inside = sim_memory_of(p, bytes, memory);

	if (!p)
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	if (!inside)
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "beyond the end of an allocation");
	if (side != ANYWHERE && (side == DEVICE) != (*memory == SIM_DEVICE))
		return sim_misuse(CUDA_ERROR_INVALID_VALUE,
				  side == DEVICE ? "not device memory"
						 : "device memory for the host's");
	return CUDA_SUCCESS;
}

/* Gives the lock up where it must wait. */
static CUresult put(struct sim_stream *s, const struct copy *model, bool wait)
{
	struct sim_context *context = s->context;
	struct copy *c = sim_alloc(sizeof(*c));
	struct sim_mark *mark = NULL;
	struct sim_kernel kernel;
	CUresult result;

	*c = *model;
	kernel = (struct sim_kernel){ run, done, c };
	result = s->captured.capture ? sim_capture_run(s, &kernel, false)
				     : sim_stream_run(s, &kernel, false);
	if (result) {
		done(c);
		return result;
	}
	if (wait) {
		mark = sim_mark_keep(s->last);
		result = sim_mark_await(mark, context);
		sim_mark_drop(mark);
	} else if (!s->captured.capture) {
		sim_stream_pushed(s);
	}
	return result;
}

static CUresult copy(const char *call, void *to, enum side to_side, const void *from,
		     enum side from_side, size_t bytes, CUstream stream, bool wait)
{
	enum sim_memory to_memory, from_memory;
	struct sim_context *context;
	struct sim_stream *s;
	struct copy c = { .to = to, .from = from, .bytes = bytes };
	struct sim_capture *capture;
	CUresult result = sim_enter_context(call, &context);

	if (result)
		return result;
	result = sim_stream_get(stream, context, &s);
	if (!result && !bytes)
		return sim_leave(CUDA_SUCCESS);
	if (!result)
		result = check(to, bytes, to_side, &to_memory);
	if (!result)
		result = check(from, bytes, from_side, &from_memory);
	if (result)
		return sim_leave(result);
	result = sim_capture_of(s, &capture);
	if (!result && wait)
		result = sim_capture_unsafe();
	if (!result && capture && (from_memory == SIM_PAGEABLE || to_memory == SIM_PAGEABLE))
		result = sim_capture_refuse(s, "memory that is not pinned");
	if (result)
		return sim_leave(result);
	c.host = to_memory != SIM_DEVICE || from_memory != SIM_DEVICE;
	if (from_memory == SIM_PAGEABLE && !wait) {
		c.staged = sim_alloc(bytes);
		memcpy(c.staged, from, bytes);
		c.from = c.staged;
	}
	return sim_leave(put(s, &c, wait || to_memory == SIM_PAGEABLE));
}

static CUresult fill(const char *call, void *to, unsigned char value, size_t bytes, CUstream stream)
{
	enum sim_memory memory;
	struct sim_context *context;
	struct sim_stream *s;
	struct sim_capture *capture;
	CUresult result = sim_enter_context(call, &context);

	if (result)
		return result;
	result = sim_stream_get(stream, context, &s);
	if (!result && !bytes)
		return sim_leave(CUDA_SUCCESS);
	if (!result)
		result = check(to, bytes, DEVICE, &memory);
	if (!result)
		result = sim_capture_of(s, &capture);
	if (!result)
		result = put(s, &(struct copy){ .to = to, .bytes = bytes, .value = value }, false);
	return sim_leave(result);
}

static void *address(CUdeviceptr p)
{
	return (void *)(uintptr_t)p;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return copy(__func__, address(to), ANYWHERE, address(from), ANYWHERE, bytes, NULL, true);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return copy(__func__, address(to), DEVICE, from, HOST, bytes, NULL, true);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return copy(__func__, to, HOST, address(from), DEVICE, bytes, NULL, true);
}

/* Within a device even this one returns before it is done. */
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return copy(__func__, address(to), DEVICE, address(from), DEVICE, bytes, NULL, false);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(__func__, address(to), ANYWHERE, address(from), ANYWHERE, bytes, stream, false);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	return copy(__func__, address(to), DEVICE, from, HOST, bytes, stream, false);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(__func__, to, HOST, address(from), DEVICE, bytes, stream, false);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(__func__, address(to), DEVICE, address(from), DEVICE, bytes, stream, false);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes)
{
	return fill(__func__, address(to), value, bytes, NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	return fill(__func__, address(to), value, bytes, stream);
}
