/* SPDX-License-Identifier: Apache-2.0 */
/* The sends of abi/mpi_calls.def: each mode in its blocking, nonblocking and persistent form, with counts of either
 * width. */
#include "interpose/mpi_begin.h"

#define TRANSFER(name)                                                                             \
	{                                                                                          \
		CT_MPI_##name, CT_SEND, count, type, dest, tag                                     \
	}

#define RECORD_BLOCKING(name, params, args)                                                        \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		const struct ct_mpi_transfer t = TRANSFER(name);                                   \
		struct ct_mpi_blocking b;                                                          \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (!ct_mpi_begin_blocking(&b, ct_mpi_comm(comm), &t)) {                           \
			result = real args;                                                        \
			ct_guard_leave();                                                          \
			return result;                                                             \
		}                                                                                  \
		result = real args;                                                                \
		ct_op_end(&b.op, ct_now_ns(), ct_mpi_result(result));                              \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name, params, args, CT_CALL_DATA)

#define RECORD_NONBLOCKING(name, params, args)                                                     \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		const struct ct_mpi_transfer t = TRANSFER(name);                                   \
		struct ct_mpi_begun b;                                                             \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (!ct_mpi_begin(&b, ct_mpi_comm(comm), &t)) {                                    \
			result = real args;                                                        \
			ct_guard_leave();                                                          \
			return result;                                                             \
		}                                                                                  \
		result = real args;                                                                \
		ct_mpi_begun(&b, request, result);                                                 \
		return result;                                                                     \
	}                                                                                          \
	WRAPPERS(name, params, args, CT_CALL_DATA)

#define RECORD_PERSISTENT(name, params, args)                                                      \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		const struct ct_mpi_transfer t = TRANSFER(name);                                   \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real args;                                                                \
		ct_mpi_keep(ct_mpi_comm(comm), &t, request, result);                               \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

#define REQUEST(params, args) (CT_MPI_LIST params, void *request), CT_MPI_WITH(args, request)
/* Those with counts of int are the ones that programs call. */
#define WRAPPERS CT_MPI_WRAPPERS
#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_SEND(name, lower, params, args)                                                   \
	RECORD(BLOCKING, name, params, args)                                                       \
	RECORD(NONBLOCKING, I##lower, REQUEST(params, args))                                       \
	RECORD(PERSISTENT, name##_init, REQUEST(params, args))
#include "interpose/abi/mpi_calls.def"

#undef WRAPPERS
#define WRAPPERS CT_MPI_WRAPPERS_SMALL
#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_SEND(name, lower, params, args)                                                   \
	RECORD(BLOCKING, name##_c, params, args)                                                   \
	RECORD(NONBLOCKING, I##lower##_c, REQUEST(params, args))                                   \
	RECORD(PERSISTENT, name##_init_c, REQUEST(params, args))
#include "interpose/abi/mpi_calls.def"
