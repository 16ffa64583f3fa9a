/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: MPI without MPI_Init. The first one that begins may be the first thing that a process
 * does with MPI, and may wait for others, as MPI_Init may. */
#include "interpose/mpi/comm.h"

static CT_UNWIND_WHOLE int record_Session_init(ct_mpi_handle info, ct_mpi_handle errhandler,
					       void *session, ct_MPI_Session_init_fn *real,
					       const void *caller)
{
	struct ct_host_frame f = { .rec = ct_mpi_host_rec(CT_MPI_Session_init, NULL) };
	int result;

	CT_UNWIND_HERE();
	ct_host_begin(&f);
	result = real(info, errhandler, session);
	if (result == CT_MPI_SUCCESS) {
		ct_mpi_sessions_count(1);
		if (ct_mpi_adopt(caller))
			ct_mpi_sessions_know(ct_mpi_handle_at(session, 0));
	}
	ct_host_end(&f, result);
	return result;
}

#define PARAMS (ct_mpi_handle info, ct_mpi_handle errhandler, void *session)
#define SESSION_INIT(prefix, which)                                                                \
	int ct_##prefix##Session_init PARAMS                                                       \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		ct_MPI_Session_init_fn *next = (ct_MPI_Session_init_fn *)ct_mpi_find(              \
			CT_MPI_Session_init, which, caller);                                       \
                                                                                                   \
		if (!next)                                                                         \
			return CT_MPI_ABSENT;                                                      \
		if (!ct_mpi_enter_init(caller))                                                    \
			return next(info, errhandler, session);                                    \
		return record_Session_init(info, errhandler, session, next, caller);               \
	}
SESSION_INIT(MPI_, CT_MPI_NAME)
SESSION_INIT(PMPI_, CT_PMPI_NAME)

static int begin_finalize(struct ct_host_frame *f, const void *session)
{
	ct_mpi_host_begin(f, CT_MPI_Session_finalize, NULL);
	if (session) {
		ct_mpi_sessions_forget(ct_mpi_handle_at(session, 0));
		ct_mpi_sessions_count(-1);
	}
	return 1;
}

CT_MPI_RECORD_SMALL(DATA, Session_finalize, (void *session), (session), struct ct_host_frame,
		    begin_finalize(&f, session), ct_mpi_end_host(&f, result))
