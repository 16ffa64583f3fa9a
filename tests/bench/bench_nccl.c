/* SPDX-License-Identifier: Apache-2.0 */
/* bench_nccl.c — what a wrapped ncclAllReduce costs beside what CUDA costs, as ratios to a clock
 * read measured in the same run.
 *
 * The real preload stands before a libnccl and a libcuda that do nothing. Short batches follow each
 * other a few at a time, then there is a rest in which the poll thread gives events back. The first
 * batch after a rest is cold: it finds its code and tables as a training step does, out of the
 * inner caches. The others are warm. Of each kind the fastest counts that was timed whole, for
 * without events a call is cheaper than it is; all others were interrupted. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpose/abi/nccl.h"
#include "tests/bench/cuda_stub.h"
#include "tests/bench/median.h"

typedef ncclResult_t all_reduce_fn(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t,
				   ncclComm_t, cudaStream_t);
all_reduce_fn ncclAllReduce;
ncclResult_t ncclCommInitRank(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank);

#define STREAM ((CUstream)0x300)
enum {
	CALLS = 30,
	WARM = 3,
	ROUNDS = 500,
	COUNTED = 60
}; /* all of a round fit into a stream's queue of events */

/* ns for one of each; the first two are wrapped calls. */
struct figures {
	double warm, cold, bare, cuda, clock;
};

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

/* ns for one of what is repeated. */
#define BATCH(what)                                                                                \
	({                                                                                         \
		double begin_ = clock_ns();                                                        \
                                                                                                   \
		for (int i_ = 0; i_ < CALLS; i_++)                                                 \
			what;                                                                      \
		(clock_ns() - begin_) / CALLS;                                                     \
	})

/* The driver's own function: the wrapper is none of what CUDA costs. */
static CUresult (*record_event)(CUevent event, CUstream stream);

/* What CUDA itself costs a launch that made these calls. */
static double cuda_cost(const struct cuda_stub_calls *calls)
{
	CUstreamCaptureStatus status;
	CUcontext context;

	return (double)calls->ctx_get_current / CALLS * BATCH(cuCtxGetCurrent(&context)) +
	       (double)calls->stream_is_capturing / CALLS *
		       BATCH(cuStreamIsCapturing(STREAM, &status)) +
	       (double)calls->event_record / CALLS * BATCH(record_event(NULL, STREAM));
}

