/* SPDX-License-Identifier: Apache-2.0 */
/* bench_tail.c — the slowest of many recorded calls, beside bare calls with the same pauses in the
 * same thread, in turns.
 *
 * The real preload stands before a libgloo that does nothing. The thread computes for 20 us before
 * each call, as a program that communicates does, and its caches are no warmer for one kind than
 * for the other. A third kind is a bare call that is made as long as a recorded one by reads of the
 * clock: as many interrupts fall into it. What happened to the thread in a call (it was preempted,
 * it touched a page for the first time) is counted around the call, not within what is timed. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/median.h"

#define SYMBOL "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"
void allreduce(const void *options) __asm__(SYMBOL);

enum { CALLS = 200000, WARM = 1000, PAUSE_NS = 20000 };

/* As far as the wrapper looks at gloo's objects. */
struct context {
	const void *table;
	int rank, size;
	char rest[64];
};

struct options {
	const struct context *context;
	char a[72];
	uint64_t elements, element_size;
	char b[32];
	uint32_t tag;
	char c[60];
};

/* Calls of a kind: how long each took, and the slowest one that nothing befell. */
struct kind {
	void (*call)(const void *);
	struct options options;
	double ns[CALLS];
	double undisturbed_ns;
	unsigned preempted, faulted;
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_until(uint64_t until_ns)
{
	while (clock_ns() < until_ns)
		;
}

static void (*bare_call)(const void *);

static void long_call(const void *options)
{
	for (int i = 0; i < 3; i++)
		clock_ns();
	bare_call(options);
}

static void call_once(struct kind *k, int i)
{
	struct rusage before, after;
	uint64_t begin;

	getrusage(RUSAGE_THREAD, &before);
	pause_until(clock_ns() + PAUSE_NS);
	k->options.tag++;
	begin = clock_ns();
	k->call(&k->options);
	k->ns[i] = (double)(clock_ns() - begin);
	getrusage(RUSAGE_THREAD, &after);
	if (after.ru_minflt != before.ru_minflt)
		k->faulted++;
	else if (after.ru_nivcsw != before.ru_nivcsw || after.ru_nvcsw != before.ru_nvcsw)
		k->preempted++;
	else if (k->ns[i] > k->undisturbed_ns)
		k->undisturbed_ns = k->ns[i];
}

static void print(const char *what, struct kind *k)
{
	median(k->ns, CALLS); /* sorts them */
	printf("%s: median %.0f ns, 99.9 %% %.0f, 99.99 %% %.0f, most %.0f; most of those that "
	       "were not preempted %.0f; "
	       "with their pauses %u were preempted, %u touched a new page\n",
	       what, k->ns[CALLS / 2], k->ns[CALLS - CALLS / 1000], k->ns[CALLS - CALLS / 10000],
	       k->ns[CALLS - 1], k->undisturbed_ns, k->preempted, k->faulted);
}

/* In the child, with the preload. */
static int child(void)
{
	static const struct context context = { .size = 4 };
	static struct kind recorded, bare, as_long;
	void *stub = dlopen("libgloo_stub.so", RTLD_LAZY | RTLD_NOLOAD);

	recorded.call = allreduce;
	bare.call = stub ? (void (*)(const void *))dlsym(stub, SYMBOL) : NULL;
	if (!bare.call || bare.call == allreduce)
		return 1;
	bare_call = bare.call;
	as_long.call = long_call;
	as_long.options = recorded.options = bare.options = (struct options){ .context = &context,
									      .elements = 1024,
									      .element_size = 4 };
	memset(recorded.ns, 1, sizeof(recorded.ns)); /* the pages are there */
	memset(bare.ns, 1, sizeof(bare.ns));
	memset(as_long.ns, 1, sizeof(as_long.ns));
	for (int i = 0; i < WARM; i++)
		call_once(&recorded, 0);
	recorded.undisturbed_ns = 0;
	recorded.preempted = recorded.faulted = 0;
	for (int i = 0; i < CALLS; i++) {
		call_once(&recorded, i);
		call_once(&bare, i);
		call_once(&as_long, i);
	}
	print("recorded", &recorded);
	print("bare", &bare);
	print("bare, and as long", &as_long);
	printf("METRIC overhead.tail_9999_recorded_per_bare %.0f 25\n",
	       recorded.ns[CALLS - CALLS / 10000] / bare.ns[CALLS - CALLS / 10000]);
	printf("METRIC overhead.tail_9999_recorded_per_as_long %.1f 6\n",
	       recorded.ns[CALLS - CALLS / 10000] / as_long.ns[CALLS - CALLS / 10000]);
	return 0;
}

int main(int argc, char **argv)
{
	static char self[4096], preload[4200], scratch[] = "/tmp/ct-bench-XXXXXX", command[9000];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	int failed;

	(void)argv;
	if (argc > 1)
		return child();
	if (n <= 0 || !mkdtemp(scratch))
		return 1;
	slash = strrchr(self, '/');
	snprintf(preload, sizeof(preload), "%.*s/../../lib/libcommtrace.so", (int)(slash - self),
		 self);
	if (access(preload, R_OK) != 0) {
		fprintf(stderr, "bench_tail: %s: %s\n", preload, strerror(errno));
		return 1;
	}
	snprintf(command, sizeof(command),
		 "LD_PRELOAD=%s COMMTRACE_DIR=%s COMMTRACE_QUIET=1 %s child; s=$?; rm -rf %s; exit "
		 "$s",
		 preload, scratch, self, scratch);
	failed = system(command);
	return failed != 0;
}
