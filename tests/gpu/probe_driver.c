/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver takes for the calls that a timed launch adds, on a stream that has nothing else
 * to do, on one that is busy, and beside a thread that asks without a pause; and what it says of
 * stamps. */
#include <math.h>
#include <pthread.h>

#include "tests/gpu/gpu.h"

enum { BATCH = 64, BATCHES = 41 };

static CUstream stream;
static CUevent timed[BATCH], untimed[BATCH];

/* ns for one, the median of many batches; the stream is idle before each. */
#define COST(name, call)                                                                           \
	do {                                                                                       \
		double ns[BATCHES];                                                                \
                                                                                                   \
		for (int b = 0; b < BATCHES; b++) {                                                \
			double begin = gpu_clock_ns();                                             \
                                                                                                   \
			for (int i = 0; i < BATCH; i++)                                            \
				MUST(call);                                                        \
			ns[b] = (gpu_clock_ns() - begin) / BATCH;                                  \
			MUST(cuStreamSynchronize(stream));                                         \
		}                                                                                  \
		gpu_figure(name, gpu_median(ns, BATCHES), "ns");                                   \
	} while (0)

static void make_events(const char *name, CUevent *events, unsigned flags)
{
	double begin = gpu_clock_ns();

	for (int i = 0; i < BATCH; i++)
		MUST(cuEventCreate(&events[i], flags));
	gpu_figure(name, (gpu_clock_ns() - begin) / BATCH, "ns");
}

/* The same, behind a kernel that is not done: nothing is waited for until the end. */
static void record_while_busy(void)
{
	double ns[BATCHES];

	gpu_spin(stream, 50e6);
	for (int b = 0; b < 8; b++) {
		double begin = gpu_clock_ns();

		for (int i = 0; i < BATCH; i++)
			MUST(cuEventRecord(timed[i], stream));
		ns[b] = (gpu_clock_ns() - begin) / BATCH;
	}
	gpu_figure("event_record_busy", gpu_median(ns, 8), "ns");
	MUST(cuStreamSynchronize(stream));
}

static _Atomic int asks;

static void *ask(void *unused)
{
	(void)unused;
	MUST(cuCtxSetCurrent(gpu.context));
	for (asks = 1; asks == 1;)
		gpu.cuEventQuery(timed[0]);
	return NULL;
}

static void record_beside_questions(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, ask, NULL))
		return;
	while (!asks)
		;
	COST("event_record_beside_query", cuEventRecord(untimed[i], stream));
	asks = 2;
	pthread_join(thread, NULL);
}

/* From a later event to an earlier one: below 0, 0, or the number of an error. */
static void backwards(void)
{
	float ms = 0;
	CUresult result;

	MUST(cuEventRecord(timed[0], stream));
	gpu_spin(stream, 1e6);
	MUST(cuEventRecord(timed[1], stream));
	MUST(cuStreamSynchronize(stream));
	result = gpu.cuEventElapsedTime(&ms, timed[1], timed[0]);
	gpu_figure("elapsed_backwards", result ? (double)result : (double)ms,
		   result ? "error" : "ms");
	MUST(cuEventElapsedTime(&ms, timed[0], timed[1]));
	gpu_figure("elapsed_forwards", ms, "ms");
}

/* The greatest common divisor of many elapsed times, in ns: what one stamp is a multiple of. A
 * float of less than a millisecond is good to a tenth of one. */
static void stamps(void)
{
	long divisor = 0;

	for (int n = 0; n < 10000 / BATCH; n++) {
		for (int i = 0; i < BATCH; i++)
			MUST(cuEventRecord(timed[i], stream));
		MUST(cuStreamSynchronize(stream));
		for (int i = 1; i < BATCH; i++) {
			float ms;
			long a, b = divisor;

			MUST(cuEventElapsedTime(&ms, timed[0], timed[i]));
			if (ms > 1)
				continue;
			for (a = lround((double)ms * 1e6); a;) {
				long rest = b % a;

				b = a;
				a = rest;
			}
			divisor = b;
		}
	}
	gpu_figure("stamp", (double)divisor, "ns");
}

int gpu_probe_driver(void)
{
	CUstreamCaptureStatus status;
	CUcontext context;
	float ms;

	gpu_open(NULL);
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	make_events("event_create", timed, CU_EVENT_DEFAULT);
	make_events("event_create_untimed", untimed, 2 /* CU_EVENT_DISABLE_TIMING */);
	COST("event_record", cuEventRecord(timed[i], stream));
	COST("event_record_untimed", cuEventRecord(untimed[i], stream));
	COST("event_query", cuEventQuery(timed[i]));
	COST("event_elapsed", cuEventElapsedTime(&ms, timed[0], timed[i]));
	COST("stream_is_capturing", cuStreamIsCapturing(stream, &status));
	COST("ctx_get_current", cuCtxGetCurrent(&context));
	COST("stream_get_ctx", cuStreamGetCtx(stream, &context));
	backwards();
	stamps();
	record_while_busy();
	record_beside_questions();
	return 0;
}

/* After a reset the context has another number, or none until it is made again; it has the same
 * handle, perhaps. */
int gpu_probe_context(void)
{
	unsigned long long before = 0, after = 0;
	CUcontext again;
	CUdevice device;
	int is_another;

	gpu_open(NULL);
	MUST(cuDeviceGet(&device, 0));
	MUST(cuCtxGetId(gpu.context, &before));
	MUST(cuDevicePrimaryCtxReset_v2(device));
	is_another = gpu.cuCtxGetId(gpu.context, &after) != CUDA_SUCCESS || after != before;
	MUST(cuDevicePrimaryCtxRetain(&again, device));
	MUST(cuCtxSetCurrent(again));
	is_another &= gpu.cuCtxGetId(again, &after) == CUDA_SUCCESS && after != before;
	gpu_figure("context_is_another", is_another, "-");
	return 0;
}
