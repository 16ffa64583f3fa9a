/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"

/* size: the default is that of ulimit -s; none of our threads needs a tenth of it (the deepest
 * reads stacks of Python, and one calls a CUDA driver). */
#define STACK_BYTES (1u << 20)

int ct_thread_start(void *(*body)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int why;

	/* the new thread inherits the mask, so no signal can reach it before it blocks them itself */
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return -1;
	why = pthread_attr_init(&attr);
	if (why == 0) {
		pthread_attr_setstacksize(&attr, STACK_BYTES);
		why = pthread_create(&thread, &attr, body, arg);
		pthread_attr_destroy(&attr);
	}
	/* thread-local variables of the program are on the stack, too, and may be larger than it */
	if (why == EINVAL)
		why = pthread_create(&thread, NULL, body, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why != 0)
		return -1;
	pthread_detach(thread);
	return 0;
}

void ct_thread_settle(void)
{
	const struct sched_param none = { 0 };

	/* a program of real-time threads keeps them: ours would starve otherwise */
	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_BATCH, &none);
}

void ct_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	const struct timespec t = {
		.tv_sec = (time_t)(ns / CT_SECOND_NS),
		.tv_nsec = (long)(ns % CT_SECOND_NS),
	};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

void ct_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int ct_thread_lives(uint32_t tid)
{
	/* signal 0: nothing is sent */
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

uint64_t ct_thread_cpu_ns(void)
{
	return ct_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
