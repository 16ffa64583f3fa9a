/* SPDX-License-Identifier: Apache-2.0 */
/* Receives, of a message that a probe has matched as well. */
#include "interpose/mpi_begin.h"

/* A receive of `name`, whose arguments have their usual names. */
#define TRANSFER(name)                                                                             \
	{                                                                                          \
		CT_MPI_##name, CT_RECV, count, type, source, tag                                   \
	}

#define RECV(name, CT_COUNT, WRAPPERS)                                                             \
	static CT_UNWIND_WHOLE int record_##name(void *buf, CT_COUNT count, ct_mpi_handle type,    \
						 int source, int tag, ct_mpi_handle comm,          \
						 void *status, ct_MPI_##name##_fn *real)           \
	{                                                                                          \
		const struct ct_mpi_transfer t = TRANSFER(name);                                   \
		struct ct_mpi_blocking b;                                                          \
		struct ct_mpi_status own;                                                          \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (!ct_mpi_begin_blocking(&b, ct_mpi_comm(comm), &t)) {                           \
			result = real(buf, count, type, source, tag, comm, status);                \
			ct_guard_leave();                                                          \
			return result;                                                             \
		}                                                                                  \
		status = ct_mpi_status_of(status, &own);                                           \
		result = real(buf, count, type, source, tag, comm, status);                        \
		ct_mpi_end_receive(&b, status, result);                                            \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name,                                                                             \
		 (void *buf, CT_COUNT count, ct_mpi_handle type, int source, int tag,              \
		  ct_mpi_handle comm, void *status),                                               \
		 (buf, count, type, source, tag, comm, status), CT_CALL_DATA)
RECV(Recv, int, CT_MPI_WRAPPERS)
RECV(Recv_c, ct_mpi_count, CT_MPI_WRAPPERS_SMALL)

#define IRECV(name, CT_COUNT, WRAPPERS)                                                            \
	static CT_UNWIND_WHOLE int record_##name(void *buf, CT_COUNT count, ct_mpi_handle type,    \
						 int source, int tag, ct_mpi_handle comm,          \
						 void *request, ct_MPI_##name##_fn *real)          \
	{                                                                                          \
		const struct ct_mpi_transfer t = TRANSFER(name);                                   \
		struct ct_mpi_begun b;                                                             \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (!ct_mpi_begin(&b, ct_mpi_comm(comm), &t)) {                                    \
			result = real(buf, count, type, source, tag, comm, request);               \
			ct_guard_leave();                                                          \
			return result;                                                             \
		}                                                                                  \
		result = real(buf, count, type, source, tag, comm, request);                       \
		ct_mpi_begun(&b, request, result);                                                 \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name,                                                                             \
		 (void *buf, CT_COUNT count, ct_mpi_handle type, int source, int tag,              \
		  ct_mpi_handle comm, void *request),                                              \
		 (buf, count, type, source, tag, comm, request), CT_CALL_DATA)
IRECV(Irecv, int, CT_MPI_WRAPPERS)
IRECV(Irecv_c, ct_mpi_count, CT_MPI_WRAPPERS_SMALL)

#define RECV_INIT(name, CT_COUNT, WRAPPERS)                                                        \
	static CT_UNWIND_WHOLE int record_##name(void *buf, CT_COUNT count, ct_mpi_handle type,    \
						 int source, int tag, ct_mpi_handle comm,          \
						 void *request, ct_MPI_##name##_fn *real)          \
	{                                                                                          \
		const struct ct_mpi_transfer t = TRANSFER(name);                                   \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real(buf, count, type, source, tag, comm, request);                       \
		ct_mpi_keep(ct_mpi_comm(comm), &t, request, result);                               \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name,                                                                             \
		 (void *buf, CT_COUNT count, ct_mpi_handle type, int source, int tag,              \
		  ct_mpi_handle comm, void *request),                                              \
		 (buf, count, type, source, tag, comm, request), CT_CALL_DATA)
RECV_INIT(Recv_init, int, CT_MPI_WRAPPERS_SMALL)
RECV_INIT(Recv_init_c, ct_mpi_count, CT_MPI_WRAPPERS_SMALL)

/* ---- of a matched message ------------------------------------------------------------------------------------ */

/* The op of a receive whose message is known since its probe. 0: there is nothing to record. */
static int describe_matched(struct ct_mpi_request *request, const void *message,
			    enum ct_mpi_function function, int64_t count, ct_mpi_handle type)
{
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
	request->op.count = count > 0 ? (uint64_t)count : 0;
	request->bytes = request->op.count * element.bytes;
	if (element.dtype == CT_DTYPE_elem1)
		request->op.count = request->bytes;
	return 1;
}

#define MRECV(name, CT_COUNT, WRAPPERS)                                                            \
	static CT_UNWIND_WHOLE int record_##name(void *buf, CT_COUNT count, ct_mpi_handle type,    \
						 void *message, void *status,                      \
						 ct_MPI_##name##_fn *real)                         \
	{                                                                                          \
		struct ct_mpi_blocking b;                                                          \
		struct ct_mpi_status own;                                                          \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (!describe_matched(&b.request, message, CT_MPI_##name, count, type)) {          \
			result = real(buf, count, type, message, status);                          \
			ct_guard_leave();                                                          \
			return result;                                                             \
		}                                                                                  \
		ct_op_begin(&b.op, b.request.comm, &b.request.op);                                 \
		status = ct_mpi_status_of(status, &own);                                           \
		result = real(buf, count, type, message, status);                                  \
		ct_mpi_end_receive(&b, status, result);                                            \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name,                                                                             \
		 (void *buf, CT_COUNT count, ct_mpi_handle type, void *message, void *status),     \
		 (buf, count, type, message, status), CT_CALL_DATA)
MRECV(Mrecv, int, CT_MPI_WRAPPERS)
MRECV(Mrecv_c, ct_mpi_count, CT_MPI_WRAPPERS_SMALL)

#define IMRECV(name, CT_COUNT, WRAPPERS)                                                           \
	static CT_UNWIND_WHOLE int record_##name(void *buf, CT_COUNT count, ct_mpi_handle type,    \
						 void *message, void *request,                     \
						 ct_MPI_##name##_fn *real)                         \
	{                                                                                          \
		struct ct_mpi_begun b;                                                             \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (!describe_matched(&b.request, message, CT_MPI_##name, count, type)) {          \
			result = real(buf, count, type, message, request);                         \
			ct_guard_leave();                                                          \
			return result;                                                             \
		}                                                                                  \
		ct_mpi_begin_described(&b);                                                        \
		result = real(buf, count, type, message, request);                                 \
		ct_mpi_begun(&b, request, result);                                                 \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name,                                                                             \
		 (void *buf, CT_COUNT count, ct_mpi_handle type, void *message, void *request),    \
		 (buf, count, type, message, request), CT_CALL_DATA)
IMRECV(Imrecv, int, CT_MPI_WRAPPERS)
IMRECV(Imrecv_c, ct_mpi_count, CT_MPI_WRAPPERS_SMALL)
