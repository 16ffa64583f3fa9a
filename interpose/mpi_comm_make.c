/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make communicators of MPI, name them and end them. All of them may wait for other processes, so each is on
 * record from its begin to its end. */
#include "interpose/mpi_comm.h"

struct make {
	struct ct_host_frame host;
	uint64_t parent; /* key of the communicator that it is made from, 0 none */
};

/* `from`: all of its members make the call, 0: there is none of which this is known. */
static void begin(struct make *m, enum ct_mpi_function function, ct_mpi_handle from,
		  ct_mpi_handle parent)
{
	struct ct_comm *caller = from ? ct_mpi_comm(from) : NULL;
	struct ct_comm *origin = parent == from ? caller : parent ? ct_mpi_comm(parent) : NULL;

	m->host.rec = ct_mpi_host_rec(function, caller);
	m->parent = origin ? origin->key : 0;
	ct_host_begin(&m->host);
}

static int end(struct make *m, int result, const void *made)
{
	if (result == CT_MPI_SUCCESS)
		ct_mpi_comm_made(made, m->parent, NULL);
	ct_host_end(&m->host, ct_mpi_result(result));
	return result;
}

#define MPI_CALL_MAKE(name, params, args, callers, parent, made)                                   \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct make m;                                                                     \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin(&m, CT_MPI_##name, callers, parent);                                         \
		return end(&m, real args, made);                                                   \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_CREATE)

/* The copy is made while its request is under way, but both libraries give its handle at once, and its members are those of
 * the original, whom MPI may not tell of the copy yet. One whose handle comes later is met at its first use. */
static int end_copy(struct make *m, int result, ct_mpi_handle original, const void *made)
{
	struct ct_mpi_members members;

	if (result == CT_MPI_SUCCESS && ct_mpi_handle_at(made, 0) &&
	    ct_mpi_members_of_comm(original, &members))
		ct_mpi_comm_made(made, m->parent, &members);
	ct_host_end(&m->host, ct_mpi_result(result));
	return result;
}

#define MPI_CALL_COPY(name, params, args)                                                          \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct make m;                                                                     \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin(&m, CT_MPI_##name, comm, comm);                                              \
		return end_copy(&m, real args, comm, newcomm);                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_CREATE)

/* It is over before MPI is asked to end it: the library may give its handle to the next one while still in the call. */
static void begin_end(struct ct_host_frame *f, enum ct_mpi_function function, const void *comm)
{
	const void *key = ct_mpi_key(ct_mpi_handle_at(comm, 0));

	f->rec = ct_mpi_host_rec(function, ct_comms_find(key));
	ct_host_begin(f);
	ct_comms_end(key);
}

#define MPI_CALL_END(name, params, args)                                                           \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_host_frame f;                                                            \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_end(&f, CT_MPI_##name, handle);                                              \
		result = real args;                                                                \
		ct_host_end(&f, ct_mpi_result(result));                                            \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

static void begin_about(struct ct_host_frame *f, enum ct_mpi_function function, ct_mpi_handle comm)
{
	f->rec = ct_mpi_host_rec(function, comm ? ct_mpi_comm(comm) : NULL);
	ct_host_begin(f);
}

#define MPI_CALL_ABOUT(name, params, args, comm)                                                   \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_host_frame f;                                                            \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_about(&f, CT_MPI_##name, comm);                                              \
		result = real args;                                                                \
		ct_host_end(&f, ct_mpi_result(result));                                            \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)
#define ABOUT(name, params, args, comm) MPI_CALL_ABOUT(name, params, args, comm)
#define MPI_CALL_ABOUT_C(name, params, args, comm)                                                 \
	ABOUT(name, params, args, comm) ABOUT(name##_c, params, args, comm)

/* Local: no record but the communicator's own. */
#define MPI_CALL_NAME(name, params, args, known)                                                   \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *c = known;                                                         \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real args;                                                                \
		if (c && result == CT_MPI_SUCCESS)                                                 \
			ct_comms_name(c, text);                                                    \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

#include "interpose/abi/mpi_comm_calls.def"
