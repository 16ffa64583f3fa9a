/* SPDX-License-Identifier: Apache-2.0 */
/* steady.c — a process that does not bear to be disturbed: threads in system calls that return
 * EINTR when their thread was stopped, or that have a time limit, one that computes, and 500 that
 * sleep, if the argument says so. Says "ready" and ends when standard input does: 0, or the number
 * of the check that failed. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int disturbed;
static volatile unsigned long turns;

static void check(int failed, int number)
{
	if (failed && errno == EINTR)
		atomic_store(&disturbed, number);
}

static void *in_epoll(void *arg)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	(void)arg;
	for (;;)
		check(epoll_wait(fd, &event, 1, -1) < 0, 3);
	return NULL;
}

static void *in_recv(void *arg)
{
	const struct timeval limit = { .tv_sec = 1000 };
	int pair[2];
	char byte;

	(void)arg;
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (;;)
		check(recv(pair[0], &byte, 1, 0) < 0, 4);
	return NULL;
}

static void *in_sigwait(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (;;)
		check(sigwaitinfo(&set, NULL) < 0, 5);
	return NULL;
}

static void *asleep(void *arg)
{
	const struct timespec hour = { .tv_sec = 3600 };

	(void)arg;
	for (;;)
		check(nanosleep(&hour, NULL) < 0, 6);
	return NULL;
}

static void *on_a_lock(void *arg)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int holds;

	(void)arg;
	pthread_mutex_lock(&lock);
	if (!holds++)
		return NULL; /* it is never unlocked */
	abort();
}

static void *computes(void *arg)
{
	(void)arg;
	for (;;)
		turns++;
	return NULL;
}

static void start(void *(*body)(void *))
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	if (pthread_create(&thread, &small, body, NULL) != 0)
		exit(2);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned long before;
	char byte;

	start(in_epoll);
	start(in_recv);
	start(in_sigwait);
	start(asleep);
	start(on_a_lock);
	start(on_a_lock);
	start(computes);
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		start(asleep);
	usleep(100000); /* until all are in their calls */
	puts("ready");
	fflush(stdout);
	while (read(input.fd, &byte, 1) > 0)
		;
	/* nothing is paused */
	before = turns;
	for (int i = 0; i < 1000 && turns == before; i++)
		usleep(10000);
	_exit(disturbed ? disturbed : turns == before ? 7 : 0);
}
