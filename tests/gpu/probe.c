/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c — figures of a GPU, its driver and NCCL, one a line. Knows nothing of being traced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/gpu.h"

static const char usage
	[] = "usage: gpu_probe driver | queues | buffer | context\n"
	     "       gpu_probe clock SECONDS [loaded]\n"
	     "       gpu_probe nccl LIBRARY RANK RANKS ID_FILE OPS plain|group|nonblocking|split\n"
	     "       gpu_probe exit|reset|capture|replay LIBRARY RANK RANKS ID_FILE TIMES\n";

static struct gpu_job job_of(enum gpu_what what, char **argv)
{
	return (struct gpu_job){
		.what = what,
		.nccl = argv[2],
		.rank = atoi(argv[3]),
		.ranks = atoi(argv[4]),
		.id = argv[5],
		.ops = atoi(argv[6]),
	};
}

static int nccl(char **argv)
{
	static const char *const hows[] = { "plain", "group", "nonblocking", "split" };
	struct gpu_job job = job_of(GPU_MEASURE, argv);

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		if (strcmp(argv[7], hows[i]) == 0) {
			job.how = (enum gpu_how)i;
			return gpu_probe_nccl(&job);
		}
	fputs(usage, stderr);
	return 2;
}

static int life(char **argv)
{
	static const struct {
		const char *name;
		enum gpu_what what;
	} lives[] = { { "exit", GPU_EXIT },
		      { "reset", GPU_RESET },
		      { "capture", GPU_CAPTURE },
		      { "replay", GPU_REPLAY } };

	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		if (strcmp(argv[1], lives[i].name) == 0) {
			struct gpu_job job = job_of(lives[i].what, argv);

			return gpu_probe_life(&job);
		}
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 2 && strcmp(what, "driver") == 0)
		return gpu_probe_driver();
	if (argc == 2 && strcmp(what, "queues") == 0)
		return gpu_probe_queues();
	if (argc == 2 && strcmp(what, "buffer") == 0)
		return gpu_probe_buffer();
	if (argc == 2 && strcmp(what, "context") == 0)
		return gpu_probe_context();
	if ((argc == 3 || argc == 4) && strcmp(what, "clock") == 0)
		return gpu_probe_clock(atof(argv[2]), argc == 4);
	if (argc == 8 && strcmp(what, "nccl") == 0)
		return nccl(argv);
	if (argc == 7)
		return life(argv);
	fputs(usage, stderr);
	return 2;
}
