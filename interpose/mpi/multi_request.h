/* SPDX-License-Identifier: Apache-2.0 */
/* multi_request.h — calls about several requests at once: MPI changes the array of handles, so
 * their meaning is kept, and a status for each of them where the program wants none and what
 * receives got is to be recorded.
 *
 * Up to 64 on the wrapper's stack; beyond, in one of some hundred buffers that were mapped before
 * and are taken without a lock. Where all of them are taken, or the program passes more than
 * CT_MPI_MULTI_MAX, the requests of that call are given up before it (each counted). A call that is
 * never returned from (longjmp) leaves its buffer to the next call of its thread, or of one with
 * the same thread-local storage. Any thread, inside a recorded call; begin and end by the same one.
 */
#ifndef CT_INTERPOSE_MPI_MULTI_REQUEST_H
#define CT_INTERPOSE_MPI_MULTI_REQUEST_H

#include "interpose/mpi/message.h"

#define CT_MPI_MULTI_MAX CT_MPI_REQUESTS_MAX
#define CT_MPI_MULTI_NEAR 64u /* size: of the stack; exchanges with neighbors have fewer */

struct ct_mpi_multi {
	struct ct_mpi_held *held; /* NULL: nothing is known of them, or nothing is to be done */
	void *statuses;		  /* what MPI is called with */
	uint32_t n;
	uint32_t n_pending;	      /* that may be waited for */
	struct ct_mpi_request *first; /* known, of those */
	_Atomic uintptr_t *buffer;    /* that is taken, NULL: none */
	struct ct_mpi_held near_held[CT_MPI_MULTI_NEAR];
	struct ct_mpi_status near_statuses[CT_MPI_MULTI_NEAR];
};

/* Map the buffers, of which only those exist that are used; 0 or CT_NOMEM. Before the gate opens. */
int ct_mpi_multi_init(void);

/* Before the call. `statuses` points to the program's array or STATUSES_IGNORE, and on return to
 * the one for MPI. 0: there is nothing to wait for, and nothing is changed. */
int ct_mpi_multi_begin(struct ct_mpi_multi *s, int n, const void *requests, void **statuses);

/* The same for a function that has one status, of the request that is done. */
int ct_mpi_multi_begin_any(struct ct_mpi_multi *s, int n, const void *requests, void **status);

/* All are done that the handles in `requests` and the statuses say are done, after a call on all of
 * them. */
void ct_mpi_multi_all(struct ct_mpi_multi *s, const void *requests, uint64_t now_ns, int result);

/* The one of the index is done, if it is one, after a call on any of them. */
void ct_mpi_multi_any(struct ct_mpi_multi *s, const int *index, const void *status, uint64_t now_ns,
		      int result);

/* Those of the *n_done indices are done, after a call on some of them: the i-th index has the i-th
 * status. */
void ct_mpi_multi_some(struct ct_mpi_multi *s, const int *n_done, const int *indices,
		       uint64_t now_ns, int result);

void ct_mpi_multi_end(struct ct_mpi_multi *s);

#endif
