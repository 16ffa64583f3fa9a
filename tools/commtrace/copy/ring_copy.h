/* SPDX-License-Identifier: Apache-2.0 */
/* ring_copy.h — copies of rings that stay where they are: of processes that live, or whose run
 * directory is gone. Nothing is written to the ring. */
#ifndef CT_TOOLS_COMMTRACE_COPY_RING_COPY_H
#define CT_TOOLS_COMMTRACE_COPY_RING_COPY_H

#include "trace/format.h"
#include "trace/segment.h"
#include "trace/status.h"

/* Copy the ring file `path` into the directory open as `dirfd`, under its process's name: as a
 * plain ring if the process lives, compressed if it is dead. *archived says which. An older copy is
 * replaced in one step. */
int ct_ring_copy(const char *path, int dirfd, int *archived, struct ct_err *err);

/* size: of a copy's name */
#define CT_RING_COPY_NAME (CT_SEGMENT_NAME_MAX + 16)

/* The same into the open file `fd`; `name` gets what its name would be. */
int ct_ring_copy_into(const char *path, int fd, char name[CT_RING_COPY_NAME], struct ct_err *err);

#endif
