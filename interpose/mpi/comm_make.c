/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make communicators and windows of MPI, name them and end them. All of them may wait
 * for other processes, so each is on record from its begin to its end. */
#include "interpose/mpi/comm.h"

/* ---- make
 * ----------------------------------------------------------------------------------------------------
 */

struct make {
	struct ct_host_frame host; /* first */
	uint64_t parent;	   /* key of the communicator that it is made from, 0 none */
};

/* `from`: all of its members make the call, 0: there is none of which this is known. Always 1. */
static int begin_make(struct make *m, enum ct_mpi_function function, ct_mpi_handle from,
		      ct_mpi_handle parent)
{
	struct ct_traced_comm *caller = from ? ct_mpi_comm(from) : NULL;
	struct ct_traced_comm *origin = parent == from ? caller
					: parent       ? ct_mpi_comm(parent)
						       : NULL;

	m->parent = origin ? origin->key : 0;
	return ct_mpi_host_begin(&m->host, function, caller);
}

static void end(struct make *m, int result, const void *made)
{
	if (result == CT_MPI_SUCCESS)
		ct_mpi_comm_made(made, m->parent, NULL);
	ct_mpi_end_host(&m->host, result);
}

#define MPI_CALL_MAKE(name, params, args, callers, parent, made)                                   \
	CT_MPI_RECORD_SMALL(CREATE, name, params, args, struct make,                               \
			    begin_make(&f, CT_MPI_##name, callers, parent), end(&f, result, made))

/* The copy is made while its request is under way, but both libraries give its handle at once, and
 * its members are those of the original, which MPI may not yet report for the copy. One whose
 * handle comes later is met at its first use. */
static void end_copy(struct make *m, int result, ct_mpi_handle original, const void *made)
{
	struct ct_mpi_members members;

	if (result == CT_MPI_SUCCESS && ct_mpi_handle_at(made, 0) &&
	    ct_mpi_members_of_comm(original, &members))
		ct_mpi_comm_made(made, m->parent, &members);
	ct_mpi_end_host(&m->host, result);
}

#define MPI_CALL_COPY(name, params, args)                                                          \
	CT_MPI_RECORD_SMALL(CREATE, name, params, args, struct make,                               \
			    begin_make(&f, CT_MPI_##name, comm, comm),                             \
			    end_copy(&f, result, comm, newcomm))

static void end_window(struct make *m, int result, const void *made)
{
	if (result == CT_MPI_SUCCESS)
		ct_mpi_win_made(made, m->parent);
	ct_mpi_end_host(&m->host, result);
}

#define RECORD_WINDOW(name, params, args)                                                          \
	CT_MPI_RECORD_SMALL(DATA, name, params, args, struct make,                                 \
			    begin_make(&f, CT_MPI_##name, comm, comm),                             \
			    end_window(&f, result, win))
#define MPI_CALL_WINDOW(name, params, args) RECORD_WINDOW(name, params, args)
#define MPI_CALL_WINDOW_C(name, params, args) RECORD_WINDOW(name, params, args)

/* ---- name and end
 * -------------------------------------------------------------------------------------------- */

/* Local: no record but the communicator's own. */
static void end_name(struct ct_traced_comm *comm, const char *text, int result)
{
	if (result == CT_MPI_SUCCESS)
		ct_comms_name(comm, text);
	ct_guard_leave();
}

#define RECORD_NAME(name, params, args, known)                                                     \
	CT_MPI_RECORD_SMALL(DATA, name, params, args, struct ct_traced_comm *,                     \
			    (f = (known)) != NULL, end_name(f, text, result))
#define MPI_CALL_NAME(name, params, args, known) RECORD_NAME(name, params, args, known)
#define MPI_CALL_TITLE(name, params, args) RECORD_NAME(name, params, args, ct_mpi_win(win))

/* It ends before MPI is asked to end it: the library may reuse its handle while still in the call. */
static int begin_end(struct ct_host_frame *f, enum ct_mpi_function function, const void *comm)
{
	const void *key = comm ? ct_mpi_key(ct_mpi_handle_at(comm, 0)) : NULL;

	ct_mpi_host_begin(f, function, key ? ct_comms_find(key) : NULL);
	if (key)
		ct_comms_end(key);
	return 1;
}

#define RECORD_END(name, params, args)                                                             \
	CT_MPI_RECORD_SMALL(DATA, name, params, args, struct ct_host_frame,                        \
			    begin_end(&f, CT_MPI_##name, handle), ct_mpi_end_host(&f, result))
#define MPI_CALL_END(name, params, args) RECORD_END(name, params, args)
#define MPI_CALL_UNWINDOW(name, params, args) RECORD_END(name, params, args)

/* ---- ask
 * -----------------------------------------------------------------------------------------------------
 */

#define MPI_CALL_ABOUT(name, params, args, comm)                                                   \
	CT_MPI_RECORD_SMALL(DATA, name, params, args, struct ct_host_frame,                        \
			    ct_mpi_host_begin(&f, CT_MPI_##name,                                   \
					      (comm) ? ct_mpi_comm(comm) : NULL),                  \
			    ct_mpi_end_host(&f, result))
#define ABOUT(name, params, args, comm) MPI_CALL_ABOUT(name, params, args, comm)
#define MPI_CALL_ABOUT_C(name, params, args, comm)                                                 \
	ABOUT(name, params, args, comm) ABOUT(name##_c, params, args, comm)

#include "interpose/abi/mpi_comm_calls.def"
#include "interpose/abi/mpi_rma_calls.def"

#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_WINDOW_C(name, params, args) RECORD_WINDOW(name##_c, params, args)
#include "interpose/abi/mpi_rma_calls.def"
