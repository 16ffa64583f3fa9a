/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver takes for the calls that a timed launch adds, on a stream that has nothing else to do. */
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
	return 0;
}
