/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Test and its kind: what they find done is ended like in MPI_Wait; asked again and again, they
 * are one wait (poll.h). */
#include "interpose/mpi/multi_request.h"
#include "interpose/mpi/poll.h"

static int ask(struct ct_mpi_question *q, enum ct_mpi_function function,
	       const struct ct_mpi_request *request)
{
	return ct_mpi_poll_ask(q, function, request ? request->comm_id : 0);
}

/* ---- of one
 * --------------------------------------------------------------------------------------------------
 */

struct mpi_test {
	struct ct_mpi_question q;
	struct ct_mpi_held held;
	struct ct_mpi_status own;
};

static int ask_one(struct mpi_test *t, const void *request, void **status)
{
	uintptr_t key = ct_mpi_request_key(request, 0);

	t->held = ct_mpi_requests_hold(key);
	if (!key)
		return 0;
	ask(&t->q, CT_MPI_Test, t->held.entry);
	*status = ct_mpi_status_of(*status, &t->own);
	return 1;
}

static void answer_one(struct mpi_test *t, int is_done, const void *status, int result)
{
	uint64_t now_ns = ct_now_ns();
	struct ct_mpi_request taken;

	if (is_done && !ct_mpi_was_refused(result) && ct_mpi_requests_take(&t->held, &taken))
		ct_mpi_complete(&taken, status, now_ns, ct_mpi_result(result));
	ct_mpi_poll_answer(&t->q, is_done, now_ns);
}

CT_MPI_RECORD(DATA, Test, (void *request, int *flag, void *status), (request, flag, status),
	      struct mpi_test, ask_one(&f, request, &status),
	      answer_one(&f, result || *flag, status, result))

/* It remains a request, done or not: the program will wait for it, or free it. */
static int ask_status(struct ct_mpi_question *q, ct_mpi_handle request)
{
	uintptr_t key = ct_mpi_request_key(&request, 0);

	return key && ask(q, CT_MPI_Request_get_status, ct_mpi_requests_find(key, 0));
}

static int ask_arrived(struct ct_mpi_question *q, ct_mpi_handle request)
{
	uintptr_t key = ct_mpi_request_key(&request, 0);

	return ask(q, CT_MPI_Parrived, key ? ct_mpi_requests_find(key, 0) : NULL);
}

CT_MPI_RECORD(DATA, Request_get_status, (ct_mpi_handle request, int *flag, void *status),
	      (request, flag, status), struct ct_mpi_question, ask_status(&f, request),
	      ct_mpi_poll_answer(&f, result || *flag, ct_now_ns()))
CT_MPI_RECORD(DATA, Parrived, (ct_mpi_handle request, int partition, int *flag),
	      (request, partition, flag), struct ct_mpi_question, ask_arrived(&f, request),
	      ct_mpi_poll_answer(&f, result || *flag, ct_now_ns()))

/* ---- of several
 * ---------------------------------------------------------------------------------------------- */

struct tests {
	struct ct_mpi_question q;
	struct ct_mpi_multi several;
};

static int ask_several(struct tests *t, enum ct_mpi_function function, int n, const void *requests,
		       void **statuses)
{
	return ct_mpi_multi_begin(&t->several, n, requests, statuses) &&
	       ask(&t->q, function, t->several.first);
}

static int ask_any(struct tests *t, int n, const void *requests, void **status)
{
	return ct_mpi_multi_begin_any(&t->several, n, requests, status) &&
	       ask(&t->q, CT_MPI_Testany, t->several.first);
}

static void end(struct tests *t, int is_done, uint64_t now_ns)
{
	ct_mpi_multi_end(&t->several);
	ct_mpi_poll_answer(&t->q, is_done, now_ns);
}

static void answer_all(struct tests *t, int is_done, const void *requests, int result)
{
	uint64_t now_ns = ct_now_ns();

	if (is_done)
		ct_mpi_multi_all(&t->several, requests, now_ns, result);
	end(t, is_done, now_ns);
}

static void answer_any(struct tests *t, int is_done, const int *index, const void *status,
		       int result)
{
	uint64_t now_ns = ct_now_ns();

	if (is_done)
		ct_mpi_multi_any(&t->several, index, status, now_ns, result);
	end(t, is_done, now_ns);
}

static void answer_some(struct tests *t, const int *n_done, const int *indices, int result)
{
	uint64_t now_ns = ct_now_ns();

	ct_mpi_multi_some(&t->several, n_done, indices, now_ns, result);
	end(t, result || *n_done != 0, now_ns);
}

CT_MPI_RECORD(DATA, Testall, (int n, void *requests, int *flag, void *statuses),
	      (n, requests, flag, statuses), struct tests,
	      ask_several(&f, CT_MPI_Testall, n, requests, &statuses),
	      answer_all(&f, result || *flag, requests, result))
CT_MPI_RECORD(DATA, Testany, (int n, void *requests, int *index, int *flag, void *status),
	      (n, requests, index, flag, status), struct tests, ask_any(&f, n, requests, &status),
	      answer_any(&f, result || *flag, index, status, result))
CT_MPI_RECORD(DATA, Testsome, (int n, void *requests, int *n_done, int *indices, void *statuses),
	      (n, requests, n_done, indices, statuses), struct tests,
	      ask_several(&f, CT_MPI_Testsome, n, requests, &statuses),
	      answer_some(&f, n_done, indices, result))
