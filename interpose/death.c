/* SPDX-License-Identifier: Apache-2.0 */
/* How processes end: what their parents see, who kills them, and what they say themselves.
 *
 * Runs in every process that carries the preload, also in shells and launchers that never record,
 * in signal handlers and between vfork and exec. So nothing here allocates or does I/O but on rings
 * in memory; results and errno are those of the real functions. A vfork'ed child has our memory but
 * is not us: only the process that a ring belongs to writes into it. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/dlsym_real.h"
#include "interpose/exit_note.h"
#include "interpose/guard.h"
#include "interpose/recorder.h"
#include "interpose/ring_search.h"
#include "trace/ring_dir.h"

#define EXPORT __attribute__((visibility("default")))

/* The next definition in the global scope: libc's, or that of another preload. Looked up on the
 * first call; two threads may both do so. */
struct next {
	const char *symbol;
	_Atomic(void *) function;
};

static void *next(struct next *n)
{
	void *function = atomic_load_explicit(&n->function, memory_order_relaxed);
	int saved = errno;

	if (!function) {
		function = ct_dlsym(RTLD_NEXT, n->symbol);
		atomic_store_explicit(&n->function, function, memory_order_relaxed);
	}
	errno = saved;
	return function;
}

/* real_NAME(): typed as the function is; NULL where the process has no libdl: then the system call
 * will do. */
#define LIBC_CALL(symbol_, ret, name, params)                                                      \
	typedef ret name##_fn params;                                                              \
	static name##_fn *real_##name(void)                                                        \
	{                                                                                          \
		static struct next n = { .symbol = symbol_ };                                      \
		return (name##_fn *)next(&n);                                                      \
	}
#include "interpose/libc_calls.def"

static void note_death(pid_t pid, int status)
{
	const char *const *dirs;
	int saved = errno;

	if (pid <= 0 || !(WIFEXITED(status) || WIFSIGNALED(status)))
		return;
	dirs = ct_ring_search_dirs();
	if (dirs)
		ct_ring_note_death(dirs, pid, status, ct_now_ns());
	errno = saved;
}

static void note_kill(pid_t pid, int sig)
{
	const char *const *dirs;
	int saved = errno;

	if (sig <= 0)
		return;
	dirs = ct_ring_search_dirs();
	if (dirs)
		ct_ring_note_kill(dirs, pid, sig, ct_now_ns());
	errno = saved;
}

/* This process ends by itself and no exit handler will run. */
static void note_exit(enum ct_exit_kind kind, int code)
{
	struct ct_ring_header *header = ct_recorder.ring.header;

	if (!ct_guard_is_on() || (uint32_t)getpid() != header->process.pid)
		return;
	ct_exit_note(header, kind, code);
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	waitpid_fn *real = real_waitpid();
	int own = 0;
	int *at = status ? status : &own;
	pid_t got = real ? real(pid, at, options)
			 : (pid_t)syscall(SYS_wait4, pid, at, options, NULL);

	if (got > 0)
		note_death(got, *at);
	return got;
}

EXPORT pid_t wait(int *status)
{
	wait_fn *real = real_wait();
	int own = 0;
	int *at = status ? status : &own;
	pid_t got = real ? real(at) : (pid_t)syscall(SYS_wait4, -1, at, 0, NULL);

	if (got > 0)
		note_death(got, *at);
	return got;
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	wait3_fn *real = real_wait3();
	int own = 0;
	int *at = status ? status : &own;
	pid_t got = real ? real(at, options, usage)
			 : (pid_t)syscall(SYS_wait4, -1, at, options, usage);

	if (got > 0)
		note_death(got, *at);
	return got;
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	wait4_fn *real = real_wait4();
	int own = 0;
	int *at = status ? status : &own;
	pid_t got = real ? real(pid, at, options, usage)
			 : (pid_t)syscall(SYS_wait4, pid, at, options, usage);

	if (got > 0)
		note_death(got, *at);
	return got;
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	waitid_fn *real = real_waitid();
	int got = real ? real(type, id, info, options)
		       : (int)syscall(SYS_waitid, type, id, info, options, NULL);

	if (got != 0 || !info || info->si_pid == 0)
		return got;
	if (info->si_code == CLD_EXITED)
		note_death(info->si_pid, (info->si_status & 0xff) << 8);
	else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
		note_death(info->si_pid,
			   (info->si_status & 0x7f) | (info->si_code == CLD_DUMPED ? 0x80 : 0));
	return got;
}

/* Before the call: a process that kills its own group does not come back from it. */
EXPORT int kill(pid_t pid, int sig)
{
	kill_fn *real = real_kill();

	note_kill(pid, sig);
	return real ? real(pid, sig) : (int)syscall(SYS_kill, pid, sig);
}

EXPORT int killpg(pid_t group, int sig)
{
	killpg_fn *real = real_killpg();

	if (group > 1)
		note_kill(-group, sig);
	return real ? real(group, sig) : (int)syscall(SYS_kill, -group, sig);
}

EXPORT void abort(void)
{
	abort_fn *real = real_abort();

	note_exit(CT_EXIT_ABORT, SIGABRT);
	if (real)
		real();
	syscall(SYS_kill, getpid(), SIGABRT);
	__builtin_trap();
}

static _Noreturn void exit_now(int code)
{
	for (;;)
		syscall(SYS_exit_group, code);
}

EXPORT void _exit(int code)
{
	_exit_fn *real = real__exit();

	note_exit(CT_EXIT_UNDERSCORE, code);
	if (real)
		real(code);
	exit_now(code);
}

EXPORT void _Exit(int code)
{
	_Exit_fn *real = real__Exit();

	note_exit(CT_EXIT_UNDERSCORE, code);
	if (real)
		real(code);
	exit_now(code);
}

EXPORT void quick_exit(int code)
{
	quick_exit_fn *real = real_quick_exit();

	note_exit(CT_EXIT_UNDERSCORE, code);
	if (real)
		real(code);
	exit_now(code);
}
