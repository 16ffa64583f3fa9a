/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that send and receive: two ops, of one call, or of one launch where it returns before they
 * are done. */
#include "interpose/mpi/begin.h"

/* ---- blocking
 * ------------------------------------------------------------------------------------------------ */

/* The later op has the thread's frame, which ends both. */
struct exchange {
	struct ct_mpi_begun receive; /* first */
	struct ct_mpi_begun send;
	struct ct_mpi_status own;
	int receives, sends;
};

static void leave_both(struct ct_frame *frame)
{
	struct exchange *e = (struct exchange *)frame;
	uint64_t now_ns = ct_now_ns();

	if (e->sends)
		ct_op_end(&e->send.op, now_ns, CT_RESULT_EXCEPTION);
	ct_op_end(&e->receive.op, now_ns, CT_RESULT_EXCEPTION);
}

static int begin_exchange(struct exchange *e, struct ct_traced_comm *comm,
			  const struct ct_mpi_transfer *send, const struct ct_mpi_transfer *receive,
			  void **status)
{
	e->sends = ct_mpi_begin_blocking(&e->send, comm, send);
	e->receives = ct_mpi_begin_blocking(&e->receive, comm, receive);
	if (e->receives)
		e->receive.op.frame.leave = leave_both;
	if (e->sends || e->receives)
		*status = ct_mpi_status_of(*status, &e->own);
	return e->sends || e->receives;
}

static void end(struct exchange *e, const void *status, int result)
{
	if (e->sends)
		ct_mpi_end_op(&e->send.op, ct_now_ns(), result);
	if (e->receives)
		ct_mpi_end_receive(&e->receive, status, result);
	ct_guard_leave();
}

#define BLOCKING(name, params, args, send, receive)                                                \
	RECORD_AS(ct_mpi_comm_after(comm, result), DATA, name, params, args, struct exchange,      \
		  begin_exchange(&f, ct_mpi_comm(comm), &send, &receive, &status),                 \
		  end(&f, status, result))

/* ---- nonblocking
 * --------------------------------------------------------------------------------------------- */

struct begun {
	struct ct_mpi_begun receive; /* first */
	struct ct_op_frame send;
	int n; /* ops: one of the two, in `receive`, or both */
};

static void leave_begun(struct ct_frame *frame)
{
	struct begun *b = (struct begun *)frame;
	uint64_t now_ns = ct_now_ns();

	ct_mpi_requests_failed(&b->receive.request, now_ns, CT_RESULT_EXCEPTION);
	ct_op_end(&b->send, now_ns, CT_RESULT_EXCEPTION);
	ct_op_end(&b->receive.op, now_ns, CT_RESULT_EXCEPTION);
}

/* The one that moves something, if that is only one. */
static int begin_one(struct begun *b, struct ct_traced_comm *comm,
		     const struct ct_mpi_transfer *send, const struct ct_mpi_transfer *receive)
{
	return ct_mpi_begin(&b->receive, comm, receive) || ct_mpi_begin(&b->receive, comm, send);
}

/* 0: nothing to record. MPICH 4.0 gives such requests a status that says nothing true. */
static int begin_both(struct begun *b, struct ct_traced_comm *comm,
		      const struct ct_mpi_transfer *send, const struct ct_mpi_transfer *receive)
{
	struct ct_mpi_request *in = &b->receive.request;
	uint32_t unreported = ct_mpi.flavour == CT_MPI_MPICH ? CT_MPI_REQUEST_UNREPORTED : 0;
	struct ct_mpi_request out;

	if (!comm)
		return 0;
	if (ct_mpi_describe(&out, comm, send) && ct_mpi_describe(in, comm, receive)) {
		in->flags |= CT_MPI_REQUEST_PAIR;
		in->op.launch = out.op.launch = ct_recorder_slot_launch();
		out.op.seq = ct_mpi_next_message(&out);
		ct_op_begin(&b->send, comm, &out.op);
		in->op.seq = ct_mpi_next_message(in);
		ct_op_begin(&b->receive.op, comm, &in->op);
		b->receive.op.frame.leave = leave_begun;
		b->n = 2;
	} else {
		b->n = begin_one(b, comm, send, receive);
	}
	in->flags |= unreported;
	return b->n;
}

static void both_begun(struct begun *b, const void *request, int result)
{
	if (b->n == 2)
		ct_mpi_end_op(&b->send, ct_now_ns(), result);
	ct_mpi_begun(&b->receive, request, result);
}

#define NONBLOCKING(name, params, args, send, receive)                                             \
	RECORD_AS(ct_mpi_comm_after(comm, result), DATA, name, params, args, struct begun,         \
		  begin_both(&f, ct_mpi_comm(comm), &send, &receive),                              \
		  both_begun(&f, request, result))

/* ---- the functions
 * ------------------------------------------------------------------------------------------- */

#define TWO_BUFFERS(FORM, name, COUNT, end_)                                                       \
	FORM(name,                                                                                 \
	     (const void *sendbuf, COUNT sendcount, ct_mpi_handle sendtype, int dest, int sendtag, \
	      void *recvbuf, COUNT recvcount, ct_mpi_handle recvtype, int source, int recvtag,     \
	      ct_mpi_handle comm, void *end_),                                                     \
	     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,   \
	      recvtag, comm, end_),                                                                \
	     PART(name, CT_SEND, sendcount, sendtype, dest, sendtag),                              \
	     PART(name, CT_RECV, recvcount, recvtype, source, recvtag))
#define ONE_BUFFER(FORM, name, COUNT, end_)                                                        \
	FORM(name,                                                                                 \
	     (void *buf, COUNT count, ct_mpi_handle type, int dest, int sendtag, int source,       \
	      int recvtag, ct_mpi_handle comm, void *end_),                                        \
	     (buf, count, type, dest, sendtag, source, recvtag, comm, end_),                       \
	     PART(name, CT_SEND, count, type, dest, sendtag),                                      \
	     PART(name, CT_RECV, count, type, source, recvtag))
#define PART(name, direction, count, type, peer, tag)                                              \
	(struct ct_mpi_transfer)                                                                   \
	{                                                                                          \
		CT_MPI_##name, direction, count, type, peer, tag                                   \
	}

/* Those with counts of int are the ones that programs call. */
#define RECORD_AS CT_MPI_RECORD_MEETING
TWO_BUFFERS(BLOCKING, Sendrecv, int, status)
ONE_BUFFER(BLOCKING, Sendrecv_replace, int, status)
TWO_BUFFERS(NONBLOCKING, Isendrecv, int, request)
ONE_BUFFER(NONBLOCKING, Isendrecv_replace, int, request)

#undef RECORD_AS
#define RECORD_AS CT_MPI_RECORD_MEETING_SMALL
TWO_BUFFERS(BLOCKING, Sendrecv_c, ct_mpi_count, status)
ONE_BUFFER(BLOCKING, Sendrecv_replace_c, ct_mpi_count, status)
TWO_BUFFERS(NONBLOCKING, Isendrecv_c, ct_mpi_count, request)
ONE_BUFFER(NONBLOCKING, Isendrecv_replace_c, ct_mpi_count, request)
