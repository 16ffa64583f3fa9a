/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h — MPI's communicators and windows: made known when they are made, or by the first call
 * that used one.
 *
 * A window is a communicator of its own here, with the members of the one that it was made from, as
 * its parent: its fences are counted by themselves. The library reuses handles of freed ones: a new
 * one under a known handle ends the old one. members.h says what keys are made of. Any thread,
 * inside a recorded call; calls into MPI are local ones; no lock is held across them; errno is
 * kept.
 */
#ifndef CT_INTERPOSE_MPI_COMM_H
#define CT_INTERPOSE_MPI_COMM_H

#include "interpose/mpi/members.h"
#include "interpose/mpi/mpi.h"

/* Before the gate opens. 0 or CT_NOMEM. */
int ct_mpi_comm_init(void);

/* Make MPI_COMM_WORLD known, and the communicator to the world that started this one, if there are
 * such. By the thread that gets to know the library. */
void ct_mpi_comm_world(void);

/* One that is not known. MPI_COMM_WORLD and MPI_COMM_SELF are made known; else NULL: MPI is not
 * asked about a handle before a call with it has succeeded, since to ask about one that is none is
 * an error which the program's handler hears of. */
struct ct_traced_comm *ct_mpi_comm_new(ct_mpi_handle handle);

/* A call with it has returned, unrecorded if it was not known: if it succeeded, what the next call
 * finds. NULL: unknown as before (the tables are full, or it is MPI_COMM_NULL). One that was not
 * seen made has a key that no other process has: when which of them met it is nothing that they
 * agree about. */
struct ct_traced_comm *ct_mpi_comm_after(ct_mpi_handle handle, int result);
struct ct_traced_comm *ct_mpi_win_after(ct_mpi_handle handle, int result);

/* The communicator of a call, if it is the one that this thread used last; else NULL. MPI's have
 * one handle. */
static inline struct ct_traced_comm *ct_mpi_comm_last(ct_mpi_handle handle)
{
	struct ct_traced_comm *comm = ct_self.comm;

	return comm && atomic_load_explicit(&comm->handle[0], memory_order_relaxed) ==
				       ct_mpi_key(handle)
		       ? comm
		       : NULL;
}

/* The communicator of a call. NULL: not to be recorded. */
static inline struct ct_traced_comm *ct_mpi_comm(ct_mpi_handle handle)
{
	struct ct_traced_comm *comm = ct_recorder_comm(ct_mpi_key(handle));

	return __builtin_expect(comm != NULL, 1) ? comm : ct_mpi_comm_new(handle);
}

/* The same, not inlined. */
struct ct_traced_comm *ct_mpi_comm_found(ct_mpi_handle handle);

/* The same of a call that was entered just now: finding out may take its time, which is not the
 * call's. */
struct ct_traced_comm *ct_mpi_comm_entered(ct_mpi_handle handle, struct ct_op_frame *f);

/* The window of a call. NULL: not to be recorded. */
static inline struct ct_traced_comm *ct_mpi_win(ct_mpi_handle handle)
{
	return ct_recorder_comm(ct_mpi_key(handle));
}

/* A call has created the communicator whose handle is at `handle`, from the one with key `parent`
 * (0: none), with these members (NULL: asked of MPI). Nothing happens if it made none
 * (MPI_COMM_NULL). */
void ct_mpi_comm_made(const void *handle, uint64_t parent, const struct ct_mpi_members *members);
void ct_mpi_win_made(const void *handle, uint64_t parent);

/* What a host-blocking call on it has on record when it begins. `comm` may be NULL. */
struct ct_host_rec ct_mpi_host_rec(enum ct_mpi_function function,
				   const struct ct_traced_comm *comm);

/* Begins it. Always 1, as CT_MPI_RECORD() requires. */
int ct_mpi_host_begin(struct ct_host_frame *f, enum ct_mpi_function function,
		      const struct ct_traced_comm *comm);

#endif
