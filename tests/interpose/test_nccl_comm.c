/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's communicators: their keys, ranks and ends, and those that go on working when a call has
 * returned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/nccl/key.h"
#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/interpose/spy_gpu.h"

static void returns(ncclResult_t is, ncclResult_t should_be)
{
	MUST(is == should_be);
}

static ncclUniqueId id_of(int byte)
{
	ncclUniqueId id;

	memset(&id, byte, sizeof(id));
	return id;
}

#define KEY_7 0x2258c19d731308ebull /* of id_of(7); test_nccl_key.c */
#define KEY_7_SPLIT_1_0 0x95ec41b4c672ed61ull
#define KEY_7_SPLIT_1_0_SPLIT_1_3 0x5c531c5b4bd7ee11ull

static ncclComm_t make_comm(int nranks, int rank, ncclResult_t expected)
{
	ncclComm_t comm = NULL;

	returns(ncclCommInitRank(&comm, nranks, id_of(7), rank), expected);
	spy_start();
	return comm;
}

static void all_reduce(ncclComm_t comm, ncclResult_t expected)
{
	returns(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM(1)), expected);
}

static const struct recorded_lists *records_of(void (*body)(void))
{
	assert_int_equal(recorded_run(body, NULL), 0);
	return recorded_lists(0);
}

/* ---- from a unique id
 * ------------------------------------------------------------------------------------ */

static void init_each_way(void)
{
	ncclConfig_t config = { .size = sizeof(config),
				.magic = NCCL_CONFIG_MAGIC,
				.commName = "tensor parallel" };
	ncclUniqueId ids[2] = { id_of(9), id_of(10) }, id;
	ncclComm_t comm[5];
	int version;

	ncclGetVersion(&version); /* before anything is recorded */
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		id.internal[i] = (char)(i * 3);
	returns(ncclCommInitRank(&comm[0], 4, id, 2), ncclSuccess);
	MUST(memcmp(&id, fake_last_id(), sizeof(id)) == 0);
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		id.internal[i] = (char)(i * 5);
	returns(ncclCommInitRankConfig(&comm[1], 4, id, 3, &config), ncclSuccess);
	MUST(memcmp(&id, fake_last_id(), sizeof(id)) == 0);
	config.size = offsetof(ncclConfig_t, commName); /* of an older version: it ends here */
	returns(ncclCommInitRankConfig(&comm[2], 4, id_of(8), 0, &config), ncclSuccess);
	returns(ncclCommInitRankScalable(&comm[3], 300, 299, 2, ids, NULL), ncclSuccess);
	fake_result(ncclSystemError);
	returns(ncclCommInitRank(&comm[4], 2, id_of(7), 1), ncclSystemError);
	fake_result(ncclSuccess);
	returns(ncclGetVersion(&version), ncclSuccess);
	MUST(version == 23007);
}

static void comm_is(const struct recorded_lists *r, uint32_t id, uint64_t key, uint32_t nranks,
		    int32_t rank)
{
	const struct ct_comm_rec *comm = &r->comms[id - 1];

	assert_true(id <= r->n_comms);
	assert_true(comm->key == key);
	assert_int_equal(comm->key_source, CT_KEY_LIBRARY);
	assert_int_equal(comm->backend, CT_BACKEND_NCCL);
	assert_int_equal(comm->nranks, nranks);
	assert_int_equal(comm->rank, rank);
}

static void a_communicator_has_the_hash_of_its_id(void **state)
{
	const struct recorded_lists *r = records_of(init_each_way);
	const struct ct_host_rec *failed = recorded_host(r, "ncclCommInitRank", 1);
	const ncclUniqueId nine = id_of(9);
	ncclUniqueId id;

	(void)state;
	assert_int_equal(r->n_comms, 4);
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		id.internal[i] = (char)(i * 3);
	comm_is(r, 1, ct_nccl_key_of_id(&id, 0), 4, 2);
	comm_is(r, 4, ct_nccl_key_of_id(&nine, 0), 300, 299);
	assert_string_equal(recorded_name(r, r->comms[1].name), "tensor parallel");
	assert_int_equal(r->comms[2].name, 0);
	/* evidence of which one it is stands there before the library is entered */
	assert_int_equal(r->n_begins, r->n_ends);
	assert_true(r->begins[0].key == r->comms[0].key);
	assert_int_equal(r->begins[0].nranks, 4);
	assert_int_equal(r->begins[0].rank, 2);
	assert_int_equal(r->begins[0].comm, 0);
	assert_int_equal(recorded_host(r, "ncclCommInitRank", 0)->comm, 1);
	assert_int_equal(failed->result, ncclSystemError);
	assert_int_equal(failed->comm, 0);
	assert_non_null(recorded_host(r, "ncclGetVersion", 0));
	assert_null(recorded_host(r, "ncclGetVersion", 1));
}

