/* SPDX-License-Identifier: Apache-2.0 */
/* Who failed by itself, and who was ended by others: endings of processes as parents and rings tell them, written down here with
 * the answer. Times in milliseconds since the run began. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/hang_scene.h"

#define MS 1000000ull

/* One letter a rank: A alive, D dead, E exited; then the state's first letter: r, e, k, i. */
static void expect(const struct ct_scene_process *all, uint32_t n, const char *want)
{
	struct ct_scene *s = ct_scene_judged(all, n, 30000);
	char got[CT_SCENE_MOST + 3] = "";

	for (uint32_t i = 0; i < n; i++)
		got[i] = "ADEN"[s->ranks[i].life];
	got[n] = ' ';
	got[n + 1] = ct_hang_state_word(s->out.state)[0];
	assert_string_equal(got, want);
	ct_scene_free(s);
}

#define N(all) (sizeof(all) / sizeof((all)[0]))
#define EXPECT(want, ...)                                                                          \
	do {                                                                                       \
		const struct ct_scene_process all_[] = { __VA_ARGS__ };                            \
		expect(all_, N(all_), want);                                                       \
	} while (0)

#define RUNS(at)                                                                                   \
	{                                                                                          \
		.how = CT_END_RUNNING, .last = (at)                                                \
	}
#define WELL(at)                                                                                   \
	{                                                                                          \
		.how = CT_END_CLEAN, .last = (at), .said = (at), .gone = (at) + 1                  \
	}
/* of a signal of its own */
#define CRASHED(at)                                                                                \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = SIGSEGV, .last = (at), .gone = (at) + 1            \
	}
#define FAILED(at)                                                                                 \
	{                                                                                          \
		.how = CT_END_CLEAN, .code = 1, .last = (at), .said = (at), .gone = (at) + 1       \
	}
/* by the launcher, which was seen to */
#define SENT(at, number)                                                                           \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = (number), .kill_signal = (number), .last = (at),   \
		.killed = (at), .kill_by = CT_SCENE_LAUNCHER, .gone = (at) + 5                     \
	}
/* nobody was seen to send it */
#define GOT(at, number)                                                                            \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = (number), .last = (at), .gone = (at) + 1           \
	}
#define SHOT_UNSEEN(at)                                                                            \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = SIGKILL, .last = (at)                              \
	}
#define VANISHED(at)                                                                               \
	{                                                                                          \
		.how = CT_END_UNKNOWN, .last = (at)                                                \
	}

static void who_crashes_first_is_dead_and_whom_the_launcher_kills_then_is_not(void **state)
{
	(void)state;
	EXPECT("AADA k", SENT(6000, SIGTERM), SENT(6010, SIGTERM), CRASHED(5000),
	       SENT(6020, SIGTERM));
	EXPECT("DA k", FAILED(5000), SENT(6000, SIGKILL));
	/* the latter also where it had to kill harder */
	EXPECT("DA k", CRASHED(5000),
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 6000,
		 .kill_by = CT_SCENE_LAUNCHER,
		 .last = 6000,
		 .gone = 36000 });
}

static void the_second_crash_follows_from_the_first(void **state)
{
	(void)state;
	EXPECT("DA k", CRASHED(5000), CRASHED(5500));
	EXPECT("AD k", CRASHED(5500), CRASHED(5000));
	/* at the same time, as far as it can be told: nobody knows which */
	EXPECT("DD k", CRASHED(5000), CRASHED(5001));
}

static void clocks_that_are_wrong_put_no_crash_before_another(void **state)
{
	(void)state;
	EXPECT("DD k", CRASHED(5000),
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 5500,
		 .gone = 5501,
		 .host = 1,
		 .err = 600 });
	EXPECT("DA k", CRASHED(5000),
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 5500,
		 .gone = 5501,
		 .host = 1,
		 .err = 400 });
}

static void who_had_waited_for_too_long_died_of_the_hang(void **state)
{
	(void)state;
	EXPECT("AA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 600000,
		 .gone = 600001,
		 .waited = 30001 },
	       SENT(605000, SIGTERM));
	EXPECT("DA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 600000,
		 .gone = 600001,
		 .waited = 30000 },
	       SENT(605000, SIGTERM));
}

