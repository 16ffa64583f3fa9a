/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the processes that ended badly was the first (exit_scene.h), and what a report says of
 * that. */
#include "tests/unit/exit_scene.h"

#include "analyzer/findings/verdict_text.h"

static void a_rank_that_the_launcher_killed_comes_after_who_failed(void **state)
{
	(void)state;
	/* they had not been heard of for a second when it ended, and were gone soon afterwards */
	ORDER("2|013", SENT(10008, SIGTERM), SENT(10008, SIGTERM), FAILED(10000),
	      SENT(10008, SIGTERM));
}

/* The kernel killed it, which the launcher did not see at once; then it killed the rest. */
static void a_rank_that_the_kernel_killed_for_memory_failed_by_itself(void **state)
{
	const struct process by_somebody = GONE(9000, SIGKILL, 11000);
	const struct process asked = GONE(9100, SIGTERM, 10900);
	struct process by_kernel = by_somebody;

	(void)state;
	by_kernel.last = 9500;
	ORDER("012", by_somebody, asked, by_kernel);
	by_kernel.for_memory = 1;
	ORDER("201", by_somebody, asked, by_kernel);
	ORDER("102", by_somebody, by_kernel, asked);
}

static void a_rank_that_was_killed_before_the_others_failed_is_the_first(void **state)
{
	(void)state;
	ORDER("1|0", FAILED(10003), SENT(10000, SIGKILL));
}

/* The sender of the signals is unknown: they may have been the answer to the exit, or its reason. */
static void what_no_one_saw_the_order_of_has_no_first(void **state)
{
	(void)state;
	ORDER("102", GONE(9000, SIGKILL, 11000), FAILED(10000),
	      { .how = CT_END_SIGNAL, .signal = SIGTERM, .last = 9000 });
	ORDER("10", VANISHED(4000), FAILED(5000));
}

static void a_rank_that_was_alive_when_the_first_was_gone_is_not_the_first(void **state)
{
	(void)state;
	ORDER("1|02", GONE(12000, SIGSEGV, 13000), GONE(9000, SIGKILL, 11000),
	      SENT(13000, SIGTERM));
}

/* A launcher may signal all its processes, also one that it has not yet seen to be dead. */
static void signal_to_a_dead_process_did_not_end_it(void **state)
{
	(void)state;
	ORDER("1|0", SENT(10500, SIGTERM),
	      { .how = CT_END_CLEAN,
		.code = 3,
		.last = 10000,
		.said = 10000,
		.killed = 11000,
		.kill_signal = SIGTERM,
		.kill_by = LAUNCHER });
}

static void a_rank_that_left_in_order_because_of_a_signal_failed_when_it_was_sent(void **state)
{
	(void)state;
	ORDER("1|0",
	      { .how = CT_END_CLEAN,
		.code = 143,
		.last = 10000,
		.said = 10000,
		.killed = 9900,
		.kill_signal = SIGTERM,
		.kill_by = LAUNCHER },
	      FAILED(9800));
}

/* Its operation failed since a peer was gone: the peer was first, although its end was not seen. */
static void a_rank_that_reported_a_dead_peer_is_not_the_first(void **state)
{
	const struct process told = { .how = CT_END_CLEAN,
				      .code = 1,
				      .last = 5000,
				      .said = 5000,
				      .gone = 9000,
				      .failed = 4990 };

	(void)state;
	ORDER("1|0", told, GONE(4900, SIGKILL, 9000));
	ORDER("1|0", told, GONE(4900, SIGSEGV, 9000));
	/* both were reported: of what, is not on record */
	ORDER("0|1", told,
	      { .how = CT_END_CLEAN,
		.code = 1,
		.last = 5100,
		.said = 5100,
		.gone = 9000,
		.failed = 5090 });
}

/* Clocks of two hosts that are not related show no order; on each host there is one. */
static void hosts_that_are_not_related_have_a_first_each(void **state)
{
	struct process elsewhere = FAILED(90000), later = FAILED(90500);

	(void)state;
	elsewhere.host = later.host = 1;
	elsewhere.err = later.err = UINT64_MAX;
	ORDER("20|31", FAILED(5000), FAILED(6000), elsewhere, later);
}

