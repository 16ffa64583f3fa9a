/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent operations: each start is an op of its own, with a launch that a wait ends. And how requests go. */
#include "interpose/mpi_begin.h"

/* The number that a start gets. A collective's is that of its communicator, in the order of starts. */
static uint64_t next_seq(struct ct_mpi_request *r)
{
	if (r->flags & CT_MPI_REQUEST_PARTITIONED)
		return r->ordinal << 32 | r->rounds++;
	if (ct_op_class(r->op.op) == CT_CLASS_P2P)
		return ct_mpi_next_message(r);
	return atomic_fetch_add_explicit(&r->comm->entry->next_seq, 1, memory_order_relaxed);
}

/* Publish the op of one start. A communicator that was freed has ended: nothing is recorded on it any more. */
static void begin(struct ct_op_frame *f, struct ct_mpi_request *r)
{
	if (!r || !(r->flags & CT_MPI_REQUEST_PERSISTENT) || r->comm->id != r->comm_id)
		return;
	r->op.seq = next_seq(r);
	r->op.launch = ct_recorder_slot_launch();
	ct_op_begin(f, r->comm, &r->op);
	r->slot = f->slot;
	r->is_starting = 1;
}

static void end(struct ct_mpi_request *r, uint64_t now_ns, int result)
{
	if (!r || !r->is_starting)
		return;
	r->is_starting = 0;
	if (result)
		ct_mpi_requests_failed(r, now_ns, result);
	else
		ct_mpi_requests_started(r);
	if (r->slot)
		atomic_store_explicit(&r->slot->w[CT_OP_W_END],
				      ct_op_end_word(r->op.enter_ns, now_ns, result),
				      memory_order_release);
	r->slot = NULL;
}

static struct ct_mpi_request *at(const void *requests, uint32_t i)
{
	uintptr_t key = ct_mpi_request_key(requests, i);

	return key ? ct_mpi_requests_find(key, 0) : NULL;
}

static CT_UNWIND_WHOLE int record_Start(void *request, ct_MPI_Start_fn *real)
{
	struct ct_mpi_request *r = at(request, 0);
	struct ct_op_frame f;
	int result;

	CT_UNWIND_HERE();
	begin(&f, r);
	result = real(request);
	end(r, ct_now_ns(), ct_mpi_result(result));
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Start, (void *request), (request), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Startall(int n, void *requests, ct_MPI_Startall_fn *real)
{
	uint32_t known = ct_mpi_requests_count() && n > 0 ? (uint32_t)n : 0;
	struct ct_op_frame f;
	uint64_t now_ns;
	int result;

	CT_UNWIND_HERE();
	for (uint32_t i = 0; i < known; i++)
		begin(&f, at(requests, i));
	result = real(n, requests);
	now_ns = ct_now_ns();
	for (uint32_t i = 0; i < known; i++)
		end(at(requests, i), now_ns, ct_mpi_result(result));
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Startall, (int n, void *requests), (n, requests), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Request_free(void *request, ct_MPI_Request_free_fn *real)
{
	uintptr_t key = ct_mpi_request_key(request, 0);
	int result;

	CT_UNWIND_HERE();
	result = real(request);
	if (key && result == CT_MPI_SUCCESS)
		ct_mpi_requests_forget(key);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS_SMALL(Request_free, (void *request), (request), CT_CALL_DATA)

/* Whether it worked is told by the status of the wait that follows. */
static CT_UNWIND_WHOLE int record_Cancel(void *request, ct_MPI_Cancel_fn *real)
{
	struct ct_mpi_request *r = at(request, 0);
	int result;

	CT_UNWIND_HERE();
	result = real(request);
	if (r && r->flags & CT_MPI_REQUEST_ACTIVE && result == CT_MPI_SUCCESS)
		r->flags |= CT_MPI_REQUEST_CANCELLED;
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS_SMALL(Cancel, (void *request), (request), CT_CALL_DATA)

/* ---- partitioned --------------------------------------------------------------------------------------------- */

/* Requests for partitioned transfers are matched once, in the order in which they are made; all their starts belong
 * together. Sender and receiver may cut the same data differently. */
static void keep_partitioned(struct ct_comm *comm, const struct ct_mpi_transfer *transfer,
			     const void *request, int result)
{
	struct ct_mpi_request kept;
	uintptr_t key;

	if (result != CT_MPI_SUCCESS)
		return;
	key = (uintptr_t)ct_mpi_key(ct_mpi_handle_at(request, 0));
	if (!comm || !ct_mpi_describe(&kept, comm, transfer)) {
		ct_mpi_requests_forget(key);
		return;
	}
	kept.op.tag |= CT_MPI_TAG_PARTITIONED;
	kept.flags |= CT_MPI_REQUEST_PERSISTENT | CT_MPI_REQUEST_PARTITIONED;
	kept.ordinal = ct_mpi_next_message(&kept);
	ct_mpi_requests_keep(key, &kept);
}

#define PARTITIONED(name, direction, const_, peer)                                                 \
	static CT_UNWIND_WHOLE int record_##name(const_ void *buf, int partitions,                 \
						 ct_mpi_count count, ct_mpi_handle type, int peer, \
						 int tag, ct_mpi_handle comm, ct_mpi_handle info,  \
						 void *request, ct_MPI_##name##_fn *real)          \
	{                                                                                          \
		const struct ct_mpi_transfer t = { CT_MPI_##name, direction, partitions * count,   \
						   type,	  peer,	     tag };                \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real(buf, partitions, count, type, peer, tag, comm, info, request);       \
		keep_partitioned(ct_mpi_comm(comm), &t, request, result);                          \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(                                                                     \
		name,                                                                              \
		(const_ void *buf, int partitions, ct_mpi_count count, ct_mpi_handle type,         \
		 int peer, int tag, ct_mpi_handle comm, ct_mpi_handle info, void *request),        \
		(buf, partitions, count, type, peer, tag, comm, info, request), CT_CALL_DATA)
#define WRITABLE
PARTITIONED(Psend_init, CT_SEND, const, dest)
PARTITIONED(Precv_init, CT_RECV, WRITABLE, source)
