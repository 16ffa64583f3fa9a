/* SPDX-License-Identifier: Apache-2.0 */
/* Receives, of a message that a probe has matched as well. */
#include "interpose/mpi/begin.h"

/* One that waits for its data. */
struct receive {
	struct ct_mpi_begun begun; /* first */
	struct ct_mpi_status own;
};

static int begin_receive(struct receive *r, ct_mpi_handle comm,
			 const struct ct_mpi_transfer *transfer, void **status)
{
	if (!ct_mpi_begin_blocking(&r->begun, ct_mpi_comm(comm), transfer))
		return 0;
	*status = ct_mpi_status_of(*status, &r->own);
	return 1;
}

/* The op of a receive whose message is known since its probe. 0: there is nothing to record. */
static int describe_matched(struct ct_mpi_request *request, const void *message,
			    enum ct_mpi_function function, int64_t count, ct_mpi_handle type)
{
	uint64_t posted = count > 0 ? (uint64_t)count : 0;
	struct ct_mpi_element element;
	struct ct_mpi_request matched;

	if (!ct_mpi_requests_take_message(ct_mpi_message_key(message), &matched) ||
	    matched.comm->id != matched.comm_id)
		return 0;
	element = ct_mpi_element(type);
	*request = matched;
	request->flags = 0;
	request->op.call = ct_mpi_call_id(function);
	request->op.dtype = element.dtype;
	request->op.count = ct_mpi_count_of(element, posted);
	request->bytes = posted * element.bytes;
	return 1;
}

static int begin_matched(struct receive *r, const void *message, enum ct_mpi_function function,
			 int64_t count, ct_mpi_handle type, void **status)
{
	struct ct_mpi_begun *b = &r->begun;

	if (!describe_matched(&b->request, message, function, count, type))
		return 0;
	ct_op_begin(&b->op, b->request.comm, &b->request.op);
	*status = ct_mpi_status_of(*status, &r->own);
	return 1;
}

static int begin_matched_request(struct ct_mpi_begun *b, const void *message,
				 enum ct_mpi_function function, int64_t count, ct_mpi_handle type)
{
	if (!describe_matched(&b->request, message, function, count, type))
		return 0;
	ct_mpi_begin_described(b);
	return 1;
}

/* ---- the functions
 * ------------------------------------------------------------------------------------------- */

/* What it receives, by the usual names of arguments. */
#define TRANSFER(name)                                                                             \
	((struct ct_mpi_transfer){ CT_MPI_##name, CT_RECV, count, type, source, tag })

#define RECORD_RECV(name, params, args)                                                            \
	RECORD_AS(ct_mpi_comm_after(comm, result), DATA, name, params, args, struct receive,       \
		  begin_receive(&f, comm, &TRANSFER(name), &status),                               \
		  ct_mpi_end_receive(&f.begun, status, result))
#define RECORD_IRECV(name, params, args)                                                           \
	RECORD_AS(ct_mpi_comm_after(comm, result), DATA, name, params, args, struct ct_mpi_begun,  \
		  ct_mpi_begin(&f, ct_mpi_comm(comm), &TRANSFER(name)),                            \
		  ct_mpi_begun(&f, request, result))
#define RECORD_RECV_INIT(name, params, args)                                                       \
	CT_MPI_RECORD_PERSISTENT(name, params, args,                                               \
				 ct_mpi_keep(ct_mpi_comm_after(comm, result), &TRANSFER(name),     \
					     request, result))
#define RECORD_MRECV(name, params, args)                                                           \
	RECORD_AS((void)0, DATA, name, params, args, struct receive,                               \
		  begin_matched(&f, message, CT_MPI_##name, count, type, &status),                 \
		  ct_mpi_end_receive(&f.begun, status, result))
#define RECORD_IMRECV(name, params, args)                                                          \
	RECORD_AS((void)0, DATA, name, params, args, struct ct_mpi_begun,                          \
		  begin_matched_request(&f, message, CT_MPI_##name, count, type),                  \
		  ct_mpi_begun(&f, request, result))

#define RECEIVE(RECORD, name, COUNT, end)                                                          \
	RECORD(name,                                                                               \
	       (void *buf, COUNT count, ct_mpi_handle type, int source, int tag,                   \
		ct_mpi_handle comm, void *end),                                                    \
	       (buf, count, type, source, tag, comm, end))
#define MATCHED(RECORD, name, COUNT, end)                                                          \
	RECORD(name, (void *buf, COUNT count, ct_mpi_handle type, void *message, void *end),       \
	       (buf, count, type, message, end))

/* Those with counts of int are the ones that programs call. */
#define RECORD_AS CT_MPI_RECORD_MEETING
RECEIVE(RECORD_RECV, Recv, int, status)
RECEIVE(RECORD_IRECV, Irecv, int, request)
RECEIVE(RECORD_RECV_INIT, Recv_init, int, request)
MATCHED(RECORD_MRECV, Mrecv, int, status)
MATCHED(RECORD_IMRECV, Imrecv, int, request)

#undef RECORD_AS
#define RECORD_AS CT_MPI_RECORD_MEETING_SMALL
RECEIVE(RECORD_RECV, Recv_c, ct_mpi_count, status)
RECEIVE(RECORD_IRECV, Irecv_c, ct_mpi_count, request)
RECEIVE(RECORD_RECV_INIT, Recv_init_c, ct_mpi_count, request)
MATCHED(RECORD_MRECV, Mrecv_c, ct_mpi_count, status)
MATCHED(RECORD_IMRECV, Imrecv_c, ct_mpi_count, request)