/* The peers of one that is gone hear of it from their library, and fail: later, or before anybody saw the first one gone. */
static void who_was_told_of_a_peer_is_no_cause(void **state)
{
	(void)state;
	EXPECT("DA k", { .how = CT_END_SIGNAL, .signal = SIGSEGV, .last = 4900, .gone = 9000 },
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 9000,
		 .failed = 4990 });
	/* the one who was not told, and was not heard of any more */
	EXPECT("DAA k", SHOT_UNSEEN(4000),
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 5001,
		 .failed = 4500,
		 .waited = 31000 },
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 5001,
		 .failed = 4600,
		 .waited = 31000 });
	/* two were not told: nobody knows which */
	EXPECT("AAA k", SHOT_UNSEEN(4000), SHOT_UNSEEN(4100),
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 5001,
		 .failed = 4500,
		 .waited = 31000 });
	/* it still lived when the others were told */
	EXPECT("AA k", SHOT_UNSEEN(4700),
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 5001,
		 .failed = 4500,
		 .waited = 31000 });
	/* where its files end says nothing */
	EXPECT("AA k", { .how = CT_END_UNKNOWN, .last = 4000, .damaged = 1 },
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 5001,
		 .failed = 4500,
		 .waited = 31000 });
}

/* A scheduler's SIGTERM, and programs that answer it with a status of their own. */
static void a_job_that_is_ended_from_outside_has_no_dead(void **state)
{
	(void)state;
	EXPECT("AAA i", GOT(5000, SIGTERM), GOT(5100, SIGTERM), SHOT_UNSEEN(9000));
	EXPECT("AA i", GOT(5000, SIGINT), GOT(5100, SIGHUP));
	EXPECT("AA i", SHOT_UNSEEN(5000), SHOT_UNSEEN(5400));
	EXPECT("AA i", VANISHED(5000), VANISHED(5900));
	EXPECT("AA k", GOT(5000, SIGTERM),
	       { .how = CT_END_CLEAN, .code = 143, .last = 5000, .said = 5100, .gone = 5200 });
	/* a crash is none of these answers */
	EXPECT("AD k", GOT(5000, SIGTERM), CRASHED(5000));
}

static void a_kill_that_nobody_else_got_is_a_death(void **state)
{
	(void)state;
	/* long before the others */
	EXPECT("DA k", SHOT_UNSEEN(5000), VANISHED(12001));
	EXPECT("AA i", SHOT_UNSEEN(5000), VANISHED(11999));
	/* of one whose ring is gone only what it wrote every ten seconds is known */
	EXPECT("AA i", { .how = CT_END_UNKNOWN, .last = 5000, .ring_gone = 1 }, VANISHED(20999));
	EXPECT("DA k", { .how = CT_END_UNKNOWN, .last = 5000, .ring_gone = 1 }, VANISHED(21001));
	/* those who are asked get more time */
	EXPECT("AA i", GOT(5000, SIGTERM), VANISHED(65000));
	EXPECT("DA k", GOT(5000, SIGTERM), VANISHED(65002));
	/* a damaged file ends where it is damaged */
	EXPECT("AA i", { .how = CT_END_UNKNOWN, .last = 5000, .damaged = 1 }, VANISHED(90000));
	/* two of them, together and before all others */
	EXPECT("DDA k", SHOT_UNSEEN(5000), SHOT_UNSEEN(5500), VANISHED(60000));
	/* in order is not dead */
	EXPECT("EA i", WELL(5000), VANISHED(60000));
}

static void a_kill_after_which_the_launcher_ended_the_rest_is_a_death(void **state)
{
	(void)state;
	EXPECT("DAA k", GOT(5000, SIGKILL), SENT(6000, SIGTERM), SENT(6001, SIGTERM));
	/* not if it had been asked to end the job before */
	EXPECT("AAA i", GOT(5000, SIGKILL), SENT(4000, SIGTERM), SENT(6001, SIGTERM));
	/* nor two of them, nor one who had waited */
	EXPECT("AAA i", GOT(5000, SIGKILL), GOT(5001, SIGKILL), SENT(6001, SIGTERM));
	EXPECT("AA i",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .last = 600000,
		 .gone = 600001,
		 .waited = 30001 },
	       SENT(601000, SIGTERM));
	/* nobody was left to be ended */
	EXPECT("AE i", GOT(5000, SIGKILL), WELL(5000));
}

