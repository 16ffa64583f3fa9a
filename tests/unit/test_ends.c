/* SPDX-License-Identifier: Apache-2.0 */
/* Who failed first, from what waitpid, kill and the process itself have left on record. */
#include <signal.h>
#include <string.h>

#include "analyzer/findings/verdict_text.h"
#include "analyzer/model/process_exit.h"
#include "tests/unit/fixture.h"

#define SECOND 1000000000ull

static struct ct_end exited(uint64_t at, int code)
{
	return (struct ct_end){ .how = CT_END_CLEAN,
				.exit_code = code,
				.after_ns = at,
				.said_ns = at,
				.before_ns = UINT64_MAX };
}

static struct ct_end signalled(int signal, uint64_t last_seen_ns, uint64_t gone_ns)
{
	return (struct ct_end){ .how = CT_END_SIGNAL,
				.exit_code = -1,
				.signal = signal,
				.after_ns = last_seen_ns,
				.before_ns = gone_ns };
}

static struct ct_end killed(int signal, uint64_t last_seen_ns, uint64_t kill_ns, uint64_t gone_ns)
{
	struct ct_end end = signalled(signal, last_seen_ns, gone_ns);

	end.kill_ns = kill_ns;
	end.kill_signal = signal;
	end.kill_by = 1;
	return end;
}

/* The processes in the order of their failures; how many may have been the first. */
static size_t order(const struct ct_end *ends, size_t n, size_t *processes)
{
	struct ct_ends_moment moments[8];
	size_t n_first;

	for (size_t i = 0; i < n; i++) {
		moments[i] = ct_ends_moment_of(&ends[i]);
		moments[i].process = i;
	}
	n_first = ct_ends_sort(moments, n);
	for (size_t i = 0; i < n; i++)
		processes[i] = moments[i].process;
	return n_first;
}

/* The others had not been heard of for a second when rank 2 ended, and were gone soon afterwards. */
static void whom_the_launcher_killed_comes_after_who_failed(void **state)
{
	const struct ct_end ends[] = {
		killed(SIGTERM, 9 * SECOND, 10 * SECOND + 8000000, 11 * SECOND),
		killed(SIGTERM, 9 * SECOND, 10 * SECOND + 8000000, 11 * SECOND),
		exited(10 * SECOND, 1),
		killed(SIGTERM, 9 * SECOND, 10 * SECOND + 8000000, 11 * SECOND),
	};
	size_t processes[4];

	(void)state;
	assert_int_equal(order(ends, 4, processes), 1);
	assert_int_equal(processes[0], 2);
}

/* The kernel killed rank 1, which the launcher did not see at once; then it killed the rest. */
static void whom_the_kernel_killed_for_memory_failed_by_itself(void **state)
{
	struct ct_end ends[] = {
		killed(SIGTERM, 9 * SECOND, 10 * SECOND + 8000000, 11 * SECOND),
		signalled(SIGKILL, 9 * SECOND, 11 * SECOND),
		killed(SIGKILL, 9 * SECOND, 10 * SECOND + 8000000, 11 * SECOND),
	};
	size_t processes[3];

	(void)state;
	assert_true(ct_ends_moment_of(&ends[1]).was_killed);
	ends[1].for_memory = 1;
	assert_false(ct_ends_moment_of(&ends[1]).was_killed);
	order(ends, 3, processes);
	assert_int_equal(processes[0], 1);
}

static void who_was_killed_before_the_others_failed_is_the_first(void **state)
{
	const struct ct_end ends[] = {
		exited(10 * SECOND + 3000000, 1),
		killed(SIGKILL, 9 * SECOND, 10 * SECOND, 10 * SECOND + 9000000),
	};
	size_t processes[2];

	(void)state;
	assert_int_equal(order(ends, 2, processes), 1);
	assert_int_equal(processes[0], 1);
}

/* Nobody saw who sent the signals: they may have been the answer to the exit, or its reason. */
static void what_nobody_saw_the_order_of_has_no_first(void **state)
{
	const struct ct_end ends[] = {
		signalled(SIGKILL, 9 * SECOND, 11 * SECOND),
		exited(10 * SECOND, 1),
		signalled(SIGTERM, 9 * SECOND, UINT64_MAX),
	};
	size_t processes[3];

	(void)state;
	assert_int_equal(order(ends, 3, processes), 3);
	assert_int_equal(processes[0], 1);
}

