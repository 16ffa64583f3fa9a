/* SPDX-License-Identifier: Apache-2.0 */
/* task.h — what the kernel reports about one thread of this process: /proc/self/task/TID. May wait
 * for the kernel. */
#ifndef CT_INTERPOSE_STACKS_TASK_H
#define CT_INTERPOSE_STACKS_TASK_H

#include <stdint.h>

enum ct_task_where {
	CT_TASK_UNKNOWN, /* the kernel does not say */
	CT_TASK_RUNNING, /* on a CPU, or about to be */
	CT_TASK_SLEEPS,	 /* in a system call, or a page fault: pc and sp hold */
};

struct ct_proc_task {
	uint32_t tid;
	enum ct_task_where where;
	int32_t call; /* number of the system call, -1 none */
	char state; /* R running, S asleep, D asleep in a driver or file system, ...; 0 not known */
	uint64_t cpu_ns; /* that it has used, 0 not known */
	uintptr_t pc, sp;
	char name[16];
};

/* 0, or -1: there is no such thread. */
int ct_task_read(struct ct_proc_task *task, uint32_t tid);

/* Is it where it was when `task` was read? */
int ct_task_is_still(const struct ct_proc_task *task);

/* How many threads this process has, 0 not known. */
uint32_t ct_task_count(void);

#endif
