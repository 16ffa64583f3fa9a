/* SPDX-License-Identifier: Apache-2.0 */
/* What calls remember of earlier ones, where that is over: call sites after a fork, communicators
 * whose pointer comes again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/abi/nccl.h"
#include "tests/bench/cuda_stub.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"

#define STREAM ((cudaStream_t)0x300)

ncclResult_t ncclCommInitRank(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
			   ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream);

/* The stand-in has one pointer for each rank. */
static ncclComm_t make_comm(int nranks, int rank)
{
	ncclUniqueId id = { { 0 } };
	ncclComm_t comm = NULL;

	memset(&id, nranks, sizeof(id));
	MUST(ncclCommInitRank(&comm, nranks, id, rank) == ncclSuccess);
	return comm;
}

/* Always from the same call site. */
static volatile int times = 2;
static __attribute__((noinline)) void call_here(ncclComm_t comm)
{
	for (int i = 0; i < times; i++)
		MUST(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM) ==
		     ncclSuccess);
}

static void call_and_fork(void)
{
	ncclComm_t comm = make_comm(4, 0);
	int status = -1;
	pid_t pid;

	/* call sites that the child does not come by, so that it counts otherwise */
	MUST(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM) == ncclSuccess);
	MUST(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM) == ncclSuccess);
	call_here(comm);
	pid = fork();
	if (pid == 0) {
		call_here(make_comm(5, 0));
		exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void a_forked_child_finds_its_own_strings(void **state)
{
	char sites[2][64] = { "", "" };
	uint32_t ids[2] = { 0, 0 };

	(void)state;
	assert_int_equal(recorded_run(call_and_fork, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct recorded_lists *r = recorded_lists(i);
		const struct ct_op *last = &r->ops[r->n_ops - 1];

		assert_int_equal(r->processes, 2);
		assert_true(r->n_ops == 2 || r->n_ops == 4);
		ids[i] = last->site;
		assert_int_equal(last[-1].site, last->site);
		strcpy(sites[i], recorded_name(r, last->site));
	}
	assert_int_not_equal(ids[0], ids[1]);
	assert_non_null(strstr(sites[0], "+0x"));
	assert_string_equal(sites[0], sites[1]);
}

enum { TIMES = 40 };

static void call_both(ncclComm_t one, ncclComm_t other)
{
	for (int i = 0; i < TIMES; i++) {
		call_here(one);
		call_here(other);
		usleep(i % 4 ? 0 : 10000); /* so that few spans are used again and again */
	}
}

static void reuse_pointers(void)
{
	ncclComm_t one = make_comm(4, 0), other = make_comm(5, 1);

	call_both(one, other);
	MUST(ncclCommDestroy(one) == ncclSuccess);
	MUST(make_comm(6, 0) == one);
	call_both(one, other);
	/* where the end was not seen */
	MUST(make_comm(7, 1) == other);
	call_both(one, other);
	MUST(cuda_stub_calls.event_record > 0); /* launches are timed */
}

static void a_pointer_that_comes_again_is_another_communicator(void **state)
{
	static const uint32_t sizes[] = { 4, 5, 6, 5, 6, 7 };
	uint64_t next[8] = { 0 };
	const struct recorded_lists *r;

	(void)state;
	assert_int_equal(recorded_run(reuse_pointers, NULL), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, 3 * TIMES * 4);
	for (uint32_t i = 0; i < r->n_ops; i++) {
		uint32_t size = r->comms[r->ops[i].comm - 1].nranks;

		assert_int_equal(size, sizes[i / (TIMES * 4) * 2 + i / 2 % 2]);
		assert_int_equal(r->ops[i].seq, next[size]++);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_forked_child_finds_its_own_strings),
		cmocka_unit_test(a_pointer_that_comes_again_is_another_communicator),
	};
	int failed;

	failed = cmocka_run_group_tests(tests, NULL, NULL);
	recorded_remove();
	return failed;
}
