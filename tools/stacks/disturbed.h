/* SPDX-License-Identifier: Apache-2.0 */
/* disturbed.h — which system calls a program would see a pause in. Linux begins most of them again
 * after one; signal(7) lists those that return EINTR, though no signal has a handler. Any thread. */
#ifndef CT_TOOLS_STACKS_DISTURBED_H
#define CT_TOOLS_STACKS_DISTURBED_H

#include <sys/types.h>

/* Is a thread of the process in such a call? `text`: its file /proc/PID/task/TID/syscall. 1 or 0; 1
 * also where it cannot be found out. */
int ct_disturbed_by_pause(pid_t pid, const char *text);

#endif