static void init_as_before_2_26(void)
{
	ncclUniqueId id = id_of(200);
	ncclComm_t comm, child, again;

	fake_version(22005);
	returns(ncclGetUniqueId(&id), ncclSuccess);
	id = id_of(200);
	returns(ncclCommInitRank(&comm, 4, id, 2), ncclSuccess);
	returns(ncclCommSplit(comm, 9, 2, &child, NULL), ncclSuccess);
	returns(ncclCommSplit(comm, 9, 2, &again, NULL), ncclSuccess);
	returns(ncclCommSplit(again, 1, 2, &child, NULL), ncclSuccess);
}

static void the_hash_is_that_of_the_version(void **state)
{
	const struct recorded_lists *r = records_of(init_as_before_2_26);
	const ncclUniqueId id = id_of(200);
	uint64_t key = ct_nccl_key_of_id(&id, 22005);

	(void)state;
	assert_int_equal(r->n_comms, 4);
	assert_true(key != ct_nccl_key_of_id(&id, 22809));
	assert_true(r->comms[0].key == key);
	assert_true(r->comms[1].key == ct_nccl_hash_of_split(key, 1, 9, 22005));
	/* one hash for both in NCCL, two keys here */
	assert_true(r->comms[2].key == ct_nccl_key_of_split(key, 2, 9, 22005));
	assert_true(r->comms[2].key != r->comms[1].key);
	assert_true(r->comms[3].parent == r->comms[2].key);
}

static void init_all(void)
{
	ncclComm_t comms[4];
	ncclUniqueId id;

	returns(ncclCommInitAll(comms, 4, NULL), ncclSuccess);
	for (int i = 0; i < 4; i++)
		all_reduce(comms[i], ncclSuccess);
	returns(ncclGetUniqueId(&id), ncclSuccess);
}

static void several_ranks_of_one_process_share_a_key(void **state)
{
	const struct recorded_lists *r = records_of(init_all);
	ncclUniqueId id;

	(void)state;
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		id.internal[i] = (char)(i * 7);
	assert_int_equal(r->n_comms, 4);
	for (uint32_t i = 0; i < 4; i++) {
		comm_is(r, i + 1, ct_nccl_key_of_id(&id, 0), 4, (int)i);
		assert_int_equal(r->ops[i].comm, i + 1);
		assert_int_equal(r->ops[i].seq, 0);
	}
	/* one id was got inside a recorded call, one by the program */
	assert_non_null(recorded_host(r, "ncclGetUniqueId", 0));
	assert_null(recorded_host(r, "ncclGetUniqueId", 1));
}

static void init_in_group(void)
{
	ncclComm_t a[2], gone;

	ncclGroupStart();
	for (int i = 0; i < 2; i++)
		returns(ncclCommInitRank(&a[i], 2, id_of(7), i), ncclSuccess);
	returns(ncclGroupEnd(), ncclSuccess);
	all_reduce(a[1], ncclSuccess);
	ncclGroupStart();
	returns(ncclCommInitRank(&gone, 2, id_of(8), 0), ncclSuccess);
	fake_result(ncclRemoteError);
	returns(ncclGroupEnd(), ncclRemoteError);
	fake_result(ncclSuccess);
}

static void a_group_of_inits_waits_at_its_end(void **state)
{
	const struct recorded_lists *r = records_of(init_in_group);

	(void)state;
	comm_is(r, 1, KEY_7, 2, 0);
	comm_is(r, 2, KEY_7, 2, 1);
	assert_int_equal(r->ops[0].comm, 2);
	assert_int_equal(r->comms[1].ended_ns, 0);
	/* what came to nothing is over */
	assert_int_not_equal(r->comms[2].ended_ns, 0);
	assert_true(recorded_host(r, "ncclGroupEnd", 0)->key == KEY_7);
}

/* ---- from another one
 * ------------------------------------------------------------------------------------ */

