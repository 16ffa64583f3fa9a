/* SPDX-License-Identifier: Apache-2.0 */
/* bench_wrapper.c — what a wrapped call costs, as ratios to what is measured beside it in the same
 * run.
 *
 * The real preload stands before a libgloo that does nothing, called through the PLT as torch calls
 * it. The parent runs itself as a child, with and without the preload; children print their figures
 * on stdout. Of many short batches the fastest counts: all others were interrupted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/median.h"

#define SYMBOL "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"
void allreduce(const void *options) __asm__(SYMBOL);

/* The parts of gloo's objects that the wrapper looks at. */
struct context {
	const void *table;
	int rank;
	int size;
	char rest[64];
};

struct options {
	const struct context *context;
	char a[72];
	uint64_t elements;
	uint64_t element_size;
	char b[32];
	uint32_t tag;
	char c[60];
};

static struct context contexts[2] = { { .rank = 0, .size = 4 }, { .rank = 1, .size = 8 } };

static struct options make_options(int which)
{
	struct options o = { .context = &contexts[which], .elements = 1024, .element_size = 4 };

	return o;
}

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* ns for one call of f, in a batch; the tag counts as torch's does. */
static __attribute__((noinline)) double batch(void (*f)(const void *), struct options *o, int calls)
{
	uint64_t begin = clock_of(CLOCK_MONOTONIC);

	for (int i = 0; i < calls; i++) {
		o->tag++;
		f(o);
	}
	return (double)(clock_of(CLOCK_MONOTONIC) - begin) / calls;
}

/* The same through the PLT, as a program calls it. */
static __attribute__((noinline)) double batch_plt(struct options *o, int calls)
{
	uint64_t begin = clock_of(CLOCK_MONOTONIC);

	for (int i = 0; i < calls; i++) {
		o->tag++;
		allreduce(o);
	}
	return (double)(clock_of(CLOCK_MONOTONIC) - begin) / calls;
}

static __attribute__((noinline)) double batch_clock(int calls)
{
	uint64_t begin = clock_of(CLOCK_MONOTONIC);
	struct timespec t;

	for (int i = 0; i < calls; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(clock_of(CLOCK_MONOTONIC) - begin) / calls;
}

/* ---- children
 * ---------------------------------------------------------------------------------------- */

static int child_record(void)
{
	enum { ROUNDS = 600, CALLS = 500 };
	const struct timespec rest = { .tv_nsec = 2000000 };
	void *stub = dlopen("libgloo_stub.so", RTLD_LAZY | RTLD_NOLOAD);
	void (*bare)(const void *) = stub ? (void (*)(const void *))dlsym(stub, SYMBOL) : NULL;
	struct options o = make_options(0), p = make_options(0);
	double wrapped_ns = 1e9, bare_ns = 1e9, clock_ns = 1e9;

	if (!bare || bare == allreduce)
		return 1;
	batch_plt(&o, 1000); /* starts the recording */
	for (int r = 0; r < ROUNDS; r++) {
		wrapped_ns = least(wrapped_ns, batch_plt(&o, CALLS));
		bare_ns = least(bare_ns, batch(bare, &p, CALLS));
		clock_ns = least(clock_ns, batch_clock(CALLS));
		if (r % 10 == 0)
			nanosleep(&rest, NULL);
	}
	printf("%.3f %.3f %.3f\n", wrapped_ns, bare_ns, clock_ns);
	return 0;
}

/* For instructions.py. */
static __attribute__((noinline)) void counted(struct options *o, int calls)
{
	for (int i = 0; i < calls; i++) {
		o->tag++;
		allreduce(o);
	}
}

static int child_count(void)
{
	enum { CALLS = 2000 };
	struct options o = make_options(0);

	batch_plt(&o, CALLS);
	counted(&o, CALLS);
	printf("%d\n", CALLS);
	return 0;
}

static int child_call(void)
{
	enum { ROUNDS = 3000, CALLS = 2000 };
	struct options o = make_options(0);
	double ns = 1e9;

	for (int r = 0; r < ROUNDS; r++)
		ns = least(ns, batch_plt(&o, CALLS));
	printf("%.3f\n", ns);
	return 0;
}

struct worker {
	pthread_barrier_t *barrier;
	struct options options;
	int second; /* takes part in the rounds of two only */
	double alone_ns;
	double together_ns;
};

static double cpu_per_call(struct options *o, int calls)
{
	uint64_t begin = clock_of(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < calls; i++) {
		o->tag++;
		allreduce(o);
	}
	return (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - begin) / calls;
}

static void *work(void *arg)
{
	enum { ROUNDS = 200, CALLS = 4000 };
	const struct timespec rest = { .tv_nsec = 1000000 };
	struct worker *w = arg;

	cpu_per_call(&w->options, 1000);
	for (int r = 0; r < ROUNDS; r++) {
		pthread_barrier_wait(w->barrier);
		if (!w->second)
			w->alone_ns = least(w->alone_ns, cpu_per_call(&w->options, CALLS));
		pthread_barrier_wait(w->barrier);
		w->together_ns = least(w->together_ns, cpu_per_call(&w->options, CALLS));
		nanosleep(&rest, NULL);
	}
	return NULL;
}

static int child_threads(void)
{
	pthread_barrier_t barrier;
	struct worker workers[2];
	pthread_t threads[2];

	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++) {
		workers[i] = (struct worker){ &barrier, make_options(i), i, 1e9, 1e9 };
		if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%.3f %.3f\n", workers[0].alone_ns,
	       (workers[0].together_ns + workers[1].together_ns) / 2);
	return 0;
}

