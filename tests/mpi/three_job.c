/* SPDX-License-Identifier: Apache-2.0 */
/* three_job.c — one process that talks to the others over MPI, NCCL (the simulator's) and Gloo: one
 * rank for all three. */
#include <mpi.h>

#include <stdio.h>

#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"

int three_gloo(int rank, int size, const char *store,
	       int value); /* three_gloo.cc: the sum of all ranks' */

#define MUST(condition) ((condition) ? (void)0 : must_not(__LINE__))
static void __attribute__((noreturn)) must_not(int line)
{
	fprintf(stderr, "three_job.c: line %d is not so\n", line);
	MPI_Abort(MPI_COMM_WORLD, 1);
	_Exit(1);
}

static int over_nccl(int rank, int size, int value)
{
	ncclUniqueId id;
	cudaStream_t stream;
	ncclComm_t comm;
	int *data, sum;

	MUST(rank != 0 || ncclGetUniqueId(&id) == ncclSuccess);
	MUST(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
	MUST(cudaSetDevice(rank) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaMalloc((void **)&data, sizeof(*data)) == cudaSuccess);
	MUST(ncclCommInitRank(&comm, size, id, rank) == ncclSuccess);
	MUST(cudaMemcpy(data, &value, sizeof(value), cudaMemcpyHostToDevice) == cudaSuccess);
	MUST(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, comm, stream) == ncclSuccess);
	MUST(cudaStreamSynchronize(stream) == cudaSuccess);
	MUST(cudaMemcpy(&sum, data, sizeof(sum), cudaMemcpyDeviceToHost) == cudaSuccess);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MUST(argc == 2);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MUST(over_nccl(rank, size, rank) == sum);
	MUST(three_gloo(rank, size, argv[1], rank) == sum);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %d, three times\n", sum);
	MPI_Finalize();
	return 0;
}
