/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c — kernels, computing and host functions: what a program puts on a stream to be run. */
#include <stdlib.h>

#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/stream.h"

/* Unlike events and copies, kernels go only to streams of the current context. */
static CUresult enter(const char *call, CUstream handle, struct sim_stream **s,
		      struct sim_capture **capture)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(call, &c);

	if (result)
		return result;
	result = sim_stream_get(handle, c, s);
	if (!result && (*s)->context != c)
		result = sim_misuse(CUDA_ERROR_INVALID_HANDLE, "a stream of another context");
	if (!result)
		result = sim_capture_of(*s, capture);
	return result ? sim_leave(result) : CUDA_SUCCESS;
}

CUresult simLaunch(CUstream stream, const struct sim_kernel *kernel)
{
	struct sim_stream *s;
	struct sim_capture *capture;
	CUresult result = enter(__func__, stream, &s, &capture);

	if (result)
		return result;
	if (!kernel || !kernel->run)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "no kernel"));
	if (capture)
		return sim_leave(sim_capture_run(s, kernel, true));
	result = sim_stream_run(s, kernel, true);
	if (!result)
		sim_stream_pushed(s);
	return sim_leave(result);
}

CUresult simCompute(CUstream stream, uint64_t ns)
{
	struct sim_stream *s;
	struct sim_capture *capture;
	CUresult result = enter(__func__, stream, &s, &capture);

	if (result)
		return result;
	if (capture)
		return sim_leave(sim_capture_busy(s, ns));
	result = sim_stream_busy(s, simTiming() ? ns : 0);
	if (!result)
		sim_stream_pushed(s);
	return sim_leave(result);
}

struct host_call {
	CUhostFn function;
	void *arg;
};

/* The only work whose length is measured. */
static uint64_t run(void *arg, uint64_t start_ns, CUresult *error)
{
	struct host_call *h = arg;

	(void)start_ns;
	(void)error;
	h->function(h->arg);
	return simNow();
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *arg)
{
	struct sim_context *c;
	struct sim_stream *s;
	struct host_call *h;
	struct sim_capture *capture;
	struct sim_kernel kernel;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	result = sim_stream_get(stream, c, &s);
	if (!result && !function)
		result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	if (!result)
		result = sim_capture_of(s, &capture);
	if (result)
		return sim_leave(result);
	h = sim_alloc(sizeof(*h));
	*h = (struct host_call){ function, arg };
	kernel = (struct sim_kernel){ run, free, h };
	result = capture ? sim_capture_run(s, &kernel, false) : sim_stream_run(s, &kernel, false);
	if (result)
		free(h);
	else if (!capture)
		sim_stream_pushed(s);
	return sim_leave(result);
}
