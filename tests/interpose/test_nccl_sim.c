/* SPDX-License-Identifier: Apache-2.0 */
/* The preload under the simulated NCCL: four ranks in one process, communicators of every kind,
 * groups. What NCCL itself says of its communicators is what is recorded, and every launch is
 * timed. The program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/sim.h"
#include "trace/ops.h"

enum { RANKS = 4, COUNT = 1000 };
static char log_path[] = "/tmp/ct-nccl-log-XXXXXX";

struct rank {
	ncclComm_t comm, half, later, shrunk;
	cudaStream_t stream;
	float *data;
};

static void all_reduce(struct rank *ranks, size_t which, float expected)
{
	float got;

	ncclGroupStart();
	for (int i = 0; i < RANKS; i++) {
		ncclComm_t comm;

		memcpy(&comm, (char *)&ranks[i] + which, sizeof(comm));
		if (comm)
			MUST(ncclAllReduce(ranks[i].data, ranks[i].data, COUNT, ncclFloat32,
					   ncclSum, comm, ranks[i].stream) == ncclSuccess);
	}
	MUST(ncclGroupEnd() == ncclSuccess);
	for (int i = 0; i < RANKS; i++)
		MUST(cudaStreamSynchronize(ranks[i].stream) == cudaSuccess);
	MUST(cudaMemcpy(&got, ranks[0].data, sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess);
	MUST(got == expected);
}

static void make_children(struct rank *r)
{
	int without = 3;

	ncclGroupStart();
	for (int i = 0; i < RANKS; i++)
		MUST(ncclCommSplit(r[i].comm, i / 2, i, &r[i].half, NULL) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
	/* not all take part, but all count */
	ncclGroupStart();
	for (int i = 0; i < RANKS; i++)
		MUST(ncclCommSplit(r[i].comm, i < 3 ? 7 : NCCL_SPLIT_NOCOLOR, -i, &r[i].later,
				   NULL) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
	MUST(r[3].later == NULL);
	ncclGroupStart();
	for (int i = 0; i < 3; i++)
		MUST(ncclCommShrink(r[i].comm, &without, 1, &r[i].shrunk, NULL, 0) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
}

static void exchange(struct rank *r)
{
	ncclGroupStart();
	for (int i = 0; i < RANKS; i++) {
		MUST(ncclSend(r[i].data, COUNT, ncclFloat32, (i + 1) % RANKS, r[i].comm,
			      r[i].stream) == ncclSuccess);
		MUST(ncclRecv(r[i].data + COUNT, COUNT, ncclFloat32, (i + RANKS - 1) % RANKS,
			      r[i].comm, r[i].stream) == ncclSuccess);
	}
	MUST(ncclGroupEnd() == ncclSuccess);
}

/* How many events with timing were recorded may depend on the machine; whether there are any may
 * not. */
static int may_time = 1;

static void job(void)
{
	const struct timespec nap = { .tv_nsec = 300000000 };
	struct rank r[RANKS] = { 0 };
	ncclComm_t comms[RANKS];
	int log = open(log_path, O_WRONLY | O_TRUNC);

	dup2(log, STDOUT_FILENO);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		const float one = 1;

		r[i].comm = comms[i];
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&r[i].stream, 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&r[i].data, 2 * COUNT * sizeof(float)) == cudaSuccess);
		MUST(cudaMemcpy(r[i].data, &one, sizeof(one), cudaMemcpyHostToDevice) ==
		     cudaSuccess);
	}
	make_children(r);
	all_reduce(r, offsetof(struct rank, comm), 4);
	/* the first launch on a device makes its events be made */
	nanosleep(&nap, NULL);
	all_reduce(r, offsetof(struct rank, half), 8);
	all_reduce(r, offsetof(struct rank, shrunk), 24);
	exchange(r);
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaStreamSynchronize(r[i].stream) == cudaSuccess);
		ncclCommDestroy(r[i].half);
		if (r[i].later)
			ncclCommDestroy(r[i].later);
		if (r[i].shrunk)
			ncclCommAbort(r[i].shrunk);
		ncclCommDestroy(r[i].comm);
	}
	MUST((simTimedRecords() > 0) == may_time);
	MUST(simMisuse() == 0);
}

