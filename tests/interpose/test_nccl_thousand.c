/* SPDX-License-Identifier: Apache-2.0 */
/* A thousand communicators of the simulated NCCL, made, used and destroyed beside one that lives
 * on: nothing grows, nothing is lost, and keys and numbers are right at the end. The program itself
 * is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/abi/nccl.h"
#include "tests/interpose/recorded_sums.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/sim.h"

#define NCCL_CALL(symbol, name, since, op, params, ...) ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) ncclResult_t name params;
#include "interpose/abi/nccl_calls.def"

/* Making a communicator takes a real NCCL ten times as long, at least. */
enum { ROUNDS = 1000, RANKS = 2, PACE_US = 1000 };
static cudaStream_t streams[RANKS];
static float *data[RANKS];

static long resident_kb(void)
{
	long pages = 0, all = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	MUST(f && fscanf(f, "%ld %ld", &all, &pages) == 2);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A collective, a message around and one back. */
static void use(ncclComm_t *comms)
{
	ncclGroupStart();
	for (int i = 0; i < RANKS; i++)
		MUST(ncclAllReduce(data[i], data[i], 1, ncclFloat32, ncclSum, comms[i],
				   streams[i]) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
	ncclGroupStart();
	for (int i = 0; i < RANKS; i++) {
		MUST(ncclSend(data[i], 1, ncclInt8, 1 - i, comms[i], streams[i]) == ncclSuccess);
		MUST(ncclRecv(data[i] + 1, 1, ncclInt8, 1 - i, comms[i], streams[i]) ==
		     ncclSuccess);
	}
	MUST(ncclGroupEnd() == ncclSuccess);
}

static void job(void)
{
	ncclComm_t world[RANKS], comms[RANKS];
	long before = 0;

	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
	simSetTiming(0);
	MUST(ncclCommInitAll(world, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&streams[i], 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&data[i], 64) == cudaSuccess);
	}
	for (int round = 0; round < ROUNDS; round++) {
		usleep(PACE_US);
		MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
		use(comms);
		use(world);
		for (int i = 0; i < RANKS; i++)
			MUST(cudaStreamSynchronize(streams[i]) == cudaSuccess);
		for (int i = 0; i < RANKS; i++)
			MUST(ncclCommDestroy(comms[i]) == ncclSuccess);
		if (round == ROUNDS / 4)
			before = resident_kb();
	}
	/* of the program, the simulator and the recording together */
	if (resident_kb() > before + 4096) {
		fprintf(stderr, "%ld KB became %ld\n", before, resident_kb());
		_exit(2);
	}
	for (int i = 0; i < RANKS; i++)
		MUST(ncclCommDestroy(world[i]) == ncclSuccess);
	MUST(simMisuse() == 0);
}

static void nothing_is_lost(const struct recorded_sums *r)
{
	for (int i = 1; i < CT_LOSS_MAX; i++)
		if (i != CT_LOSS_EVENT_POOL_EMPTY && r->losses[i])
			fail_msg("loss %d: %llu", i, (unsigned long long)r->losses[i]);
}

static void a_thousand_communicators_leave_no_trace_in_the_tables(void **state)
{
	const struct recorded_sums *r;

	(void)state;
	assert_int_equal(recorded_run(job, NULL), 0);
	r = recorded_sums(0);
	nothing_is_lost(r);
	assert_int_equal(r->n_comms, RANKS * (ROUNDS + 1));
	assert_int_equal(r->ops, RANKS * 6 * ROUNDS);
	assert_int_equal(r->repeated, 0);
	for (uint32_t i = 0; i < r->n_comms; i++) {
		const struct recorded_comm *comm = &r->comms[i];
		uint64_t times = i < RANKS ? ROUNDS : 1;

		assert_true(comm->has_ended);
		assert_int_equal(comm->rank, i % RANKS);
		/* both ranks of one have its key, and no other rank */
		assert_true(comm->key == r->comms[i / RANKS * RANKS].key);
		assert_true(i < RANKS || comm->key != r->comms[i - RANKS].key);
		assert_int_equal(comm->collectives, times);
		assert_int_equal(comm->messages, 2 * times);
		assert_int_equal(comm->first_seq, 0);
		assert_int_equal(comm->last_seq, times - 1);
		assert_int_equal(comm->last_message, times - 1);
	}
}

/* Without operations there is little that would make the write thread look. */
static void idle_job(void)
{
	ncclComm_t comms[RANKS];

	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
	simSetTiming(0);
	for (int round = 0; round < ROUNDS; round++) {
		usleep(PACE_US);
		MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
		for (int i = 0; i < RANKS; i++)
			MUST(ncclCommDestroy(comms[i]) == ncclSuccess);
	}
	MUST(simMisuse() == 0);
}

static void nor_do_those_that_are_never_used(void **state)
{
	const struct recorded_sums *r;

	(void)state;
	assert_int_equal(recorded_run(idle_job, NULL), 0);
	r = recorded_sums(0);
	nothing_is_lost(r);
	assert_int_equal(r->n_comms, RANKS * ROUNDS);
	assert_int_equal(r->hosts, ROUNDS * (1 + RANKS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_communicators_leave_no_trace_in_the_tables),
		cmocka_unit_test(nor_do_those_that_are_never_used),
	};
	int failed = cmocka_run_group_tests_name("nccl_thousand", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