#define SHOT_BEFORE_ASKED(at)                                                                      \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = SIGKILL, .kill_signal = SIGTERM, .last = (at)-500, \
		.killed = (at), .kill_by = CT_SCENE_LAUNCHER, .gone = (at) + 2000                  \
	}

#define ASKED_AND_NOT_SEEN(at)                                                                     \
	{                                                                                          \
		.how = CT_END_UNKNOWN, .kill_signal = SIGTERM, .last = (at)-500, .killed = (at),   \
		.kill_by = CT_SCENE_LAUNCHER                                                       \
	}

/* Somebody kills all at once; the launcher sees the first one dead, and asks the others, who are dead, to end. */
static void of_all_that_were_killed_at_once_nobody_died_first(void **state)
{
	(void)state;
	EXPECT("AAA i", GOT(5000, SIGKILL), SHOT_BEFORE_ASKED(5010), SHOT_BEFORE_ASKED(5011));
	EXPECT("AAA i", GOT(5000, SIGKILL), SENT(5010, SIGTERM), SHOT_BEFORE_ASKED(5011));
	EXPECT("AAA i", GOT(5000, SIGKILL), ASKED_AND_NOT_SEEN(5010), ASKED_AND_NOT_SEEN(5011));
}

/* Somebody in the job kills one alone, long before the rest is gone. */
static void whom_the_job_itself_killed_alone_is_dead(void **state)
{
	(void)state;
	EXPECT("DA k", SENT(5000, SIGKILL), VANISHED(60000));
	EXPECT("AA i", SENT(5000, SIGTERM), VANISHED(60000));
	EXPECT("AAA i", SENT(5000, SIGKILL), SENT(5001, SIGKILL), VANISHED(60000));
	EXPECT("AA i", SENT(5000, SIGKILL), VANISHED(9000));
	EXPECT("DAA k", SENT(5000, SIGKILL), SENT(60000, SIGTERM), SENT(60001, SIGTERM));
	EXPECT("AAA i", SENT(5000, SIGKILL), SENT(6000, SIGTERM), SENT(6001, SIGTERM));
}

static void who_kills_itself_failed_by_itself(void **state)
{
	(void)state;
	EXPECT("DA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGKILL,
		 .killed = 5000,
		 .kill_by = CT_SCENE_PID(0),
		 .last = 5000,
		 .gone = 5001 },
	       SENT(6000, SIGTERM));
	/* asked to end, and gone at once of SIGKILL: that was somebody else, for want of memory, say */
	EXPECT("DAA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 6000,
		 .kill_by = CT_SCENE_LAUNCHER,
		 .last = 5000,
		 .gone = 6100 },
	       SENT(6001, SIGTERM), SENT(6002, SIGTERM));
	/* but the launcher would have seen it dead for so long: it was stopped */
	EXPECT("AAA i",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 26000,
		 .kill_by = CT_SCENE_LAUNCHER,
		 .last = 5000,
		 .gone = 26100 },
	       SENT(26001, SIGTERM), SENT(26002, SIGTERM));
	EXPECT("AAA i",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 6000,
		 .kill_by = CT_SCENE_LAUNCHER,
		 .last = 5000,
		 .gone = 6900 },
	       SENT(6001, SIGTERM), SENT(6002, SIGTERM));
}

static void who_calls_mpi_abort_is_dead_and_the_others_follow(void **state)
{
	const struct ct_scene_process all[] = {
		{ .how = CT_END_SIGNAL,
		  .signal = SIGTERM,
		  .kill_signal = SIGTERM,
		  .killed = 5100,
		  .kill_by = CT_SCENE_LAUNCHER,
		  .last = 5050,
		  .gone = 5200,
		  .aborts = 5000,
		  .waited = 1000 },
		SENT(5100, SIGTERM),
	};
	struct ct_scene *s = ct_scene_judged(all, 2, 30000);

	(void)state;
	assert_int_equal(s->ranks[0].life, CT_LIFE_DEAD);
	assert_string_equal(s->ranks[0].how_ended, "it called MPI_Abort");
	assert_int_equal(s->ranks[0].ended_ns, 5000 * MS);
	assert_int_equal(s->ranks[1].life, CT_LIFE_ALIVE);
	assert_true(s->out.hang_case.died_first);
	ct_scene_free(s);
	/* it had a call under way and came back from it: it did not abort by itself */
	EXPECT("AA r", { .how = CT_END_RUNNING, .last = 5000, .aborts = 4000 }, RUNS(5000));
}