static void split(void)
{
	ncclComm_t comm = make_comm(8, 5, ncclSuccess), child, grandchild, none = comm;

	returns(ncclCommSplit(NULL, 0, 0, &child, NULL), ncclInvalidArgument);
	fake_result(ncclInvalidUsage);
	returns(ncclCommSplit(comm, 0, 0, &child, NULL), ncclInvalidUsage);
	fake_result(ncclSuccess);
	returns(ncclCommSplit(comm, 0, 0, &child, NULL), ncclSuccess);
	errno = 77;
	returns(ncclCommSplit(child, 3, 0, &grandchild, NULL), ncclSuccess);
	MUST(errno == 77);
	all_reduce(child, ncclSuccess);
	MUST(comm->asked == 0);
	/* without a colour: no child, but counted */
	child = NULL;
	returns(ncclCommSplit(child ? child : comm, NCCL_SPLIT_NOCOLOR, 0, &none, NULL),
		ncclSuccess);
	MUST(none == NULL);
	ncclGroupStart();
	returns(ncclCommSplit(comm, 9, 0, &child, NULL), ncclSuccess);
	MUST(child == NULL);
	returns(ncclGroupEnd(), ncclSuccess);
	all_reduce(child, ncclSuccess);
}

static void a_split_has_the_hash_of_parent_count_and_colour(void **state)
{
	const struct recorded_lists *r = records_of(split);

	(void)state;
	assert_int_equal(r->n_comms, 4);
	comm_is(r, 2, KEY_7_SPLIT_1_0, 4, 2);
	comm_is(r, 3, KEY_7_SPLIT_1_0_SPLIT_1_3, 2, 1);
	comm_is(r, 4, ct_nccl_key_of_split(KEY_7, 3, 9, 0), 4, 2);
	assert_true(r->comms[1].parent == KEY_7);
	assert_true(r->comms[2].parent == KEY_7_SPLIT_1_0);
	assert_int_equal(r->ops[0].comm, 2);
	assert_int_equal(r->ops[1].comm, 4);
	/* all ranks of the parent take part */
	assert_int_equal(recorded_host(r, "ncclCommSplit", 2)->comm, 1);
}

static void shrink(void)
{
	ncclComm_t comm = make_comm(8, 5, ncclSuccess), child[3];
	int without[] = { 6, 2 }, others[] = { 0 };

	returns(ncclCommShrink(comm, without, 2, &child[0], NULL, 0), ncclSuccess);
	returns(ncclCommShrink(comm, without, 2, &child[1], NULL, NCCL_SHRINK_ABORT), ncclSuccess);
	returns(ncclCommShrink(comm, others, 1, &child[2], NULL, 0), ncclSuccess);
	/* counts as its own, not as the parent's */
	returns(ncclCommSplit(comm, 0, 0, &child[0], NULL), ncclSuccess);
	MUST(comm->asked == 0 && child[1]->asked == 0);
}

static void no_two_that_were_shrunk_have_one_key(void **state)
{
	const struct recorded_lists *r = records_of(shrink);

	(void)state;
	assert_int_equal(r->n_comms, 5);
	comm_is(r, 2, r->comms[1].key, 6, 4);
	comm_is(r, 4, r->comms[3].key, 7, 4);
	for (uint32_t i = 1; i < 5; i++) {
		assert_true(r->comms[i].parent == KEY_7);
		for (uint32_t j = 0; j < i; j++)
			assert_true(r->comms[i].key != r->comms[j].key);
	}
	assert_true(r->comms[4].key == KEY_7_SPLIT_1_0);
}

/* ---- what goes on after the call
 * ------------------------------------------------------------------------- */

static ncclResult_t state_of(ncclComm_t comm)
{
	ncclResult_t state = ncclInternalError;

	returns(ncclCommGetAsyncError(comm, &state), ncclSuccess);
	return state;
}

static void *ask_elsewhere(void *comm)
{
	returns(state_of(comm), ncclSuccess);
	return NULL;
}

