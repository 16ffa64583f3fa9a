/* SPDX-License-Identifier: Apache-2.0 */
/* begin.h — the three ways in which a transfer of MPI begins: in a call that waits for its end, in
 * one that does not, and described for later. Whatever has a request, a collective too, begins and
 * ends as a transfer does. All of the thread that is inside the call; frames lie on its wrapper's
 * stack. */
#ifndef CT_INTERPOSE_MPI_BEGIN_H
#define CT_INTERPOSE_MPI_BEGIN_H

#include "interpose/mpi/message.h"

/* One that has begun. */
struct ct_mpi_begun {
	struct ct_op_frame op; /* first */
	struct ct_mpi_request request;
};

/* Publish the op of a call that waits for its end. 0: nothing to record; `comm` may be NULL. */
int ct_mpi_begin_blocking(struct ct_mpi_begun *b, struct ct_traced_comm *comm,
			  const struct ct_mpi_transfer *transfer);

/* A receive has returned: its op gets the message's data, and ends. */
void ct_mpi_end_receive(struct ct_mpi_begun *b, const void *status, int result);

/* Publishes the op, with a launch that lasts until the wait for the request. Otherwise as above. */
int ct_mpi_begin(struct ct_mpi_begun *b, struct ct_traced_comm *comm,
		 const struct ct_mpi_transfer *transfer);

/* The same for one that b->request describes already, with its number. */
void ct_mpi_begin_described(struct ct_mpi_begun *b);

/* The call has returned with a request whose handle is at `request`: the op ends, the request is
 * known. */
void ct_mpi_begun(struct ct_mpi_begun *b, const void *request, int result);

/* A call has made a persistent request. */
void ct_mpi_keep(struct ct_traced_comm *comm, const struct ct_mpi_transfer *transfer,
		 const void *request, int result);

/* CT_MPI_RECORD() of a function that makes one: `keeps` follows the call, and may name its
 * `result`. */
#define CT_MPI_RECORD_PERSISTENT(name, params, args, keeps)                                        \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		struct ct_frame unrecorded;                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		ct_guard_pass(&unrecorded);                                                        \
		result = real args;                                                                \
		keeps;                                                                             \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

#endif
