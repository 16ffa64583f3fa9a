/* SPDX-License-Identifier: Apache-2.0 */
/* append.h — write(2) until everything is written, as code inside another program must do it.
 *
 * Stateless; any thread that may block in I/O. Retries after a signal. A file size limit (ulimit
 * -f) is an error return here; the kernel would send SIGXFSZ, which ends the job.
 */
#ifndef CT_TRACE_APPEND_H
#define CT_TRACE_APPEND_H

#include <stddef.h>
#include <stdint.h>

/* Write `bytes` bytes to `fd`, whose file offset is `at`. 0 or an errno value; a failure may leave
 * part of the bytes in the file. */
int ct_append(int fd, uint64_t at, const void *data, size_t bytes);

/* A descriptor as open(2) gave it, moved out of 0 to 2: a program that has closed those may still
 * write to them, into our file, or open what it expects there. Returns the one to use, -1 for -1;
 * errno is kept. */
int ct_fd_clear_of_stdio(int fd);

/* The sentence of an errno value, in `text` or static; unlike strerror() safe in any thread. */
const char *ct_errno_text(int number, char *text, size_t cap);

#endif
