/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided communication. Windows are communicators of their own (mpi_comm.h). A put, get or accumulate is an op of its
 * origin alone, with the target as peer and the origin's bytes; the span of its record is the call, since the transfer
 * is done some time before the synchronising call that ends its epoch. Fences are collective ops; the other synchronising
 * calls are on record from begin to end. */
#include "interpose/mpi_begin.h"
#include "interpose/mpi_comm.h"

/* The functions from here on are inlined into one body for each function. */
#define EACH_ROW inline __attribute__((always_inline))

/* What an origin moves. */
struct transfer {
	enum ct_mpi_function function;
	uint8_t op;
	int64_t count;
	ct_mpi_handle type;
	int target; /* rank in the window */
	ct_mpi_handle redop;
	int has_redop;
};

static EACH_ROW void describe(struct ct_op *op, const struct transfer *t, struct ct_comm *win)
{
	struct ct_mpi_element element = ct_mpi_element(t->type);
	uint64_t count = t->count > 0 ? (uint64_t)t->count : 0;

	*op = (struct ct_op){
		.op = t->op,
		.call = ct_mpi_call_id(t->function),
		.peer = t->target,
		.seq = ct_channels_next(win->id, CT_SEND, t->target, t->op),
		.redop = t->has_redop ? ct_mpi_redop(t->redop) : 0,
		.dtype = element.dtype,
		.count = element.dtype == CT_DTYPE_elem1 ? count * element.bytes : count,
	};
}

/* MPI_PROC_NULL: nothing is moved. */
static EACH_ROW struct ct_comm *window_of(ct_mpi_handle win, int target)
{
	return target < 0 ? NULL : ct_mpi_win(win);
}

#define RECORD_TRANSFER(name, params, args, what)                                                  \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *known = window_of(win, target);                                    \
		struct ct_op_frame f;                                                              \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (known) {                                                                       \
			const enum ct_mpi_function called = CT_MPI_##name;                         \
			const struct transfer t = what;                                            \
			struct ct_op op;                                                           \
                                                                                                   \
			describe(&op, &t, known);                                                  \
			ct_op_begin(&f, known, &op);                                               \
			result = real args;                                                        \
			ct_op_end(&f, ct_now_ns(), ct_mpi_result(result));                         \
		} else {                                                                           \
			result = real args;                                                        \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name, params, args, CT_CALL_DATA)

static EACH_ROW void begin(struct ct_mpi_begun *b, const struct transfer *t, struct ct_comm *win)
{
	struct ct_op op;

	describe(&op, t, win);
	b->request = (struct ct_mpi_request){
		.op = op,
		.bytes = op.count * ct_dtype_bytes(op.dtype),
		.comm = win,
		.comm_id = win->id,
	};
	ct_mpi_begin_described(b);
}

/* The request says when the origin's part is done. */
#define RECORD_REQUEST(name, params, args, what)                                                   \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *known = window_of(win, target);                                    \
		struct ct_mpi_begun b;                                                             \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (known) {                                                                       \
			const enum ct_mpi_function called = CT_MPI_##name;                         \
			const struct transfer t = what;                                            \
                                                                                                   \
			begin(&b, &t, known);                                                      \
			result = real args;                                                        \
			ct_mpi_begun(&b, request, result);                                         \
		} else {                                                                           \
			result = real args;                                                        \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name, params, args, CT_CALL_DATA)

#define MOVE_OF(op_, count_, type_, redop_, has)                                                   \
	((struct transfer){ .function = called,                                                    \
			    .op = CT_OP_##op_,                                                     \
			    .count = (count_),                                                     \
			    .type = (type_),                                                       \
			    .target = target,                                                      \
			    .redop = (redop_),                                                     \
			    .has_redop = (has) })
#define MOVE(op, count, type) MOVE_OF(op, count, type, 0, 0)
#define MOVE_REDUCED(op, count, type) MOVE_OF(op, count, type, redop, 1)

/* Those with counts of int are the ones that programs call. */
#define WRAPPERS CT_MPI_WRAPPERS
#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_MOVE(name, params, args, what) RECORD(TRANSFER, name, params, args, what)
#define MPI_CALL_MOVE_C(name, params, args, what) RECORD(TRANSFER, name, params, args, what)
#define MPI_CALL_RMOVE_C(name, params, args, what) RECORD(REQUEST, name, params, args, what)
#include "interpose/abi/mpi_rma_calls.def"

#undef WRAPPERS
#define WRAPPERS CT_MPI_WRAPPERS_SMALL
#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_MOVE_C(name, params, args, what) RECORD(TRANSFER, name##_c, params, args, what)
#define MPI_CALL_RMOVE_C(name, params, args, what) RECORD(REQUEST, name##_c, params, args, what)
#include "interpose/abi/mpi_rma_calls.def"
