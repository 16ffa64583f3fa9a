/* SPDX-License-Identifier: Apache-2.0 */
/* limited_job.c — a program that takes away what a tracer in it lives on.
 *
 *     limited_job WHAT [DIR]
 *
 * Two ranks in one process reduce 100 times, WHAT happens, and they reduce 100 times more, slowly
 * enough for threads of the tracer to have something to do meanwhile. Prints the sum and "calls N";
 * the exit code is 5. Anything else is 1. What is taken away in the middle: nothing, descriptors
 * (none can be opened), closed (all but the standard ones are), taken (they are closed, and their
 * numbers are files of the program in DIR: no one else may write into those), directories (the same
 * with directories), root (is an empty directory), system (calls that open, remove or rename are not
 * permitted), clock (the time of day goes back by a day), threads (2000 come, and each calls once)
 * or while the first call is made: no-descriptors (none can be opened), no-threads (none can be
 * made); or before it: few-descriptors (eight are left, which the program opens in the middle). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/sim.h"

#define MUST(condition) ((condition) ? (void)0 : must_not(__LINE__))
static void __attribute__((noreturn)) must_not(int line)
{
	fprintf(stderr, "line %d is not so: %s\n", line, strerror(errno));
	_exit(1);
}

enum { RANKS = 2, COUNT = 256, MS = 1000000, THREADS = 2000, FILES = 64 };

static ncclComm_t comms[RANKS], alone;
static cudaStream_t streams[RANKS];
static float *data[RANKS];
static const char *dir;
static unsigned calls;

/* ---- what the program itself controls, for the whole process
 * -------------------------------------------- */

static _Atomic int no_threads, day_before;

/* What the machine would say that has no space for another one. */
SIM_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
			      void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (no_threads)
		return EAGAIN;
	if (!real) {
		void *symbol = dlsym(RTLD_NEXT, "pthread_create");

		memcpy(&real, &symbol, sizeof(real));
	}
	return real(thread, attr, body, arg);
}

SIM_EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
	const int result = (int)syscall(SYS_clock_gettime, clock, t);

	if (day_before && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec -= 86400;
	return result;
}

/* ---- what is taken away
 * ------------------------------------------------------------------------------------------ */

static void limit_descriptors(void)
{
	struct rlimit limit = { 0, 0 };

	MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void close_descriptors(void)
{
	closefrom(3);
}

static void file_name(char *path, size_t size, int i)
{
	snprintf(path, size, "%s/%d", dir, i);
}

static void take_descriptors(void)
{
	char path[512];

	closefrom(3);
	for (int i = 0; i < FILES; i++) {
		file_name(path, sizeof(path), i);
		MUST(open(path, O_RDWR | O_CREAT | O_EXCL, 0600) >= 0);
	}
}

static void take_for_directories(void)
{
	char path[512];

	closefrom(3);
	for (int i = 0; i < FILES; i++) {
		file_name(path, sizeof(path), i);
		MUST(mkdir(path, 0700) == 0 && open(path, O_RDONLY | O_DIRECTORY) >= 0);
	}
}

/* They are unchanged. */
static void check_files(void)
{
	char path[512];
	struct stat st;

	for (int i = 0; i < FILES; i++) {
		file_name(path, sizeof(path), i);
		MUST(stat(path, &st) == 0 &&
		     (rmdir(path) == 0 || (S_ISREG(st.st_mode) && st.st_size == 0)));
	}
}

static void take_root(void)
{
	MUST(chroot(dir) == 0 && chdir("/") == 0);
}

static void take_calls(void)
{
#define REFUSE(call)                                                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(openat),
		REFUSE(unlinkat),
		REFUSE(renameat2),
		REFUSE(ftruncate),
		REFUSE(statx),
		REFUSE(mkdirat),
#ifdef SYS_open
		REFUSE(open),
		REFUSE(unlink),
		REFUSE(rename),
		REFUSE(renameat),
		REFUSE(mkdir),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
	     0);
}

static void set_clock_back(void)
{
	day_before = 1;
}

