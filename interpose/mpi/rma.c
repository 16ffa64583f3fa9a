/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided communication. Windows are communicators of their own (comm.h). A put, get or
 * accumulate is an op of its origin alone, with the target as peer and the origin's bytes; the span
 * of its record is the call, since the transfer is done some time before the synchronising call
 * that ends its epoch. Fences are collective ops; the other synchronising calls are on record from
 * begin to end. */
#include "interpose/channels.h"
#include "interpose/mpi/begin.h"
#include "interpose/mpi/comm.h"

/* The functions from here on are inlined into one body for each function. */
#define EACH_ROW inline __attribute__((always_inline))

/* What an origin moves. */
struct access {
	uint8_t op;
	int64_t count;
	ct_mpi_handle type;
	int target; /* rank in the window */
	ct_mpi_handle redop;
	int has_redop;
};

static EACH_ROW void describe(struct ct_op *op, enum ct_mpi_function function,
			      const struct access *t, struct ct_traced_comm *win)
{
	struct ct_mpi_element element = ct_mpi_element(t->type);
	uint64_t count = t->count > 0 ? (uint64_t)t->count : 0;

	*op = (struct ct_op){
		.op = t->op,
		.call = ct_mpi_call_id(function),
		.peer = t->target,
		.seq = ct_channels_next(win->id, CT_SEND, t->target, t->op),
		.redop = t->has_redop ? ct_mpi_redop(t->redop) : 0,
		.dtype = element.dtype,
		.count = ct_mpi_count_of(element, count),
	};
}

/* MPI_PROC_NULL: nothing is moved. */
static EACH_ROW struct ct_traced_comm *window_of(ct_mpi_handle win, int target)
{
	return target < 0 ? NULL : ct_mpi_win(win);
}

static EACH_ROW int begin_access(struct ct_op_frame *f, enum ct_mpi_function function,
				 const struct access *t, struct ct_traced_comm *win)
{
	struct ct_op op;

	if (!win)
		return 0;
	describe(&op, function, t, win);
	ct_op_begin(f, win, &op);
	return 1;
}

#define RECORD_TRANSFER(name, params, args, what)                                                  \
	RECORD_AS(ct_mpi_win_after(win, result), DATA, name, params, args, struct ct_op_frame,     \
		  begin_access(&f, CT_MPI_##name, &what, window_of(win, target)),                  \
		  ct_mpi_end_op(&f, ct_now_ns(), result))

/* The request says when the origin's part is done. */
static EACH_ROW int begin_request(struct ct_mpi_begun *b, enum ct_mpi_function function,
				  const struct access *t, struct ct_traced_comm *win)
{
	struct ct_op op;

	if (!win)
		return 0;
	describe(&op, function, t, win);
	b->request = (struct ct_mpi_request){
		.op = op,
		.bytes = op.count * ct_dtype_bytes(op.dtype),
		.comm = win,
		.comm_id = win->id,
	};
	ct_mpi_begin_described(b);
	return 1;
}

#define RECORD_REQUEST(name, params, args, what)                                                   \
	RECORD_AS(ct_mpi_win_after(win, result), DATA, name, params, args, struct ct_mpi_begun,    \
		  begin_request(&f, CT_MPI_##name, &what, window_of(win, target)),                 \
		  ct_mpi_begun(&f, request, result))

#define MOVE_OF(op_, count_, type_, redop_, has)                                                   \
	((struct access){ .op = CT_OP_##op_,                                                       \
			  .count = (count_),                                                       \
			  .type = (type_),                                                         \
			  .target = target,                                                        \
			  .redop = (redop_),                                                       \
			  .has_redop = (has) })
#define MOVE(op, count, type) MOVE_OF(op, count, type, 0, 0)
#define MOVE_REDUCED(op, count, type) MOVE_OF(op, count, type, redop, 1)

/* Those with counts of int are the ones that programs call. */
#define RECORD_AS CT_MPI_RECORD_MEETING
#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_MOVE(name, params, args, what) RECORD(TRANSFER, name, params, args, what)
#define MPI_CALL_MOVE_C(name, params, args, what) RECORD(TRANSFER, name, params, args, what)
#define MPI_CALL_RMOVE_C(name, params, args, what) RECORD(REQUEST, name, params, args, what)
#include "interpose/abi/mpi_rma_calls.def"

#undef RECORD_AS
#define RECORD_AS CT_MPI_RECORD_MEETING_SMALL
#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_MOVE_C(name, params, args, what) RECORD(TRANSFER, name##_c, params, args, what)
#define MPI_CALL_RMOVE_C(name, params, args, what) RECORD(REQUEST, name##_c, params, args, what)
#include "interpose/abi/mpi_rma_calls.def"
