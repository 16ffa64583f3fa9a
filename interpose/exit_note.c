/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/exit_note.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/recorder.h"

/* Whether the program handles this signal itself. Asked of the kernel: sigaction() may be another
 * tool's. */
static int handles(int sig)
{
	uintptr_t action[8] = { 0 }; /* the kernel's struct: its first word is the handler */
	int saved = errno;
	long failed = syscall(SYS_rt_sigaction, sig, NULL, action, sizeof(uint64_t));

	errno = saved;
	return failed || (action[0] != (uintptr_t)SIG_DFL && action[0] != (uintptr_t)SIG_IGN);
}

void ct_exit_note(struct ct_ring_header *header, enum ct_exit_kind kind, int code)
{
	uint64_t said = (uint64_t)kind;

	if (!handles(SIGTERM) && !handles(SIGINT))
		said |= CT_EXIT_UNASKED;
	atomic_store_explicit(&header->exit_note, said << 32 | (uint32_t)code,
			      memory_order_relaxed);
	/* release: a reader that sees the time sees the note */
	atomic_store_explicit(&header->exit_ns, ct_now_ns(), memory_order_release);
}
