/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/message.h"

_Static_assert(CT_SEND == 0 && CT_RECV == 1, "the direction as an index");

/* What a call names as this rank. */
static int32_t member_of(const struct ct_traced_comm *comm, int rank)
{
	return (int32_t)comm->first_peer + rank;
}

int ct_mpi_describe(struct ct_mpi_request *request, struct ct_traced_comm *comm,
		    const struct ct_mpi_transfer *t)
{
	int any_source = t->direction == CT_RECV && t->peer == ct_mpi.is.ANY_SOURCE;
	int any_tag = t->direction == CT_RECV && t->tag == ct_mpi.is.ANY_TAG;
	uint64_t count = t->count > 0 ? (uint64_t)t->count : 0;
	struct ct_mpi_element element;

	if (t->peer == ct_mpi.is.PROC_NULL || (t->peer < 0 && !any_source) ||
	    (t->tag < 0 && !any_tag))
		return 0;
	element = ct_mpi_element(t->type);
	*request = (struct ct_mpi_request){
		.op = {
			.op = t->direction == CT_SEND ? CT_OP_Send : CT_OP_Recv,
			.call = ct_mpi_call_id(t->function),
			.peer = any_source ? -1 : member_of(comm, t->peer),
			.tag = any_tag ? CT_TAG_ANY : (uint32_t)t->tag,
			.dtype = element.dtype,
			.count = ct_mpi_count_of(element, count),
			.comm = comm->id,
		},
		.bytes = count * element.bytes,
		.comm = comm,
		.comm_id = comm->id,
		.flags = (any_source ? CT_MPI_REQUEST_ANY_SOURCE : 0) |
			 (any_tag ? CT_MPI_REQUEST_ANY_TAG : 0),
	};
	return 1;
}

static enum ct_direction direction_of(const struct ct_mpi_request *request)
{
	return request->op.op == CT_OP_Send ? CT_SEND : CT_RECV;
}

uint64_t ct_mpi_next_message(const struct ct_mpi_request *request)
{
	return ct_channels_next(request->comm_id, direction_of(request), request->op.peer,
				request->op.tag);
}

enum ct_mpi_handle_kind ct_mpi_handle_kind(ct_mpi_handle handle)
{
	const uint32_t builtin = 1; /* MPICH: the upper two bits of a handle say how it came to be */

	switch (ct_mpi.flavour) {
	case CT_MPI_OPENMPI:
		return handle == ct_mpi.is.REQUEST_EMPTY ? CT_MPI_HANDLE_DONE : CT_MPI_HANDLE_OWN;
	case CT_MPI_MPICH:
		return (uint32_t)handle >> 30 == builtin ? CT_MPI_HANDLE_DONE : CT_MPI_HANDLE_OWN;
	default:
		return CT_MPI_HANDLE_SHARED;
	}
}

/* Bytes in a status. 0: it has none. */
static int bytes_of(const void *status, uint64_t *bytes)
{
	ct_mpi_count wide = -1;
	int narrow = -1, result;

	if (ct_mpi.call.Get_elements_x) {
		result = ct_mpi.call.Get_elements_x(status, ct_mpi.is.BYTE, &wide);
	} else {
		result = ct_mpi.call.Get_count(status, ct_mpi.is.BYTE, &narrow);
		wide = narrow;
	}
	*bytes = wide > 0 ? (uint64_t)wide : 0;
	return result == CT_MPI_SUCCESS && wide >= 0;
}

int ct_mpi_received(const struct ct_mpi_request *request, const void *status,
		    struct ct_mpi_received *got)
{
	uint32_t any = CT_MPI_REQUEST_ANY_SOURCE | CT_MPI_REQUEST_ANY_TAG;
	int source, tag;

	if (!status || request->flags & CT_MPI_REQUEST_UNREPORTED || !bytes_of(status, &got->bytes))
		return 0;
	got->peer = -1;
	if (!(request->flags & any))
		return 1;
	source = ct_mpi_status_int(status, ct_mpi.is.status_source);
	tag = ct_mpi_status_int(status, ct_mpi.is.status_tag);
	if (request->comm->id != request->comm_id || source < 0 ||
	    (uint32_t)source >= request->comm->n_peers || tag < 0)
		return 0;
	got->peer = request->flags & CT_MPI_REQUEST_ANY_SOURCE ? member_of(request->comm, source)
							       : request->op.peer;
	got->tag = (uint32_t)tag;
	got->seq = ct_channels_next(request->comm_id, CT_RECV, got->peer, got->tag);
	return 1;
}