/* How often NCCL's own log has a communicator of this hash, rank and size. */
static int logged(const struct ct_comm_rec *comm)
{
	FILE *f = fopen(log_path, "r");
	char line[1024], id[64], who[64];
	int n = 0;

	assert_non_null(f);
	snprintf(id, sizeof(id), "commId 0x%llx - Init COMPLETE", (unsigned long long)comm->key);
	snprintf(who, sizeof(who), " rank %d nranks %u ", comm->rank, comm->nranks);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, id) && strstr(line, who);
	fclose(f);
	return n;
}

static void communicators_are_those_of_nccls_own_log(void **state)
{
	const char *const env[] = { "NCCL_DEBUG=INFO", NULL };
	const struct recorded_lists *r;
	int shrunk = 0;

	(void)state;
	assert_true(mkstemp(log_path) >= 0);
	assert_int_equal(recorded_run(job, env), 0);
	r = recorded_lists(0);
	/* the world, two halves, one of three by split and one by shrink */
	assert_int_equal(r->n_comms, 4 + 4 + 3 + 3);
	for (uint32_t i = 0; i < r->n_comms; i++) {
		assert_int_equal(r->comms[i].key_source, CT_KEY_LIBRARY);
		assert_int_not_equal(r->comms[i].ended_ns, 0);
		/* what NCCL gives more than one communicator is not a key */
		if (logged(&r->comms[i]) == 0)
			shrunk += r->comms[i].nranks == 3;
		else
			assert_int_equal(logged(&r->comms[i]), 1);
	}
	assert_int_equal(shrunk, 3);
	unlink(log_path);
}

/* Of the same run. */
static void launches_are_timed_each_on_its_own_device(void **state)
{
	const struct recorded_lists *r = recorded_lists(0);
	uint32_t timed = 0;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r->comms[i].device, i + 1);
	assert_int_equal(r->n_ops, 4 + 4 + 3 + 8);
	assert_int_equal(r->n_launches, 4 + 4 + 3 + 4);
	for (uint32_t i = 0; i < r->n_ops; i++) {
		const struct ct_launch *l = recorded_launch(r, r->ops[i].launch);

		assert_non_null(l);
		assert_int_equal(l->comm, r->ops[i].comm);
		assert_int_equal(l->n_ops, r->ops[i].op == CT_OP_AllReduce ? 1 : 2);
		if (l->start_source != CT_SOURCE_EVENT || l->end_source != CT_SOURCE_EVENT)
			continue;
		timed++;
		assert_true(l->end_ns > l->start_ns);
		/* each rank has a device of its own */
		assert_int_equal(l->device + 1, r->comms[r->ops[i].comm - 1].device);
	}
	assert_in_range(timed, RANKS, r->n_ops);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		if (i != CT_LOSS_EVENT_POOL_EMPTY)
			assert_int_equal(r->losses[i], 0);
	recorded_remove();
}

/* Where timed events would make communication and computing take turns, none is recorded, and ends
 * are known all the same. */
static void with_one_connection_no_timed_event_is_recorded(void **state)
{
	const char *const env[] = { "COMMTRACE_TIMING=auto", "CUDA_DEVICE_MAX_CONNECTIONS=1",
				    NULL };
	const struct recorded_lists *r;
	uint32_t timed = 0;

	(void)state;
	may_time = 0;
	assert_int_equal(recorded_run(job, env), 0);
	may_time = 1;
	r = recorded_lists(0);
	assert_int_equal(r->n_launches, 4 + 4 + 3 + 4);
	for (uint32_t i = 0; i < r->n_launches; i++) {
		assert_int_equal(r->launches[i].start_source, CT_SOURCE_NONE);
		timed += r->launches[i].end_source == CT_SOURCE_POLL;
	}
	assert_in_range(timed, RANKS, r->n_launches);
	recorded_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(communicators_are_those_of_nccls_own_log),
		cmocka_unit_test(launches_are_timed_each_on_its_own_device),
		cmocka_unit_test(with_one_connection_no_timed_event_is_recorded),
	};

	return cmocka_run_group_tests_name("nccl_sim", tests, NULL, NULL);
}
