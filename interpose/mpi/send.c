/* SPDX-License-Identifier: Apache-2.0 */
/* The sends of abi/mpi_calls.def: each mode in its blocking, nonblocking and persistent form, with
 * counts of either width. */
#include "interpose/mpi/begin.h"

/* A send of `name`, whose arguments have their usual names. */
#define TRANSFER(name) ((struct ct_mpi_transfer){ CT_MPI_##name, CT_SEND, count, type, dest, tag })

#define RECORD_BLOCKING(name, params, args)                                                        \
	RECORD_AS(ct_mpi_comm_after(comm, result), DATA, name, params, args, struct ct_mpi_begun,  \
		  ct_mpi_begin_blocking(&f, ct_mpi_comm(comm), &TRANSFER(name)),                   \
		  ct_mpi_end_op(&f.op, ct_now_ns(), result))
#define RECORD_NONBLOCKING(name, params, args)                                                     \
	RECORD_AS(ct_mpi_comm_after(comm, result), DATA, name, params, args, struct ct_mpi_begun,  \
		  ct_mpi_begin(&f, ct_mpi_comm(comm), &TRANSFER(name)),                            \
		  ct_mpi_begun(&f, request, result))
#define RECORD_PERSISTENT(name, params, args)                                                      \
	CT_MPI_RECORD_PERSISTENT(name, params, args,                                               \
				 ct_mpi_keep(ct_mpi_comm_after(comm, result), &TRANSFER(name),     \
					     request, result))

#define REQUEST(params, args) (CT_MPI_LIST params, void *request), CT_MPI_WITH(args, request)
/* Those with counts of int are the ones that programs call. */
#define RECORD_AS CT_MPI_RECORD_MEETING
#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_SEND(name, lower, params, args)                                                   \
	RECORD(BLOCKING, name, params, args)                                                       \
	RECORD(NONBLOCKING, I##lower, REQUEST(params, args))                                       \
	RECORD(PERSISTENT, name##_init, REQUEST(params, args))
#include "interpose/abi/mpi_calls.def"

#undef RECORD_AS
#define RECORD_AS CT_MPI_RECORD_MEETING_SMALL
#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_SEND(name, lower, params, args)                                                   \
	RECORD(BLOCKING, name##_c, params, args)                                                   \
	RECORD(NONBLOCKING, I##lower##_c, REQUEST(params, args))                                   \
	RECORD(PERSISTENT, name##_init_c, REQUEST(params, args))
#include "interpose/abi/mpi_calls.def"
