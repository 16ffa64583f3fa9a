/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/tasks.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { IDLE, QUEUED, RUNNING, DONE };

struct ct_tasks {
	pthread_mutex_t lock;
	pthread_cond_t begun, done; /* a task was begun, or `stopped` set; a task is done */
	struct ct_task *first, **last;
	int stopped;
	unsigned n; /* threads */
	pthread_t threads[];
};

static void append(struct ct_tasks *tasks, struct ct_task *task)
{
	task->state = QUEUED;
	task->next = NULL;
	*tasks->last = task;
	tasks->last = &task->next;
}

static void take_out(struct ct_tasks *tasks, struct ct_task *task)
{
	struct ct_task **at = &tasks->first;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	if (tasks->last == &task->next)
		tasks->last = at;
}

/* With the lock, which is not held meanwhile. */
static void carry_out(struct ct_tasks *tasks, struct ct_task *task)
{
	take_out(tasks, task);
	task->state = RUNNING;
	pthread_mutex_unlock(&tasks->lock);
	task->result = task->run(task->arg);
	pthread_mutex_lock(&tasks->lock);
	task->state = DONE;
	pthread_cond_broadcast(&tasks->done);
}

static void *work(void *arg)
{
	struct ct_tasks *tasks = arg;

	pthread_mutex_lock(&tasks->lock);
	while (!tasks->stopped) {
		if (tasks->first)
			carry_out(tasks, tasks->first);
		else
			pthread_cond_wait(&tasks->begun, &tasks->lock);
	}
	pthread_mutex_unlock(&tasks->lock);
	return NULL;
}

/* Signals are for the thread that was there before: only it knows what to do about them. */
static void start(struct ct_tasks *tasks, unsigned n)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (tasks->n < n && pthread_create(&tasks->threads[tasks->n], NULL, work, tasks) == 0)
		tasks->n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct ct_tasks *ct_tasks_new(unsigned threads)
{
	struct ct_tasks *tasks;

	if (threads < 2)
		return NULL;
	tasks = calloc(1, sizeof(*tasks) + (threads - 1) * sizeof(*tasks->threads));
	if (!tasks)
		return NULL;
	tasks->last = &tasks->first;
	pthread_mutex_init(&tasks->lock, NULL);
	pthread_cond_init(&tasks->begun, NULL);
	pthread_cond_init(&tasks->done, NULL);
	start(tasks, threads - 1);
	if (tasks->n)
		return tasks;
	ct_tasks_free(tasks);
	return NULL;
}

unsigned ct_tasks_threads(const struct ct_tasks *tasks)
{
	return tasks ? tasks->n + 1 : 1;
}

void ct_tasks_free(struct ct_tasks *tasks)
{
	if (!tasks)
		return;
	pthread_mutex_lock(&tasks->lock);
	tasks->stopped = 1;
	pthread_cond_broadcast(&tasks->begun);
	pthread_mutex_unlock(&tasks->lock);
	for (unsigned i = 0; i < tasks->n; i++)
		pthread_join(tasks->threads[i], NULL);
	pthread_mutex_destroy(&tasks->lock);
	pthread_cond_destroy(&tasks->begun);
	pthread_cond_destroy(&tasks->done);
	free(tasks);
}

void ct_task_begin(struct ct_tasks *tasks, struct ct_task *task)
{
	if (!tasks) {
		task->state = QUEUED;
		return;
	}
	pthread_mutex_lock(&tasks->lock);
	append(tasks, task);
	pthread_cond_signal(&tasks->begun);
	pthread_mutex_unlock(&tasks->lock);
}

int ct_task_end(struct ct_tasks *tasks, struct ct_task *task)
{
	if (!tasks) {
		task->state = IDLE;
		return task->run(task->arg);
	}
	pthread_mutex_lock(&tasks->lock);
	while (task->state != DONE) {
		if (task->state == QUEUED)
			carry_out(tasks, task);
		else if (tasks->first)
			carry_out(tasks, tasks->first);
		else
			pthread_cond_wait(&tasks->done, &tasks->lock);
	}
	task->state = IDLE;
	pthread_mutex_unlock(&tasks->lock);
	return task->result;
}

int ct_task_cancel(struct ct_tasks *tasks, struct ct_task *task)
{
	int is_queued;

	if (!tasks) {
		task->state = IDLE;
		return 1;
	}
	pthread_mutex_lock(&tasks->lock);
	is_queued = task->state == QUEUED;
	if (is_queued) {
		take_out(tasks, task);
		task->state = IDLE;
	}
	pthread_mutex_unlock(&tasks->lock);
	return is_queued;
}
