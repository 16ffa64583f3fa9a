/* SPDX-License-Identifier: Apache-2.0 */
/* The rarer ways of groups, launches and communicators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "interpose/nccl/key.h"
#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/interpose/spy_gpu.h"

#define KEY_7 0x2258c19d731308ebull /* of an id of 128 sevens */

static void returns(ncclResult_t is, ncclResult_t should_be)
{
	MUST(is == should_be);
}

static ncclComm_t make_comm(int nranks, int rank, ncclResult_t expected)
{
	ncclUniqueId id;
	ncclComm_t comm = NULL;

	memset(&id, 7, sizeof(id));
	returns(ncclCommInitRank(&comm, nranks, id, rank), expected);
	spy_start();
	return comm;
}

static ncclComm_t make_nonblocking(int nranks, int rank)
{
	ncclComm_t comm;

	fake_nonblocking(1);
	comm = make_comm(nranks, rank, ncclInProgress);
	fake_finish(ncclSuccess);
	return comm;
}

static void all_reduce(ncclComm_t comm, int stream, ncclResult_t expected)
{
	returns(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM(stream)), expected);
}

static ncclResult_t state_of(ncclComm_t comm)
{
	ncclResult_t state = ncclInternalError;

	returns(ncclCommGetAsyncError(comm, &state), ncclSuccess);
	return state;
}

static const struct recorded_lists *records_of(void (*body)(void))
{
	const struct recorded_lists *r;

	assert_int_equal(recorded_run(body, NULL), 0);
	r = recorded_lists(0);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
	/* whatever stands in an op as its launch comes to one record, and one only */
	for (uint32_t i = 0; i < r->n_ops; i++)
		assert_non_null(recorded_launch(r, r->ops[i].launch));
	return r;
}

/* ---- groups
 * ------------------------------------------------------------------------------------------------ */

static void simulate_nonblocking(void)
{
	ncclSimInfo_t info = { .size = sizeof(info) };
	ncclComm_t comm = make_nonblocking(2, 0);

	ncclGroupStart();
	all_reduce(comm, 1, ncclSuccess);
	spy_start();
	returns(ncclGroupSimulateEnd(&info), ncclInProgress);
	spy_heard("ncclGroupSimulateEnd");
	fake_finish(ncclSuccess);
	fake_result(ncclSystemError);
	ncclGroupStart();
	all_reduce(comm, 1, ncclSystemError);
	returns(ncclGroupSimulateEnd(&info), ncclSystemError);
	fake_result(ncclSuccess);
	fake_finish(ncclSuccess);
	all_reduce(comm, 1, ncclInProgress);
	fake_finish(ncclSuccess);
	returns(state_of(comm), ncclSuccess);
}

/* NCCL forgets, for these, that it was only to simulate. */
static void a_simulated_group_that_does_not_block_is_launched_some_time(void **state)
{
	const struct recorded_lists *r = records_of(simulate_nonblocking);
	const struct ct_launch *launch = recorded_launch(r, r->ops[0].launch);

	(void)state;
	assert_int_equal(r->n_ops, 3);
	assert_int_equal(launch->result, ncclSuccess);
	assert_int_equal(launch->start_source, CT_SOURCE_NONE);
	assert_int_equal(launch->end_source, CT_SOURCE_NONE);
	assert_int_equal(recorded_launch(r, r->ops[1].launch)->result, ncclSystemError);
	assert_int_equal(recorded_host(r, "ncclGroupSimulateEnd", 0)->result, ncclInProgress);
}

static void group_with_an_error(void)
{
	ncclComm_t comm = make_comm(2, 0, ncclSuccess);

	ncclGroupStart();
	all_reduce(comm, 1, ncclSuccess);
	fake_result(ncclInvalidArgument);
	all_reduce(comm, 2, ncclInvalidArgument);
	spy_start();
	returns(ncclGroupEnd(), ncclInvalidArgument);
	spy_heard("B1 B2 ncclGroupEnd D1=4 D2=4");
	fake_result(ncclSuccess);
	all_reduce(comm, 1, ncclSuccess);
	spy_heard("B1 ncclAllReduce E1");
}

static void one_call_that_fails_is_the_end_of_its_group(void **state)
{
	const struct recorded_lists *r = records_of(group_with_an_error);

	(void)state;
	assert_int_equal(r->ops[0].result, 0);
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->result, ncclInvalidArgument);
	assert_int_equal(r->ops[1].result, ncclInvalidArgument);
	assert_int_equal(recorded_launch(r, r->ops[2].launch)->result, 0);
}

