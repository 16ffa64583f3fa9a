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

/* Always 1, as CT_MPI_RECORD() asks. */
static int ask(struct question *q, enum ct_mpi_function function,
	       const struct ct_mpi_request *request)
{
	q->function = function;
	q->comm = request ? request->comm_id : 0;
	q->enter_ns = ct_now_ns();
	return 1;
}

static void answer(struct question *q, int is_done)
{
	if (is_done)
		ct_mpi_poll_done(q->enter_ns, q->return_ns);
	else
		ct_mpi_poll_missed(ct_mpi_call_id(q->function), q->comm, q->enter_ns, q->return_ns);
	ct_guard_leave();
}

/* ---- of one -------------------------------------------------------------------------------------------------- */

struct test {
	struct question q;
	struct ct_mpi_held held;
	struct ct_mpi_status own;
};

static int ask_one(struct test *t, const void *request, void **status)
{
	uintptr_t key = ct_mpi_request_key(request, 0);

	t->held = ct_mpi_requests_hold(key);
	if (!key)
		return 0;
	ask(&t->q, CT_MPI_Test, t->held.entry);
	*status = ct_mpi_status_of(*status, &t->own);
	return 1;
}

static void answer_one(struct test *t, int is_done, const void *status, int result)
{
	struct ct_mpi_request taken;

	t->q.return_ns = ct_now_ns();
	if (is_done && ct_mpi_requests_take(&t->held, &taken))
		ct_mpi_complete(&taken, status, t->q.return_ns, ct_mpi_result(result));
	answer(&t->q, is_done);
}

CT_MPI_RECORD(DATA, Test, (void *request, int *flag, void *status), (request, flag, status),
	      struct test, ask_one(&f, request, &status),
	      answer_one(&f, *flag || result, status, result))

/* Of one that goes on being a request, done or not: somebody will wait for it, or free it. */
static void answer_about(struct question *q, int is_done)
{
	q->return_ns = ct_now_ns();
	answer(q, is_done);
}

static int ask_status(struct question *q, ct_mpi_handle request)
{
	uintptr_t key = ct_mpi_request_key(&request, 0);

	return key && ask(q, CT_MPI_Request_get_status, ct_mpi_requests_find(key, 0));
}

static int ask_arrived(struct question *q, ct_mpi_handle request)
{
	uintptr_t key = ct_mpi_request_key(&request, 0);

	return ask(q, CT_MPI_Parrived, key ? ct_mpi_requests_find(key, 0) : NULL);
}

CT_MPI_RECORD(DATA, Request_get_status, (ct_mpi_handle request, int *flag, void *status),
	      (request, flag, status), struct question, ask_status(&f, request),
	      answer_about(&f, *flag || result))
CT_MPI_RECORD(DATA, Parrived, (ct_mpi_handle request, int partition, int *flag),
	      (request, partition, flag), struct question, ask_arrived(&f, request),
	      answer_about(&f, *flag || result))

/* ---- of several ---------------------------------------------------------------------------------------------- */

struct tests {
	struct question q;
	struct ct_mpi_several several;
};

static int ask_several(struct tests *t, enum ct_mpi_function function, int n, const void *requests,
		       void **statuses)
{
	return ct_mpi_several_begin(&t->several, n, requests, statuses) &&
	       ask(&t->q, function, t->several.first);
}

static int ask_any(struct tests *t, int n, const void *requests, void **status)
{
	return ct_mpi_several_begin_any(&t->several, n, requests, status) &&
	       ask(&t->q, CT_MPI_Testany, t->several.first);
}

static void end(struct tests *t, int is_done)
{
	ct_mpi_several_end(&t->several);
	answer(&t->q, is_done);
}

static void answer_all(struct tests *t, int is_done, const void *requests, int result)
{
	t->q.return_ns = ct_now_ns();
	if (is_done)
		ct_mpi_several_all(&t->several, requests, t->q.return_ns, result);
	end(t, is_done);
}

static void answer_any(struct tests *t, int is_done, int index, const void *status, int result)
{
	t->q.return_ns = ct_now_ns();
	if (is_done)
		ct_mpi_several_any(&t->several, index, status, t->q.return_ns, result);
	end(t, is_done);
}

static void answer_some(struct tests *t, int n_done, const int *indices, int result)
{
	t->q.return_ns = ct_now_ns();
	ct_mpi_several_some(&t->several, n_done, indices, t->q.return_ns, result);
	end(t, n_done != 0 || result);
}

CT_MPI_RECORD(DATA, Testall, (int n, void *requests, int *flag, void *statuses),
	      (n, requests, flag, statuses), struct tests,
	      ask_several(&f, CT_MPI_Testall, n, requests, &statuses),
	      answer_all(&f, *flag || result, requests, result))
CT_MPI_RECORD(DATA, Testany, (int n, void *requests, int *index, int *flag, void *status),
	      (n, requests, index, flag, status), struct tests, ask_any(&f, n, requests, &status),
	      answer_any(&f, *flag || result, *index, status, result))
CT_MPI_RECORD(DATA, Testsome, (int n, void *requests, int *n_done, int *indices, void *statuses),
	      (n, requests, n_done, indices, statuses), struct tests,
	      ask_several(&f, CT_MPI_Testsome, n, requests, &statuses),
	      answer_some(&f, *n_done, indices, result))