/* PMIx ends a process of Open MPI by _exit(-61) when mpirun is gone; outside of MPI that is a status like any other. */
static void who_ends_since_the_launcher_is_gone_was_ended_from_outside(void **state)
{
	const struct ct_scene_process lost = {
		.how = CT_END_EXIT, .code = -61 & 0xff, .last = 5000, .said = 5000, .mpi = 1
	};
	struct ct_scene_process other = lost, late = lost;

	(void)state;
	late.last = late.said = 5200;
	EXPECT("AA i", lost, late);
	other.mpi = 0;
	EXPECT("DA k", other, late);
	other = lost;
	other.code = 3;
	EXPECT("DA k", other, late);
}

static void ends_are_told_in_words(void **state)
{
	const struct ct_scene_process all[] = {
		CRASHED(5000),
		FAILED(5000),
		SENT(6000, SIGTERM),
		RUNS(6000),
		WELL(5000),
		{ .how = CT_END_EXIT, .last = 5000, .said = 5000, .gone = 5001 },
	};
	struct ct_scene *s = ct_scene_judged(all, 6, 30000);

	(void)state;
	assert_string_equal(s->ranks[0].how_ended, "signal 11 (SIGSEGV)");
	assert_string_equal(s->ranks[1].how_ended, "exit status 1");
	assert_null(s->ranks[2].how_ended);
	assert_null(s->ranks[4].how_ended);
	assert_string_equal(s->ranks[5].how_ended,
			    "exit status 0 by _exit, which runs no exit handlers");
	assert_true(s->ranks[5].by__exit && !s->ranks[4].by__exit);
	assert_int_equal(s->ranks[2].ended_ns, 6000 * MS);
	assert_true(s->ranks[3].ended_ns == CT_UNKNOWN);
	assert_int_equal(s->out.failed, 2);
	assert_int_equal(s->out.running, 1);
	ct_scene_free(s);
}

