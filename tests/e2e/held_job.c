/* SPDX-License-Identifier: Apache-2.0 */
/* held_job.c — a program that continues while the lock of its CUDA driver is held.
 *
 *     held_job calls|pending|fork|thread|exit|abort|term MS
 *
 * Two ranks in one process, with nonblocking communicators: NCCL works in threads of its own, so
 * that nothing that this thread calls needs the driver. It holds the driver for MS, gives the
 * tracer's threads, if there are any, time to run into the lock, does what its first argument says,
 * and prints on stderr how long the longest of its calls took: "WHAT: N ms". stdout has the
 * results, the exit code is 7 (abort, term: the signal). Anything else is 1. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/sim.h"

enum { RANKS = 2, COUNT = 1000, NOTICED_MS = 800, MS = 1000000 };

static struct rank {
	ncclComm_t comm, later;
	cudaStream_t stream;
	float *data;
} ranks[RANKS];
static ncclComm_t alone; /* of one rank */
static double hold_ms;

/* How long the longest call of a kind took. */
static uint64_t begun_ns, longest_ns;

static void begin(void)
{
	begun_ns = simNow();
}

static void end(void)
{
	const uint64_t took_ns = simNow() - begun_ns;

	longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
}

static void say(const char *what)
{
	fprintf(stderr, "%s: %llu ms\n", what, (unsigned long long)(longest_ns / MS));
	longest_ns = 0;
}

static void sleep_ms(unsigned ms)
{
	simSleepUntil(simNow() + (uint64_t)ms * MS);
}

static void hold(void)
{
	simHoldDriver(hold_ms);
	sleep_ms(NOTICED_MS);
}

/* As PyTorch waits for a nonblocking communicator. */
static void settle(ncclComm_t comm)
{
	ncclResult_t state = ncclInProgress;

	for (;;) {
		begin();
		MUST(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
		end();
		if (state != ncclInProgress)
			break;
		sleep_ms(1);
	}
	MUST(state == ncclSuccess);
}

static void make(size_t offset)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id;
	ncclResult_t result;

	config.blocking = 0;
	MUST(ncclGetUniqueId(&id) == ncclSuccess);
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ncclComm_t *comm = (ncclComm_t *)(void *)((char *)&ranks[i] + offset);

		MUST(cudaSetDevice(i) == cudaSuccess);
		begin();
		result = ncclCommInitRankConfig(comm, RANKS, id, i, &config);
		end();
		MUST(result == ncclSuccess || result == ncclInProgress);
	}
	begin();
	result = ncclGroupEnd();
	end();
	MUST(result == ncclSuccess || result == ncclInProgress);
}

static void all_reduce(void)
{
	ncclResult_t result;

	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		begin();
		result = ncclAllReduce(ranks[i].data, ranks[i].data, COUNT, ncclFloat32, ncclSum,
				       ranks[i].comm, ranks[i].stream);
		end();
		MUST(result == ncclSuccess || result == ncclInProgress);
	}
	begin();
	result = ncclGroupEnd();
	end();
	MUST(result == ncclSuccess || result == ncclInProgress);
}

static void settle_all(void)
{
	for (int i = 0; i < RANKS; i++)
		settle(ranks[i].comm);
}

static void set_up(void)
{
	MUST(cudaSetDevice(0) == cudaSuccess);
	for (int i = 0; i < RANKS; i++) {
		static float ones[COUNT];

		for (int k = 0; k < COUNT; k++)
			ones[k] = 1;
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&ranks[i].stream, cudaStreamNonBlocking) ==
		     cudaSuccess);
		MUST(cudaMalloc((void **)&ranks[i].data, sizeof(ones)) == cudaSuccess);
		MUST(cudaMemcpy(ranks[i].data, ones, sizeof(ones), cudaMemcpyHostToDevice) ==
		     cudaSuccess);
	}
	make(offsetof(struct rank, comm));
	settle_all();
	MUST(ncclCommInitAll(&alone, 1, NULL) == ncclSuccess);
	for (int i = 0; i < 3; i++) {
		all_reduce();
		settle_all();
		sleep_ms(20);
	}
	longest_ns = 0;
}

static void print_result(void)
{
	float got;

	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamSynchronize(ranks[i].stream) == cudaSuccess);
		MUST(cudaMemcpy(&got, ranks[i].data, sizeof(got), cudaMemcpyDeviceToHost) ==
		     cudaSuccess);
		printf("%g\n", (double)got);
	}
}

/* Launching, asking, and what launches nothing at all. */
static void do_calls(void)
{
	hold();
	all_reduce();
	say("launching");
	for (int i = 0; i < 20; i++) {
		begin();
		MUST(ncclGroupStart() == ncclSuccess && ncclGroupEnd() == ncclSuccess);
		end();
		begin();
		MUST(ncclAllReduce(ranks[0].data, ranks[0].data, 0, ncclFloat32, ncclSum, alone,
				   NULL) == ncclSuccess);
		end();
		begin();
		MUST(ncclAllReduce(ranks[0].data, NULL, 1, ncclFloat32, ncclSum, NULL, NULL) !=
		     ncclSuccess);
		end();
	}
	say("nothing to launch");
	settle_all();
	say("asking");
	print_result();
}

/* What was launched before is over, and that is found out while the driver is held; then a
 * communicator is made. */
static void do_pending(void)
{
	all_reduce();
	sleep_ms(100);
	hold();
	settle_all();
	say("the end of a launch");
	make(offsetof(struct rank, later));
	say("making a communicator");
	for (int i = 0; i < RANKS; i++)
		settle(ranks[i].later);
	say("asking");
	print_result();
}

static void do_fork(void)
{
	int status;
	pid_t child;

	hold();
	begin();
	child = fork();
	if (child == 0) {
		ncclGroupStart();
		ncclGroupEnd();
		_exit(3);
	}
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
	end();
	say("a forked child");
	begin();
	child = fork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	end();
	say("an executed child");
	print_result();
}

static void *launch(void *held)
{
	all_reduce();
	settle_all();
	if (held)
		hold();
	return NULL;
}

static void do_thread(void)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, launch, &hold_ms) == 0);
	sleep_ms(100 + NOTICED_MS);
	begin();
	MUST(pthread_join(thread, NULL) == 0);
	end();
	say("a thread's end");
	print_result();
}

static void do_exit(void)
{
	all_reduce();
	settle_all();
	print_result();
	fflush(stdout);
	hold();
}

static void do_abort(void)
{
	do_exit();
	abort();
}

static void do_term(void)
{
	do_exit();
	raise(SIGTERM);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*what)(void);
	} all[] = {
		{ "calls", do_calls },	 { "pending", do_pending }, { "fork", do_fork },
		{ "thread", do_thread }, { "exit", do_exit },	    { "abort", do_abort },
		{ "term", do_term },
	};

	MUST(argc == 3);
	hold_ms = atof(argv[2]);
	set_up();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(argv[1], all[i].name) != 0)
			continue;
		all[i].what();
		fflush(stdout);
		exit(7);
	}
	must_not(__LINE__);
}
