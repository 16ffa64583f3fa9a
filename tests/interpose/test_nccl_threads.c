/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's wrappers where something is in the way: other threads, the thread's end, a fork, a backend
 * that is not wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/interpose/spy_gpu.h"

static ncclComm_t make_comm(int nranks)
{
	ncclUniqueId id = { { 1 } };
	ncclComm_t comm = NULL;

	MUST(ncclCommInitRank(&comm, nranks, id, 0) == ncclSuccess);
	return comm;
}

static ncclResult_t all_reduce(ncclComm_t comm)
{
	return ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM(1));
}

static const struct recorded_lists *records_of(void (*body)(void), const char *const *env)
{
	assert_int_equal(recorded_run(body, env), 0);
	return recorded_lists(0);
}

/* ---- a call that does not come back by itself
 * -------------------------------------------------------------- */

static atomic_int stuck, let_go;

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 200000 };

	nanosleep(&t, NULL);
}

static void stick(const char *name)
{
	if (strcmp(name, "ncclCommAbort") == 0) {
		fake_result(ncclInternalError);
		atomic_store(&let_go, 1);
	} else if (strcmp(name, "ncclAllReduce") == 0 || strcmp(name, "ncclGroupEnd") == 0) {
		atomic_store(&stuck, 1);
		while (!atomic_load(&let_go))
			nap(); /* where a thread can be cancelled */
	}
}

static void *reduce(void *comm)
{
	MUST(all_reduce(comm) == ncclInternalError);
	return NULL;
}

static void abort_while_inside(void)
{
	ncclComm_t comm = make_comm(2);
	pthread_t thread;

	fake_on_call(stick);
	MUST(pthread_create(&thread, NULL, reduce, comm) == 0);
	while (!atomic_load(&stuck))
		nap();
	ncclCommAbort(comm);
	pthread_join(thread, NULL);
	fake_result(ncclSuccess);
	MUST(all_reduce(make_comm(3)) == ncclSuccess);
}

static void another_thread_can_abort_what_one_is_stuck_in(void **state)
{
	const struct recorded_lists *r = records_of(abort_while_inside, NULL);
	const struct ct_host_rec *host = recorded_host(r, "ncclCommAbort", 0);

	(void)state;
	assert_int_equal(host->comm, 1);
	assert_int_not_equal(r->comms[0].ended_ns, 0);
	/* over when the abort begins, not when it comes back */
	assert_true(r->comms[0].ended_ns <= host->return_ns);
	assert_true(r->comms[0].ended_ns <= r->ops[0].return_ns);
	assert_int_equal(r->ops[0].result, ncclInternalError);
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->result, ncclInternalError);
	assert_int_equal(r->ops[1].comm, 2);
	assert_int_equal(r->ops[1].result, 0);
}

/* A cancelled thread runs into a fault of AddressSanitizer's own (it takes the signal stack of a
 * thread that has gone). */
#if !defined(__SANITIZE_ADDRESS__)
static void *reduce_for_ever(void *comm)
{
	all_reduce(comm);
	return NULL;
}

static void *end_for_ever(void *comm)
{
	fake_on_call(NULL);
	ncclGroupStart();
	all_reduce(comm);
	fake_on_call(stick);
	ncclGroupEnd();
	return NULL;
}

static void cancel_one(void *(*body)(void *), ncclComm_t comm)
{
	pthread_t thread;

	atomic_store(&stuck, 0);
	fake_on_call(stick);
	MUST(pthread_create(&thread, NULL, body, comm) == 0);
	while (!atomic_load(&stuck))
		nap();
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	fake_on_call(NULL);
}

static void cancel_inside(void)
{
	ncclComm_t comm = make_comm(2);

	cancel_one(reduce_for_ever, comm);
	cancel_one(end_for_ever, comm);
	MUST(all_reduce(comm) == ncclSuccess);
}

static void a_cancelled_call_ends_on_record(void **state)
{
	const struct recorded_lists *r = records_of(cancel_inside, NULL);

	(void)state;
	assert_int_equal(r->n_ops, 3);
	assert_int_equal(r->ops[0].result, CT_RESULT_EXCEPTION);
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->result, CT_RESULT_EXCEPTION);
	assert_int_equal(r->ops[1].result, 0);
	assert_int_equal(recorded_launch(r, r->ops[1].launch)->result, CT_RESULT_EXCEPTION);
	assert_int_equal(recorded_host(r, "ncclGroupEnd", 0)->result, CT_RESULT_EXCEPTION);
	assert_int_equal(r->ops[2].result, 0);
}

#endif

/* ---- several at once
 * --------------------------------------------------------------------------------------- */