/* The ways to time, how many events a call records, and what makes it so. */
static const struct way {
	const char *name;
	uint64_t events;
	const char *timing, *sample;
} ways[] = {
	{ "events", 2, "events", "1" },
	{ "host", 1, "host", "1" },
	{ "left-out", 0, "events", "1000000" }, /* by COMMTRACE_SAMPLE */
	{ "off", 0, "off", "1" },
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* One batch of wrapped calls. Returns 0 if not all of them, or any that should not, recorded their
 * events. */
static int batch(ncclComm_t comm, uint64_t events, double *ns, struct cuda_stub_calls *calls)
{
	memset(&cuda_stub_calls, 0, sizeof(cuda_stub_calls));
	*ns = BATCH(ncclAllReduce(NULL, NULL, 1024, ncclFloat32, ncclSum, comm, STREAM));
	*calls = cuda_stub_calls;
	return calls->event_record == events * CALLS;
}

static int measure_round(ncclComm_t comm, all_reduce_fn *bare, uint64_t events, struct figures *f)
{
	struct cuda_stub_calls calls;
	struct timespec t;
	int whole = 1;
	double ns;

	if (batch(comm, events, &ns, &calls))
		least(&f->cold, ns);
	for (int b = 0; b < WARM; b++) {
		if (batch(comm, events, &ns, &calls))
			least(&f->warm, ns);
		else
			whole = 0;
	}
	least(&f->bare, BATCH(bare(NULL, NULL, 1024, ncclFloat32, ncclSum, comm, STREAM)));
	least(&f->clock, BATCH(clock_gettime(CLOCK_MONOTONIC, &t)));
	if (whole)
		least(&f->cuda, cuda_cost(&calls));
	return whole;
}

static const struct way *way_of(const char *name)
{
	for (int i = 0; i < WAYS; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	return NULL;
}

/* For instructions.py: calls that find their stream's queue empty, after as many that have been
 * through all tables. */
static __attribute__((noinline)) void call(ncclComm_t comm)
{
	for (int i = 0; i < CALLS; i++)
		ncclAllReduce(NULL, NULL, 1024, ncclFloat32, ncclSum, comm, STREAM);
}

static __attribute__((noinline)) void counted(ncclComm_t comm)
{
	call(comm);
}

static int count(ncclComm_t comm)
{
	const struct timespec rest = { .tv_nsec = 20000000 };

	for (int r = 0; r < 2 * COUNTED; r++) {
		nanosleep(&rest, NULL);
		if (r < COUNTED)
			call(comm);
		else
			counted(comm);
	}
	printf("%d\n", COUNTED * CALLS);
	return 0;
}

static int child(const struct way *way, int is_counted)
{
	const struct timespec rest = { .tv_nsec = 3000000 };
	void *stub = dlopen("libnccl_stub.so", RTLD_LAZY | RTLD_NOLOAD);
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	all_reduce_fn *bare = stub ? (all_reduce_fn *)dlsym(stub, "ncclAllReduce") : NULL;
	struct figures f = { 1e9, 1e9, 1e9, 1e9, 1e9 };
	ncclUniqueId id = { { 1 } };
	ncclComm_t comm;
	int whole = 0;

	if (cuda)
		record_event = (CUresult(*)(CUevent, CUstream))dlsym(cuda, "cuEventRecord");
	if (!way || !bare || !record_event || bare == ncclAllReduce ||
	    ncclCommInitRank(&comm, 4, id, 0) != ncclSuccess)
		return 1;
	ncclAllReduce(NULL, NULL, 1024, ncclFloat32, ncclSum, comm, STREAM);
	if (is_counted)
		return count(comm);
	for (int r = 0; r < ROUNDS; r++) {
		nanosleep(&rest, NULL);
		whole += measure_round(comm, bare, way->events, &f);
	}
	printf("%.3f %.3f %.3f %.3f %.3f\n", f.warm, f.cold, f.bare, f.cuda, f.clock);
	return whole < ROUNDS / 10;
}

static char self_path[4096], preload[4200], scratch[] = "/tmp/ct-bench-XXXXXX";

static void exec_child(const struct way *way)
{
	setenv("LD_PRELOAD", preload, 1);
	setenv("COMMTRACE_DIR", scratch, 1);
	setenv("COMMTRACE_QUIET", "1", 1);
	setenv("COMMTRACE_TIMING", way->timing, 1);
	setenv("COMMTRACE_SAMPLE", way->sample, 1);
	setenv("COMMTRACE_BUDGET", "off", 1); /* nothing but calls of the tracer here */
	setenv("COMMTRACE_NO_DLSYM", "1", 1); /* the bare function is looked up */
	execl(self_path, self_path, way->name, (char *)NULL);
	_exit(127);
}

static int run(const struct way *way, struct figures *f)
{
	int ends[2], status = 0, n = 0;
	FILE *out;
	pid_t pid;

	if (pipe(ends) != 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		exec_child(way);
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	if (out) {
		n = fscanf(out, "%lf %lf %lf %lf %lf", &f->warm, &f->cold, &f->bare, &f->cuda,
			   &f->clock);
		fclose(out);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 && n == 5;
}

enum { RUNS = 5 };

static int measure(void)
{
	double warm[WAYS][RUNS], cold[WAYS][RUNS], whole[WAYS][RUNS];
	struct figures f;

	for (int r = 0; r < RUNS; r++) {
		for (int w = 0; w < WAYS; w++) {
			if (!run(&ways[w], &f))
				return 1;
			printf("%-8s ncclAllReduce %.1f ns, cold %.1f ns, of which bare %.1f ns "
			       "and "
			       "CUDA %.1f ns; clock %.1f ns\n",
			       ways[w].name, f.warm, f.cold, f.bare, f.cuda, f.clock);
			warm[w][r] = (f.warm - f.bare - f.cuda) / f.clock;
			cold[w][r] = (f.cold - f.bare - f.cuda) / f.clock;
			whole[w][r] = (f.warm - f.bare) / f.clock; /* what CUDA does in it too */
		}
	}
	for (int w = 1; w < 3; w++)
		printf("METRIC overhead.nccl_wrapper_%s_of_events %.2f 1.15\n",
		       w == 1 ? "host" : "left_out",
		       median(whole[w], RUNS) / median(whole[0], RUNS));
	printf("METRIC overhead.nccl_wrapper_per_clock %.2f 2.4\n", median(warm[0], RUNS));
	printf("METRIC overhead.nccl_wrapper_cold_per_clock %.2f 4.0\n", median(cold[0], RUNS));
	printf("METRIC overhead.nccl_wrapper_host_per_clock %.2f 2.6\n", median(warm[1], RUNS));
	printf("METRIC overhead.nccl_wrapper_left_out_per_clock %.2f 3.2\n", median(warm[2], RUNS));
	printf("METRIC overhead.nccl_wrapper_untimed_per_clock %.2f 3.2\n", median(warm[3], RUNS));
	return 0;
}

static void remove_scratch(void)
{
	char command[100];
	int status;

	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	status = system(command);
	(void)status;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	int failed;
	char *slash;

	if (argc > 1)
		return child(way_of(argv[1]), argc > 2);
	if (n <= 0 || !mkdtemp(scratch))
		return 1;
	slash = strrchr(self_path, '/');
	snprintf(preload, sizeof(preload), "%.*s/../../lib/libcommtrace.so",
		 (int)(slash - self_path), self_path);
	if (access(preload, R_OK) != 0) {
		fprintf(stderr, "bench_nccl: %s: %s\n", preload, strerror(errno));
		return 1;
	}
	failed = measure();
	remove_scratch();
	return failed;
}