static void work_on(void)
{
	pthread_t thread;
	ncclComm_t comm;

	fake_nonblocking(1);
	comm = make_comm(4, 3, ncclInProgress);
	returns(state_of(comm), ncclInProgress);
	fake_finish(ncclSuccess);
	returns(state_of(comm), ncclSuccess);
	spy_start();

	all_reduce(comm, ncclInProgress);
	spy_heard("B1 ncclAllReduce");
	returns(state_of(comm), ncclInProgress);
	spy_heard("");
	fake_finish(ncclSuccess);
	returns(state_of(comm), ncclSuccess);
	spy_heard("E1");
	returns(state_of(comm), ncclSuccess);
	spy_heard("");

	ncclGroupStart();
	returns(ncclSend(comm, 1, ncclInt8, 0, comm, STREAM(1)), ncclSuccess);
	returns(ncclRecv(comm, 1, ncclInt8, 0, comm, STREAM(2)), ncclSuccess);
	spy_start();
	returns(ncclGroupEnd(), ncclInProgress);
	spy_heard("B1 B2 ncclGroupEnd");
	fake_finish(ncclSuccess);
	/* a watchdog sees it first */
	MUST(pthread_create(&thread, NULL, ask_elsewhere, comm) == 0);
	pthread_join(thread, NULL);
	spy_heard("E1 E2");

	/* only the library queries, before the next one */
	all_reduce(comm, ncclInProgress);
	fake_finish(ncclSuccess);
	spy_start();
	all_reduce(comm, ncclInProgress);
	spy_heard("B1 E1 ncclAllReduce");

	fake_finish(ncclRemoteError);
	returns(state_of(comm), ncclRemoteError);
	spy_heard("D1=6");
	comm->state = ncclSuccess;
	all_reduce(comm, ncclInProgress);
	spy_start();
	returns(ncclCommAbort(comm), ncclSuccess);
	spy_heard("D1=-2 ncclCommAbort");
}

static void an_end_waits_until_the_library_says_so(void **state)
{
	const struct recorded_lists *r = records_of(work_on);

	(void)state;
	comm_is(r, 1, KEY_7, 4, 3);
	assert_int_equal(r->n_ops, 6);
	assert_int_equal(r->ops[0].result, ncclInProgress);
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->result, 0);
	assert_int_equal(recorded_launch(r, r->ops[4].launch)->result, ncclRemoteError);
	assert_int_equal(recorded_launch(r, r->ops[5].launch)->result, CT_RESULT_ABORTED);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
}

static void work_on_unasked(void)
{
	pthread_t thread;
	ncclComm_t comm;

	fake_nonblocking(1);
	comm = make_comm(4, 3, ncclInProgress);
	fake_finish(ncclSuccess);
	fake_asks(0);
	all_reduce(comm, ncclInProgress);
	fake_finish(ncclSuccess);
	spy_start();
	/* too late to say when the last one was over */
	all_reduce(comm, ncclInProgress);
	spy_heard("B1 ncclAllReduce D1=0");
	fake_finish(ncclSuccess);
	ncclGroupStart();
	all_reduce(comm, ncclSuccess);
	spy_start();
	returns(ncclGroupEnd(), ncclInProgress);
	spy_heard("B1 ncclGroupEnd D1=0");
	fake_finish(ncclSuccess);
	comm->blocking = 1;
	all_reduce(comm, ncclSuccess);
	spy_heard("B1 ncclAllReduce D1=0 E1");
	comm->blocking = 0;

	/* the stream that each thread has for itself is another one in another thread */
	returns(ncclSend(comm, 1, ncclInt8, 0, comm, CU_STREAM_PER_THREAD), ncclInProgress);
	fake_finish(ncclSuccess);
	spy_start();
	MUST(pthread_create(&thread, NULL, ask_elsewhere, comm) == 0);
	pthread_join(thread, NULL);
	spy_heard("D-4094=0");
}

static void an_end_that_no_one_saw_stays_unknown(void **state)
{
	const struct recorded_lists *r = records_of(work_on_unasked);

	(void)state;
	assert_int_equal(r->n_ops, 5);
	for (uint32_t i = 0; i < r->n_ops; i++)
		assert_non_null(recorded_launch(r, r->ops[i].launch));
}

static void split_later(void)
{
	struct ncclComm none = { .nranks = 2 };
	ncclComm_t comm, child[2];

	fake_nonblocking(1);
	comm = make_comm(8, 5, ncclInProgress);
	fake_finish(ncclSuccess);
	returns(ncclCommSplit(comm, 0, 0, &child[0], NULL), ncclInProgress);
	returns(state_of(comm), ncclInProgress);
	MUST(child[0] == NULL);
	fake_finish(ncclSuccess);
	MUST(child[0] != NULL);
	returns(state_of(comm), ncclSuccess);
	all_reduce(child[0], ncclInProgress);
	fake_finish(ncclSuccess);
	returns(ncclCommSplit(comm, 5, 0, &child[1], NULL), ncclInProgress);
	fake_finish(ncclRemoteError);
	child[1] = &none; /* whatever lies there now */
	returns(state_of(comm), ncclRemoteError);
}