static pthread_barrier_t all_there;

/* One that launches nothing. */
static void *call_once(void *unused)
{
	MUST(ncclAllReduce(data[0], data[0], 0, ncclFloat32, ncclSum, alone, NULL) == ncclSuccess);
	pthread_barrier_wait(&all_there);
	return unused;
}

static void many_threads(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], &attr, call_once, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	calls += THREADS;
}

/* It starts the recording, and NCCL itself wants nothing for it. */
static void start_without_descriptors(void)
{
	const struct rlimit none = { 0, 4096 }, some = { 1024, 4096 };

	MUST(setrlimit(RLIMIT_NOFILE, &none) == 0);
	MUST(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, NULL, NULL) != ncclSuccess);
	MUST(setrlimit(RLIMIT_NOFILE, &some) == 0);
	calls++;
}

enum { LEFT = 8 };

static void leave_few_descriptors(void)
{
	int last = -1, fd;

	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		last = fd;
	MUST(errno == EMFILE && last >= 2 * LEFT);
	for (int i = 0; i < LEFT; i++)
		MUST(close(last - i) == 0);
}

static void open_the_last(void)
{
	for (int i = 0; i < LEFT; i++)
		MUST(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

static void nothing(void)
{
}

/* ---- the job
 * -----------------------------------------------------------------------------------------------------
 */

static void make(int without_threads)
{
	static float ones[COUNT];

	for (int k = 0; k < COUNT; k++)
		ones[k] = 1;
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) == cudaSuccess);
		MUST(cudaMalloc((void **)&data[i], sizeof(ones)) == cudaSuccess);
		MUST(cudaMemcpy(data[i], ones, sizeof(ones), cudaMemcpyHostToDevice) ==
		     cudaSuccess);
	}
	MUST(cudaSetDevice(0) == cudaSuccess);
	/* what starts the recording: it needs no thread of its own */
	no_threads = without_threads;
	MUST(ncclCommInitAll(&alone, 1, NULL) == ncclSuccess);
	no_threads = 0;
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
}

static void reduce(int times)
{
	for (int n = 0; n < times; n++) {
		MUST(ncclGroupStart() == ncclSuccess);
		for (int i = 0; i < RANKS; i++)
			MUST(ncclAllReduce(data[i], data[i], COUNT, ncclFloat32, ncclAvg, comms[i],
					   streams[i]) == ncclSuccess);
		MUST(ncclGroupEnd() == ncclSuccess);
		calls += RANKS;
		simSleepUntil(simNow() + 5 * (uint64_t)MS);
	}
	for (int i = 0; i < RANKS; i++)
		MUST(cudaStreamSynchronize(streams[i]) == cudaSuccess);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*what)(void);
	} all[] = {
		{ "nothing", nothing },
		{ "descriptors", limit_descriptors },
		{ "closed", close_descriptors },
		{ "taken", take_descriptors },
		{ "directories", take_for_directories },
		{ "root", take_root },
		{ "system", take_calls },
		{ "clock", set_clock_back },
		{ "threads", many_threads },
		{ "no-descriptors", nothing },
		{ "no-threads", nothing },
		{ "few-descriptors", open_the_last },
	};
	void (*what)(void) = NULL;
	float sum = 0;

	MUST(argc >= 2);
	dir = argc > 2 ? argv[2] : NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].name, argv[1]) == 0)
			what = all[i].what;
	MUST(what);
	if (strcmp(argv[1], "no-descriptors") == 0)
		start_without_descriptors();
	if (what == open_the_last)
		leave_few_descriptors();
	make(strcmp(argv[1], "no-threads") == 0);
	reduce(100);
	what();
	reduce(100);
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(cudaMemcpy(&sum, data[0], sizeof(sum), cudaMemcpyDeviceToHost) == cudaSuccess);
	if (what == take_descriptors || what == take_for_directories)
		check_files();
	printf("sum %g\ncalls %u\n", (double)sum, calls);
	fflush(stdout);
	exit(5);
}
