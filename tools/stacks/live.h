/* SPDX-License-Identifier: Apache-2.0 */
/* live.h — a process of this machine: what is mapped, its threads, and why it cannot be looked at.
 * Files of /proc alone; nothing of the process is paused for it. One thread. */
#ifndef CT_TOOLS_STACKS_LIVE_H
#define CT_TOOLS_STACKS_LIVE_H

#include "tools/stacks/target.h"

/* Fill everything but what pause.h fills in the samples. Where it cannot be looked at,
 * target->error says why. */
void ct_live_open(struct ct_target *target, pid_t pid);

/* Why PTRACE_SEIZE was refused: error and hint of the target. */
void ct_live_refused(struct ct_target *target);

/* The text of /proc/PID/NAME or, with a thread, /proc/PID/task/TID/NAME; at most size - 1 bytes and
 * a NUL. Its length, or -1 with errno. */
ssize_t ct_live_file(pid_t pid, uint32_t tid, const char *name, char *text, size_t size);

/* The state of a process or of one of its threads, as in /proc/PID/stat; 0: there is none. */
char ct_live_state(pid_t pid, uint32_t tid);

/* The bytes that could be read of memory as it is now. */
size_t ct_live_peek(pid_t pid, uint64_t from, void *to, size_t len);

#endif
