/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/begin.h"

int ct_mpi_begin_blocking(struct ct_mpi_begun *b, struct ct_traced_comm *comm,
			  const struct ct_mpi_transfer *transfer)
{
	if (!comm || !ct_mpi_describe(&b->request, comm, transfer))
		return 0;
	b->request.op.seq = ct_mpi_next_message(&b->request);
	ct_op_begin(&b->op, comm, &b->request.op);
	return 1;
}

void ct_mpi_end_receive(struct ct_mpi_begun *b, const void *status, int result)
{
	uint64_t now_ns = ct_now_ns();

	if (result == CT_MPI_SUCCESS)
		ct_mpi_record_op(b->op.slot, &b->request, status);
	ct_mpi_end_op(&b->op, now_ns, result);
}

static void leave(struct ct_frame *frame)
{
	struct ct_mpi_begun *b = (struct ct_mpi_begun *)frame;
	uint64_t now_ns = ct_now_ns();

	ct_mpi_requests_failed(&b->request, now_ns, CT_RESULT_EXCEPTION);
	ct_op_end(&b->op, now_ns, CT_RESULT_EXCEPTION);
}

void ct_mpi_begin_described(struct ct_mpi_begun *b)
{
	b->request.op.launch = ct_recorder_slot_launch();
	ct_op_begin(&b->op, b->request.comm, &b->request.op);
	b->op.frame.leave = leave;
}

int ct_mpi_begin(struct ct_mpi_begun *b, struct ct_traced_comm *comm,
		 const struct ct_mpi_transfer *transfer)
{
	if (!comm || !ct_mpi_describe(&b->request, comm, transfer))
		return 0;
	b->request.op.seq = ct_mpi_next_message(&b->request);
	ct_mpi_begin_described(b);
	return 1;
}

void ct_mpi_begun(struct ct_mpi_begun *b, const void *request, int result)
{
	uint64_t now_ns = ct_now_ns();
	int code = ct_mpi_result(result);

	if (result == CT_MPI_SUCCESS) {
		ct_mpi_handle handle = ct_mpi_handle_at(request, 0);

		ct_mpi_requests_begun((uintptr_t)ct_mpi_key(handle), ct_mpi_handle_kind(handle),
				      &b->request, now_ns);
	} else {
		ct_mpi_requests_failed(&b->request, now_ns, code);
	}
	ct_mpi_end_op(&b->op, now_ns, result);
}

void ct_mpi_keep(struct ct_traced_comm *comm, const struct ct_mpi_transfer *transfer,
		 const void *request, int result)
{
	struct ct_mpi_request kept;
	uintptr_t key;

	if (result != CT_MPI_SUCCESS)
		return;
	key = (uintptr_t)ct_mpi_key(ct_mpi_handle_at(request, 0));
	if (comm && ct_mpi_describe(&kept, comm, transfer)) {
		kept.flags |= CT_MPI_REQUEST_PERSISTENT;
		ct_mpi_requests_keep(key, &kept);
	} else {
		ct_mpi_requests_forget(key); /* whatever had the handle before */
	}
}
