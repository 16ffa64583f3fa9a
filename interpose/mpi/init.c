/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Init and MPI_Finalize. They may wait for other ranks forever: begin and end are recorded, and
 * recording starts before the first. No function of MPI may be called before the one, or after the
 * other. */
#include "interpose/environ/environ.h"
#include "interpose/mpi/comm.h"

/* Initialised: the identity comes from MPI. Before, from the launcher's environment, if at all. */
static void set_identity(struct ct_host_frame *f)
{
	struct ct_traced_comm *world = ct_mpi_comm(ct_mpi.is.COMM_WORLD);
	int rank = -1, size = 0;

	ct_mpi.call.Comm_rank(ct_mpi.is.COMM_WORLD, &rank);
	ct_mpi.call.Comm_size(ct_mpi.is.COMM_WORLD, &size);
	f->rec.rank = rank;
	f->rec.nranks = size > 0 ? (uint32_t)size : 0;
	if (world) {
		f->rec.comm = world->id;
		f->rec.key = world->key;
	}
}

static void end_init(struct ct_host_frame *f, int result, const void *caller)
{
	if (result == CT_MPI_SUCCESS && ct_mpi_adopt(caller))
		set_identity(f);
	ct_host_end(f, result);
}

static CT_UNWIND_WHOLE int record_Init(int *argc, char ***argv, ct_MPI_Init_fn *real,
				       const void *caller)
{
	struct ct_host_frame f = { .rec = { .call = ct_mpi_call_id(CT_MPI_Init), .rank = -1 } };
	int result;

	CT_UNWIND_HERE();
	ct_host_begin(&f);
	result = real(argc, argv);
	end_init(&f, result, caller);
	return result;
}

static CT_UNWIND_WHOLE int record_Init_thread(int *argc, char ***argv, int required, int *provided,
					      ct_MPI_Init_thread_fn *real, const void *caller)
{
	struct ct_host_frame f = { .rec = { .call = ct_mpi_call_id(CT_MPI_Init_thread),
					    .rank = -1 } };
	int result;

	CT_UNWIND_HERE();
	ct_host_begin(&f);
	result = real(argc, argv, required, provided);
	end_init(&f, result, caller);
	return result;
}

int ct_mpi_enter_init(const void *caller)
{
	if (!ct_guard_enter(CT_CALL_CREATE))
		return 0;
	if (ct_mpi_look() == CT_MPI_PASS)
		ct_guard_leave();
	ct_self.caller = caller;
	return ct_mpi_look() != CT_MPI_PASS;
}

#define INIT(prefix, which, name, params, args)                                                    \
	int ct_##prefix##name params                                                               \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		ct_MPI_##name##_fn *next = (ct_MPI_##name##_fn *)ct_mpi_find(CT_MPI_##name, which, \
									     caller);              \
                                                                                                   \
		if (!next)                                                                         \
			return CT_MPI_ABSENT;                                                      \
		if (!ct_mpi_enter_init(caller))                                                    \
			return next args;                                                          \
		return record_##name CT_MPI_WITH(args, next, caller);                              \
	}
INIT(MPI_, CT_MPI_NAME, Init, (int *argc, char ***argv), (argc, argv))
INIT(PMPI_, CT_PMPI_NAME, Init, (int *argc, char ***argv), (argc, argv))
INIT(MPI_, CT_MPI_NAME, Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))
INIT(PMPI_, CT_PMPI_NAME, Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))

static CT_UNWIND_WHOLE int record_Finalize(ct_MPI_Finalize_fn *real)
{
	struct ct_host_frame f = { .rec = { .call = ct_mpi_call_id(CT_MPI_Finalize), .rank = -1 } };
	int result;

	CT_UNWIND_HERE();
	set_identity(&f);
	ct_host_begin(&f);
	ct_mpi_over();
	result = real();
	ct_comms_end_all(CT_BACKEND_MPI);
	ct_host_end(&f, result);
	return result;
}

#define FINALIZE(prefix, which)                                                                    \
	int ct_##prefix##Finalize(void)                                                            \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		ct_MPI_Finalize_fn *next = (ct_MPI_Finalize_fn *)ct_mpi_find(CT_MPI_Finalize,      \
									     which, caller);       \
                                                                                                   \
		if (!next)                                                                         \
			return CT_MPI_ABSENT;                                                      \
		ct_environ_unshared();                                                             \
		ct_guard_settle(__builtin_frame_address(0));                                       \
		if (!ct_mpi_enter(CT_CALL_DATA, caller))                                           \
			return next();                                                             \
		return record_Finalize(next);                                                      \
	}
FINALIZE(MPI_, CT_MPI_NAME)
FINALIZE(PMPI_, CT_PMPI_NAME)
