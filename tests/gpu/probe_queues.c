/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware queues: how many streams run beside one another, with timed events and without, and how
 * much one queue holds. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/gpu/gpu.h"

enum { MOST = 32, TRIES = 10, ENTRIES = 8192 };
#define SPIN_NS 5e6
/* As long as one alone: no one waited for another one. */
#define BESIDE_MS (1.6 * SPIN_NS / 1e6)
#define UNTIMED 2 /* CU_EVENT_DISABLE_TIMING */

static CUstream streams[MOST];

/* [event, kernel of 5 ms, event] on each of n streams: ms until all are done, the least of some
 * tries. */
static double run(int n, unsigned flags)
{
	CUevent begin[MOST], end[MOST];
	double least = 1e9;

	for (int i = 0; i < n; i++) {
		MUST(cuEventCreate(&begin[i], flags));
		MUST(cuEventCreate(&end[i], flags));
	}
	for (int try = 0; try < TRIES && least > BESIDE_MS; try++) {
		double begun = gpu_clock_ns(), ms;

		for (int i = 0; i < n; i++) {
			MUST(cuEventRecord(begin[i], streams[i]));
			gpu_spin(streams[i], SPIN_NS);
			MUST(cuEventRecord(end[i], streams[i]));
		}
		for (int i = 0; i < n; i++)
			MUST(cuStreamSynchronize(streams[i]));
		ms = (gpu_clock_ns() - begun) / 1e6;
		least = ms < least ? ms : least;
	}
	return least;
}

int gpu_probe_queues(void)
{
	static const int numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32 };
	int beside[2] = { 0, 0 };
	char name[32];

	gpu_open(NULL);
	for (int i = 0; i < MOST; i++)
		MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	run(1, CU_EVENT_DEFAULT); /* compiles the kernel */
	for (int timed = 0; timed < 2; timed++)
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			int n = numbers[i];
			double ms = run(n, timed ? CU_EVENT_DEFAULT : UNTIMED);

			snprintf(name, sizeof(name), "%s_%d", timed ? "timed" : "untimed", n);
			gpu_figure(name, ms, "ms");
			if (ms < BESIDE_MS)
				beside[timed] = n;
		}
	gpu_figure("untimed_beside", beside[0], "streams");
	gpu_figure("timed_beside", beside[1], "streams");
	return 0;
}

/* Behind a kernel that is not done: how many events can be recorded until one waits for it. */
int gpu_probe_buffer(void)
{
	static CUevent events[ENTRIES];
	int n = 0;

	gpu_open(NULL);
	MUST(cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < ENTRIES; i++)
		MUST(cuEventCreate(&events[i], CU_EVENT_DEFAULT));
	gpu_spin(streams[0], 1e3);
	MUST(cuStreamSynchronize(streams[0]));
	gpu_spin(streams[0], 1e9);
	for (; n < ENTRIES; n++) {
		double begin = gpu_clock_ns();

		MUST(cuEventRecord(events[n], streams[0]));
		if (gpu_clock_ns() - begin > 500e6)
			break;
	}
	MUST(cuStreamSynchronize(streams[0]));
	gpu_figure("events_until_full", n, n < ENTRIES ? "events" : "events_and_not_full");
	return 0;
}
