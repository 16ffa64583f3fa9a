/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/ranks.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/sim/driver.h"

#define MAX 64

struct start {
	struct rank rank;
	void (*body)(struct rank *rank);
};

bool check(struct rank *rank, bool ok, const char *file, int line, const char *what)
{
	if (ok)
		return true;
	rank->failures++;
	fprintf(stderr, "%s:%d: rank %d: not so: %s\n", file, line, rank->rank, what);
	return false;
}

void join(struct rank *r)
{
	CHECK(r, !ncclCommInitRank(&r->comm, r->n, r->id, r->rank));
}

void *device_memory(struct rank *r, size_t bytes)
{
	CUdeviceptr p = 0;

	CHECK(r, !cuMemAlloc_v2(&p, bytes ? bytes : 1));
	memset((void *)(uintptr_t)p, 0, bytes);
	return (void *)(uintptr_t)p;
}

void release(struct rank *r, void *p)
{
	CHECK(r, !cuMemFree_v2((CUdeviceptr)(uintptr_t)p));
}

void finish(struct rank *r)
{
	CHECK(r, !cuStreamSynchronize(r->stream));
}

static void *run(void *arg)
{
	struct start *s = arg;
	struct rank *r = &s->rank;
	CUcontext context;

	CHECK(r, !cuInit(0));
	CHECK(r, !cuDevicePrimaryCtxRetain(&context, r->rank));
	CHECK(r, !cuCtxSetCurrent(context));
	CHECK(r, !cuStreamCreate(&r->stream, CU_STREAM_NON_BLOCKING));
	s->body(r);
	if (r->comm)
		CHECK(r, !ncclCommDestroy(r->comm));
	CHECK(r, !cuStreamDestroy_v2(r->stream));
	return NULL;
}

static int prepare(struct start *starts, int n, void (*body)(struct rank *rank))
{
	ncclUniqueId id;

	memset(starts, 0, (size_t)n * sizeof(*starts));
	if (ncclGetUniqueId(&id))
		return 1;
	for (int i = 0; i < n; i++) {
		starts[i].body = body;
		starts[i].rank.rank = i;
		starts[i].rank.n = n;
		starts[i].rank.id = id;
	}
	return 0;
}

int in_threads(int n, void (*body)(struct rank *rank))
{
	struct start starts[MAX];
	pthread_t threads[MAX];
	int failures = prepare(starts, n, body);

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, &starts[i]))
			abort();
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		failures += starts[i].rank.failures;
	}
	return failures;
}

int in_processes(int n, void (*body)(struct rank *rank))
{
	struct start starts[MAX];
	pid_t pids[MAX];
	int failures = prepare(starts, n, body), status;

	fflush(NULL);
	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		run(&starts[i]);
		_exit(starts[i].rank.failures ? 1 : 0);
	}
	for (int i = 0; i < n; i++) {
		waitpid(pids[i], &status, 0);
		failures += status != 0;
	}
	return failures;
}

int shared_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[300], target[300];
	struct dirent *e;
	int found = 0;
	ssize_t n;

	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		found += strstr(target, "sim-nccl") != NULL;
	}
	if (!dir)
		return -1;
	closedir(dir);
	return found;
}
