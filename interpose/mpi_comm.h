/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_comm.h — MPI's communicators: made known when they are made, or at the first call that uses one.
 *
 * The key of a communicator is a hash of its members' ranks in MPI_COMM_WORLD, which every member can find out by local
 * calls, of how many communicators of just these members there were before, and of the job's world. Any thread.
 */
#ifndef CT_MPI_COMM_H
#define CT_MPI_COMM_H

#include "interpose/mpi.h"

/* Before the gate opens. */
void ct_mpi_comm_init(void);

/* Make MPI_COMM_WORLD known. By the thread that gets to know the library. */
void ct_mpi_comm_world(void);

/* One that no call has used so far. NULL: not to be recorded. */
struct ct_comm *ct_mpi_comm_new(ct_mpi_handle handle);

/* The communicator of a call. NULL: not to be recorded. */
static inline struct ct_comm *ct_mpi_comm(ct_mpi_handle handle)
{
	struct ct_comm *comm = ct_recorder_comm(ct_mpi_key(handle));

	return __builtin_expect(comm != NULL, 1) ? comm : ct_mpi_comm_new(handle);
}

#endif
