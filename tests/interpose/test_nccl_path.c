/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded and timed call of NCCL may not do, once its thread has made a few: allocate, or
 * enter the kernel, but to wake the write thread once for each block. The program itself is
 * preloaded, before a libnccl and a libcuda that do nothing. A child's main thread calls under a
 * filter that turns every system call into a signal; malloc and its kin are counted as they pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/cuda_stub.h"
#include "tests/interpose/fake_libnccl.h"

enum { WARM_UP = 300, ROUNDS = 150 };
#define STREAM ((CUstream)0x300)

/* ---- counters
 * ---------------------------------------------------------------------------------------------- */

static __thread volatile int counting;
static volatile int allocations;
static volatile sig_atomic_t system_calls, last_call;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *old);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	allocations += counting;
	return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
	allocations += counting;
	return __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	allocations += counting;
	return __libc_realloc(old, size);
}

__attribute__((visibility("default"))) void free(void *old)
{
	allocations += counting && old;
	__libc_free(old);
}

static void on_system_call(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	system_calls++;
	last_call = info->si_syscall;
}

/* For this thread, until the process ends by exit_group; the way out of a signal handler stays
 * open. */
static int trap_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	const struct sigaction action = { .sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO };

	return sigaction(SIGSYS, &action, NULL) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- what is called
 * -------------------------------------------------------------------------------------------- */

static void all_calls(ncclComm_t comm, ncclComm_t alone)
{
	ncclResult_t state;

	ncclAllReduce(NULL, NULL, 1024, ncclFloat32, ncclSum, comm, STREAM);
	ncclBroadcast(NULL, NULL, 0, ncclFloat32, 0, comm, STREAM);
	ncclSend(NULL, 1, ncclInt8, 1, comm, STREAM);
	ncclGroupStart();
	ncclSend(NULL, 1, ncclInt8, 1, comm, STREAM);
	ncclRecv(NULL, 1, ncclInt8, 1, comm, STREAM);
	ncclAllGather(NULL, NULL, 1, ncclInt8, alone, STREAM);
	ncclReduceScatter(NULL, NULL, 1, ncclInt8, ncclMax, comm, (CUstream)0x400);
	ncclGroupEnd();
	ncclCommGetAsyncError(comm, &state);
}

static void child(void)
{
	const struct timespec nap = { .tv_nsec = 200000000 };
	ncclUniqueId id = { { 1 } };
	ncclComm_t comm, alone;

	if (ncclCommInitRank(&comm, 4, id, 0) != ncclSuccess ||
	    ncclCommInitRank(&alone, 1, id, 1) != ncclSuccess)
		_exit(2);
	for (int i = 0; i < WARM_UP; i++)
		all_calls(comm, alone);
	nanosleep(&nap, NULL); /* events come back */
	if (!trap_system_calls())
		_exit(3);
	memset(&cuda_stub_calls, 0, sizeof(cuda_stub_calls));
	counting = 1;
	for (int i = 0; i < ROUNDS; i++)
		all_calls(comm, alone);
	counting = 0;
	/* or there was nothing to see: of six launches a round most must have been timed */
	if (cuda_stub_calls.event_record < 2 * ROUNDS)
		_exit(4);
	/* one wakes the write thread if a block became due */
	_exit(system_calls > (last_call == SYS_futex) ? 5 : allocations ? 6 : 0);
}

static int status_of(void (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		body();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void the_call_path_neither_allocates_nor_enters_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(status_of(child), 0);
}

static void making_a_communicator(void)
{
	ncclUniqueId id = { { 1 } };
	ncclComm_t comm;

	/* twice: CUDA is found by the first one */
	for (int i = 0; i < 2; i++) {
		errno = 77;
		if (ncclCommInitRank(&comm, 4, id, 0) != ncclSuccess)
			_exit(2);
		if (errno != 77)
			_exit(3);
	}
	_exit(0);
}

static void errno_stays_whatever_the_driver_does_to_it(void **state)
{
	(void)state;
	assert_int_equal(status_of(making_a_communicator), 0);
}

static void careless(void)
{
	void *p;

	if (!trap_system_calls())
		_exit(3);
	counting = 1;
	p = malloc(100);
	__asm__ volatile("" : "+r"(p));
	free(p);
	counting = 0;
	syscall(SYS_getppid);
	_exit(system_calls == 1 && last_call == SYS_getppid && allocations == 2 ? 0 : 1);
}

static void one_that_does_is_seen(void **state)
{
	(void)state;
	assert_int_equal(status_of(careless), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errno_stays_whatever_the_driver_does_to_it),
		cmocka_unit_test(one_that_does_is_seen),
		cmocka_unit_test(the_call_path_neither_allocates_nor_enters_the_kernel),
	};

	return cmocka_run_group_tests_name("nccl_path", tests, NULL, NULL);
}
