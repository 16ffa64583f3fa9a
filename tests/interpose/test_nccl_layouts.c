/* SPDX-License-Identifier: Apache-2.0 */
/* Four ranks of the simulated NCCL in the three ways in which programs lay them out: one thread
 * with all GPUs, one thread for each, one process for each. What is on record is the same. The
 * program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/abi/nccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/sim.h"
#include "trace/ops.h"

#define NCCL_CALL(symbol, name, since, op, params, ...) ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) ncclResult_t name params;
#include "interpose/abi/nccl_calls.def"

enum { RANKS = 4, COUNT = 64, ROUNDS = 5 };

struct rank {
	int rank;
	ncclComm_t world, half, grown;
	cudaStream_t stream;
	uint32_t *data;
};

/* What ranks of several processes show each other. */
static struct shared {
	ncclUniqueId id, grow_id;
	pthread_barrier_t told;
} * shared;

static void quiet(void)
{
	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
}

static void take_device(struct rank *r)
{
	MUST(cudaSetDevice(r->rank) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&r->stream, 1) == cudaSuccess);
	MUST(cudaMalloc((void **)&r->data, COUNT * sizeof(*r->data)) == cudaSuccess);
}

static void reduce(struct rank *r, ncclComm_t comm)
{
	MUST(ncclAllReduce(r->data, r->data, COUNT, ncclUint32, ncclSum, comm, r->stream) ==
	     ncclSuccess);
}

static void pass_around(struct rank *r)
{
	MUST(ncclSend(r->data, 1, ncclUint32, (r->rank + 1) % RANKS, r->world, r->stream) ==
	     ncclSuccess);
	MUST(ncclRecv(r->data + 1, 1, ncclUint32, (r->rank + RANKS - 1) % RANKS, r->world,
		      r->stream) == ncclSuccess);
}

static void make_half(struct rank *r)
{
	MUST(ncclCommSplit(r->world, r->rank / 2, r->rank, &r->half, NULL) == ncclSuccess);
}

/* The first half becomes all again. */
static void make_grown(struct rank *r, const ncclUniqueId *id)
{
	ncclResult_t result = r->rank < 2 ? ncclCommGrow(r->half, RANKS, r->rank ? NULL : id, -1,
							 &r->grown, NULL)
					  : ncclCommGrow(NULL, RANKS, id, r->rank, &r->grown, NULL);

	MUST(result == ncclSuccess);
}

static void end(struct rank *r)
{
	MUST(cudaStreamSynchronize(r->stream) == cudaSuccess);
	MUST(ncclCommDestroy(r->grown) == ncclSuccess);
	MUST(ncclCommDestroy(r->half) == ncclSuccess);
	MUST(ncclCommDestroy(r->world) == ncclSuccess);
}

/* ---- one thread, all GPUs
 * ------------------------------------------------------------------------------------- */

#define FOR_ALL(what)                                                                              \
	do {                                                                                       \
		MUST(ncclGroupStart() == ncclSuccess);                                             \
		for (struct rank *r = ranks; r < ranks + RANKS; r++) {                             \
			MUST(cudaSetDevice(r->rank) == cudaSuccess);                               \
			what;                                                                      \
		}                                                                                  \
		MUST(ncclGroupEnd() == ncclSuccess);                                               \
	} while (0)

static void one_thread(void)
{
	struct rank ranks[RANKS] = { 0 };
	ncclComm_t comms[RANKS];
	ncclUniqueId id;

	quiet();
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].rank = i;
		ranks[i].world = comms[i];
		take_device(&ranks[i]);
	}
	FOR_ALL(make_half(r));
	MUST(ncclCommGetUniqueId(ranks[0].half, &id) == ncclSuccess);
	FOR_ALL(make_grown(r, &id));
	for (int round = 0; round < ROUNDS; round++) {
		FOR_ALL(reduce(r, r->world));
		FOR_ALL(reduce(r, r->half));
		FOR_ALL(reduce(r, r->grown));
		FOR_ALL(pass_around(r));
	}
	for (int i = 0; i < RANKS; i++)
		end(&ranks[i]);
	MUST(simMisuse() == 0);
}

/* ---- one thread or process for each
 * --------------------------------------------------------------------------- */

static void *one_rank(void *arg)
{
	struct rank r = { .rank = (int)(intptr_t)arg };

	take_device(&r);
	MUST(ncclCommInitRank(&r.world, RANKS, shared->id, r.rank) == ncclSuccess);
	make_half(&r);
	if (r.rank == 0)
		MUST(ncclCommGetUniqueId(r.half, &shared->grow_id) == ncclSuccess);
	pthread_barrier_wait(&shared->told);
	make_grown(&r, &shared->grow_id);
	for (int round = 0; round < ROUNDS; round++) {
		reduce(&r, r.world);
		reduce(&r, r.half);
		reduce(&r, r.grown);
		MUST(ncclGroupStart() == ncclSuccess);
		pass_around(&r);
		MUST(ncclGroupEnd() == ncclSuccess);
	}
	end(&r);
	MUST(simMisuse() == 0);
	return NULL;
}

static void share(void)
{
	pthread_barrierattr_t attr;

	quiet();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	MUST(shared != MAP_FAILED);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	MUST(pthread_barrier_init(&shared->told, &attr, RANKS) == 0);
}

