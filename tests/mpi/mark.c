/* SPDX-License-Identifier: Apache-2.0 */
/* mark — a job that marks 200 steps with their samples by commtrace.h: rank r has processed r + 1
 * in each. Rank 0 prints the samples per second of all, from the first mark to the last, at least
 * and at most: a rank may wait for a core before or after it marks. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
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
	/* before and after the first mark and the last */
	double first[2] = { 0 }, last[2] = { 0 }, took[2], all[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int step = 0; step < STEPS; step++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		nanosleep(&pause, NULL);
		last[0] = now();
		commtrace_mark((uint64_t)step + 5, (uint64_t)rank + 1);
		last[1] = now();
		if (!step)
			memcpy(first, last, sizeof(first));
	}
	took[0] = last[1] - first[0];
	took[1] = last[0] - first[1];
	MPI_Reduce(took, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		for (int i = 0; i < 2; i++)
			printf("%.6f\n", (STEPS - 1) * size * size * (size + 1) / 2 / all[i]);
	MPI_Finalize();
	return 0;
}