static void *group_often(void *comm)
{
	for (int i = 0; i < 20; i++) {
		ncclGroupStart();
		ncclSend(comm, 1, ncclInt8, 1, comm, STREAM(1));
		ncclRecv(comm, 1, ncclInt8, 1, comm, STREAM(1));
		MUST(ncclGroupEnd() == ncclSuccess);
	}
	return NULL;
}

static void group_in_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&threads[i], NULL, group_often, make_comm(2)) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void groups_belong_to_their_threads(void **state)
{
	const struct recorded_lists *r = records_of(group_in_threads, NULL);

	(void)state;
	assert_int_equal(r->n_ops, 160);
	assert_int_equal(r->n_launches, 80);
	for (uint32_t i = 0; i < r->n_launches; i++)
		assert_int_equal(r->launches[i].n_ops, 2);
	for (uint32_t i = 0; i < r->n_ops; i++) {
		assert_non_null(recorded_launch(r, r->ops[i].launch));
		assert_int_equal(recorded_launch(r, r->ops[i].launch)->comm, r->ops[i].comm);
		assert_true(r->ops[i].seq < 20);
	}
}

/* ---- forked children
 * ---------------------------------------------------------------------------------------- */

static void child(ncclComm_t inherited)
{
	ncclComm_t comm;
	ncclUniqueId id = { { 2 } };

	MUST(all_reduce(inherited) == ncclSuccess); /* not recorded */
	/* it is in no group: the parent's is the parent's */
	MUST(ncclGroupEnd() == ncclSuccess);
	ncclGroupStart();
	MUST(ncclCommInitRank(&comm, 5, id, 0) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
	MUST(all_reduce(comm) == ncclSuccess);
	MUST(all_reduce(make_comm(6)) == ncclSuccess);
	exit(0);
}

static void fork_in_group(void)
{
	ncclComm_t comm = make_comm(2);
	int status = -1;
	pid_t pid;

	ncclGroupStart();
	MUST(all_reduce(comm) == ncclSuccess);
	pid = fork();
	if (pid == 0)
		child(comm);
	waitpid(pid, &status, 0);
	MUST(status == 0);
	MUST(ncclGroupEnd() == ncclSuccess);
}

static void a_forked_child_starts_with_a_communicator_of_its_own(void **state)
{
	const struct recorded_lists *r = records_of(fork_in_group, NULL);
	uint32_t ops = 0;

	(void)state;
	assert_int_equal(r->processes, 2);
	for (size_t i = 0; i < 2; i++) {
		r = recorded_lists(i);
		ops += r->n_ops;
		assert_int_equal(r->n_launches, r->n_ops);
		assert_non_null(recorded_host(r, "ncclGroupEnd", 0));
		if (r->n_ops == 2)
			assert_true(recorded_host(r, "ncclGroupEnd", 0)->key == r->comms[0].key);
		assert_int_equal(r->comms[0].nranks, r->n_ops == 1 ? 2 : 5);
	}
	assert_int_equal(ops, 3);
}

/* ---- not wanted
 * ----------------------------------------------------------------------------------------------- */

static void use_all(void)
{
	ncclComm_t comm = make_comm(2);
	ncclResult_t state = ncclInternalError;

	spy_start();
	ncclGroupStart();
	MUST(all_reduce(comm) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
	MUST(ncclCommGetAsyncError(comm, &state) == ncclSuccess && state == ncclSuccess);
	fake_result(ncclSystemError);
	MUST(all_reduce(comm) == ncclSystemError);
	MUST(ncclCommDestroy(comm) == ncclSystemError);
	spy_heard("ncclGroupStart ncclAllReduce ncclGroupEnd ncclAllReduce ncclCommDestroy");
}

static void a_backend_that_is_not_listed_passes_unrecorded(void **state)
{
	const char *const others[][2] = { { "COMMTRACE_BACKENDS=gloo", NULL },
					  { "COMMTRACE_BACKENDS=mpi", NULL } };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const struct recorded_lists *r = records_of(use_all, others[i]);

		assert_int_equal(r->n_ops, 0);
		assert_int_equal(r->n_launches, 0);
		assert_int_equal(r->n_begins, 0);
		assert_int_equal(r->n_ends, 0);
		assert_int_equal(r->n_comms, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_thread_can_abort_what_one_is_stuck_in),
#if !defined(__SANITIZE_ADDRESS__)
		cmocka_unit_test(a_cancelled_call_ends_on_record),
#endif
		cmocka_unit_test(groups_belong_to_their_threads),
		cmocka_unit_test(a_forked_child_starts_with_a_communicator_of_its_own),
		cmocka_unit_test(a_backend_that_is_not_listed_passes_unrecorded),
	};
	int failed = cmocka_run_group_tests_name("nccl_threads", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
