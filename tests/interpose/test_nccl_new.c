/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL 2.29 and 2.30 brought: communicators that grow, puts and signals, communicators that
 * are suspended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "interpose/nccl/key.h"
#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/interpose/spy_gpu.h"
#include "trace/ops.h"

/* Of an id of 128 sevens; test_nccl_key.c says where they are from. */
#define MAGIC_7 0x0707070707070707ull
#define KEY_7 0x2258c19d731308ebull

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

/* As NCCL makes one for the nth child of a communicator of this magic. */
static ncclUniqueId id_to_grow(uint64_t magic, uint32_t nth)
{
	ncclUniqueId id = id_of(99);

	magic = ct_nccl_magic_of_grown(magic, nth);
	memcpy(id.internal, &magic, sizeof(magic));
	return id;
}

static uint64_t magic_of(const ncclUniqueId *id)
{
	uint64_t magic;

	memcpy(&magic, id->internal, sizeof(magic));
	return magic;
}

static ncclComm_t make_comm(int nranks, int rank)
{
	ncclComm_t comm = NULL;

	returns(ncclCommInitRank(&comm, nranks, id_of(7), rank), ncclSuccess);
	spy_start();
	return comm;
}

static ncclComm_t grow(ncclComm_t comm, int nranks, const ncclUniqueId *id, int rank)
{
	ncclComm_t grown = NULL;

	returns(ncclCommGrow(comm, nranks, id, rank, &grown, NULL), ncclSuccess);
	MUST(grown != NULL);
	return grown;
}

static void all_reduce(ncclComm_t comm)
{
	returns(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM(1)), ncclSuccess);
}

static const struct recorded_lists *records_of(void (*body)(void))
{
	assert_int_equal(recorded_run(body, NULL), 0);
	return recorded_lists(0);
}

static void comm_is(const struct recorded_lists *r, uint32_t id, uint64_t key, uint32_t nranks,
		    int32_t rank)
{
	const struct ct_comm_rec *comm = &r->comms[id - 1];

	assert_true(id <= r->n_comms);
	assert_true(comm->key == key);
	assert_int_equal(comm->key_source, CT_KEY_LIBRARY);
	assert_int_equal(comm->nranks, nranks);
	assert_int_equal(comm->rank, rank);
}

/* ---- growing
 * ---------------------------------------------------------------------------------------------- */

/* A member that sees no id, the one that made it, and one that is new: three ranks, here one after
 * the other. */
static void grow_from_all_sides(void)
{
	ncclUniqueId id = id_to_grow(MAGIC_7, 1);
	ncclComm_t member = make_comm(4, 3), root = NULL;

	returns(ncclCommInitRank(&root, 4, id_of(7), 0), ncclSuccess);
	all_reduce(grow(member, 6, NULL, -1));
	all_reduce(grow(root, 6, &id, -1));
	all_reduce(grow(NULL, 6, &id, 5));
	MUST(member->asked == 0 && root->asked == 0);
}

