/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent operations: each start is an op of its own, with a launch that a wait ends. And how
 * requests go. */
#include "interpose/mpi/begin.h"
#include "interpose/mpi/parts.h"

/* The number that a start gets. A collective's is that of its communicator, in the order of starts.
 */
static uint64_t next_seq(struct ct_mpi_request *r)
{
	if (r->flags & CT_MPI_REQUEST_PARTITIONED)
		return r->ordinal << 32 | r->rounds++;
	if (ct_op_class(r->op.op) == CT_CLASS_P2P)
		return ct_mpi_next_message(r);
	return atomic_fetch_add_explicit(&r->comm->entry->next_seq, 1, memory_order_relaxed);
}

/* Publish the op of one start. A communicator that was freed has ended: nothing is recorded on it
 * any more. */
static void begin_start(struct ct_op_frame *f, struct ct_mpi_request *r)
{
	if (!r || !(r->flags & CT_MPI_REQUEST_PERSISTENT) || r->comm->id != r->comm_id)
		return;
	r->op.seq = next_seq(r);
	ct_mpi_parts_report(r->parts, r->comm_id, r->op.seq);
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
	ct_op_store_end(&(struct ct_op_frame){ .slot = r->slot, .enter_ns = r->op.enter_ns },
			now_ns, result);
	r->slot = NULL;
}

static struct ct_mpi_request *at(const void *requests, uint32_t i)
{
	uintptr_t key = ct_mpi_request_key(requests, i);

	return key ? ct_mpi_requests_find(key, 0) : NULL;
}

/* The i-th was started, of those that are not known: of one for which there was no space it is not
 * on record. (It may move nothing, where its other side is MPI_PROC_NULL: too many are counted
 * rather than too few.) */
static void lose_start(const void *requests, uint32_t i, int result)
{
	if (!result && ct_mpi_requests_lost() && ct_mpi_request_key(requests, i))
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_STARTS_LOST, 1);
}

struct start {
	struct ct_op_frame op; /* first */
	struct ct_mpi_request *request;
};

static int begin_one(struct start *s, const void *request)
{
	s->request = at(request, 0);
	begin_start(&s->op, s->request);
	return s->request || ct_mpi_requests_lost();
}

static void end_one(struct start *s, const void *request, int result)
{
	if (s->request)
		end(s->request, ct_now_ns(), ct_mpi_result(result));
	else
		lose_start(request, 0, result);
	ct_guard_leave();
}

CT_MPI_RECORD(DATA, Start, (void *request), (request), struct start, begin_one(&f, request),
	      end_one(&f, request, result))

static CT_UNWIND_WHOLE int record_Startall(int n, void *requests, ct_MPI_Startall_fn *real)
{
	uint32_t known = (ct_mpi_requests_count() || ct_mpi_requests_lost()) && n > 0 ? (uint32_t)n
										      : 0;
	struct ct_mpi_request *r;
	struct ct_op_frame f;
	uint64_t now_ns;
	int result;

	CT_UNWIND_HERE();
	for (uint32_t i = 0; i < known; i++)
		begin_start(&f, at(requests, i));
	result = real(n, requests);
	now_ns = ct_now_ns();
	for (uint32_t i = 0; i < known; i++) {
		if ((r = at(requests, i)) != NULL)
			end(r, now_ns, ct_mpi_result(result));
		else
			lose_start(requests, i, result);
	}
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Startall, (int n, void *requests), (n, requests), CT_CALL_DATA)

static void end_free(uintptr_t key, int result)
{
	if (result == CT_MPI_SUCCESS)
		ct_mpi_requests_forget(key);
	ct_guard_leave();
}

CT_MPI_RECORD_SMALL(DATA, Request_free, (void *request), (request), uintptr_t,
		    (f = ct_mpi_request_key(request, 0)) != 0, end_free(f, result))

/* The status of the wait that follows shows whether it worked. */
static void end_cancel(struct ct_mpi_request *r, int result)
{
	if (r->flags & CT_MPI_REQUEST_ACTIVE && result == CT_MPI_SUCCESS)
		r->flags |= CT_MPI_REQUEST_CANCELLED;
	ct_guard_leave();
}

CT_MPI_RECORD_SMALL(DATA, Cancel, (void *request), (request), struct ct_mpi_request *,
		    (f = at(request, 0)) != NULL, end_cancel(f, result))

/* ---- partitioned
 * --------------------------------------------------------------------------------------------- */

/* Requests for partitioned transfers are matched once, in the order in which they are made; all
 * their starts belong together. Sender and receiver may cut the same data differently. */
static void keep_partitioned(struct ct_traced_comm *comm, const struct ct_mpi_transfer *transfer,
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
	kept.op.tag |= CT_TAG_PARTITIONED;
	kept.flags |= CT_MPI_REQUEST_PERSISTENT | CT_MPI_REQUEST_PARTITIONED;
	kept.ordinal = ct_mpi_next_message(&kept);
	ct_mpi_requests_keep(key, &kept);
}

#define PARTITIONED(name, direction, const_, peer)                                                 \
	CT_MPI_RECORD_PERSISTENT(                                                                  \
		name,                                                                              \
		(const_ void *buf, int partitions, ct_mpi_count count, ct_mpi_handle type,         \
		 int peer, int tag, ct_mpi_handle comm, ct_mpi_handle info, void *request),        \
		(buf, partitions, count, type, peer, tag, comm, info, request),                    \
		keep_partitioned(ct_mpi_comm_after(comm, result),                                  \
				 &(struct ct_mpi_transfer){ CT_MPI_##name, direction,              \
							    partitions * count, type, peer, tag }, \
				 request, result))
#define WRITABLE
PARTITIONED(Psend_init, CT_SEND, const, dest)
PARTITIONED(Precv_init, CT_RECV, WRITABLE, source)
