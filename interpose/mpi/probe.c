/* SPDX-License-Identifier: Apache-2.0 */
/* Probes. They wait for a message and move nothing; those with a message handle take it, so that it
 * has its number, and the receive that follows is of that message. */
#include "interpose/mpi/message.h"
#include "interpose/mpi/poll.h"

/* A message was matched: what is known of it until it is received. */
static void keep_message(struct ct_traced_comm *comm, const void *message, const void *status)
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

static struct ct_traced_comm *comm_of(int source, ct_mpi_handle comm)
{
	return source == ct_mpi.is.PROC_NULL ? NULL : ct_mpi_comm(comm);
}

/* ---- that wait
 * ----------------------------------------------------------------------------------------------- */

struct probe {
	struct ct_host_frame host; /* first */
	struct ct_traced_comm *comm;
	struct ct_mpi_status own;
};

static int begin_probe(struct probe *p, enum ct_mpi_function function, int source,
		       ct_mpi_handle comm)
{
	p->comm = comm_of(source, comm);
	if (!p->comm)
		return 0;
	ct_mpi_poll_over();
	return ct_mpi_host_begin(&p->host, function, p->comm);
}

static int begin_matched(struct probe *p, int source, ct_mpi_handle comm, void **status)
{
	if (!begin_probe(p, CT_MPI_Mprobe, source, comm))
		return 0;
	*status = ct_mpi_status_of(*status, &p->own);
	return 1;
}

static void end_matched(struct probe *p, const void *message, const void *status, int result)
{
	if (result == CT_MPI_SUCCESS)
		keep_message(p->comm, message, status);
	ct_mpi_end_host(&p->host, result);
}

CT_MPI_RECORD_MEETING(ct_mpi_comm_after(comm, result), DATA, Probe,
		      (int source, int tag, ct_mpi_handle comm, void *status),
		      (source, tag, comm, status), struct probe,
		      begin_probe(&f, CT_MPI_Probe, source, comm), ct_mpi_end_host(&f.host, result))
CT_MPI_RECORD_MEETING(ct_mpi_comm_after(comm, result), DATA, Mprobe,
		      (int source, int tag, ct_mpi_handle comm, void *message, void *status),
		      (source, tag, comm, message, status), struct probe,
		      begin_matched(&f, source, comm, &status),
		      end_matched(&f, message, status, result))

/* ---- that ask
 * ------------------------------------------------------------------------------------------------ */

struct iprobe {
	struct ct_mpi_question asked;
	struct ct_traced_comm *comm;
	struct ct_mpi_status own;
};

static int ask(struct iprobe *q, enum ct_mpi_function function, int source, ct_mpi_handle comm)
{
	q->comm = comm_of(source, comm);
	return q->comm && ct_mpi_poll_ask(&q->asked, function, q->comm->id);
}

static int ask_matched(struct iprobe *q, int source, ct_mpi_handle comm, void **status)
{
	if (!ask(q, CT_MPI_Improbe, source, comm))
		return 0;
	*status = ct_mpi_status_of(*status, &q->own);
	return 1;
}

static void answer_matched(const struct iprobe *q, const int *flag, const void *message,
			   const void *status, int result)
{
	uint64_t now_ns = ct_now_ns();

	if (result == CT_MPI_SUCCESS && *flag)
		keep_message(q->comm, message, status);
	ct_mpi_poll_answer(&q->asked, result || *flag, now_ns);
}

CT_MPI_RECORD_MEETING(ct_mpi_comm_after(comm, result), DATA, Iprobe,
		      (int source, int tag, ct_mpi_handle comm, int *flag, void *status),
		      (source, tag, comm, flag, status), struct iprobe,
		      ask(&f, CT_MPI_Iprobe, source, comm),
		      ct_mpi_poll_answer(&f.asked, result || *flag, ct_now_ns()))
CT_MPI_RECORD_MEETING(ct_mpi_comm_after(comm, result), DATA, Improbe,
		      (int source, int tag, ct_mpi_handle comm, int *flag, void *message,
		       void *status),
		      (source, tag, comm, flag, message, status), struct iprobe,
		      ask_matched(&f, source, comm, &status),
		      answer_matched(&f, flag, message, status, result))
