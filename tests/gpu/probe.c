/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c — figures of a GPU, its driver and NCCL, one a line. Knows nothing of being traced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/gpu.h"

static const char usage
	[] = "usage: gpu_probe driver\n"
	     "       gpu_probe clock SECONDS\n"
	     "       gpu_probe nccl LIBRARY RANK RANKS ID_FILE OPS plain|group|nonblocking|split\n";

static int nccl(char **argv)
{
	static const char *const hows[] = { "plain", "group", "nonblocking", "split" };
	struct gpu_job job = {
		.nccl = argv[2],
		.rank = atoi(argv[3]),
		.ranks = atoi(argv[4]),
		.id = argv[5],
		.ops = atoi(argv[6]),
	};

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		if (strcmp(argv[7], hows[i]) == 0) {
			job.how = (enum gpu_how)i;
			return gpu_probe_nccl(&job);
		}
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "driver") == 0)
		return gpu_probe_driver();
	if (argc == 3 && strcmp(argv[1], "clock") == 0)
		return gpu_probe_clock(atof(argv[2]));
	if (argc == 8 && strcmp(argv[1], "nccl") == 0)
		return nccl(argv);
	fputs(usage, stderr);
	return 2;
}
