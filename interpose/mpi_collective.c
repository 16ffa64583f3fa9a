/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives of abi/mpi_calls.def: each in its blocking, nonblocking and persistent form, with counts of either
 * width. */
#include "interpose/mpi.h"
#include "interpose/mpi_comm.h"
#include "interpose/pending.h"

/* The functions from here on are inlined into one body for each function, where the row's columns are constants. */
#define EACH_ROW inline __attribute__((always_inline))

/* What this rank has in a collective. */
struct share {
	uint64_t count; /* elements of `type` */
	ct_mpi_handle type;
	int32_t root; /* member of the communicator, -1 none */
};

static EACH_ROW uint64_t number(int64_t count)
{
	return count > 0 ? (uint64_t)count : 0;
}

/* All ranks say the same. */
#define SHARE_WHOLE(count_, type_)                                                                 \
	((struct share){ .count = number(count_), .type = (type_), .root = -1 })

struct call {
	enum ct_mpi_function function;
	uint8_t op;
	uint8_t redop;
};

static EACH_ROW void describe(struct ct_op *op, const struct call *c, struct ct_comm *comm,
			      const struct share *share)
{
	struct ct_mpi_element element = share->type ? ct_mpi_element(share->type)
						    : (struct ct_mpi_element){ 0, 0 };

	*op = (struct ct_op){
		.op = c->op,
		.call = ct_mpi_call_id(c->function),
		.peer = share->root,
		.seq = atomic_fetch_add_explicit(&comm->entry->next_seq, 1, memory_order_relaxed),
		.redop = c->redop,
		.dtype = element.dtype,
		.count = element.dtype == CT_DTYPE_elem1 ? share->count * element.bytes
							 : share->count,
	};
}

/* ---- blocking ------------------------------------------------------------------------------------------------ */

#define RECORD_BLOCKING(name, op_, params, args, share_, redop_)                                   \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *known = ct_mpi_comm(comm);                                         \
		struct ct_op_frame f;                                                              \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (__builtin_expect(known != NULL, 1)) {                                          \
			const struct share share = share_;                                         \
			const struct call c = { CT_MPI_##name, CT_OP_##op_,                        \
						(redop_) ? ct_mpi_redop(redop_) : 0 };             \
			struct ct_op op;                                                           \
                                                                                                   \
			describe(&op, &c, known, &share);                                          \
			ct_op_begin(&f, known, &op);                                               \
			result = real args;                                                        \
			ct_op_end(&f, ct_now_ns(), ct_mpi_result(result));                         \
		} else {                                                                           \
			result = real args;                                                        \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_DATA)

/* ---- nonblocking --------------------------------------------------------------------------------------------- */

struct begun {
	struct ct_op_frame op;
	struct ct_pending pending;
};

static EACH_ROW void begin(struct begun *b, const struct call *c, struct ct_comm *comm,
			   const struct share *share)
{
	struct ct_op op;

	describe(&op, c, comm, share);
	op.launch = ct_recorder_slot_launch();
	ct_op_begin(&b->op, comm, &op);
	b->pending = (struct ct_pending){
		.enter_ns = b->op.enter_ns,
		.bytes = op.count * ct_dtype_bytes(op.dtype),
		.seq = op.seq,
		.peer = op.peer,
		.comm = comm->id,
		.launch = op.launch,
		.op = op.op,
	};
}

static int end(struct begun *b, int result, const void *request)
{
	uint64_t now_ns = ct_now_ns();
	int told = ct_mpi_result(result);

	if (result != CT_MPI_SUCCESS)
		ct_pending_close(&b->pending, now_ns, told);
	else if (!ct_pending_add(ct_mpi_key(ct_mpi_handle_at(request, 0)), CT_SEND, &b->pending))
		ct_pending_close(&b->pending, 0, 0);
	ct_op_end(&b->op, now_ns, told);
	return result;
}

#define RECORD_NONBLOCKING(name, op_, params, args, share_, redop_)                                \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *known = ct_mpi_comm(comm);                                         \
		struct begun b;                                                                    \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (known) {                                                                       \
			const struct share share = share_;                                         \
			const struct call c = { CT_MPI_##name, CT_OP_##op_,                        \
						(redop_) ? ct_mpi_redop(redop_) : 0 };             \
                                                                                                   \
			begin(&b, &c, known, &share);                                              \
			result = real args;                                                        \
			return end(&b, result, request);                                           \
		}                                                                                  \
		result = real args;                                                                \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_DATA)

/* ---- persistent ---------------------------------------------------------------------------------------------- */

#define RECORD_PERSISTENT(name, op_, params, args, share_, redop_)                                 \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real args;                                                                \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_DATA)

#define NONBLOCKING(params, args) (CT_MPI_LIST params, void *request), CT_MPI_WITH(args, request)
#define PERSISTENT(params, args)                                                                   \
	(CT_MPI_LIST params, ct_mpi_handle info, void *request), CT_MPI_WITH(args, info, request)
#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_COLLECTIVE(name, lower, op, params, args, share, redop)                           \
	RECORD(BLOCKING, name, op, params, args, share, redop)                                     \
	RECORD(NONBLOCKING, I##lower, op, NONBLOCKING(params, args), share, redop)                 \
	RECORD(PERSISTENT, name##_init, op, PERSISTENT(params, args), share, redop)
#include "interpose/abi/mpi_calls.def"

#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_COLLECTIVE(name, lower, op, params, args, share, redop)                           \
	RECORD(BLOCKING, name##_c, op, params, args, share, redop)                                 \
	RECORD(NONBLOCKING, I##lower##_c, op, NONBLOCKING(params, args), share, redop)             \
	RECORD(PERSISTENT, name##_init_c, op, PERSISTENT(params, args), share, redop)
#include "interpose/abi/mpi_calls.def"
