/* SPDX-License-Identifier: Apache-2.0 */
/* stack_job.c — a process that stands still in functions with known names, in the way that its
 * argument says:
 *
 *   asleep     the main thread in a call, asleep
 *   pointer    likewise, behind functions with frame pointers, and out of a call through a pointer
 *   spins      the main thread in a call, on a CPU
 *   idle       outside all calls, after one
 *   threads    300 threads asleep in a call
 *   churn      likewise two, while others come, call and go
 *   signalled  in a signal handler on a stack of its own, inside a call
 *   loader     in a call, with the loader's lock, as in a library's constructor
 *   crashes    in a call, dies there of SIGSEGV
 *   leaderless  outside the first thread, which has ended before anything was called
 *   healthy    calls and calls, for as long as its second argument says in ms, then ends
 *   computes   likewise, with as long a time without any call, then ends
 *
 * All others wait to be killed. Exit 2: no such way. */
#include <alloca.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interpose/fake_gloo.h"

#define KEEP __attribute__((noinline, noclone))
#define POINTER __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

static atomic_int n_asleep;
static volatile int after; /* what is done behind a call keeps it from being a jump */

typedef void (*way)(void);

KEEP static void sleeps(void *arg)
{
	const struct timespec hour = { .tv_sec = 3600 };

	(void)arg;
	atomic_fetch_add(&n_asleep, 1);
	for (;;)
		nanosleep(&hour, NULL);
}

KEEP static void spins(void *arg)
{
	(void)arg;
	for (;;)
		after++;
}

KEEP static void crashes(void *arg)
{
	static volatile uintptr_t nowhere = 16;

	(void)arg;
	after += *(volatile int *)nowhere;
}

static void returns(void *arg)
{
	(void)arg;
}

static void call(void)
{
	static struct fake_context context = { .rank = 0, .size = 2 };
	struct fake_options options = { .context = &context };

	gloo_barrier(&options);
	after++;
}

KEEP static void train_step(void)
{
	call();
	after++;
}

KEEP static void train_epoch(void)
{
	train_step();
	after++;
}

POINTER static void with_room(size_t bytes, way next)
{
	char *room = alloca(bytes);

	memset(room, 1, bytes);
	next();
	after += room[bytes / 2];
}

KEEP static int compare(const void *a, const void *b)
{
	with_room(100 + *(const char *)a % 2, train_epoch);
	return *(const char *)a - *(const char *)b;
}

KEEP static void sorts(void)
{
	char data[3] = { 3, 2, 1 };

	qsort(data, sizeof(data), 1, compare);
	after++;
}

KEEP static void lost_in_thought(void)
{
	sleeps(NULL);
	after++;
}

KEEP static void *worker(void *arg)
{
	(void)arg;
	train_epoch();
	return NULL;
}

static void *passes(void *arg)
{
	pthread_t next;

	(void)arg;
	fake_set_body(returns);
	call();
	usleep(2000);
	if (pthread_create(&next, NULL, passes, NULL) == 0)
		pthread_detach(next);
	return NULL;
}

KEEP static void handles(int signal)
{
	(void)signal;
	lost_in_thought();
	after++;
}

KEEP static void signals(void *arg)
{
	static char stack[64 << 10];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handles, .sa_flags = SA_ONSTACK };

	(void)arg;
	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	after++;
}

KEEP static int loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	(void)arg;
	train_epoch();
	return 1;
}

static void start(void *(*body)(void *), int n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	while (n-- > 0)
		pthread_create(&thread, &small, body, NULL);
}

KEEP static void *alone(void *arg)
{
	char text[256], path[64];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	do {
		FILE *file = fopen(path, "re");

		usleep(1000);
		state = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
		if (file)
			fclose(file);
	} while (state && strncmp(state, ") Z", 3) != 0);
	return worker(arg);
}

static void call_for(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		train_step();
		usleep(1000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long ms = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(how, "asleep") == 0) {
		fake_set_body(sleeps);
		train_epoch();
	} else if (strcmp(how, "pointer") == 0) {
		fake_set_body(sleeps);
		sorts();
	} else if (strcmp(how, "spins") == 0) {
		fake_set_body(spins);
		train_epoch();
	} else if (strcmp(how, "idle") == 0) {
		fake_set_body(returns);
		train_epoch();
		lost_in_thought();
	} else if (strcmp(how, "threads") == 0) {
		fake_set_body(sleeps);
		start(worker, 300);
		lost_in_thought();
	} else if (strcmp(how, "churn") == 0) {
		fake_set_body(sleeps);
		start(worker, 2);
		while (atomic_load(&n_asleep) < 2)
			usleep(1000);
		start(passes, 2);
		lost_in_thought();
	} else if (strcmp(how, "signalled") == 0) {
		fake_set_body(signals);
		train_epoch();
	} else if (strcmp(how, "crashes") == 0) {
		fake_set_body(crashes);
		train_epoch();
	} else if (strcmp(how, "loader") == 0) {
		fake_set_body(sleeps);
		dl_iterate_phdr(loaded, NULL);
	} else if (strcmp(how, "leaderless") == 0) {
		fake_set_body(sleeps);
		start(alone, 1);
		pthread_exit(NULL);
	} else if (strcmp(how, "healthy") == 0) {
		fake_set_body(returns);
		call_for(ms);
	} else if (strcmp(how, "computes") == 0) {
		fake_set_body(returns);
		train_step();
		usleep((useconds_t)ms * 1000);
		train_step();
	} else {
		return 2;
	}
	return 0;
}
