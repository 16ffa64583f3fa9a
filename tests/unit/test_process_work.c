/* SPDX-License-Identifier: Apache-2.0 */
/* A process that sleeps is at work while what it started computes or writes, some generations down,
 * and after that has ended; not for a rank below it, which works for itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/watch/process_work.h"

/* Between the looks, as far as has_worked() knows: a tenth of it is work, and what is done here
 * takes twice as much. */
#define APART_NS 1000000000ull
#define BURNT_NS 200000000l
#define WRITTEN (5u << 20)

static int go[2], done[2]; /* pipes: what the worker waits for, what it and then the others say */
static pid_t top, worker;

static void compute(void)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (used.tv_sec == 0 && used.tv_nsec < BURNT_NS);
}

static void move_bytes(void)
{
	static char bytes[WRITTEN];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)!write(null, bytes, sizeof(bytes));
}

static void rest(void)
{
}

static void take(int from, void *data, size_t size)
{
	if (read(from, data, size) != (ssize_t)size)
		_exit(1);
}

static void give(const void *data, size_t size)
{
	if (write(done[1], data, size) != (ssize_t)size)
		_exit(1);
}

/* The worker says its pid, works when it may, says so, and ends when it may. Its ancestors wait for
 * their children; the first one says so. */
static void live(int generations, void (*what)(void))
{
	int is_top = 1;
	pid_t child = 0;
	char byte = 0;

	while (generations-- && (child = fork()) == 0)
		is_top = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (child) {
		waitpid(child, NULL, 0);
		if (is_top) {
			give(&byte, 1);
			pause();
		}
	} else {
		const pid_t self = getpid();

		give(&self, sizeof(self));
		take(go[0], &byte, 1);
		what();
		give(&byte, 1);
		take(go[0], &byte, 1);
	}
	_exit(0);
}

static void start(int generations, void (*what)(void))
{
	assert_int_equal(pipe2(go, O_CLOEXEC) | pipe2(done, O_CLOEXEC), 0);
	top = fork();
	assert_true(top >= 0);
	if (top == 0)
		live(generations, what);
	take(done[0], &worker, sizeof(worker));
}

static void next(void)
{
	char byte = 0;

	assert_int_equal(write(go[1], &byte, 1), 1);
	take(done[0], &byte, 1);
}

static int end(void **state)
{
	(void)state;
	kill(top, SIGKILL);
	waitpid(top, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
	return 0;
}

static struct ct_process_work work_of(pid_t pid, pid_t other)
{
	const uint32_t others[] = { (uint32_t)other };
	struct ct_process_work work = { .pid = (uint32_t)pid };

	ct_process_work(&work, 1, others, 1);
	return work;
}

/* While it lives, and after its end, which is waited for. */
static int worked(int generations, void (*what)(void), int is_rank)
{
	struct ct_process_work before, now, after;
	int has;

	start(generations, what);
	before = work_of(top, is_rank ? worker : 0);
	next();
	now = work_of(top, is_rank ? worker : 0);
	assert_int_equal(now.pid, top);
	has = ct_process_has_worked(&before, &now, APART_NS);
	next();
	after = work_of(top, 0);
	if (!is_rank)
		assert_int_equal(ct_process_has_worked(&before, &after, APART_NS), has);
	return has;
}

static void a_child_that_computes_is_work(void **state)
{
	(void)state;
	assert_true(worked(1, compute, 0));
}

static void a_program_that_a_script_started_is_work(void **state)
{
	(void)state;
	assert_true(worked(4, compute, 0));
}

static void a_child_that_writes_is_work(void **state)
{
	(void)state;
	assert_true(worked(2, move_bytes, 0));
}

static void a_child_that_sleeps_is_none(void **state)
{
	(void)state;
	assert_false(worked(2, rest, 0));
}

static void a_rank_below_works_for_itself(void **state)
{
	struct ct_process_work two[2];
	const uint32_t others[] = { (uint32_t)getpid() };

	(void)state;
	assert_false(worked(2, compute, 1));
	end(NULL);
	start(2, compute);
	next();
	two[0] = (struct ct_process_work){ .pid = (uint32_t)top };
	two[1] = (struct ct_process_work){ .pid = (uint32_t)worker };
	ct_process_work(two, 2, others, 1);
	assert_true(two[1].cpu_ticks > two[0].cpu_ticks);
}

static void what_has_ended_is_unknown(void **state)
{
	struct ct_process_work none, before;

	(void)state;
	start(1, rest);
	before = work_of(worker, 0);
	assert_int_equal(before.pid, worker);
	next();
	next();
	none = work_of(worker, 0);
	assert_int_equal(none.pid, 0);
	assert_false(ct_process_has_worked(&before, &none, APART_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_teardown(f, end)
		TEST(a_child_that_computes_is_work), TEST(a_program_that_a_script_started_is_work),
		TEST(a_child_that_writes_is_work),   TEST(a_child_that_sleeps_is_none),
		TEST(a_rank_below_works_for_itself), TEST(what_has_ended_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
