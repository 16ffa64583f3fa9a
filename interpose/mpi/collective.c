/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives of abi/mpi_calls.def: each in its blocking, nonblocking and persistent form, with
 * counts of either width. A blocking one is its own span; the end of a nonblocking one is found by
 * the wait for its request; what a persistent one will be is kept with its request until it is
 * started. */
#include "interpose/mpi/begin.h"
#include "interpose/mpi/collective_args.h"
#include "interpose/mpi/comm.h"
#include "interpose/mpi/parts.h"

/* The functions from here on are inlined into one body for each function, where the row's columns
 * are constants. */
#define EACH_ROW CT_MPI_EACH_ROW

/* What a row says of one call. */
struct mpi_call {
	enum ct_mpi_function function;
	uint8_t op;
	uint8_t redop;
};

static EACH_ROW uint8_t redop_of(ct_mpi_handle redop)
{
	return __builtin_expect(redop != 0, 1) ? ct_mpi_redop(redop) : 0;
}

/* All but its position in the order. */
static EACH_ROW uint64_t describe(struct ct_op *op, const struct mpi_call *c,
				  const struct ct_mpi_args *share)
{
	/* without a type there is nothing to count, or bytes are what is counted */
	struct ct_mpi_element element = __builtin_expect(share->type != 0, 1)
						? ct_mpi_element(share->type)
						: (struct ct_mpi_element){
							  share->count ? CT_DTYPE_elem1 : 0, 1
						  };

	*op = (struct ct_op){
		.op = c->op,
		.call = ct_mpi_call_id(c->function),
		.peer = share->root,
		.redop = c->redop,
		.dtype = element.dtype,
		.count = element.dtype == CT_DTYPE_elem1 ? share->count * element.bytes
							 : share->count,
	};
	return element.dtype == CT_DTYPE_elem1 ? 1 : element.bytes;
}

/* Collectives of one communicator come one after the other, threads or not: MPI has the program see
 * to that. So this needs no locked instruction, which would wait until all that MPI stored for
 * other processes has left this core. */
static EACH_ROW uint64_t next_seq(struct ct_traced_comm *comm)
{
	uint64_t seq = atomic_load_explicit(&comm->entry->next_seq, memory_order_relaxed);

	atomic_store_explicit(&comm->entry->next_seq, seq + 1, memory_order_relaxed);
	return seq;
}

/* ... and that, and the records before it. */
static EACH_ROW void take_seq(struct ct_op *op, struct ct_traced_comm *comm,
			      const struct ct_mpi_args *share, uint64_t unit)
{
	op->seq = next_seq(comm);
	if (share->parts.at && share->parts.is_recorded)
		ct_mpi_record_parts(share->parts, comm->id, op->seq, unit);
}

static EACH_ROW void begin_collective(struct ct_op_frame *f, const struct mpi_call *c,
				      struct ct_traced_comm *comm, const struct ct_mpi_args *share)
{
	struct ct_op op;
	uint64_t unit = describe(&op, c, share);

	take_seq(&op, comm, share, unit);
	ct_op_begin_entered(f, comm, &op);
}

/* The same as one function for all that are called less often. */
static __attribute__((noinline)) void begin_small(struct ct_op_frame *f, const struct mpi_call *c,
						  struct ct_traced_comm *comm,
						  const struct ct_mpi_args *share)
{
	begin_collective(f, c, comm, share);
}