static void a_child_is_there_when_its_parent_is_done(void **state)
{
	const struct recorded_lists *r = records_of(split_later);

	(void)state;
	assert_int_equal(r->n_comms, 2);
	comm_is(r, 2, KEY_7_SPLIT_1_0, 4, 2);
	assert_int_equal(r->ops[0].comm, 2);
}

static void over_later(const struct recorded_lists *r, const char *call, int nth, int result)
{
	const struct ct_host_rec *first = recorded_host(r, call, nth);
	const struct ct_host_rec *last = recorded_host(r, call, nth + 1);

	assert_non_null(first);
	assert_non_null(last);
	assert_int_equal(first->result, ncclInProgress);
	assert_int_equal(first->polled_ns, 0);
	assert_int_equal(last->result, result);
	assert_int_not_equal(last->polled_ns, 0);
	assert_int_equal(last->enter_ns, first->enter_ns);
	assert_int_equal(last->tid, first->tid);
	assert_true(last->return_ns > first->return_ns);
}

static void a_making_that_goes_on_ends_when_the_library_says_so(void **state)
{
	const struct recorded_lists *r = records_of(split_later);

	(void)state;
	over_later(r, "ncclCommInitRank", 0, ncclSuccess);
	over_later(r, "ncclCommSplit", 0, ncclSuccess);
	over_later(r, "ncclCommSplit", 2, ncclRemoteError);
}

static void never_over(void)
{
	ncclComm_t comm;

	fake_nonblocking(1);
	comm = make_comm(8, 5, ncclInProgress);
	returns(state_of(comm), ncclInProgress);
	returns(ncclCommAbort(comm), ncclSuccess);
	comm = make_comm(8, 5, ncclInProgress);
	returns(state_of(comm), ncclInProgress);
}

static void a_making_that_never_ends_has_no_second_end(void **state)
{
	const struct recorded_lists *r = records_of(never_over);

	(void)state;
	over_later(r, "ncclCommInitRank", 0, CT_RESULT_ABORTED);
	assert_int_equal(recorded_host(r, "ncclCommInitRank", 2)->result, ncclInProgress);
	assert_null(recorded_host(r, "ncclCommInitRank", 3));
}

/* ---- ends
 * ------------------------------------------------------------------------------------------------ */

static void end_and_reuse(void)
{
	struct ncclComm again;
	ncclComm_t comm = make_comm(4, 0, ncclSuccess);

	all_reduce(comm, ncclSuccess);
	returns(ncclCommFinalize(comm), ncclSuccess);
	again = *comm;
	returns(ncclCommDestroy(comm), ncclSuccess);
	returns(ncclCommDestroy(NULL), ncclInvalidArgument);
	*comm = again; /* the same address, not made through us: size and rank are asked for */
	all_reduce(comm, ncclSuccess);
	all_reduce(comm, ncclSuccess);
	MUST(comm->asked == 2);
}

static void an_address_that_comes_again_is_another_communicator(void **state)
{
	const struct recorded_lists *r = records_of(end_and_reuse);
	const struct ct_host_rec *end = recorded_host(r, "ncclCommDestroy", 0);

	(void)state;
	assert_int_equal(r->n_comms, 2);
	assert_int_not_equal(r->comms[0].ended_ns, 0);
	assert_int_equal(r->ops[0].comm, 1);
	assert_int_equal(r->ops[1].comm, 2);
	assert_int_equal(r->ops[2].comm, 2);
	assert_int_equal(r->comms[1].key_source, CT_KEY_GUESSED);
	assert_int_equal(r->comms[1].nranks, 4);
	assert_int_equal(end->comm, 1);
	assert_true(end->key == KEY_7);
	assert_int_equal(recorded_host(r, "ncclCommFinalize", 0)->comm, 1);
	assert_int_equal(recorded_host(r, "ncclCommDestroy", 1)->result, ncclInvalidArgument);
}