static void group_nonblocking(void)
{
	ncclComm_t a = make_nonblocking(2, 0), b = make_nonblocking(3, 0);

	ncclGroupStart();
	all_reduce(a, 1, ncclSuccess);
	all_reduce(b, 2, ncclSuccess);
	spy_start();
	returns(ncclGroupEnd(), ncclInProgress);
	spy_heard("B1 B2 ncclGroupEnd");
	fake_finish(ncclSuccess);
	/* each by itself */
	returns(state_of(b), ncclSuccess);
	spy_heard("E2");
	returns(state_of(a), ncclSuccess);
	spy_heard("E1");
}

static void communicators_of_a_nonblocking_group_end_one_by_one(void **state)
{
	const struct recorded_lists *r = records_of(group_nonblocking);

	(void)state;
	assert_int_equal(r->n_launches, 2);
}

/* ---- work that is never queried
 * ------------------------------------------------------------------------------- */

static void never_ask(void)
{
	ncclComm_t never = make_nonblocking(2, 0), other;

	fake_asks(0);
	all_reduce(never, 9, ncclInProgress);
	fake_finish(ncclSuccess);
	fake_nonblocking(0);
	other = make_comm(4, 0, ncclSuccess);
	for (int i = 0; i < 200; i++) {
		spy_start();
		all_reduce(other, 1, ncclSuccess);
		spy_heard("B1 ncclAllReduce E1");
	}
}

static void one_that_is_never_asked_for_holds_up_no_other(void **state)
{
	const struct recorded_lists *r;
	uint32_t open = 0;

	(void)state;
	assert_int_equal(recorded_run(never_ask, NULL), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, 201);
	for (uint32_t i = 0; i < r->n_ops; i++)
		open += recorded_launch(r, r->ops[i].launch) == NULL;
	/* the end of the first stays unknown */
	assert_int_equal(open, 1);
	assert_null(recorded_launch(r, r->ops[0].launch));
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
}

static void finalize_nonblocking(void)
{
	ncclComm_t comm = make_nonblocking(2, 0), lost;

	all_reduce(comm, 1, ncclInProgress);
	fake_finish(ncclSuccess);
	spy_start();
	/* NCCL itself asks whether it is ready */
	fake_result(ncclInProgress);
	returns(ncclCommFinalize(comm), ncclInProgress);
	spy_heard("E1 ncclCommFinalize");
	fake_result(ncclSuccess);
	returns(state_of(comm), ncclSuccess);
	returns(ncclCommDestroy(comm), ncclSuccess);
	/* no query before the end */
	lost = make_nonblocking(3, 0);
	all_reduce(lost, 1, ncclInProgress);
	fake_finish(ncclSuccess);
	spy_start();
	returns(ncclCommDestroy(lost), ncclSuccess);
	spy_heard("D1=0 ncclCommDestroy");
}

static void finalizing_sees_the_last_work_done(void **state)
{
	const struct recorded_lists *r = records_of(finalize_nonblocking);

	(void)state;
	assert_int_equal(recorded_host(r, "ncclCommFinalize", 0)->result, ncclInProgress);
	assert_int_equal(recorded_host(r, "ncclCommFinalize", 0)->comm, 1);
	assert_int_not_equal(r->comms[0].ended_ns, 0);
	assert_int_equal(recorded_launch(r, r->ops[1].launch)->result, 0);
}

/* ---- children
 * ------------------------------------------------------------------------------------------------ */

static void children_in_group(void)
{
	ncclComm_t comm = make_comm(8, 5, ncclSuccess), child[3], none = comm;
	int without[] = { 6, 2 };

	ncclGroupStart();
	returns(ncclCommShrink(comm, without, 2, &child[0], NULL, 0), ncclSuccess);
	returns(ncclCommSplit(comm, NCCL_SPLIT_NOCOLOR, 0, &none, NULL), ncclSuccess);
	returns(ncclCommSplit(comm, 3, 0, &child[1], NULL), ncclSuccess);
	MUST(child[0] == NULL && child[1] == NULL);
	returns(ncclGroupEnd(), ncclSuccess);
	MUST(child[0] != NULL && child[1] != NULL && none == NULL);
	all_reduce(child[0], 1, ncclSuccess);
	all_reduce(child[1], 1, ncclSuccess);
	/* what fails leaves no child, and what lies where it should be is not looked at */
	ncclGroupStart();
	returns(ncclCommShrink(comm, without, 2, &child[2], NULL, 0), ncclSuccess);
	fake_result(ncclRemoteError);
	child[2] = comm;
	returns(ncclGroupEnd(), ncclRemoteError);
	fake_result(ncclSuccess);
}