/* Does a report say that the first of two was first, as the judgement of both has it? */
static int says_before_the_others(struct process first, struct process second)
{
	struct ct_report_process processes[2] = { { .rank = 0 }, { .rank = 1 } };
	const struct process both[] = { first, second };
	size_t ended[2] = { 0, 1 };
	struct ct_report report = { .memory = ct_arena_new(),
				    .processes = processes,
				    .n_processes = 2,
				    .ended = ended,
				    .n_ended = 2 };
	struct scene s;
	const char *text;
	int says;

	judge(&s, both, 2);
	for (uint32_t i = 0; i < 2; i++) {
		processes[i].how = exit_of(&s, i)->facts.end;
		processes[i].manner = exit_of(&s, i)->manner;
		processes[i].ended_badly = exit_of(&s, i)->bad;
	}
	report.n_ended_first = s.exits.n_first;
	report.ended_together = ct_exits_together(&s.exits, &s.all[0]);
	assert_int_equal(s.all[0].facts.process, 0);
	text = ct_ends_text(&report);
	if (report.ended_together)
		assert_string_equal(text, "2 ranks were ended by pid 77 (signal 15); the reason is "
					  "not on record");
	else
		assert_non_null(strstr(text, "rank 0 was killed by signal"));
	says = strstr(text, "before the others") != NULL;
	ct_arena_free(report.memory);
	return says;
}

static void a_rank_that_a_launcher_ends_first_has_not_failed_before_the_others(void **state)
{
	struct process first = SENT(10000, SIGTERM), second = SENT(10001, SIGTERM);
	struct process crashed = CRASHED(9000);

	(void)state;
	assert_false(says_before_the_others(first, second));
	first.kill_by = 2;
	assert_true(says_before_the_others(first, second));
	assert_true(says_before_the_others(crashed, second));
}

/* By how much the heartbeats of process 0 stop before all others', in ms; 0: that does not show. */
static uint64_t silent_ms(struct process first, struct process second, uint64_t late_ms)
{
	const struct process all[] = { first, second, VANISHED(20000) };
	struct scene s;

	judge_late(&s, all, 3, late_ms);
	for (uint32_t i = 0; i < 3; i++)
		if (s.all[i].facts.process)
			assert_int_equal(s.all[i].silent_ns, 0);
	return exit_of(&s, 0)->silent_ns / MS;
}

/* Heartbeats come each second. Without a ring only what is written each 10 s is there. */
static void a_rank_whose_heartbeats_stop_early_is_silent_first(void **state)
{
	const struct process gone = VANISHED(5000, .ring_gone = 1);
	const struct process damaged = VANISHED(5000, .damaged = 1);
	const struct process blurred = VANISHED(5000, .err = 400, .host = 1);

	(void)state;
	assert_int_equal(
		silent_ms((struct process)VANISHED(5000), (struct process)VANISHED(6300), 0), 1300);
	assert_int_equal(
		silent_ms((struct process)VANISHED(5000), (struct process)VANISHED(6200), 0), 0);
	assert_int_equal(silent_ms(gone, (struct process)VANISHED(6500), 0), 0);
	assert_int_equal(silent_ms(gone, (struct process)VANISHED(15900), 0), 0);
	assert_int_equal(silent_ms(gone, (struct process)VANISHED(16100), 0), 11100);
	assert_int_equal(silent_ms(damaged, (struct process)VANISHED(9000), 0), 0);
	assert_int_equal(silent_ms(blurred, (struct process)VANISHED(6500), 0), 0);
	assert_int_equal(silent_ms(blurred, (struct process)VANISHED(6700), 0), 1300);
	/* a host that lets heartbeats wait for 1 s */
	assert_int_equal(
		silent_ms((struct process)VANISHED(5000), (struct process)VANISHED(9000), 1000), 0);
	/* one that was seen to be killed is not silent, and one that exited cleanly is not a loss */
	assert_int_equal(silent_ms((struct process)SENT(5000, SIGKILL),
				   (struct process)VANISHED(9000), 0),
			 0);
	assert_int_equal(silent_ms((struct process)WELL(5000), (struct process)VANISHED(9000), 0),
			 0);
}

static void no_rank_failed_where_there_is_no_one(void **state)
{
	struct scene s;

	(void)state;
	judge(&s, NULL, 0);
	assert_int_equal(s.exits.n_bad, 0);
	assert_int_equal(s.exits.n_first, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_the_launcher_killed_comes_after_who_failed),
		cmocka_unit_test(a_rank_that_the_kernel_killed_for_memory_failed_by_itself),
		cmocka_unit_test(a_rank_that_was_killed_before_the_others_failed_is_the_first),
		cmocka_unit_test(what_no_one_saw_the_order_of_has_no_first),
		cmocka_unit_test(a_rank_that_was_alive_when_the_first_was_gone_is_not_the_first),
		cmocka_unit_test(signal_to_a_dead_process_did_not_end_it),
		cmocka_unit_test(
			a_rank_that_left_in_order_because_of_a_signal_failed_when_it_was_sent),
		cmocka_unit_test(a_rank_that_reported_a_dead_peer_is_not_the_first),
		cmocka_unit_test(hosts_that_are_not_related_have_a_first_each),
		cmocka_unit_test(
			a_rank_that_a_launcher_ends_first_has_not_failed_before_the_others),
		cmocka_unit_test(a_rank_whose_heartbeats_stop_early_is_silent_first),
		cmocka_unit_test(no_rank_failed_where_there_is_no_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
