/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h — work that several threads share: a fixed set of threads, and a queue of tasks for them.
 *
 * A thread begins tasks and ends each of them, which waits for it. A waiting thread works: it runs
 * a task that no thread has begun, and otherwise others from the queue. So a task may begin and end
 * tasks of its own, and threads are optional: NULL is a set without threads, where ct_task_end()
 * runs everything. The thread that ended a task may read its results. Tasks that are begun together
 * must not share data that one of them writes. Then the results are the same for any number of
 * threads. All functions but new and free may be called by any thread. */
#ifndef CT_ANALYZER_BASE_TASKS_H
#define CT_ANALYZER_BASE_TASKS_H

struct ct_tasks;

/* The caller's, from begin to end; zeroed but for run and arg. */
struct ct_task {
	int (*run)(void *arg);
	void *arg;
	/* private */
	int state, result;
	struct ct_task *next;
};

/* A set of so many threads less one: the caller is one of them. Fewer where the system starts no
 * more. NULL: no thread. */
struct ct_tasks *ct_tasks_new(unsigned threads);

/* With the caller; 1 of NULL. */
unsigned ct_tasks_threads(const struct ct_tasks *tasks);

/* All tasks have ended. */
void ct_tasks_free(struct ct_tasks *tasks);

/* For an idle thread. */
void ct_task_begin(struct ct_tasks *tasks, struct ct_task *task);

/* Waits until it is done, and returns its result. It can be begun again then. */
int ct_task_end(struct ct_tasks *tasks, struct ct_task *task);

/* Cancels it if no thread has begun it: 1, and it will not run. Otherwise 0, and it must still be
 * ended. */
int ct_task_cancel(struct ct_tasks *tasks, struct ct_task *task);

#endif
