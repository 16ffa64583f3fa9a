/* SPDX-License-Identifier: Apache-2.0 */
/* Probes. They wait for a message and move nothing; those with a message handle take it, so that it has its number, and
 * the receive that follows is of that message. */
#include "interpose/mpi_message.h"
#include "interpose/mpi_poll.h"

/* A message was matched: what is known of it until it is received. */
static void keep_message(struct ct_comm *comm, const void *message, const void *status)
{
	int source = ct_mpi_status_int(status, ct_mpi.is.status_source);
	int tag = ct_mpi_status_int(status, ct_mpi.is.status_tag);
	struct ct_mpi_request matched = {
		.op = { .op = CT_OP_Recv, .comm = comm->id, .tag = (uint32_t)tag },
		.comm = comm,
		.comm_id = comm->id,
		.flags = CT_MPI_REQUEST_MESSAGE,
	};

	if (ct_mpi_is(ct_mpi_handle_at(message, 0), ct_mpi.is.MESSAGE_NO_PROC) || source < 0 ||
	    tag < 0)
		return;
	matched.op.peer = (int32_t)comm->first_peer + source;
	matched.op.seq = ct_mpi_next_message(&matched);
	ct_mpi_requests_keep(ct_mpi_message_key(message), &matched);
}

static void begin(struct ct_host_frame *f, enum ct_mpi_function function,
		  const struct ct_comm *comm)
{
	ct_mpi_poll_over();
	f->rec = (struct ct_host_rec){
		.call = ct_mpi_call_id(function),
		.comm = comm->id,
		.key = comm->key,
		.nranks = comm->nranks,
		.rank = comm->rank,
	};
	ct_host_begin(f);
}

static int is_nobody(int source)
{
	return source == ct_mpi.is.PROC_NULL;
}

static CT_UNWIND_WHOLE int record_Probe(int source, int tag, ct_mpi_handle comm, void *status,
					ct_MPI_Probe_fn *real)
{
	struct ct_comm *known = is_nobody(source) ? NULL : ct_mpi_comm(comm);
	struct ct_host_frame f;
	int result;

	CT_UNWIND_HERE();
	if (!known) {
		result = real(source, tag, comm, status);
		ct_guard_leave();
		return result;
	}
	begin(&f, CT_MPI_Probe, known);
	result = real(source, tag, comm, status);
	ct_host_end(&f, ct_mpi_result(result));
	return result;
}
CT_MPI_WRAPPERS(Probe, (int source, int tag, ct_mpi_handle comm, void *status),
		(source, tag, comm, status), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Mprobe(int source, int tag, ct_mpi_handle comm, void *message,
					 void *status, ct_MPI_Mprobe_fn *real)
{
	struct ct_comm *known = is_nobody(source) ? NULL : ct_mpi_comm(comm);
	struct ct_mpi_status own;
	struct ct_host_frame f;
	int result;

	CT_UNWIND_HERE();
	if (!known) {
		result = real(source, tag, comm, message, status);
		ct_guard_leave();
		return result;
	}
	begin(&f, CT_MPI_Mprobe, known);
	status = ct_mpi_status_of(status, &own);
	result = real(source, tag, comm, message, status);
	if (result == CT_MPI_SUCCESS)
		keep_message(known, message, status);
	ct_host_end(&f, ct_mpi_result(result));
	return result;
}
CT_MPI_WRAPPERS(Mprobe, (int source, int tag, ct_mpi_handle comm, void *message, void *status),
		(source, tag, comm, message, status), CT_CALL_DATA)

static void answer(enum ct_mpi_function function, const struct ct_comm *comm, int is_there,
		   uint64_t enter_ns)
{
	if (is_there)
		ct_mpi_poll_done(enter_ns, ct_now_ns());
	else
		ct_mpi_poll_missed(ct_mpi_call_id(function), comm->id, enter_ns, ct_now_ns());
}

static CT_UNWIND_WHOLE int record_Iprobe(int source, int tag, ct_mpi_handle comm, int *flag,
					 void *status, ct_MPI_Iprobe_fn *real)
{
	struct ct_comm *known = is_nobody(source) ? NULL : ct_mpi_comm(comm);
	uint64_t enter_ns = ct_now_ns();
	int result;

	CT_UNWIND_HERE();
	result = real(source, tag, comm, flag, status);
	if (known)
		answer(CT_MPI_Iprobe, known, *flag || result, enter_ns);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Iprobe, (int source, int tag, ct_mpi_handle comm, int *flag, void *status),
		(source, tag, comm, flag, status), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Improbe(int source, int tag, ct_mpi_handle comm, int *flag,
					  void *message, void *status, ct_MPI_Improbe_fn *real)
{
	struct ct_comm *known = is_nobody(source) ? NULL : ct_mpi_comm(comm);
	uint64_t enter_ns = ct_now_ns();
	struct ct_mpi_status own;
	int result;

	CT_UNWIND_HERE();
	status = ct_mpi_status_of(status, &own);
	result = real(source, tag, comm, flag, message, status);
	if (known && result == CT_MPI_SUCCESS && *flag)
		keep_message(known, message, status);
	if (known)
		answer(CT_MPI_Improbe, known, *flag || result, enter_ns);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Improbe,
		(int source, int tag, ct_mpi_handle comm, int *flag, void *message, void *status),
		(source, tag, comm, flag, message, status), CT_CALL_DATA)
