/* SPDX-License-Identifier: Apache-2.0 */
/* MPI's extensions for faults, for libraries that lack them (Open MPI before 5) or fail in them
 * (MPICH 4.0 over UCX): as they are without a failed rank. */
#include <mpi.h>

#pragma GCC visibility push(default)
int MPIX_Comm_agree(MPI_Comm comm, int *flag);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
int MPIX_Comm_revoke(MPI_Comm comm);

int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
	return MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, comm);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
	return MPI_Comm_dup(comm, newcomm);
}

int MPIX_Comm_revoke(MPI_Comm comm)
{
	return comm == MPI_COMM_NULL ? MPI_ERR_COMM : MPI_SUCCESS;
}