static void without_comm(void)
{
	all_reduce(NULL, ncclInvalidArgument);
	returns(ncclSend(NULL, 1, ncclInt8, 0, NULL, STREAM(1)), ncclInvalidArgument);
}

static void a_call_without_communicator_is_recorded_as_the_error_that_it_is(void **state)
{
	const struct recorded_lists *r = records_of(without_comm);

	(void)state;
	assert_int_equal(r->n_ops, 2);
	assert_int_equal(r->n_comms, 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(r->ops[i].comm, 0);
		assert_int_equal(r->ops[i].result, ncclInvalidArgument);
		assert_int_equal(recorded_launch(r, r->ops[i].launch)->result, ncclInvalidArgument);
	}
}

/* ---- errors
 * ------------------------------------------------------------------------------------------------ */

static void errors_told(void)
{
	ncclComm_t comm = make_comm(4, 0, ncclSuccess), other = make_comm(2, 0, ncclSuccess);

	fake_result(ncclSystemError);
	errno = 7;
	for (int i = 0; i < 3; i++)
		all_reduce(comm, ncclSystemError);
	MUST(errno == 7);
	returns(ncclCommFinalize(comm), ncclSystemError);
	fake_result(ncclSuccess);
	all_reduce(other, ncclSuccess);
	comm->state = ncclInProgress;
	returns(state_of(comm), ncclInProgress);
	comm->state = ncclRemoteError;
	for (int i = 0; i < 3; i++)
		returns(state_of(comm), ncclRemoteError);
	other->state = ncclRemoteError;
	returns(state_of(other), ncclRemoteError);
	MUST(errno == 7);
	fake_result(ncclInvalidUsage);
	make_comm(2, 0, ncclInvalidUsage);
}

static void error_is(const struct recorded_lists *r, uint32_t nth, const char *call, uint32_t comm,
		     ncclResult_t result, uint32_t flags)
{
	const struct ct_error_rec *e = recorded_error(r, nth);

	assert_non_null(e);
	assert_string_equal(recorded_name(r, e->call), call);
	assert_int_equal(e->comm, comm);
	assert_true(e->key == (comm ? KEY_7 : 0));
	assert_int_equal(e->result, result);
	assert_int_equal(e->flags, flags);
	assert_int_equal(e->backend, CT_BACKEND_NCCL);
	assert_string_equal(recorded_name(r, e->text), "a cable was pulled");
	assert_int_not_equal(e->tid, 0);
	assert_in_range(e->reported_ns, r->ops[0].enter_ns, UINT64_MAX - 1);
}

static void the_first_of_each_error_is_reported_in_the_librarys_words(void **state)
{
	const struct recorded_lists *r = records_of(errors_told);

	(void)state;
	assert_int_equal(r->n_errors, 4);
	error_is(r, 0, "ncclAllReduce", 1, ncclSystemError, 0);
	error_is(r, 1, "ncclCommGetAsyncError", 1, ncclRemoteError, CT_ERROR_ASYNC);
	error_is(r, 2, "ncclCommGetAsyncError", 2, ncclRemoteError, CT_ERROR_ASYNC);
	error_is(r, 3, "ncclCommInitRank", 0, ncclInvalidUsage, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_communicator_has_the_hash_of_its_id),
		cmocka_unit_test(the_hash_is_that_of_the_version),
		cmocka_unit_test(several_ranks_of_one_process_share_a_key),
		cmocka_unit_test(a_group_of_inits_waits_at_its_end),
		cmocka_unit_test(a_split_has_the_hash_of_parent_count_and_colour),
		cmocka_unit_test(no_two_that_were_shrunk_have_one_key),
		cmocka_unit_test(an_end_waits_until_the_library_says_so),
		cmocka_unit_test(an_end_that_no_one_saw_stays_unknown),
		cmocka_unit_test(a_child_is_there_when_its_parent_is_done),
		cmocka_unit_test(a_making_that_goes_on_ends_when_the_library_says_so),
		cmocka_unit_test(a_making_that_never_ends_has_no_second_end),
		cmocka_unit_test(an_address_that_comes_again_is_another_communicator),
		cmocka_unit_test(a_call_without_communicator_is_recorded_as_the_error_that_it_is),
		cmocka_unit_test(the_first_of_each_error_is_reported_in_the_librarys_words),
	};
	int failed = cmocka_run_group_tests_name("nccl_comm", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
