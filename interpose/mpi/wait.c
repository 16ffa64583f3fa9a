/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Wait and its kind: host-blocking calls, which end what the requests stood for. Nothing is on
 * record of a wait for nothing: null handles, requests that are complete by their handles,
 * persistent ones that were not started. */
#include "interpose/mpi/multi_request.h"
#include "interpose/mpi/poll.h"

static int begin_wait(struct ct_host_frame *f, enum ct_mpi_function function,
		      const struct ct_mpi_request *request)
{
	int is_known = request && request->comm->id == request->comm_id;

	ct_mpi_poll_over();
	return ct_mpi_host_begin(f, function, is_known ? request->comm : NULL);
}

/* ---- one
 * -----------------------------------------------------------------------------------------------------
 */

struct wait {
	struct ct_host_frame host; /* first */
	struct ct_mpi_held held;
	struct ct_mpi_status own;
};

static int is_idle(const struct ct_mpi_request *request)
{
	return request && !(request->flags & CT_MPI_REQUEST_ACTIVE);
}

static int begin_one(struct wait *w, const void *request, void **status)
{
	uintptr_t key = ct_mpi_request_key(request, 0);

	w->held = ct_mpi_requests_hold(key);
	if (!key || is_idle(w->held.entry))
		return 0;
	*status = ct_mpi_status_of(*status, &w->own);
	return begin_wait(&w->host, CT_MPI_Wait, w->held.entry);
}

static void end_one(struct wait *w, const void *status, int result)
{
	struct ct_mpi_request request;

	if (!ct_mpi_was_refused(result) && ct_mpi_requests_take(&w->held, &request))
		ct_mpi_complete(&request, status, ct_now_ns(), ct_mpi_result(result));
	ct_mpi_end_host(&w->host, result);
}

CT_MPI_RECORD(DATA, Wait, (void *request, void *status), (request, status), struct wait,
	      begin_one(&f, request, &status), end_one(&f, status, result))

/* ---- several
 * -------------------------------------------------------------------------------------------------
 */

struct waits {
	struct ct_host_frame host; /* first */
	struct ct_mpi_multi several;
};

/* Left by an exception or by the thread's cancellation. */
static void leave(struct ct_frame *frame)
{
	ct_mpi_multi_end(&((struct waits *)frame)->several);
	ct_host_leave(frame);
}

static int begin_call(struct waits *w, enum ct_mpi_function function)
{
	begin_wait(&w->host, function, w->several.first);
	w->host.frame.leave = leave;
	return 1;
}

static int begin_several(struct waits *w, enum ct_mpi_function function, int n,
			 const void *requests, void **statuses)
{
	return ct_mpi_multi_begin(&w->several, n, requests, statuses) && begin_call(w, function);
}

static int begin_any(struct waits *w, int n, const void *requests, void **status)
{
	return ct_mpi_multi_begin_any(&w->several, n, requests, status) &&
	       begin_call(w, CT_MPI_Waitany);
}

static void end(struct waits *w, int result)
{
	ct_mpi_multi_end(&w->several);
	ct_mpi_end_host(&w->host, result);
}

static void end_all(struct waits *w, const void *requests, int result)
{
	ct_mpi_multi_all(&w->several, requests, ct_now_ns(), result);
	end(w, result);
}

static void end_any(struct waits *w, const int *index, const void *status, int result)
{
	ct_mpi_multi_any(&w->several, index, status, ct_now_ns(), result);
	end(w, result);
}

static void end_some(struct waits *w, const int *n_done, const int *indices, int result)
{
	ct_mpi_multi_some(&w->several, n_done, indices, ct_now_ns(), result);
	end(w, result);
}

CT_MPI_RECORD(DATA, Waitall, (int n, void *requests, void *statuses), (n, requests, statuses),
	      struct waits, begin_several(&f, CT_MPI_Waitall, n, requests, &statuses),
	      end_all(&f, requests, result))
CT_MPI_RECORD(DATA, Waitany, (int n, void *requests, int *index, void *status),
	      (n, requests, index, status), struct waits, begin_any(&f, n, requests, &status),
	      end_any(&f, index, status, result))
CT_MPI_RECORD(DATA, Waitsome, (int n, void *requests, int *n_done, int *indices, void *statuses),
	      (n, requests, n_done, indices, statuses), struct waits,
	      begin_several(&f, CT_MPI_Waitsome, n, requests, &statuses),
	      end_some(&f, n_done, indices, result))