static void children_are_known_at_the_end_of_their_group(void **state)
{
	const struct recorded_lists *r = records_of(children_in_group);

	(void)state;
	assert_int_equal(r->n_comms, 3);
	assert_int_equal(r->comms[1].nranks, 6);
	assert_int_equal(r->comms[1].rank, 4);
	assert_true(r->comms[2].key == ct_nccl_key_of_split(KEY_7, 2, 3, 0));
	assert_int_equal(r->ops[0].comm, 2);
	assert_int_equal(r->ops[1].comm, 3);
	assert_int_equal(r->comms[0].ended_ns, 0);
}

static void children_later(void)
{
	ncclComm_t comm = make_nonblocking(8, 5), shrunk, split, none = comm;
	int without[] = { 1 };

	returns(ncclCommShrink(comm, without, 1, &shrunk, NULL, 0), ncclInProgress);
	MUST(shrunk == NULL);
	returns(state_of(comm), ncclInProgress);
	fake_finish(ncclSuccess);
	returns(state_of(comm), ncclSuccess);
	all_reduce(shrunk, 1, ncclInProgress);
	fake_finish(ncclSuccess);
	returns(state_of(shrunk), ncclSuccess);
	/* in a group as well */
	ncclGroupStart();
	returns(ncclCommSplit(comm, 2, 0, &split, NULL), ncclSuccess);
	returns(ncclCommSplit(comm, NCCL_SPLIT_NOCOLOR, 0, &none, NULL), ncclSuccess);
	all_reduce(comm, 1, ncclSuccess);
	returns(ncclGroupEnd(), ncclInProgress);
	MUST(split == NULL);
	fake_finish(ncclSuccess);
	returns(state_of(comm), ncclSuccess);
	all_reduce(split, 1, ncclInProgress);
	fake_finish(ncclSuccess);
	returns(state_of(split), ncclSuccess);
}

static void children_that_come_later_are_known_when_their_parent_is_done(void **state)
{
	const struct recorded_lists *r = records_of(children_later);

	(void)state;
	assert_int_equal(r->n_comms, 3);
	assert_int_equal(r->comms[1].nranks, 7);
	assert_int_equal(r->comms[1].rank, 4);
	assert_int_equal(r->ops[0].comm, 2);
	assert_true(r->comms[2].key == ct_nccl_key_of_split(KEY_7, 1, 2, 0));
	assert_int_equal(r->ops[1].comm, 1);
	assert_int_equal(r->ops[2].comm, 3);
}

/* ---- a communicator that ends while a thread is inside a call of it
 * -------------------------------------------- */

static atomic_int inside, let_go;

static void wait_inside(const char *name)
{
	const struct timespec nap = { .tv_nsec = 200000 };

	if (strcmp(name, "ncclAllReduce") != 0)
		return;
	atomic_store(&inside, 1);
	while (!atomic_load(&let_go))
		nanosleep(&nap, NULL);
}

static void *reduce_nothing(void *comm)
{
	returns(ncclAllReduce(NULL, NULL, 0, ncclFloat32, ncclSum, comm, STREAM(1)), ncclSuccess);
	return NULL;
}

static void reuse_while_inside(void)
{
	const struct timespec nap = { .tv_nsec = 200000 };
	ncclComm_t comm = make_comm(2, 0, ncclSuccess);
	pthread_t thread;

	fake_on_call(wait_inside);
	MUST(pthread_create(&thread, NULL, reduce_nothing, comm) == 0);
	while (!atomic_load(&inside))
		nanosleep(&nap, NULL);
	returns(ncclCommAbort(comm), ncclSuccess);
	/* it takes the slot of the one that is gone */
	make_comm(3, 0, ncclSuccess);
	atomic_store(&let_go, 1);
	pthread_join(thread, NULL);
}

static void a_call_belongs_to_the_communicator_that_it_was_made_on(void **state)
{
	const struct recorded_lists *r = records_of(reuse_while_inside);

	(void)state;
	assert_int_equal(r->n_comms, 2);
	assert_int_equal(r->ops[0].comm, 1);
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->comm, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_simulated_group_that_does_not_block_is_launched_some_time),
		cmocka_unit_test(one_call_that_fails_is_the_end_of_its_group),
		cmocka_unit_test(communicators_of_a_nonblocking_group_end_one_by_one),
		cmocka_unit_test(one_that_is_never_asked_for_holds_up_no_other),
		cmocka_unit_test(finalizing_sees_the_last_work_done),
		cmocka_unit_test(children_are_known_at_the_end_of_their_group),
		cmocka_unit_test(children_that_come_later_are_known_when_their_parent_is_done),
		cmocka_unit_test(a_call_belongs_to_the_communicator_that_it_was_made_on),
	};
	int failed = cmocka_run_group_tests_name("nccl_cases", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
