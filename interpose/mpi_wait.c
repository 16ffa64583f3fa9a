/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Wait and its kind: host-blocking calls, which end what the requests stood for. Nothing is on record of a wait for
 * nothing: null handles, requests that are complete by their handles, persistent ones that were not started. */
#include "interpose/mpi_poll.h"
#include "interpose/mpi_several.h"

static void begin(struct ct_host_frame *f, enum ct_mpi_function function,
		  const struct ct_mpi_request *request)
{
	ct_mpi_poll_over();
	f->rec = (struct ct_host_rec){ .call = ct_mpi_call_id(function), .rank = -1 };
	if (request && request->comm->id == request->comm_id) {
		f->rec.comm = request->comm_id;
		f->rec.key = request->comm->key;
		f->rec.nranks = request->comm->nranks;
		f->rec.rank = request->comm->rank;
	}
	ct_host_begin(f);
}

/* ---- one ----------------------------------------------------------------------------------------------------- */

static int is_idle(const struct ct_mpi_request *request)
{
	return request && !(request->flags & CT_MPI_REQUEST_ACTIVE);
}

static void end_one(const struct ct_mpi_held *held, const void *status, int result)
{
	struct ct_mpi_request request;

	if (ct_mpi_requests_take(held, &request))
		ct_mpi_complete(&request, status, ct_now_ns(), ct_mpi_result(result));
}

static CT_UNWIND_WHOLE int record_Wait(void *request, void *status, ct_MPI_Wait_fn *real)
{
	uintptr_t key = ct_mpi_request_key(request, 0);
	const struct ct_mpi_held held = ct_mpi_requests_hold(key);
	struct ct_mpi_status own;
	struct ct_host_frame f;
	int result;

	CT_UNWIND_HERE();
	if (!key || is_idle(held.entry)) {
		result = real(request, status);
		ct_guard_leave();
		return result;
	}
	begin(&f, CT_MPI_Wait, held.entry);
	status = ct_mpi_status_of(status, &own);
	result = real(request, status);
	end_one(&held, status, result);
	ct_host_end(&f, ct_mpi_result(result));
	return result;
}
CT_MPI_WRAPPERS(Wait, (void *request, void *status), (request, status), CT_CALL_DATA)

/* ---- several ------------------------------------------------------------------------------------------------- */

static CT_UNWIND_WHOLE int record_Waitall(int n, void *requests, void *statuses,
					  ct_MPI_Waitall_fn *real)
{
	struct ct_mpi_several s;
	struct ct_host_frame f;
	int result;

	CT_UNWIND_HERE();
	ct_mpi_several_begin(&s, n, requests, statuses);
	if (!s.n_pending) {
		result = real(n, requests, statuses);
		ct_guard_leave();
		return result;
	}
	begin(&f, CT_MPI_Waitall, s.first);
	result = real(n, requests, s.statuses);
	ct_mpi_several_all(&s, requests, ct_now_ns(), result);
	ct_mpi_several_end(&s);
	ct_host_end(&f, ct_mpi_result(result));
	return result;
}
CT_MPI_WRAPPERS(Waitall, (int n, void *requests, void *statuses), (n, requests, statuses),
		CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Waitany(int n, void *requests, int *index, void *status,
					  ct_MPI_Waitany_fn *real)
{
	struct ct_mpi_status own;
	struct ct_mpi_several s;
	struct ct_host_frame f;
	int result;

	CT_UNWIND_HERE();
	ct_mpi_several_begin(&s, n, requests, NULL);
	if (!s.n_pending) {
		result = real(n, requests, index, status);
		ct_guard_leave();
		return result;
	}
	begin(&f, CT_MPI_Waitany, s.first);
	status = ct_mpi_status_of(status, &own);
	result = real(n, requests, index, status);
	if (*index != ct_mpi.is.UNDEFINED)
		ct_mpi_several_done(&s, (uint32_t)*index, status, ct_now_ns(),
				    ct_mpi_result(result));
	ct_mpi_several_end(&s);
	ct_host_end(&f, ct_mpi_result(result));
	return result;
}
CT_MPI_WRAPPERS(Waitany, (int n, void *requests, int *index, void *status),
		(n, requests, index, status), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Waitsome(int n, void *requests, int *n_done, int *indices,
					   void *statuses, ct_MPI_Waitsome_fn *real)
{
	struct ct_mpi_several s;
	struct ct_host_frame f;
	int result;

	CT_UNWIND_HERE();
	ct_mpi_several_begin(&s, n, requests, statuses);
	if (!s.n_pending) {
		result = real(n, requests, n_done, indices, statuses);
		ct_guard_leave();
		return result;
	}
	begin(&f, CT_MPI_Waitsome, s.first);
	result = real(n, requests, n_done, indices, s.statuses);
	ct_mpi_several_some(&s, *n_done, indices, ct_now_ns(), result);
	ct_mpi_several_end(&s);
	ct_host_end(&f, ct_mpi_result(result));
	return result;
}
CT_MPI_WRAPPERS(Waitsome, (int n, void *requests, int *n_done, int *indices, void *statuses),
		(n, requests, n_done, indices, statuses), CT_CALL_DATA)
