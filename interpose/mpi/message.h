/* SPDX-License-Identifier: Apache-2.0 */
/* message.h — sends and receives of MPI: what is recorded when they begin, and what a receive got.
 *
 * Messages are numbered for each (communicator, source, destination, tag), in the order of the
 * calls, as MPI matches them. A receive from any source or with any tag gets its number when it is
 * known whose message it got. A partitioned transfer has a channel of its own: its tag has
 * CT_TAG_PARTITIONED set, and its number is that of the pair of requests and of the start. Nothing
 * goes to or comes from MPI_PROC_NULL: no op. Any thread, inside a recorded call.
 */
#ifndef CT_INTERPOSE_MPI_MESSAGE_H
#define CT_INTERPOSE_MPI_MESSAGE_H

#include "interpose/channels.h"
#include "interpose/mpi/comm.h"
#include "interpose/mpi/mpi.h"
#include "interpose/mpi/requests.h"

/* Space for a status of any flavour. */
struct ct_mpi_status {
	uint64_t words[4];
};

/* One side of a transfer, as the arguments of a call say. */
struct ct_mpi_transfer {
	enum ct_mpi_function function;
	enum ct_direction direction;
	int64_t count;
	ct_mpi_handle type;
	int peer;
	int tag;
};

/* Describe it. 0: it moves nothing, or is not allowed; nothing to record. Of the sequence number
 * nothing is said. */
int ct_mpi_describe(struct ct_mpi_request *request, struct ct_traced_comm *comm,
		    const struct ct_mpi_transfer *transfer);

/* Its number, now that it begins. */
uint64_t ct_mpi_next_message(const struct ct_mpi_request *request);

/* A status that is read after the call: the program's, or, if it wants none, one on our stack. */
static inline void *ct_mpi_status_of(void *programs, struct ct_mpi_status *own)
{
	return (uintptr_t)programs == ct_mpi.is.STATUS_IGNORE ? (void *)own : programs;
}

static inline int ct_mpi_status_int(const void *status, uint32_t at)
{
	int value;

	memcpy(&value, (const char *)status + at, sizeof(value));
	return value;
}

/* What a receive got, from the status of its completion. 0: the status does not say. */
struct ct_mpi_received {
	int32_t peer; /* -1: the receive's own */
	uint32_t tag;
	uint64_t seq; /* recorded with a peer */
	uint64_t bytes;
};
int ct_mpi_received(const struct ct_mpi_request *request, const void *status,
		    struct ct_mpi_received *got);

/* A blocking receive stores what it got in its own record, before its end. */
void ct_mpi_record_op(struct ct_slot *slot, const struct ct_mpi_request *request,
		      const void *status);

/* An operation whose request was taken has ended. `status` NULL: unknown. Records what a receive
 * got, where that is not what its op says, and closes the launch. */
void ct_mpi_complete(const struct ct_mpi_request *request, const void *status, uint64_t now_ns,
		     int result);

/* A wait or test for requests has reported wrong arguments to the program: it has written nothing,
 * and nothing is done. (Another error is that of a request, which is done.) */
static inline int ct_mpi_was_refused(int result)
{
	int code = ct_mpi_result(result);

	return code && (code == ct_mpi.is.ERR_ARG || code == ct_mpi.is.ERR_REQUEST);
}

/* What the handle says of a request that a call has just made. */
enum ct_mpi_handle_kind ct_mpi_handle_kind(ct_mpi_handle handle);

/* The key of the request, or message, at `handles`, the i-th of them. 0: there is nothing to wait
 * for. Programs pass NULL as well, and MPI reports the error. */
static inline uintptr_t ct_mpi_request_key(const void *handles, uint64_t i)
{
	ct_mpi_handle handle;

	if (!handles)
		return 0;
	handle = ct_mpi_handle_at(handles, i);
	if (ct_mpi_is(handle, ct_mpi.is.REQUEST_NULL) ||
	    ct_mpi_handle_kind(handle) == CT_MPI_HANDLE_DONE)
		return 0;
	return (uintptr_t)ct_mpi_key(handle);
}

static inline uintptr_t ct_mpi_message_key(const void *message)
{
	return message ? (uintptr_t)ct_mpi_key(ct_mpi_handle_at(message, 0)) : 0;
}

#endif
