/* SPDX-License-Identifier: Apache-2.0 */
/* pid_here.h — the number that a recorded process has in this PID namespace: that of a container is
 * another one on its host. One thread. */
#ifndef CT_TOOLS_COMMTRACE_STACKS_PID_HERE_H
#define CT_TOOLS_COMMTRACE_STACKS_PID_HERE_H

#include "trace/ring_dir.h"

/* 0: it does not live on this machine, or not where this namespace sees it. */
uint32_t ct_pid_here(const struct ct_process *process);

/* The other way: of a process by its number here, the number in its own namespace, and that
 * namespace. 0, or -1: not known. */
int ct_pid_inside(uint32_t here, uint32_t *pid, uint32_t *pidns);

#endif
