// SPDX-License-Identifier: Apache-2.0
// early_end.c — a job that ends before its time: after 50 barriers rank 1 aborts it ("abort"), or
// stands still while the others wait for it ("stand"), after it has made the file FILE.
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int n = 0; argc > 2 && n < 50; n++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 2 && rank == 1) {
		if (open(argv[2], O_WRONLY | O_CREAT, 0600) < 0 || strcmp(argv[1], "abort") == 0)
			MPI_Abort(MPI_COMM_WORLD, 7);
		for (;;)
			pause();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
