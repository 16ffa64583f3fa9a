/* SPDX-License-Identifier: Apache-2.0 */
/* mark — a job that marks 200 steps with their samples by commtrace.h: rank r has processed r + 1
 * in each. Rank 0 prints the samples per second of all, from the first mark to the last. */
#include <mpi.h>

#include <stdio.h>
#include <time.h>

#include "include/commtrace.h"

enum { STEPS = 200 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int rank, size, sum = 0;
	double begin = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int step = 0; step < STEPS; step++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		nanosleep(&pause, NULL);
		commtrace_mark((uint64_t)step + 5, (uint64_t)rank + 1);
		if (!step)
			begin = now();
	}
	if (!rank)
		printf("%.6f\n", (STEPS - 1) * size * (size + 1) / 2 / (now() - begin));
	MPI_Finalize();
	return 0;
}
