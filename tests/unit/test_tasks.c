/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: each runs once, its end waits for it, and no number of threads is too few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "analyzer/base/tasks.h"

#define MANY 200

static const unsigned numbers[] = { 1, 2, 4, 7 };

struct square {
	struct ct_tasks *tasks;
	int of, runs, is; /* not shared: TSan sees who writes them when */
};

static int square(void *arg)
{
	struct square *s = arg;

	s->runs++;
	s->is = s->of * s->of;
	return -s->of;
}

static void each_task_runs_once_and_its_end_reports_what_it_returned(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
		struct ct_tasks *tasks = ct_tasks_new(numbers[k]);
		struct square squares[MANY];
		struct ct_task all[MANY];

		assert_true(ct_tasks_threads(tasks) <= numbers[k]);
		for (int round = 1; round <= 3; round++) {
			for (int i = 0; i < MANY; i++) {
				if (round == 1) {
					squares[i] = (struct square){ .of = i };
					all[i] = (struct ct_task){ .run = square,
								   .arg = &squares[i] };
				}
				ct_task_begin(tasks, &all[i]);
			}
			/* not in the order of their beginning */
			for (int i = 0; i < MANY; i++)
				assert_int_equal(ct_task_end(tasks, &all[i * 7 % MANY]),
						 -(i * 7 % MANY));
			for (int i = 0; i < MANY; i++) {
				assert_int_equal(squares[i].runs, round);
				assert_int_equal(squares[i].is, i * i);
			}
		}
		ct_tasks_free(tasks);
	}
}

/* Each half as a task of its own. */
static int sum(void *arg)
{
	struct square *s = arg, halves[2];
	struct ct_task tasks[2];

	if (s->of <= 1)
		return s->of;
	for (int i = 0; i < 2; i++) {
		halves[i] = (struct square){ .tasks = s->tasks, .of = (s->of + i) / 2 };
		tasks[i] = (struct ct_task){ .run = sum, .arg = &halves[i] };
		ct_task_begin(s->tasks, &tasks[i]);
	}
	return ct_task_end(s->tasks, &tasks[0]) + ct_task_end(s->tasks, &tasks[1]);
}

static void a_task_may_wait_for_tasks_of_its_own(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
		struct square all = { .tasks = ct_tasks_new(numbers[k]), .of = 500 };
		struct ct_task task = { .run = sum, .arg = &all };

		ct_task_begin(all.tasks, &task);
		assert_int_equal(ct_task_end(all.tasks, &task), 500);
		ct_tasks_free(all.tasks);
	}
}

static int meet(void *barrier)
{
	int st = pthread_barrier_wait(barrier);

	return st == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : st;
}

/* Would end never if one waited for the other to be done. */
static void tasks_run_at_the_same_time_and_one_that_waits_works(void **state)
{
	struct ct_tasks *tasks = ct_tasks_new(2);
	struct ct_task both[2];
	pthread_barrier_t barrier;

	(void)state;
	assert_int_equal(ct_tasks_threads(tasks), 2);
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++) {
		both[i] = (struct ct_task){ .run = meet, .arg = &barrier };
		ct_task_begin(tasks, &both[i]);
	}
	assert_int_equal(ct_task_end(tasks, &both[0]) + ct_task_end(tasks, &both[1]), 1);
	pthread_barrier_destroy(&barrier);
	ct_tasks_free(tasks);
}

static void what_is_taken_back_in_time_does_not_run(void **state)
{
	struct square s = { 0 };
	struct ct_task task = { .run = square, .arg = &s };
	int taken = 0;

	(void)state;
	ct_task_begin(NULL, &task);
	assert_true(ct_task_cancel(NULL, &task));
	assert_int_equal(s.runs, 0);
	for (unsigned round = 0; round < MANY; round++) {
		struct ct_tasks *tasks = ct_tasks_new(2);

		ct_task_begin(tasks, &task);
		if (ct_task_cancel(tasks, &task))
			taken++;
		else
			ct_task_end(tasks, &task);
		ct_tasks_free(tasks);
	}
	assert_int_equal(s.runs + taken, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_runs_once_and_its_end_reports_what_it_returned),
		cmocka_unit_test(a_task_may_wait_for_tasks_of_its_own),
		cmocka_unit_test(tasks_run_at_the_same_time_and_one_that_waits_works),
		cmocka_unit_test(what_is_taken_back_in_time_does_not_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