static void who_was_alive_when_the_first_was_gone_is_not_the_first(void **state)
{
	const struct ct_end ends[] = {
		signalled(SIGSEGV, 12 * SECOND, 13 * SECOND),
		signalled(SIGKILL, 9 * SECOND, 11 * SECOND),
		killed(SIGTERM, 13 * SECOND, 13 * SECOND, 14 * SECOND),
	};
	size_t processes[3];

	(void)state;
	assert_int_equal(order(ends, 3, processes), 1);
	assert_int_equal(processes[0], 1);
	assert_int_equal(processes[1], 0);
	assert_int_equal(processes[2], 2);
}

/* A launcher may signal all its processes, also one that it has not yet seen to be dead. */
static void signal_to_a_dead_process_did_not_end_it(void **state)
{
	struct ct_end dead = exited(10 * SECOND, 3);
	size_t processes[2];
	struct ct_end ends[2];

	(void)state;
	dead.kill_ns = 11 * SECOND;
	dead.kill_signal = SIGTERM;
	ends[0] = killed(SIGTERM, 9 * SECOND, 10 * SECOND + 500000000, 12 * SECOND);
	ends[1] = dead;
	assert_int_equal(order(ends, 2, processes), 1);
	assert_int_equal(processes[0], 1);
}

static void who_left_in_order_because_of_a_signal_failed_when_it_was_sent(void **state)
{
	struct ct_end handled = exited(10 * SECOND, 143);
	size_t processes[2];
	struct ct_end ends[2];

	(void)state;
	handled.kill_ns = 9 * SECOND + 900000000;
	handled.kill_signal = SIGTERM;
	ends[0] = handled;
	ends[1] = exited(9 * SECOND + 800000000, 1);
	assert_int_equal(order(ends, 2, processes), 1);
	assert_int_equal(processes[0], 1);
}

/* What a report says of two processes of one host, of which the first one named was killed first. */
static int says_before_the_others(struct ct_end first, struct ct_end second)
{
	struct ct_report_process processes[2] = {
		{ .rank = 0, .how = first, .ended_badly = 1 },
		{ .rank = 1, .how = second, .ended_badly = 1 },
	};
	size_t ended[2] = { 0, 1 };
	struct ct_report report = { .memory = ct_arena_new(),
				    .processes = processes,
				    .n_processes = 2,
				    .ended = ended,
				    .n_ended = 2,
				    .n_ended_first = 1 };
	const char *text;
	int says;

	assert_int_equal(ct_say_ends(&report, &text), 0);
	assert_non_null(strstr(text, "rank 0 was killed by signal"));
	says = strstr(text, "before the others") != NULL;
	ct_arena_free(report.memory);
	return says;
}

static void whom_a_launcher_ends_first_has_not_failed_before_the_others(void **state)
{
	struct ct_end first = killed(SIGTERM, 9 * SECOND, 10 * SECOND, 12 * SECOND);
	struct ct_end second = killed(SIGTERM, 9 * SECOND, 10 * SECOND + 1000, 12 * SECOND);

	(void)state;
	assert_false(says_before_the_others(first, second));
	first.kill_by = 2;
	assert_true(says_before_the_others(first, second));
	first = signalled(SIGSEGV, 9 * SECOND, 10 * SECOND);
	assert_true(says_before_the_others(first, second));
}

static void nobody_failed_where_there_is_nobody(void **state)
{
	(void)state;
	assert_int_equal(ct_ends_sort(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whom_the_launcher_killed_comes_after_who_failed),
		cmocka_unit_test(whom_the_kernel_killed_for_memory_failed_by_itself),
		cmocka_unit_test(who_was_killed_before_the_others_failed_is_the_first),
		cmocka_unit_test(what_nobody_saw_the_order_of_has_no_first),
		cmocka_unit_test(who_was_alive_when_the_first_was_gone_is_not_the_first),
		cmocka_unit_test(signal_to_a_dead_process_did_not_end_it),
		cmocka_unit_test(who_left_in_order_because_of_a_signal_failed_when_it_was_sent),
		cmocka_unit_test(whom_a_launcher_ends_first_has_not_failed_before_the_others),
		cmocka_unit_test(nobody_failed_where_there_is_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