/* ---- parent
 * ------------------------------------------------------------------------------------------ */

static char self_path[4096], preload[4200], scratch[] = "/tmp/ct-bench-XXXXXX";

static void exec_child(const char *what, const char *commtrace)
{
	if (commtrace) {
		setenv("LD_PRELOAD", preload, 1);
		setenv("COMMTRACE", commtrace, 1);
		setenv("COMMTRACE_DIR", scratch, 1);
		setenv("COMMTRACE_QUIET", "1", 1);
	}
	execl(self_path, self_path, what, (char *)NULL);
	_exit(127);
}

/* Run one and read up to three figures. Returns how many it printed. */
static int run(const char *what, const char *commtrace, double v[3])
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
		exec_child(what, commtrace);
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	if (out) {
		n = fscanf(out, "%lf %lf %lf", &v[0], &v[1], &v[2]);
		fclose(out);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? n : 0;
}

enum { RUNS = 5 };

static int measure(void)
{
	double off[RUNS], bare[RUNS], ratio[RUNS], threads[RUNS];
	double v[3] = { 0 };

	for (int r = 0; r < RUNS; r++) {
		if (run("record", "1", v) != 3)
			return 1;
		printf("recorded %.1f ns, bare %.1f ns, clock %.1f ns\n", v[0], v[1], v[2]);
		ratio[r] = (v[0] - v[1]) / v[2];
		if (run("call", NULL, v) != 1)
			return 1;
		bare[r] = v[0];
		if (run("call", "0", v) != 1)
			return 1;
		off[r] = v[0];
		if (run("threads", "1", v) != 2)
			return 1;
		printf("CPU per record: one thread %.1f ns, two threads %.1f ns\n", v[0], v[1]);
		threads[r] = v[1] / v[0];
	}
	printf("switched off %.2f ns, without the library %.2f ns\n", median(off, RUNS),
	       median(bare, RUNS));
	printf("METRIC overhead.wrapper_per_clock %.2f 2.6\n", median(ratio, RUNS));
	printf("METRIC overhead.disabled_per_bare %.2f 1.3\n",
	       median(off, RUNS) / median(bare, RUNS));
	printf("METRIC overhead.two_threads_per_one %.2f 1.15\n", median(threads, RUNS));
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
		return strcmp(argv[1], "record") == 0  ? child_record()
		       : strcmp(argv[1], "count") == 0 ? child_count()
		       : strcmp(argv[1], "call") == 0  ? child_call()
						       : child_threads();
	if (n <= 0 || !mkdtemp(scratch))
		return 1;
	slash = strrchr(self_path, '/');
	snprintf(preload, sizeof(preload), "%.*s/../../lib/libcommtrace.so",
		 (int)(slash - self_path), self_path);
	if (access(preload, R_OK) != 0) {
		fprintf(stderr, "bench_wrapper: %s: %s\n", preload, strerror(errno));
		return 1;
	}
	failed = measure();
	remove_scratch();
	return failed;
}
