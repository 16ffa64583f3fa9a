/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_begin.h — the three ways in which a transfer of MPI begins: in a call that waits for its end, in one that does
 * not, and described for later. Whatever has a request, a collective too, begins and ends as a transfer does. All of
 * the thread that is inside the call; frames lie on its wrapper's stack. */
#ifndef CT_MPI_BEGIN_H
#define CT_MPI_BEGIN_H

#include "interpose/mpi_message.h"

/* Until the call returns. */
struct ct_mpi_blocking {
	struct ct_op_frame op;
	struct ct_mpi_request request;
};

/* Publish the op. 0: nothing to record; `comm` may be NULL. */
int ct_mpi_begin_blocking(struct ct_mpi_blocking *b, struct ct_comm *comm,
			  const struct ct_mpi_transfer *transfer);

/* A receive has returned: its op tells what it got, and ends. */
void ct_mpi_end_receive(struct ct_mpi_blocking *b, const void *status, int result);

/* Until somebody waits for the request. */
struct ct_mpi_begun {
	struct ct_op_frame op;
	struct ct_mpi_request request;
};

/* Publish the op. 0: nothing to record. */
int ct_mpi_begin(struct ct_mpi_begun *b, struct ct_comm *comm,
		 const struct ct_mpi_transfer *transfer);

/* The same for one that b->request describes already, with its number. */
void ct_mpi_begin_described(struct ct_mpi_begun *b);

/* The call has returned with a request whose handle lies at `request`: the op ends, the request is known. */
void ct_mpi_begun(struct ct_mpi_begun *b, const void *request, int result);

/* A call has made a persistent request. */
void ct_mpi_keep(struct ct_comm *comm, const struct ct_mpi_transfer *transfer, const void *request,
		 int result);

#endif