static void all_ranks_of_a_grown_communicator_have_one_key(void **state)
{
	const struct recorded_lists *r = records_of(grow_from_all_sides);
	const ncclUniqueId id = id_to_grow(MAGIC_7, 1);
	uint64_t key = ct_nccl_key_of_grown(magic_of(&id), 6);

	(void)state;
	assert_int_equal(r->n_comms, 5);
	comm_is(r, 3, key, 6, 3);
	comm_is(r, 4, key, 6, 0);
	comm_is(r, 5, key, 6, 5);
	assert_true(r->comms[2].parent == KEY_7 && r->comms[3].parent == KEY_7);
	assert_true(r->comms[4].parent == 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(r->ops[i].comm, 3 + i);
	/* the record that is there before NCCL is entered says which one it is */
	assert_true(recorded_host(r, "ncclCommGrow", 0)->key == key);
	assert_int_equal(recorded_host(r, "ncclCommGrow", 2)->rank, 5);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
}

/* Splits and growths count as one; shrinks by themselves; what is refused does not. */
static void grow_and_split(void)
{
	ncclComm_t comm = make_comm(4, 1), child, shrunk, none;
	int without[] = { 0 };

	grow(comm, 5, NULL, -1);
	returns(ncclCommSplit(comm, 5, 0, &child, NULL), ncclSuccess);
	returns(ncclCommShrink(comm, without, 1, &shrunk, NULL, 0), ncclSuccess);
	fake_result(ncclInvalidArgument);
	returns(ncclCommGrow(comm, 7, NULL, -1, &none, NULL), ncclInvalidArgument);
	fake_result(ncclSuccess);
	grow(comm, 6, NULL, -1);
	/* of what was split, and of what was grown */
	grow(child, 8, NULL, -1);
	grow(shrunk, 9, NULL, -1);
}

static void children_are_counted_as_nccl_counts_them(void **state)
{
	const struct recorded_lists *r = records_of(grow_and_split);
	uint64_t split = ct_nccl_key_of_split(KEY_7, 2, 5, 0);

	(void)state;
	assert_int_equal(r->n_comms, 7);
	comm_is(r, 2, ct_nccl_key_of_grown(ct_nccl_magic_of_grown(MAGIC_7, 1), 5), 5, 1);
	comm_is(r, 3, split, 2, 0);
	comm_is(r, 5, ct_nccl_key_of_grown(ct_nccl_magic_of_grown(MAGIC_7, 3), 6), 6, 1);
	comm_is(r, 6, ct_nccl_key_of_grown(ct_nccl_magic_of_grown(split, 1), 8), 8, 0);
	comm_is(r, 7,
		ct_nccl_key_of_grown(ct_nccl_magic_of_grown(ct_nccl_hash_of_shrunk(KEY_7), 1), 9),
		9, 0);
}

static void grow_all(void)
{
	ncclComm_t comms[2];

	returns(ncclCommInitAll(comms, 2, NULL), ncclSuccess);
	grow(comms[1], 3, NULL, -1);
}

/* The id is one that the program never saw. */
static void what_nccl_made_of_an_id_of_its_own_can_be_grown(void **state)
{
	const struct recorded_lists *r = records_of(grow_all);
	ncclUniqueId id;

	(void)state;
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		id.internal[i] = (char)(i * 7); /* the first of the stand-in's */
	assert_true(r->comms[1].key == ct_nccl_key_of_id(&id, 0));
	comm_is(r, 3, ct_nccl_key_of_grown(ct_nccl_magic_of_grown(magic_of(&id), 1), 3), 3, 1);
}

/* A NCCL that makes its ids in another way. */
static void grow_otherwise(void)
{
	ncclUniqueId id = id_of(13);

	grow(make_comm(2, 0), 3, &id, -1);
}

static void an_id_that_does_not_fit_to_the_parent_is_a_loss(void **state)
{
	const struct recorded_lists *r = records_of(grow_otherwise);
	const ncclUniqueId id = id_of(13);

	(void)state;
	assert_int_equal(r->losses[CT_LOSS_GROWN_UNNAMED], 1);
	/* so that it agrees with those who got the id */
	comm_is(r, 2, ct_nccl_key_of_grown(magic_of(&id), 3), 3, 0);
}

static void grow_in_group(void)
{
	ncclComm_t comm[2], grown[3], lost;
	ncclUniqueId id = id_to_grow(MAGIC_7, 1);

	for (int i = 0; i < 2; i++)
		comm[i] = make_comm(2, i);
	ncclGroupStart();
	for (int i = 0; i < 3; i++)
		grown[i] = grow(i < 2 ? comm[i] : NULL, 3, i == 1 ? NULL : &id, i < 2 ? -1 : i);
	returns(ncclGroupEnd(), ncclSuccess);
	all_reduce(grown[2]);
	ncclGroupStart();
	lost = grow(comm[0], 4, NULL, -1);
	fake_result(ncclRemoteError);
	returns(ncclGroupEnd(), ncclRemoteError);
	MUST(lost != NULL);
}

static void growing_in_a_group_waits_at_its_end(void **state)
{
	const struct recorded_lists *r = records_of(grow_in_group);
	uint64_t key = ct_nccl_key_of_grown(ct_nccl_magic_of_grown(MAGIC_7, 1), 3);

	(void)state;
	assert_int_equal(r->n_comms, 6);
	for (int32_t i = 0; i < 3; i++) {
		comm_is(r, 3 + (uint32_t)i, key, 3, i);
		assert_int_equal(r->comms[2 + i].ended_ns, 0);
	}
	assert_int_equal(r->ops[0].comm, 5);
	assert_true(recorded_host(r, "ncclGroupEnd", 0)->key == key);
	/* what came to nothing is over */
	assert_int_not_equal(r->comms[5].ended_ns, 0);
}

static void grow_nonblocking(void)
{
	ncclComm_t comm = make_comm(2, 1), grown = NULL;
	ncclResult_t state;

	fake_nonblocking(1);
	returns(ncclCommGrow(comm, 3, NULL, -1, &grown, NULL), ncclInProgress);
	fake_finish(ncclSuccess);
	returns(ncclCommGetAsyncError(grown, &state), ncclSuccess);
	MUST(state == ncclSuccess && grown->asked == 0);
	returns(ncclAllReduce(NULL, NULL, 1, ncclInt8, ncclSum, grown, STREAM(1)), ncclInProgress);
}

static void a_grown_communicator_is_known_before_it_is_ready(void **state)
{
	const struct recorded_lists *r = records_of(grow_nonblocking);

	(void)state;
	comm_is(r, 2, ct_nccl_key_of_grown(ct_nccl_magic_of_grown(MAGIC_7, 1), 3), 3, 1);
	assert_int_equal(r->ops[0].comm, 2);
	assert_int_equal(recorded_host(r, "ncclCommGrow", 0)->result, ncclInProgress);
	assert_int_equal(recorded_host(r, "ncclCommGrow", 0)->comm, 2);
}

/* ---- puts and signals
 * --------------------------------------------------------------------------------------- */

static void put_and_signal(void)
{
	ncclWaitSignalDesc_t waits[2] = { { 1, 3, 0, 0 }, { 2, 1, 0, 0 } };
	ncclComm_t c = make_comm(4, 0);

	all_reduce(c);
	spy_start();
	returns(ncclPutSignal(c, 10, ncclFloat32, 2, NULL, 64, 0, 0, 0, c, STREAM(1)), ncclSuccess);
	spy_heard("B1 ncclPutSignal E1");
	MUST(spy_last()->bytes == 40 && spy_last()->peer == 2 && spy_last()->op == CT_OP_Put);
	/* these move nothing and are launched all the same */
	returns(ncclSignal(3, 0, 0, 0, c, STREAM(2)), ncclSuccess);
	spy_heard("B2 ncclSignal E2");
	returns(ncclWaitSignal(1, waits, c, STREAM(2)), ncclSuccess);
	spy_heard("B2 ncclWaitSignal E2");
	MUST(spy_last()->peer == 3);
	ncclGroupStart();
	returns(ncclPutSignal(c, 1, ncclInt8, 2, NULL, 0, 0, 0, 0, c, STREAM(3)), ncclSuccess);
	returns(ncclSend(c, 1, ncclInt8, 2, c, STREAM(3)), ncclSuccess);
	spy_start();
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("B3 ncclGroupEnd E3");
	returns(ncclWaitSignal(2, waits, c, STREAM(1)), ncclSuccess);
	returns(ncclWaitSignal(0, NULL, c, STREAM(1)), ncclSuccess);
	fake_result(ncclTimeout);
	returns(ncclWaitSignal(1, waits, c, STREAM(1)), ncclTimeout);
	fake_result(ncclSuccess);
	all_reduce(c);
}

static void puts_and_signals_are_launches_that_count_by_themselves(void **state)
{
	static const struct {
		const char *name;
		int op, peer;
		uint64_t seq;
	} rows[] = {
		{ "ncclAllReduce", CT_OP_AllReduce, -1, 0 },
		{ "ncclPutSignal", CT_OP_Put, 2, 0 },
		{ "ncclSignal", CT_OP_Signal, 3, 0 },
		{ "ncclWaitSignal", CT_OP_WaitSignal, 3, 0 },
		{ "ncclPutSignal", CT_OP_Put, 2, 1 },
		{ "ncclSend", CT_OP_Send, 2, 0 },
		{ "ncclWaitSignal", CT_OP_WaitSignal, -1, 0 },
		{ "ncclWaitSignal", CT_OP_WaitSignal, -1, 1 },
		{ "ncclWaitSignal", CT_OP_WaitSignal, 3, 1 },
		{ "ncclAllReduce", CT_OP_AllReduce, -1, 1 },
	};
	const struct recorded_lists *r = records_of(put_and_signal);

	(void)state;
	assert_int_equal(r->n_ops, sizeof(rows) / sizeof(rows[0]));
	for (uint32_t i = 0; i < r->n_ops; i++) {
		assert_string_equal(recorded_name(r, r->ops[i].call), rows[i].name);
		assert_int_equal(r->ops[i].op, rows[i].op);
		assert_int_equal(r->ops[i].peer, rows[i].peer);
		assert_int_equal(r->ops[i].seq, rows[i].seq);
		assert_non_null(recorded_launch(r, r->ops[i].launch));
	}
	assert_int_equal(r->ops[4].launch, r->ops[5].launch);
	assert_int_equal(r->ops[8].result, ncclTimeout);
	assert_int_equal(recorded_launch(r, r->ops[8].launch)->result, ncclTimeout);
}

/* ---- calls that may wait
 * -------------------------------------------------------------------------------------- */

static void wait_in_calls(void)
{
	ncclComm_t comm = make_comm(4, 2);
	ncclUniqueId id;

	returns(ncclCommGetUniqueId(comm, &id), ncclSuccess);
	returns(ncclCommSuspend(comm, NCCL_SUSPEND_MEM), ncclSuccess);
	fake_result(ncclTimeout);
	returns(ncclCommResume(comm), ncclTimeout);
	fake_result(ncclSuccess);
}

static void calls_that_wait_for_others_are_on_record(void **state)
{
	static const char *const names[] = { "ncclCommGetUniqueId", "ncclCommSuspend",
					     "ncclCommResume" };
	const struct recorded_lists *r = records_of(wait_in_calls);

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct ct_host_rec *host = recorded_host(r, names[i], 0);

		assert_non_null(host);
		assert_int_equal(host->comm, 1);
		assert_int_equal(host->nranks, 4);
		assert_int_equal(host->rank, 2);
		assert_int_equal(host->result, i == 2 ? ncclTimeout : ncclSuccess);
	}
	assert_int_equal(r->n_begins, r->n_ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ranks_of_a_grown_communicator_have_one_key),
		cmocka_unit_test(children_are_counted_as_nccl_counts_them),
		cmocka_unit_test(what_nccl_made_of_an_id_of_its_own_can_be_grown),
		cmocka_unit_test(an_id_that_does_not_fit_to_the_parent_is_a_loss),
		cmocka_unit_test(growing_in_a_group_waits_at_its_end),
		cmocka_unit_test(a_grown_communicator_is_known_before_it_is_ready),
		cmocka_unit_test(puts_and_signals_are_launches_that_count_by_themselves),
		cmocka_unit_test(calls_that_wait_for_others_are_on_record),
	};
	int failed = cmocka_run_group_tests_name("nccl_new", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
