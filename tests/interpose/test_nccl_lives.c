/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of communicators and threads before a libnccl that does nothing: many of them, and those of
 * forked children. CT_LONG=1: more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/nccl/key.h"
#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_sums.h"
#include "tests/must.h"

#define STREAM ((cudaStream_t)0x1000)
static ncclUniqueId id_of(uint32_t nth)
{
	ncclUniqueId id;

	memset(&id, 7, sizeof(id));
	memcpy(id.internal, &nth, sizeof(nth));
	return id;
}

static ncclComm_t make_comm(uint32_t nth, int nranks)
{
	ncclComm_t comm = NULL;

	MUST(ncclCommInitRank(&comm, nranks, id_of(nth), 0) == ncclSuccess);
	return comm;
}

static void all_reduce(ncclComm_t comm)
{
	MUST(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, comm, STREAM) == ncclSuccess);
}

/* ---- threads
 * -------------------------------------------------------------------------------------------------
 */

enum { THREADS = 8, LAST = 20 };

static uint32_t calls_each(void)
{
	const char *is_long = getenv("CT_LONG");

	return is_long && is_long[0] == '1' ? 100000 : 10000;
}

static ncclComm_t shared_comm;

/* Half of them on a communicator of all threads, a quarter on one of its own, a quarter messages. */
static void *call_often(void *arg)
{
	uint32_t nth = (uint32_t)(uintptr_t)arg, n = calls_each();
	ncclComm_t own = make_comm(100 + nth, 3);

	for (uint32_t i = 0; i < n; i += 4) {
		all_reduce(shared_comm);
		all_reduce(shared_comm);
		all_reduce(own);
		MUST(ncclSend(NULL, 1, ncclInt8, 1, own, STREAM) == ncclSuccess);
	}
	return NULL;
}

/* After 1000 communicators, unless the ring is so small that it has no space for them at such a
 * pace. */
static uint32_t comms_before(void)
{
	return getenv("COMMTRACE_RING_MB") ? 0 : 1000;
}

static void threads_that_call_often(void)
{
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < comms_before(); i++) {
		ncclComm_t comm = make_comm(1000 + i, 2);

		all_reduce(comm);
		MUST(ncclCommDestroy(comm) == ncclSuccess);
	}
	shared_comm = make_comm(1, 4);
	for (uintptr_t i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, call_often, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* for some of these there is space again */
	for (int i = 0; i < LAST; i++) {
		usleep(20000);
		all_reduce(shared_comm);
	}
}

/* On record or a counted loss: each call, and, where launches are recorded, each launch. */
static void nothing_is_unaccounted_for(const char *const *env, uint64_t records_each,
				       uint64_t n_before)
{
	const uint64_t hosts = 2 * n_before + 1 + THREADS;
	const uint64_t calls = n_before + (uint64_t)THREADS * calls_each() + LAST;
	const struct recorded_sums *r;
	uint64_t lost;

	assert_int_equal(recorded_run(threads_that_call_often, env), 0);
	r = recorded_sums(0);
	lost = r->losses[CT_LOSS_POOL_EMPTY];
	print_message("%llu calls: %llu on record, %llu launches, %llu records lost\n",
		      (unsigned long long)calls, (unsigned long long)r->ops,
		      (unsigned long long)r->launches, (unsigned long long)lost);
	assert_true(r->ops <= calls && r->launches <= calls * (records_each - 1));
	/* makings and ends of communicators have two records each, of which the end is counted here
	 */
	assert_true(r->hosts <= hosts);
	assert_in_range(calls * records_each + hosts, r->ops + r->launches + r->hosts,
			r->ops + r->launches + r->hosts + lost);
	assert_int_equal(r->repeated, 0);
	if (!lost) {
		assert_int_equal(r->ops, calls);
		assert_int_equal(r->launches, calls * (records_each - 1));
	}
	for (int i = 1; i < CT_LOSS_MAX; i++)
		if (i != CT_LOSS_POOL_EMPTY)
			assert_int_equal(r->losses[i], 0);
}

static void eight_threads_lose_nothing_uncounted(void **state)
{
	const char *const off[] = { "COMMTRACE_TIMING=off", NULL };

	(void)state;
	nothing_is_unaccounted_for(off, 1, 1000);
}

