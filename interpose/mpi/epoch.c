/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that begin and end epochs of one-sided communication. Most may wait for other
 * processes; fences are ops of all members of the window. */
#include "interpose/mpi/comm.h"
#include "interpose/mpi/poll.h"

#define MPI_CALL_EPOCH(name, params, args)                                                         \
	CT_MPI_RECORD(DATA, name, params, args, struct ct_host_frame,                              \
		      ct_mpi_host_begin(&f, CT_MPI_##name, ct_mpi_win(win)),                       \
		      ct_mpi_end_host(&f, result))

/* Asked again and again until it is time, which is a wait (poll.h). */
static int ask(struct ct_mpi_question *q, enum ct_mpi_function function,
	       const struct ct_traced_comm *win)
{
	return ct_mpi_poll_ask(q, function, win ? win->id : 0);
}

#define MPI_CALL_TRY(name, params, args)                                                           \
	CT_MPI_RECORD(DATA, name, params, args, struct ct_mpi_question,                            \
		      ask(&f, CT_MPI_##name, ct_mpi_win(win)),                                     \
		      ct_mpi_poll_answer(&f, result || *flag, ct_now_ns()))

static int begin_fence(struct ct_op_frame *f, enum ct_mpi_function function,
		       struct ct_traced_comm *win)
{
	struct ct_op op = { .op = CT_OP_Fence, .call = ct_mpi_call_id(function), .peer = -1 };

	if (!win)
		return 0;
	op.seq = atomic_fetch_add_explicit(&win->entry->next_seq, 1, memory_order_relaxed);
	ct_op_begin(f, win, &op);
	return 1;
}

#define MPI_CALL_FENCE(name, params, args)                                                         \
	CT_MPI_RECORD_MEETING(ct_mpi_win_after(win, result), DATA, name, params, args,             \
			      struct ct_op_frame, begin_fence(&f, CT_MPI_##name, ct_mpi_win(win)), \
			      ct_mpi_end_op(&f, ct_now_ns(), result))

#include "interpose/abi/mpi_rma_calls.def"