static void store(struct ct_slot *slot, uint32_t word, uint64_t value)
{
	atomic_store_explicit(&slot->w[word], value, memory_order_relaxed);
}

/* Count and element type of so many bytes, in the words of a slot. */
static void store_bytes(struct ct_slot *slot, struct ct_op op, uint64_t bytes)
{
	uint32_t each = ct_dtype_bytes(op.dtype);
	uint64_t w[8];

	if (bytes % each)
		op.dtype = CT_DTYPE_elem1;
	op.count = bytes % each ? bytes : bytes / each;
	ct_op_pack(&op, w);
	store(slot, CT_OP_W_COUNT, op.count);
	store(slot, CT_OP_W_WHAT, w[CT_OP_W_WHAT]);
}

/* The number before the peer, and both before the end: a reader in between finds a receive from
 * any. */
void ct_mpi_record_op(struct ct_slot *slot, const struct ct_mpi_request *request,
		      const void *status)
{
	struct ct_mpi_received got;

	if (!ct_mpi_received(request, status, &got) || !slot)
		return;
	if (got.bytes != request->bytes)
		store_bytes(slot, request->op, got.bytes);
	if (got.peer < 0)
		return;
	store(slot, CT_OP_W_SEQ, got.seq);
	atomic_store_explicit(&slot->w[CT_OP_W_PEER], (uint64_t)got.tag << 32 | (uint32_t)got.peer,
			      memory_order_release);
}

static void record_match(const struct ct_mpi_request *request, const void *status)
{
	const struct ct_op *op = &request->op;
	struct ct_match_rec match = {
		.comm = op->comm,
		.launch = op->launch,
		.peer = op->peer,
		.tag = op->tag,
		.seq = op->seq,
		.flags = CT_MATCH_BYTES,
	};
	struct ct_mpi_received got;

	if ((!status || request->flags & CT_MPI_REQUEST_UNREPORTED) &&
	    request->flags & (CT_MPI_REQUEST_ANY_SOURCE | CT_MPI_REQUEST_ANY_TAG))
		ct_channels_stop(request->comm_id); /* whose next message that was is a guess */
	if (!ct_mpi_received(request, status, &got) ||
	    (got.peer < 0 && got.bytes == request->bytes))
		return;
	match.bytes = got.bytes;
	if (got.peer >= 0) {
		match.peer = got.peer;
		match.tag = got.tag;
		match.seq = got.seq;
	}
	ct_recorder_rare(CT_KIND_MATCH, &match);
}

/* Nothing came, and nothing will: its number is the next receive's again, and it has none that a
 * sender has. */
static void record_cancelled(const struct ct_mpi_request *request)
{
	const struct ct_op *op = &request->op;
	const struct ct_match_rec match = {
		.comm = op->comm,
		.launch = op->launch,
		.peer = op->peer,
		.tag = op->tag,
		.seq = op->seq | CT_SEQ_UNMATCHED,
		.flags = CT_MATCH_BYTES,
	};

	if (!(request->flags & CT_MPI_REQUEST_PARTITIONED))
		ct_channels_return(op->comm, CT_RECV, op->peer, op->tag, op->seq);
	ct_recorder_rare(CT_KIND_MATCH, &match);
}

void ct_mpi_complete(const struct ct_mpi_request *request, const void *status, uint64_t now_ns,
		     int result)
{
	int is_cancelled = 0;

	if (request->flags & CT_MPI_REQUEST_CANCELLED && status)
		ct_mpi.call.Test_cancelled(status, &is_cancelled);
	if (is_cancelled)
		result = CT_RESULT_ABORTED;
	if (is_cancelled && request->op.op == CT_OP_Recv)
		record_cancelled(request);
	else if (result == 0 && request->op.op == CT_OP_Recv)
		record_match(request, status);
	ct_mpi_requests_close(request, now_ns, CT_SOURCE_WAIT, result);
}