static void eight_threads_lose_no_launch_uncounted(void **state)
{
	const char *const on[] = { "COMMTRACE_TIMING=events", NULL };

	(void)state;
	nothing_is_unaccounted_for(on, 2, 1000);
}

/* A pool that is much too small: the numbers are right all the same. */
static void what_is_lost_still_has_its_number(void **state)
{
	const char *const small[] = { "COMMTRACE_TIMING=off", "COMMTRACE_RING_MB=1", NULL };
	const struct recorded_sums *r;
	uint64_t last = 0;

	(void)state;
	nothing_is_unaccounted_for(small, 1, 0);
	r = recorded_sums(0);
	for (uint32_t i = 0; i < r->n_comms; i++) {
		const struct recorded_comm *comm = &r->comms[i];

		if (comm->nranks == 4)
			last = comm->last_seq;
	}
	/* the shared communicator had half of all calls before */
	assert_in_range(last, THREADS * calls_each() / 2, THREADS * calls_each() / 2 + LAST - 1);
}

/* ---- forks
 * ---------------------------------------------------------------------------------------------------
 */

static void use(ncclComm_t comm)
{
	ncclResult_t state = ncclInternalError;
	ncclUniqueId id;
	int version = 0;

	all_reduce(comm);
	MUST(ncclGroupStart() == ncclSuccess);
	all_reduce(comm);
	MUST(ncclGroupEnd() == ncclSuccess);
	MUST(ncclCommGetAsyncError(comm, &state) == ncclSuccess && state == ncclSuccess);
	MUST(ncclGetVersion(&version) == ncclSuccess && version > 0);
	MUST(ncclCommGetUniqueId(comm, &id) == ncclSuccess);
	MUST(ncclSend(NULL, 1, ncclInt8, 1, comm, STREAM) == ncclSuccess);
}

static void wait_for(pid_t pid)
{
	int status = -1;

	MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Loaders of data, compilers and the like: they use what they have inherited at most. */
static void fork_silent_children(void)
{
	ncclComm_t comm = make_comm(1, 4);
	pid_t pid;

	all_reduce(comm);
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0) {
			if (i) {
				use(comm);
				MUST(ncclCommFinalize(comm) == ncclSuccess);
			}
			if (i == 2)
				_exit(0);
			exit(0);
		}
		wait_for(pid);
	}
	all_reduce(comm);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
}

static void a_child_without_a_communicator_of_its_own_is_silent(void **state)
{
	const struct recorded_sums *r;

	(void)state;
	assert_int_equal(recorded_run(fork_silent_children, NULL), 0);
	r = recorded_sums(0);
	assert_int_equal(r->processes, 1);
	assert_int_equal(recorded_rings_left(), 0);
	assert_int_equal(r->ops, 2);
	assert_int_equal(r->comms[0].last_seq, 1);
	assert_int_equal(r->comms[0].has_ended, 1);
	for (int i = 1; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
}

static void fork_recorded_child(void)
{
	ncclComm_t comm = make_comm(1, 4), own;
	pid_t pid;

	all_reduce(comm);
	pid = fork();
	if (pid == 0) {
		use(comm);
		own = make_comm(2, 5);
		for (int i = 0; i < 3; i++)
			all_reduce(own);
		exit(0);
	}
	wait_for(pid);
}

static void a_child_with_one_has_a_trace_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(recorded_run(fork_recorded_child, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct recorded_sums *r = recorded_sums(i);

		assert_int_equal(r->processes, 2);
		assert_int_equal(r->n_comms, 1);
		/* the groups that it had left before are over: these are launched, each by itself */
		assert_int_equal(r->ops, r->comms[0].nranks == 5 ? 3 : 1);
		assert_int_equal(r->launches, r->ops);
	}
	assert_int_equal(recorded_rings_left(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_threads_lose_nothing_uncounted),
		cmocka_unit_test(eight_threads_lose_no_launch_uncounted),
		cmocka_unit_test(what_is_lost_still_has_its_number),
		cmocka_unit_test(a_child_without_a_communicator_of_its_own_is_silent),
		cmocka_unit_test(a_child_with_one_has_a_trace_of_its_own),
	};
	int failed;

	fake_result(ncclSuccess); /* the linker needs a reason to keep it */
	failed = cmocka_run_group_tests_name("nccl_lives", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
