/* SPDX-License-Identifier: Apache-2.0 */
/* bench_waits.c — what the wrappers of the CUDA runtime cost, as ratios measured in one run: to the
 * bare call in a process that has no communicator, to a clock read in one that is recorded.
 *
 * The real preload stands before a libcudart, a libnccl and a libcuda that do nothing. Of many
 * short batches the fastest counts. A wait that brings something is measured together with the
 * launch and the event before it, which are taken off; the same goes for what the driver's own
 * functions cost. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpose/abi/nccl.h"
#include "tests/bench/cuda_stub.h"
#include "tests/bench/cudart_stub.h"
#include "tests/bench/median.h"

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
			   ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclCommInitRank(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank);

#define COMMS ((CUstream)0x300)
#define COMPUTE ((CUstream)0x400)
#define EVENT ((CUevent)0x500)
enum { CALLS = 100, ROUNDS = 300 };

static double clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void least(double *best, double ns)
{
	*best = ns < *best ? ns : *best;
}

#define BATCH(what)                                                                                \
	({                                                                                         \
		double begin_ = clock_ns();                                                        \
                                                                                                   \
		for (int i_ = 0; i_ < CALLS; i_++) {                                               \
			what;                                                                      \
		}                                                                                  \
		(clock_ns() - begin_) / CALLS;                                                     \
	})

static ncclComm_t comm;

static void launch(void)
{
	ncclAllReduce(NULL, NULL, 1024, ncclFloat32, ncclSum, comm, COMMS);
}

struct figures {
	double cold, bare, record, nothing_new, launch, wait, cuda, clock;
};

static void measure_round(struct figures *f, CUresult (*cuda_record)(CUevent, CUstream))
{
	const struct timespec rest = { .tv_nsec = 3000000 };
	struct timespec t;

	nanosleep(&rest, NULL);
	least(&f->record, BATCH(cudaEventRecord(EVENT, COMPUTE)));
	least(&f->nothing_new, BATCH(cudaStreamWaitEvent(COMMS, EVENT, 0)));
	least(&f->launch, BATCH(launch(); cudaEventRecord(EVENT, COMMS)));
	nanosleep(&rest, NULL);
	memset(&cuda_stub_calls, 0, sizeof(cuda_stub_calls));
	least(&f->wait, BATCH(launch(); cudaEventRecord(EVENT, COMMS);
			      cudaStreamWaitEvent(COMPUTE, EVENT, 0)));
	/* not one of them without its event: else it is cheaper than it is */
	if (cuda_stub_calls.event_record != 3 * CALLS)
		f->wait = 1e9;
	least(&f->cuda, BATCH(cuda_record(EVENT, COMPUTE)));
	least(&f->clock, BATCH(clock_gettime(CLOCK_MONOTONIC, &t)));
}

static int child(void)
{
	void *runtime = dlopen("libcudart_stub.so", RTLD_LAZY | RTLD_NOLOAD);
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	struct figures best = { 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9 }, f = best;
	cudaError_t (*bare)(cudaEvent_t, cudaStream_t);
	CUresult (*cuda_record)(CUevent, CUstream);
	ncclUniqueId id = { { 1 } };

	if (!runtime || !driver)
		return 1;
	bare = (cudaError_t(*)(cudaEvent_t, cudaStream_t))dlsym(runtime, "cudaEventRecord");
	cuda_record = (CUresult(*)(CUevent, CUstream))dlsym(driver, "cuEventRecord");
	if (!bare || bare == cudaEventRecord || !cuda_record)
		return 1;
	for (int r = 0; r < ROUNDS; r++) {
		least(&best.cold, BATCH(cudaEventRecord(EVENT, COMPUTE)));
		least(&best.bare, BATCH(bare(EVENT, COMPUTE)));
	}
	if (ncclCommInitRank(&comm, 4, id, 0) != ncclSuccess)
		return 1;
	launch();
	for (int r = 0; r < ROUNDS; r++) {
		double wait = f.wait;

		measure_round(&f, cuda_record);
		if (f.wait > wait)
			f.wait = wait;
	}
	printf("%.3f %.3f %.3f %.3f %.3f %.3f %.3f %.3f\n", best.cold, best.bare, f.record,
	       f.nothing_new, f.launch, f.wait, f.cuda, f.clock);
	return f.wait > 1e8;
}

static char self_path[4096], preload[4200], scratch[] = "/tmp/ct-bench-XXXXXX";

static int run(struct figures *f)
{
	char command[9000];
	FILE *out;
	int n;

	snprintf(command, sizeof(command),
		 "LD_PRELOAD=%s COMMTRACE_DIR=%s COMMTRACE_QUIET=1 COMMTRACE_TIMING=events "
		 "COMMTRACE_NO_DLSYM=1 exec %s child",
		 preload, scratch, self_path);
	out = popen(command, "r");
	if (!out)
		return 0;
	n = fscanf(out, "%lf %lf %lf %lf %lf %lf %lf %lf", &f->cold, &f->bare, &f->record,
		   &f->nothing_new, &f->launch, &f->wait, &f->cuda, &f->clock);
	return pclose(out) == 0 && n == 8;
}

enum { RUNS = 5 };

static int measure(void)
{
	double cold[RUNS], record[RUNS], nothing[RUNS], wait[RUNS];
	struct figures f;

	for (int r = 0; r < RUNS; r++) {
		if (!run(&f))
			return 1;
		printf("cudaEventRecord %.1f ns, before any communicator %.1f, bare %.1f; "
		       "cudaStreamWaitEvent with nothing new %.1f, with a launch %.1f, of which an "
		       "event %.1f; clock %.1f ns\n",
		       f.record, f.cold, f.bare, f.nothing_new, f.wait - f.launch, f.cuda, f.clock);
		cold[r] = f.cold / f.bare;
		record[r] = (f.record - f.bare) / f.clock;
		nothing[r] = (f.nothing_new - f.bare) / f.clock;
		wait[r] = (f.wait - f.launch - f.bare - f.cuda) / f.clock;
	}
	printf("METRIC overhead.cudart_unrecorded_per_bare %.2f 3.0\n", median(cold, RUNS));
	printf("METRIC overhead.cudart_record_per_clock %.2f 3.5\n", median(record, RUNS));
	printf("METRIC overhead.cudart_wait_for_nothing_per_clock %.2f 3.0\n",
	       median(nothing, RUNS));
	printf("METRIC overhead.cudart_wait_per_clock %.2f 11.0\n", median(wait, RUNS));
	return 0;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	char command[100];
	char *slash;
	int failed;

	(void)argv;
	if (argc > 1)
		return child();
	if (n < 0 || !mkdtemp(scratch))
		return 1;
	snprintf(preload, sizeof(preload), "%s", self_path);
	slash = strstr(preload, "/tests/bench/");
	if (!slash)
		return 1;
	strcpy(slash, "/lib/libcommtrace.so");
	failed = measure();
	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	if (system(command) != 0)
		failed = 1;
	return failed;
}
