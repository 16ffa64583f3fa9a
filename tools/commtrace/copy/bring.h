/* SPDX-License-Identifier: Apache-2.0 */
/* bring.h — files of a recording, or their bytes, into a directory that is open. Each returns 0, or
 * -1 with errno. Any thread. */
#ifndef CT_TOOLS_COMMTRACE_COPY_BRING_H
#define CT_TOOLS_COMMTRACE_COPY_BRING_H

#include <stddef.h>

/* All of the bytes, whatever signals come. */
int ct_bring_bytes(int fd, const void *data, size_t bytes);

/* As another name of the same file, which goes on growing if it does. Not between file systems, and
 * not over a file that is there. */
int ct_bring_link(const char *from, int dirfd, const char *name);

/* As a copy, written under a temporary name first: no reader sees half a file. Replaces a file of
 * that name. */
int ct_bring_copy(const char *from, int dirfd, const char *name);

#endif
