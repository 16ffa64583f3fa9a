/* SPDX-License-Identifier: Apache-2.0 */
/* faults — the extensions for faults, without a failed rank: agree, shrink, revoke. */
#include <mpi.h>
#include <stddef.h>

/* Of mpi.h in one library and of mpi-ext.h in another. */
int MPIX_Comm_agree(MPI_Comm comm, int *flag);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
int MPIX_Comm_revoke(MPI_Comm comm);

int main(void)
{
	int in[4] = { 0 }, out[4], yes = 1, rank;
	MPI_Comm copy, fewer;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, copy);
	MPIX_Comm_agree(copy, &yes);
	MPIX_Comm_shrink(copy, &fewer);
	MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, fewer);
	if (rank == 0)
		MPIX_Comm_revoke(fewer);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
