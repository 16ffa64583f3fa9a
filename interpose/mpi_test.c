/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Test and its kind: what they find done is ended like in MPI_Wait; asked again and again, they are one wait
 * (mpi_poll.h). */
#include "interpose/mpi_poll.h"
#include "interpose/mpi_several.h"

struct question {
	enum ct_mpi_function function;
	uint64_t enter_ns, return_ns;
	uint32_t comm; /* id, 0 unknown */
};

static void ask(struct question *q, enum ct_mpi_function function,
		const struct ct_mpi_request *request)
{
	q->function = function;
	q->comm = request ? request->comm_id : 0;
	q->enter_ns = ct_now_ns();
}

static void answer(struct question *q, int is_done)
{
	if (is_done)
		ct_mpi_poll_done(q->enter_ns, q->return_ns);
	else
		ct_mpi_poll_missed(ct_mpi_call_id(q->function), q->comm, q->enter_ns, q->return_ns);
}

static CT_UNWIND_WHOLE int record_Test(void *request, int *flag, void *status, ct_MPI_Test_fn *real)
{
	uintptr_t key = ct_mpi_request_key(request, 0);
	const struct ct_mpi_held held = ct_mpi_requests_hold(key);
	struct ct_mpi_request taken;
	struct ct_mpi_status own;
	struct question q;
	int result;

	CT_UNWIND_HERE();
	if (!key) {
		result = real(request, flag, status);
		ct_guard_leave();
		return result;
	}
	ask(&q, CT_MPI_Test, held.entry);
	status = ct_mpi_status_of(status, &own);
	result = real(request, flag, status);
	q.return_ns = ct_now_ns();
	if ((*flag || result) && ct_mpi_requests_take(&held, &taken))
		ct_mpi_complete(&taken, status, q.return_ns, ct_mpi_result(result));
	answer(&q, *flag || result);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Test, (void *request, int *flag, void *status), (request, flag, status),
		CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Testall(int n, void *requests, int *flag, void *statuses,
					  ct_MPI_Testall_fn *real)
{
	struct ct_mpi_several s;
	struct question q;
	int result;

	CT_UNWIND_HERE();
	ct_mpi_several_begin(&s, n, requests, statuses);
	if (!s.n_pending) {
		result = real(n, requests, flag, statuses);
		ct_guard_leave();
		return result;
	}
	ask(&q, CT_MPI_Testall, s.first);
	result = real(n, requests, flag, s.statuses);
	q.return_ns = ct_now_ns();
	if (*flag || result)
		ct_mpi_several_all(&s, requests, q.return_ns, result);
	ct_mpi_several_end(&s);
	answer(&q, *flag || result);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Testall, (int n, void *requests, int *flag, void *statuses),
		(n, requests, flag, statuses), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Testany(int n, void *requests, int *index, int *flag,
					  void *status, ct_MPI_Testany_fn *real)
{
	struct ct_mpi_status own;
	struct ct_mpi_several s;
	struct question q;
	int result;

	CT_UNWIND_HERE();
	ct_mpi_several_begin(&s, n, requests, NULL);
	if (!s.n_pending) {
		result = real(n, requests, index, flag, status);
		ct_guard_leave();
		return result;
	}
	ask(&q, CT_MPI_Testany, s.first);
	status = ct_mpi_status_of(status, &own);
	result = real(n, requests, index, flag, status);
	q.return_ns = ct_now_ns();
	if ((*flag || result) && *index != ct_mpi.is.UNDEFINED)
		ct_mpi_several_done(&s, (uint32_t)*index, status, q.return_ns,
				    ct_mpi_result(result));
	ct_mpi_several_end(&s);
	answer(&q, *flag || result);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Testany, (int n, void *requests, int *index, int *flag, void *status),
		(n, requests, index, flag, status), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Testsome(int n, void *requests, int *n_done, int *indices,
					   void *statuses, ct_MPI_Testsome_fn *real)
{
	struct ct_mpi_several s;
	struct question q;
	int result;

	CT_UNWIND_HERE();
	ct_mpi_several_begin(&s, n, requests, statuses);
	if (!s.n_pending) {
		result = real(n, requests, n_done, indices, statuses);
		ct_guard_leave();
		return result;
	}
	ask(&q, CT_MPI_Testsome, s.first);
	result = real(n, requests, n_done, indices, s.statuses);
	q.return_ns = ct_now_ns();
	ct_mpi_several_some(&s, *n_done, indices, q.return_ns, result);
	ct_mpi_several_end(&s);
	answer(&q, *n_done != 0 || result);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Testsome, (int n, void *requests, int *n_done, int *indices, void *statuses),
		(n, requests, n_done, indices, statuses), CT_CALL_DATA)

/* It may be done, but goes on being a request: somebody will wait for it, or free it. */
static CT_UNWIND_WHOLE int record_Request_get_status(ct_mpi_handle request, int *flag, void *status,
						     ct_MPI_Request_get_status_fn *real)
{
	uintptr_t key = ct_mpi_request_key(&request, 0);
	struct question q;
	int result;

	CT_UNWIND_HERE();
	if (!key) {
		result = real(request, flag, status);
		ct_guard_leave();
		return result;
	}
	ask(&q, CT_MPI_Request_get_status, ct_mpi_requests_find(key, 0));
	result = real(request, flag, status);
	q.return_ns = ct_now_ns();
	answer(&q, *flag || result);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Request_get_status, (ct_mpi_handle request, int *flag, void *status),
		(request, flag, status), CT_CALL_DATA)

static CT_UNWIND_WHOLE int record_Parrived(ct_mpi_handle request, int partition, int *flag,
					   ct_MPI_Parrived_fn *real)
{
	uintptr_t key = ct_mpi_request_key(&request, 0);
	struct question q;
	int result;

	CT_UNWIND_HERE();
	ask(&q, CT_MPI_Parrived, key ? ct_mpi_requests_find(key, 0) : NULL);
	result = real(request, partition, flag);
	q.return_ns = ct_now_ns();
	answer(&q, *flag || result);
	ct_guard_leave();
	return result;
}
CT_MPI_WRAPPERS(Parrived, (ct_mpi_handle request, int partition, int *flag),
		(request, partition, flag), CT_CALL_DATA)
