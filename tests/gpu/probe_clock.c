/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU's clock against the host's: how narrow an anchor can be, and how fast the two drift
 * apart. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "tests/gpu/gpu.h"

enum { TRIES = 10, MOST = 1000 };

struct anchor {
	double host_ns; /* middle of the moment in which the event was reached */
	double err_ns;
	CUevent event;
};

/* The narrowest of some tries: an event on an idle stream, asked for until it is there. */
static struct anchor take(CUstream stream)
{
	struct anchor best = { .err_ns = INFINITY };

	for (int i = 0; i < TRIES; i++) {
		struct anchor a;
		double before;

		MUST(cuEventCreate(&a.event, CU_EVENT_DEFAULT));
		before = gpu_clock_ns();
		MUST(cuEventRecord(a.event, stream));
		while (gpu.cuEventQuery(a.event) == CUDA_ERROR_NOT_READY)
			;
		a.err_ns = (gpu_clock_ns() - before) / 2;
		a.host_ns = before + a.err_ns;
		if (a.err_ns < best.err_ns)
			best = a;
	}
	return best;
}

int gpu_probe_clock(double seconds, int loaded)
{
	static double errs[MOST], widest;
	struct anchor first, last;
	CUstream stream, work;
	double gpu_ns = 0;
	int n = 0;

	gpu_open(NULL);
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
	first = last = take(stream);
	while (n < MOST && last.host_ns - first.host_ns < seconds * 1e9) {
		const struct timespec nap = { .tv_nsec = 200000000 };
		struct anchor now;
		float ms;

		/* most of the time until the next anchor */
		if (loaded)
			gpu_spin(work, 150e6);
		nanosleep(&nap, NULL);
		now = take(stream);
		/* in small steps: the time is a float */
		MUST(cuEventElapsedTime(&ms, last.event, now.event));
		gpu_ns += (double)ms * 1e6;
		widest = fmax(widest, now.err_ns);
		errs[n++] = now.err_ns;
		last = now;
	}
	gpu_figure("anchor_error", gpu_median(errs, n) / 1e3, "us");
	gpu_figure("anchor_error_worst", widest / 1e3, "us");
	gpu_figure("gpu_drift", (gpu_ns / (last.host_ns - first.host_ns) - 1) * 1e6, "ppm");
	gpu_figure("gpu_drift_error",
		   (first.err_ns + last.err_ns) / (last.host_ns - first.host_ns) * 1e6, "ppm");
	return 0;
}