#define CALL(name, op_, redop_)                                                                    \
	const struct mpi_call c = { CT_MPI_##name, CT_OP_##op_, redop_of(redop_) }

/* The clock is read first: what is written down after that is written while the call itself begins.
 */
#define RECORD_BLOCKING(name, op_, params, args, share_, redop_)                                   \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_op_frame f;                                                              \
		struct ct_traced_comm *known;                                                      \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		ct_op_enter(&f);                                                                   \
		known = ct_mpi_comm_last(comm);                                                    \
		if (__builtin_expect(known != NULL, 1) ||                                          \
		    (known = ct_mpi_comm_entered(comm, &f)) != NULL) {                             \
			const struct ct_mpi_args share = share_;                                   \
			CALL(name, op_, redop_);                                                   \
                                                                                                   \
			BEGIN(&f, &c, known, &share);                                              \
			result = real args;                                                        \
			ct_mpi_end_op(&f, ct_now_ns(), result);                                    \
		} else {                                                                           \
			struct ct_frame unrecorded;                                                \
                                                                                                   \
			ct_guard_pass(&unrecorded);                                                \
			result = real args;                                                        \
			ct_mpi_comm_after(comm, result);                                           \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name, params, args, CT_CALL_DATA)

static __attribute__((noinline)) void begin_request(struct ct_mpi_begun *b,
						    const struct mpi_call *c,
						    struct ct_traced_comm *comm,
						    const struct ct_mpi_args *share)
{
	struct ct_op op;
	uint64_t unit = describe(&op, c, share);

	take_seq(&op, comm, share, unit);
	b->request = (struct ct_mpi_request){
		.op = op,
		.bytes = op.count * unit,
		.comm = comm,
		.comm_id = comm->id,
	};
	ct_mpi_begin_described(b);
}

#define RECORD_NONBLOCKING(name, op_, params, args, share_, redop_)                                \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_traced_comm *known = ct_mpi_comm_found(comm);                            \
		struct ct_mpi_begun b;                                                             \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (known) {                                                                       \
			const struct ct_mpi_args share = share_;                                   \
			CALL(name, op_, redop_);                                                   \
                                                                                                   \
			begin_request(&b, &c, known, &share);                                      \
			result = real args;                                                        \
			ct_mpi_begun(&b, request, result);                                         \
		} else {                                                                           \
			struct ct_frame unrecorded;                                                \
                                                                                                   \
			ct_guard_pass(&unrecorded);                                                \
			result = real args;                                                        \
			ct_mpi_comm_after(comm, result);                                           \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

/* Nothing moves until it is started, and creating one must not fail for lack of a record. */
static __attribute__((noinline)) void keep(const struct mpi_call *c, struct ct_traced_comm *comm,
					   const struct ct_mpi_args *share, const void *request)
{
	struct ct_mpi_request kept = {
		.comm = comm,
		.comm_id = comm->id,
		.flags = CT_MPI_REQUEST_PERSISTENT,
	};
	uint64_t unit = describe(&kept.op, c, share);

	kept.op.comm = comm->id;
	kept.bytes = kept.op.count * unit;
	kept.parts = ct_mpi_parts_keep(&share->parts, unit);
	ct_mpi_requests_keep((uintptr_t)ct_mpi_key(ct_mpi_handle_at(request, 0)), &kept);
}

#define RECORD_PERSISTENT(name, op_, params, args, share_, redop_)                                 \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_frame unrecorded;                                                        \
		struct ct_traced_comm *known;                                                      \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		ct_guard_pass(&unrecorded);                                                        \
		result = real args;                                                                \
		known = ct_mpi_comm_after(comm, result);                                           \
		if (known && result == CT_MPI_SUCCESS) {                                           \
			const struct ct_mpi_args share = share_;                                   \
			CALL(name, op_, redop_);                                                   \
                                                                                                   \
			keep(&c, known, &share, request);                                          \
		}                                                                                  \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

#define NONBLOCKING(params, args) (CT_MPI_LIST params, void *request), CT_MPI_WITH(args, request)
#define PERSISTENT(params, args)                                                                   \
	(CT_MPI_LIST params, ct_mpi_handle info, void *request), CT_MPI_WITH(args, info, request)
#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_COLLECTIVE(name, lower, op, params, args, share, redop)                           \
	RECORD(BLOCKING, name, op, params, args, share, redop)                                     \
	RECORD(NONBLOCKING, I##lower, op, NONBLOCKING(params, args), share, redop)                 \
	RECORD(PERSISTENT, name##_init, op, PERSISTENT(params, args), share, redop)
#define MPI_CALL_COUNTLESS MPI_CALL_COLLECTIVE
#define BEGIN begin_collective
#define WRAPPERS CT_MPI_WRAPPERS
#include "interpose/abi/mpi_calls.def"

#undef BEGIN
#undef WRAPPERS
#define BEGIN begin_small
#define WRAPPERS CT_MPI_WRAPPERS_SMALL
#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_COLLECTIVE(name, lower, op, params, args, share, redop)                           \
	RECORD(BLOCKING, name##_c, op, params, args, share, redop)                                 \
	RECORD(NONBLOCKING, I##lower##_c, op, NONBLOCKING(params, args), share, redop)             \
	RECORD(PERSISTENT, name##_init_c, op, PERSISTENT(params, args), share, redop)
#include "interpose/abi/mpi_calls.def"
