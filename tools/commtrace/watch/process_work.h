/* SPDX-License-Identifier: Apache-2.0 */
/* process_work.h — how much a process has done, with the processes that it started: a rank that
 * waits for a compiler, or for a program that unpacks its data, is at work. From /proc, so for
 * processes of this host and this namespace of process ids. Any thread. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_PROCESS_WORK_H
#define CT_TOOLS_COMMTRACE_WATCH_PROCESS_WORK_H

#include <stddef.h>
#include <stdint.h>

/* So far. */
struct ct_process_work {
	uint32_t pid;	    /* 0: none is meant, or it has ended */
	uint64_t cpu_ticks; /* also of processes that have ended, if their parent waited for them */
	uint64_t io_bytes;  /* likewise */
	uint64_t queued_ns; /* main threads were ready and had no core */
	int in_disk_wait;   /* one of them is */
};

/* Fill in `work` of the n processes that are named by their `pid`. What descends from one of the
 * `others`, in any order, is not counted: they work for themselves. It reads the status of all
 * processes of this host once. */
void ct_process_work(struct ct_process_work *work, size_t n, const uint32_t *others,
		     size_t n_others);

/* Has it worked between the two looks, which were `apart_ns` apart? Not if it is unknown. */
int ct_process_has_worked(const struct ct_process_work *before, const struct ct_process_work *now,
			  uint64_t apart_ns);

#endif