static void how_a_job_stands_and_how_long_is_too_long(void **state)
{
	static const struct {
		struct ct_scene_process one, other;
		const char *word;
		uint64_t after_ms, limit_ms;
	} cases[] = {
		{ RUNS(5000), WELL(4000), "running", 30000, 30000 },
		{ RUNS(5000), RUNS(5000), "running", 1000, 5000 },
		{ RUNS(5000), CRASHED(4000), "running", 30000, 5000 },
		{ WELL(5000), WELL(4000), "ended", 30000, 30000 },
		{ WELL(5000), FAILED(4000), "killed", 30000, 5000 },
		{ SENT(5000, SIGTERM), WELL(4000), "interrupted", 30000, 5000 },
		{ SENT(5000, SIGTERM), WELL(4000), "interrupted", 1000, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const struct ct_scene_process both[] = { cases[i].one, cases[i].other };
		struct ct_scene *s = ct_scene_judged(both, 2, cases[i].after_ms);

		assert_string_equal(ct_hang_state_word(s->out.state), cases[i].word);
		assert_int_equal(s->out.limit_ns, cases[i].limit_ms * MS);
		ct_scene_free(s);
	}
}

/* From when on nothing is held against anybody: somebody else's signal, told on each host as far as clocks allow. */
static void it_is_torn_down_when_the_first_is_ended_by_others(void **state)
{
	const struct ct_scene_process here[] = { CRASHED(5000), SENT(6000, SIGTERM),
						 SENT(5900, SIGTERM), WELL(3000) };
	const struct ct_scene_process two[] = {
		SENT(6000, SIGTERM),
		{ .how = CT_END_UNKNOWN, .last = 7000, .host = 1, .err = 300 },
	};
	const struct ct_scene_process apart[] = {
		SENT(6000, SIGTERM),
		{ .how = CT_END_UNKNOWN, .last = 5000, .host = 1, .err = 2001 },
	};
	const struct ct_scene_process damaged[] = {
		SENT(6000, SIGTERM), { .how = CT_END_UNKNOWN, .last = 5000, .damaged = 1 }
	};
	const struct ct_scene_process nobody[] = { CRASHED(5000), WELL(6000) };
	struct ct_scene *s = ct_scene_judged(here, 4, 30000);

	(void)state;
	assert_int_equal(s->out.torn_down_ns, 5900 * MS);
	ct_scene_free(s);
	s = ct_scene_judged(two, 2, 30000);
	assert_int_equal(s->torn_down[0], 6000 * MS);
	assert_int_equal(s->torn_down[1], 5700 * MS);
	assert_int_equal(s->out.torn_down_ns, 5700 * MS);
	ct_scene_free(s);
	s = ct_scene_judged(apart, 2, 30000);
	assert_int_equal(s->torn_down[0], 6000 * MS);
	assert_int_equal(s->torn_down[1], 5000 * MS);
	ct_scene_free(s);
	s = ct_scene_judged(damaged, 2, 30000);
	assert_int_equal(s->out.torn_down_ns, 6000 * MS);
	ct_scene_free(s);
	s = ct_scene_judged(nobody, 2, 30000);
	assert_true(s->out.torn_down_ns == CT_UNKNOWN);
	ct_scene_free(s);
}

/* No recorder ran there: neither a heartbeat nor an exit can be missing. */
static void the_silence_of_an_imported_process_is_no_death(void **state)
{
	(void)state;
	EXPECT("AA u", { .how = CT_END_UNKNOWN, .last = 5000, .ring_gone = 1, .imported = 1 },
	       { .how = CT_END_UNKNOWN, .last = 90000, .ring_gone = 1, .imported = 1 });
	EXPECT("AD k", { .how = CT_END_UNKNOWN, .last = 5000, .ring_gone = 1, .imported = 1 },
	       CRASHED(9000));
}

/* As late as its clock allows it may have lived, and not as early. */
static void silence_is_measured_from_the_latest_time_that_the_clock_allows(void **state)
{
	(void)state;
	EXPECT("AA i", VANISHED(20000),
	       { .how = CT_END_UNKNOWN, .last = 20000, .host = 1, .err = 20000 });
	EXPECT("AA i", VANISHED(20000),
	       { .how = CT_END_UNKNOWN, .last = 12100, .host = 1, .err = 1000 });
	EXPECT("AD k", VANISHED(20000),
	       { .how = CT_END_UNKNOWN, .last = 11900, .host = 1, .err = 1000 });
}

/* Where one is dead alone, others are judged by any age; where one rank is all there is, nobody waits. */
static void one_process_is_nobodys_cause(void **state)
{
	const struct ct_scene_process alone[] = { CRASHED(5000) };
	struct ct_scene *s = ct_scene_judged(alone, 1, 30000);

	(void)state;
	assert_int_equal(s->ranks[0].life, CT_LIFE_DEAD);
	assert_false(s->out.hang_case.died_first);
	ct_scene_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_crashes_first_is_dead_and_whom_the_launcher_kills_then_is_not),
		cmocka_unit_test(the_second_crash_follows_from_the_first),
		cmocka_unit_test(clocks_that_are_wrong_put_no_crash_before_another),
		cmocka_unit_test(who_had_waited_for_too_long_died_of_the_hang),
		cmocka_unit_test(who_was_told_of_a_peer_is_no_cause),
		cmocka_unit_test(a_job_that_is_ended_from_outside_has_no_dead),
		cmocka_unit_test(a_kill_that_nobody_else_got_is_a_death),
		cmocka_unit_test(a_kill_after_which_the_launcher_ended_the_rest_is_a_death),
		cmocka_unit_test(of_all_that_were_killed_at_once_nobody_died_first),
		cmocka_unit_test(whom_the_job_itself_killed_alone_is_dead),
		cmocka_unit_test(who_kills_itself_failed_by_itself),
		cmocka_unit_test(who_calls_mpi_abort_is_dead_and_the_others_follow),
		cmocka_unit_test(who_ends_since_the_launcher_is_gone_was_ended_from_outside),
		cmocka_unit_test(ends_are_told_in_words),
		cmocka_unit_test(how_a_job_stands_and_how_long_is_too_long),
		cmocka_unit_test(it_is_torn_down_when_the_first_is_ended_by_others),
		cmocka_unit_test(the_silence_of_an_imported_process_is_no_death),
		cmocka_unit_test(silence_is_measured_from_the_latest_time_that_the_clock_allows),
		cmocka_unit_test(one_process_is_nobodys_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
