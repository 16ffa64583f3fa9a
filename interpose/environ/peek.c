/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE 65536u /* size: of the stack, which has 1 MB (threads.c); a system call reads one */

/* For systems whose filter of system calls forbids the other way. */
static size_t read_mem(uintptr_t from, void *to, size_t len)
{
	int fd = open("/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? pread(fd, to, len, (off_t)from) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

size_t ct_peek(uintptr_t from, void *to, size_t len)
{
	struct iovec local = { .iov_base = to, .iov_len = len };
	struct iovec remote = { .iov_len = len };
	ssize_t n;

	memcpy(&remote.iov_base, &from, sizeof(from));
	/* this thread's memory: the first thread, whose number is the process's, may have ended
	 * before the others */
	n = process_vm_readv((pid_t)syscall(SYS_gettid), &local, 1, &remote, 1, 0);
	if (n < 0 && (errno == EPERM || errno == ENOSYS))
		return read_mem(from, to, len);
	return n > 0 ? (size_t)n : 0;
}

int ct_peek_contains(uintptr_t from, size_t len, const char *text, size_t n)
{
	char piece[PIECE]; /* given back with the stack of the thread that looked around */
	size_t at = 0;

	while (at < len) {
		size_t want = len - at < PIECE ? len - at : PIECE;
		size_t got = ct_peek(from + at, piece, want);

		if (got >= n && memmem(piece, got, text, n))
			return 1;
		if (got < want || got <= n)
			return 0;
		at += got == len - at ? got
				      : got - n; /* text across the edge is in the next piece */
	}
	return 0;
}