static void one_thread_each(void)
{
	pthread_t threads[RANKS];

	share();
	MUST(ncclGetUniqueId(&shared->id) == ncclSuccess);
	for (intptr_t i = 0; i < RANKS; i++)
		MUST(pthread_create(&threads[i], NULL, one_rank, (void *)i) == 0);
	for (int i = 0; i < RANKS; i++)
		pthread_join(threads[i], NULL);
}

/* The parent only starts them: its unique id would be gone with it, so rank 0 makes that. */
static void one_process_each(void)
{
	pid_t pids[RANKS];
	int status;

	share();
	for (intptr_t i = 0; i < RANKS; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		if (i == 0)
			MUST(ncclGetUniqueId(&shared->id) == ncclSuccess);
		pthread_barrier_wait(&shared->told);
		one_rank((void *)i);
		exit(0);
	}
	for (int i = 0; i < RANKS; i++)
		MUST(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
}

/* ---- what is on record
 * --------------------------------------------------------------------------------------------- */

enum { WORLD, HALF, GROWN };

/* Of all processes together, by rank. */
static struct seen {
	uint64_t key[3]; /* of its communicators */
	uint32_t device;
	uint32_t collectives[3], messages;
	uint64_t last_seq[3], last_message;
} seen[RANKS];

/* The communicators of a process, in the order in which they were made known, show which is whose
 * by size and rank. */
static int kind_of(const struct recorded_lists *r, uint32_t id)
{
	const struct ct_comm_rec *comm = &r->comms[id - 1];
	int earlier = 0;

	if (comm->nranks == 2)
		return HALF;
	for (uint32_t i = 0; i + 1 < id; i++)
		earlier += r->comms[i].nranks == RANKS && r->comms[i].rank == comm->rank;
	return earlier ? GROWN : WORLD;
}

/* Which rank a communicator's member is: its index in a half says it together with its GPU. */
static struct seen *slot_of(const struct recorded_lists *r, uint32_t id)
{
	const struct ct_comm_rec *comm = &r->comms[id - 1];

	return &seen[comm->nranks == RANKS ? comm->rank : comm->device - 1];
}

static void look_at(const struct recorded_lists *r)
{
	for (uint32_t id = 1; id <= r->n_comms; id++) {
		struct seen *slot = slot_of(r, id);

		assert_int_equal(r->comms[id - 1].key_source, CT_KEY_LIBRARY);
		assert_int_not_equal(r->comms[id - 1].ended_ns, 0);
		assert_true(slot->key[kind_of(r, id)] == 0);
		slot->key[kind_of(r, id)] = r->comms[id - 1].key;
		slot->device = r->comms[id - 1].device;
	}
	for (uint32_t i = 0; i < r->n_ops; i++) {
		const struct ct_op *op = &r->ops[i];
		const struct ct_launch *launch = recorded_launch(r, op->launch);
		struct seen *slot = slot_of(r, op->comm);

		assert_non_null(launch);
		assert_int_equal(launch->result, 0);
		assert_int_equal(launch->comm, op->comm);
		if (op->op == CT_OP_AllReduce) {
			slot->last_seq[kind_of(r, op->comm)] = op->seq;
			slot->collectives[kind_of(r, op->comm)]++;
		} else {
			slot->last_message = op->seq;
			slot->messages++;
		}
	}
	for (int i = 1; i < CT_LOSS_MAX; i++)
		if (i != CT_LOSS_EVENT_POOL_EMPTY)
			assert_int_equal(r->losses[i], 0);
}

static void check(void (*layout)(void), size_t processes)
{
	memset(seen, 0, sizeof(seen));
	assert_int_equal(recorded_run(layout, NULL), 0);
	for (size_t i = 0; i < processes; i++) {
		assert_int_equal(recorded_lists(i)->processes, processes);
		look_at(recorded_lists(i));
	}
	for (int i = 0; i < RANKS; i++) {
		assert_int_equal(seen[i].device, i + 1);
		assert_true(seen[i].key[WORLD] == seen[0].key[WORLD]);
		assert_true(seen[i].key[GROWN] == seen[0].key[GROWN]);
		assert_true(seen[i].key[HALF] == seen[i / 2 * 2].key[HALF]);
		for (int kind = WORLD; kind <= GROWN; kind++) {
			assert_int_equal(seen[i].collectives[kind], ROUNDS);
			assert_int_equal(seen[i].last_seq[kind], ROUNDS - 1);
			assert_true(kind == WORLD || seen[i].key[kind] != seen[i].key[kind - 1]);
		}
		assert_int_equal(seen[i].messages, 2 * ROUNDS);
		assert_int_equal(seen[i].last_message, ROUNDS - 1);
	}
	assert_true(seen[0].key[HALF] != seen[2].key[HALF]);
}

static void one_thread_drives_all_gpus(void **state)
{
	(void)state;
	check(one_thread, 1);
}

static void each_gpu_has_a_thread(void **state)
{
	(void)state;
	check(one_thread_each, 1);
}

static void each_gpu_has_a_process(void **state)
{
	(void)state;
	check(one_process_each, RANKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_drives_all_gpus),
		cmocka_unit_test(each_gpu_has_a_thread),
		cmocka_unit_test(each_gpu_has_a_process),
	};
	int failed = cmocka_run_group_tests_name("nccl_layouts", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
