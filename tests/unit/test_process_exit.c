/* SPDX-License-Identifier: Apache-2.0 */
/* How processes ended, who failed by itself, and who was ended by others (exit_scene.h). */
#include "tests/unit/exit_scene.h"

#include "analyzer/hang/exit_cause.h"

static void a_rank_that_crashes_first_is_dead_and_one_that_the_launcher_kills_then_is_not(
	void **state)
{
	(void)state;
	EXPECT("AADA k", SENT(6000, SIGTERM), SENT(6010, SIGTERM), CRASHED(5000),
	       SENT(6020, SIGTERM));
	EXPECT("DA k", FAILED(5000), SENT(6000, SIGKILL));
	/* the latter also where it had to kill harder */
	EXPECT("DA k", CRASHED(5000), SHOT_AFTER(6000, 6000, 36000));
}

static void the_second_crash_follows_from_the_first(void **state)
{
	(void)state;
	EXPECT("DA k", CRASHED(5000), CRASHED(5500));
	EXPECT("AD k", CRASHED(5500), CRASHED(5000));
	/* at the same time, as far as it can be reported: unknown which */
	EXPECT("DD k", CRASHED(5000), CRASHED(5001));
}

static void clocks_that_are_wrong_put_no_crash_before_another(void **state)
{
	(void)state;
	EXPECT("DD k", CRASHED(5000), GOT(5500, SIGABRT, .host = 1, .err = 600));
	EXPECT("DA k", CRASHED(5000), GOT(5500, SIGABRT, .host = 1, .err = 400));
	/* of one host they are one clock, whatever that is wrong by */
	EXPECT("DA k", GOT(5000, SIGABRT, .host = 1, .err = 600),
	       GOT(5500, SIGABRT, .host = 1, .err = 600));
	/* and of hosts that are not related nothing comes before anything */
	EXPECT("DD k", CRASHED(5000), GOT(90000, SIGABRT, .host = 1, .err = UINT64_MAX));
}

static void a_rank_that_had_waited_too_long_died_of_the_hang(void **state)
{
	(void)state;
	EXPECT("AA k", GOT(600000, SIGABRT, .waited = 30001), SENT(605000, SIGTERM));
	EXPECT("DA k", GOT(600000, SIGABRT, .waited = 30000), SENT(605000, SIGTERM));
}

/* The peers of one that is gone hear of it from their library, and fail: later, or before the first
 * one was seen to be gone. */
static void a_rank_that_reported_a_dead_peer_is_no_cause(void **state)
{
	(void)state;
	EXPECT("DA k", GONE(4900, SIGSEGV, 9000),
	       { .how = CT_END_CLEAN,
		 .code = 1,
		 .last = 5000,
		 .said = 5000,
		 .gone = 9000,
		 .failed = 4990 });
	/* the one without a report, and without heartbeats since */
	EXPECT("DAA k", SHOT_UNSEEN(4000), FAILED(5000, .failed = 4500, .waited = 31000),
	       FAILED(5000, .failed = 4600, .waited = 31000));
	/* two without a report: unknown which */
	EXPECT("AAA k", SHOT_UNSEEN(4000), SHOT_UNSEEN(4100),
	       FAILED(5000, .failed = 4500, .waited = 31000));
	/* it was alive when the others got the report */
	EXPECT("AA k", SHOT_UNSEEN(4700), FAILED(5000, .failed = 4500, .waited = 31000));
	/* where its files end says nothing */
	EXPECT("AA k", VANISHED(4000, .damaged = 1), FAILED(5000, .failed = 4500, .waited = 31000));
}

/* A scheduler's SIGTERM, and programs that answer it with a status of their own. */
static void a_job_that_is_ended_from_outside_has_no_dead(void **state)
{
	(void)state;
	EXPECT("AAA i", GOT(5000, SIGTERM), GOT(5100, SIGTERM), SHOT_UNSEEN(9000));
	EXPECT("AA i", GOT(5000, SIGINT), GOT(5100, SIGHUP));
	EXPECT("AA i", SHOT_UNSEEN(5000), SHOT_UNSEEN(5400));
	EXPECT("AA k", VANISHED(5000), VANISHED(5900));
	EXPECT("AA k", GOT(5000, SIGTERM),
	       { .how = CT_END_CLEAN, .code = 143, .last = 5000, .said = 5100, .gone = 5200 });
	/* a crash is none of these answers */
	EXPECT("AD k", GOT(5000, SIGTERM), CRASHED(5000));
}

static void a_kill_that_no_one_else_got_is_a_death(void **state)
{
	(void)state;
	/* long before the others */
	EXPECT("DA k", SHOT_UNSEEN(5000), VANISHED(12001));
	EXPECT("AA k", SHOT_UNSEEN(5000), VANISHED(11999));
	/* the file of one whose ring is gone may end before it did */
	EXPECT("AA k", VANISHED(5000, .ring_gone = 1), VANISHED(90000));
	/* those who are asked get more time */
	EXPECT("AA i", GOT(5000, SIGTERM), VANISHED(65000));
	EXPECT("DA k", GOT(5000, SIGTERM), VANISHED(65002));
	/* a damaged file ends where it is damaged */
	EXPECT("AA k", VANISHED(5000, .damaged = 1), VANISHED(90000));
	/* two of them, together and before all others */
	EXPECT("DDA k", SHOT_UNSEEN(5000), SHOT_UNSEEN(5500), VANISHED(60000));
	/* in order is not dead */
	EXPECT("EA k", WELL(5000), VANISHED(60000));
}

static void a_kill_after_which_the_launcher_ended_the_rest_is_a_death(void **state)
{
	(void)state;
	EXPECT("DAA k", GOT(5000, SIGKILL), SENT(6000, SIGTERM), SENT(6001, SIGTERM));
	/* not if it had been asked to end the job before */
	EXPECT("AAA i", GOT(5000, SIGKILL), SENT(4000, SIGTERM), SENT(6001, SIGTERM));
	/* nor two of them, nor one who had waited: and why the rest was ended is not known */
	EXPECT("AAA k", GOT(5000, SIGKILL), GOT(5001, SIGKILL), SENT(6001, SIGTERM));
	EXPECT("AA k", GOT(600000, SIGKILL, .waited = 30001), SENT(601000, SIGTERM));
	/* no process was left to be ended */
	EXPECT("AE i", GOT(5000, SIGKILL), WELL(5000));
}

#define SHOT_BEFORE_ASKED(at)                                                                      \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = SIGKILL, .kill_signal = SIGTERM, .last = (at)-500, \
		.killed = (at), .kill_by = LAUNCHER, .gone = (at) + 2000                           \
	}

#define ASKED_AND_NOT_SEEN(at)                                                                     \
	{                                                                                          \
		.how = CT_END_UNKNOWN, .kill_signal = SIGTERM, .last = (at)-500, .killed = (at),   \
		.kill_by = LAUNCHER                                                                \
	}

/* All are killed at once; the launcher sees the first one dead, and asks the others, which are
 * dead, to end. */
static void of_all_that_were_killed_at_once_no_one_died_first(void **state)
{
	(void)state;
	EXPECT("AAA k", GOT(5000, SIGKILL), SHOT_BEFORE_ASKED(5010), SHOT_BEFORE_ASKED(5011));
	EXPECT("AAA k", GOT(5000, SIGKILL), SENT(5010, SIGTERM), SHOT_BEFORE_ASKED(5011));
	EXPECT("AAA k", GOT(5000, SIGKILL), ASKED_AND_NOT_SEEN(5010), ASKED_AND_NOT_SEEN(5011));
	/* they were heard of later than any pause in killing one after the other lasts, unless
	 * their host was busy */
	EXPECT("DAA k", GOT(5000, SIGKILL), ASKED_AND_NOT_SEEN(5752), SHOT_BEFORE_ASKED(5760));
	EXPECT("AAA k", GOT(5000, SIGKILL), ASKED_AND_NOT_SEEN(5750), SHOT_BEFORE_ASKED(5760));
}

/* Hydra kills the others of a rank that is gone, and a rank that was killed, with the same signal. */
static void what_ended_a_job_is_known_only_where_somebody_saw_it(void **state)
{
	(void)state;
	EXPECT("AAA k", SENT(5000, SIGKILL), SENT(5001, SIGKILL), SENT(5001, SIGKILL));
	EXPECT("AAA k", VANISHED(5000), VANISHED(5001), VANISHED(5002));
	EXPECT("AAA i", GOT(5000, SIGTERM), VANISHED(5001), VANISHED(5002));
	EXPECT("AAA i", SENT(5000, SIGTERM), SENT(5001, SIGTERM), SENT(5002, SIGTERM));
	EXPECT("AAA i", GOT(5000, SIGKILL), GOT(5001, SIGKILL), GOT(5002, SIGKILL));
}

/* A process of the job kills one alone, long before the rest is gone. */
static void a_rank_that_the_job_itself_killed_alone_is_dead(void **state)
{
	(void)state;
	EXPECT("DA k", SENT(5000, SIGKILL), VANISHED(60000));
	EXPECT("AA i", SENT(5000, SIGTERM), VANISHED(60000));
	EXPECT("AAA k", SENT(5000, SIGKILL), SENT(5001, SIGKILL), VANISHED(60000));
	EXPECT("AA k", SENT(5000, SIGKILL), VANISHED(9000));
	EXPECT("DAA k", SENT(5000, SIGKILL), SENT(60000, SIGTERM), SENT(60001, SIGTERM));
	EXPECT("AAA i", SENT(5000, SIGKILL), SENT(6000, SIGTERM), SENT(6001, SIGTERM));
}

static void a_rank_that_kills_itself_failed_by_itself(void **state)
{
	(void)state;
	EXPECT("DA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGKILL,
		 .killed = 5000,
		 .kill_by = PID(0),
		 .last = 5000,
		 .gone = 5001 },
	       SENT(6000, SIGTERM));
	/* asked to end, and gone at once of SIGKILL: that was another sender, for example the
	 * kernel for lack of memory */
	EXPECT("DAA k", SHOT_AFTER(6000, 5000, 6100), SENT(6001, SIGTERM), SENT(6002, SIGTERM));
	/* but the launcher would have seen it dead for so long: it was stopped */
	EXPECT("AAA i", SHOT_AFTER(26000, 5000, 26100), SENT(26001, SIGTERM), SENT(26002, SIGTERM));
	EXPECT("AAA i", SHOT_AFTER(6000, 5000, 6900), SENT(6001, SIGTERM), SENT(6002, SIGTERM));
}

static void a_rank_that_calls_mpi_abort_is_dead_and_the_others_follow(void **state)
{
	const struct process all[] = {
		{ .how = CT_END_SIGNAL,
		  .signal = SIGTERM,
		  .kill_signal = SIGTERM,
		  .killed = 5100,
		  .kill_by = LAUNCHER,
		  .last = 5050,
		  .gone = 5200,
		  .aborts = 5000,
		  .waited = 1000 },
		SENT(5100, SIGTERM),
	};
	const struct ct_exit *aborted;
	struct scene s;

	(void)state;
	judge(&s, all, 2);
	aborted = exit_of(&s, 0);
	assert_true(aborted->dead && aborted->aborted);
	assert_string_equal(ct_exit_text(aborted, NULL), "called MPI_Abort");
	assert_int_equal(aborted->at.lo_ns, 5000 * MS);
	assert_false(exit_of(&s, 1)->dead);
	ORDER("0|1", all[0], all[1]);
	/* it had a call under way and came back from it: it did not abort by itself */
	EXPECT("AA r", { .how = CT_END_RUNNING, .last = 5000, .aborts = 4000 }, RUNS(5000));
}

/* PMIx ends a process of Open MPI by _exit(-61) when mpirun is gone; outside MPI that is a status
 * like any other. */
static void a_rank_that_ends_since_the_launcher_is_gone_was_ended_from_outside(void **state)
{
	const struct process lost = {
		.how = CT_END_EXIT, .code = -61 & 0xff, .last = 5000, .said = 5000, .mpi = 1
	};
	struct process other = lost, late = lost;

	(void)state;
	late.last = late.said = 5200;
	EXPECT("AA i", lost, late);
	other.mpi = 0;
	EXPECT("DA k", other, late);
	other = lost;
	other.code = 3;
	EXPECT("DA k", other, late);
}

/* It exited cleanly, but not its library: its launcher ends the others for that, and they are not
 * the first. */
static void a_rank_that_leaves_mpi_without_finalize_ended_badly_beside_others_that_did(void **state)
{
	const struct process left = {
		.how = CT_END_CLEAN, .last = 5000, .said = 5000, .gone = 5001, .mpi = 1
	};
	struct process other = left;
	struct scene s;

	(void)state;
	judge(&s, &left, 1);
	assert_true(s.all[0].left);
	assert_int_equal(s.exits.n_bad, 0);
	ORDER("0|1", left, SENT(6000, SIGTERM));
	EXPECT("EA k", left, SENT(6000, SIGTERM));
	ORDER("", left, left);
	/* nothing of that where it was asked to, or did finalize, or may have */
	other.asked = 1;
	ORDER("1", other, SENT(6000, SIGTERM));
	other = left;
	other.finalized = 1;
	ORDER("1", other, SENT(6000, SIGTERM));
	other = left;
	other.cut = 1;
	ORDER("1", other, SENT(6000, SIGTERM));
}

static void a_rank_that_was_deserted_is_no_cause(void **state)
{
	const struct process early = {
		.how = CT_END_CLEAN, .last = 9000, .said = 9000, .gone = 9001, .reached = 10
	};
	struct process later = FAILED(5000, .failed = 4990, .reached = 11);

	(void)state;
	EXPECT("EA k", early, later);
	later.reached = 10;
	EXPECT("ED k", early, later);
}

static void ends_are_reported_in_words(void **state)
{
	static const struct {
		struct process one;
		const char *text;
	} cases[] = {
		{ CRASHED(5000), "signal 11 (SIGSEGV)" },
		{ FAILED(5000), "exit status 1" },
		{ VANISHED(5000), "its heartbeats stop, exit not recorded" },
		{ { .how = CT_END_EXIT, .last = 5000, .said = 5000, .gone = 5001 },
		  "exit status 0 by _exit, without exit handlers" },
		{ { .how = CT_END_CLEAN, .last = 5000, .said = 5000, .mpi = 1 },
		  "exit status 0 without MPI_Finalize" },
		{ SHOT_UNSEEN(5000, .for_memory = 1), "signal 9 (SIGKILL), out of memory" },
	};
	struct ct_arena *memory = ct_arena_new();

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct ct_exit_facts facts = facts_of(&cases[i].one, 0);
		struct ct_exit e = ct_exit_of(&facts);

		assert_string_equal(ct_exit_text(&e, memory), cases[i].text);
	}
	ct_arena_free(memory);
}

/* What the rule on uneven inputs asks: nothing but a known status 0, that no signal has brought
 * about. */
static void in_order_is_one_that_is_known_to_have_ended_so(void **state)
{
	static const struct {
		struct process one;
		int in_order, is_death;
	} cases[] = {
		{ WELL(5000), 1, 0 },
		{ { .how = CT_END_EXIT, .said = 5000 }, 1, 0 },
		{ { .how = CT_END_CLEAN, .code = -1, .said = 5000 }, 0, 0 },
		{ { .how = CT_END_EXEC, .last = 5000 }, 0, 0 },
		{ { .how = CT_END_CLEAN, .said = 5000, .mpi = 1 }, 0, 0 },
		{ { .how = CT_END_CLEAN, .said = 5000, .mpi = 1, .finalized = 1 }, 1, 0 },
		/* after it had said that it ends, and before */
		{ { .how = CT_END_CLEAN, .said = 5000, .killed = 5001, .kill_signal = SIGTERM },
		  1,
		  0 },
		{ { .how = CT_END_CLEAN, .said = 5000, .killed = 4999, .kill_signal = SIGTERM },
		  0,
		  0 },
		{ { .how = CT_END_CLEAN,
		    .code = 143,
		    .said = 5000,
		    .killed = 4999,
		    .kill_signal = SIGTERM },
		  0,
		  0 },
		{ SENT(5000, SIGTERM), 0, 0 },
		{ VANISHED(5000), 0, 0 },
		{ RUNS(5000), 0, 0 },
		{ GOT(5000, SIGTERM), 0, 1 },
		{ GOT(5000, SIGKILL), 0, 1 },
		{ FAILED(5000), 0, 1 },
		{ CRASHED(5000), 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct ct_exit_facts facts = facts_of(&cases[i].one, 0);
		struct ct_exit e = ct_exit_of(&facts);

		assert_int_equal(ct_exit_in_order(&e), cases[i].in_order);
		assert_int_equal(ct_exit_is_death(&e), cases[i].is_death);
	}
}

/* A program that another one has replaced has not ended badly, as far as known; nor has one without
 * a record. */
static void what_is_no_bad_end_is_not_in_the_order(void **state)
{
	(void)state;
	ORDER("", { .how = CT_END_EXEC, .last = 5000, .gone = 5001 }, WELL(5000));
	ORDER("", RUNS(5000), VANISHED(5000, .imported = 1));
	ORDER("0", VANISHED(5000), WELL(6000));
	ORDER("", WELL(6000));
}

static void how_a_job_is_and_how_long_is_too_long(void **state)
{
	static const struct {
		struct process one, other;
		const char *word;
		uint32_t running, failed, unclean;
		uint64_t after_ms, limit_ms;
	} cases[] = {
		{ RUNS(5000), WELL(4000), "running", 1, 0, 0, 30000, 30000 },
		{ RUNS(5000), RUNS(5000), "running", 2, 0, 0, 1000, 5000 },
		{ RUNS(5000), CRASHED(4000), "running", 1, 1, 1, 30000, 5000 },
		{ WELL(5000), WELL(4000), "ended", 0, 0, 0, 30000, 30000 },
		{ WELL(5000), FAILED(4000), "killed", 0, 1, 1, 30000, 5000 },
		{ CRASHED(5000), FAILED(4000), "killed", 0, 2, 2, 30000, 5000 },
		{ SENT(5000, SIGTERM), WELL(4000), "interrupted", 0, 0, 1, 30000, 5000 },
		{ SENT(5000, SIGTERM), WELL(4000), "interrupted", 0, 0, 1, 1000, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const struct process both[] = { cases[i].one, cases[i].other };
		uint64_t limit_ns = cases[i].limit_ms * MS;
		struct scene s;

		judge(&s, both, 2);
		assert_string_equal(ct_job_state_word(s.exits.state), cases[i].word);
		assert_int_equal(s.exits.running, cases[i].running);
		assert_int_equal(s.exits.failed, cases[i].failed);
		assert_int_equal(s.exits.unclean, cases[i].unclean);
		s.exits.hang_after_ns = cases[i].after_ms * MS;
		assert_int_equal(ct_hang_stall_ns(&s.exits), limit_ns);
		s.exits.busy_ns = limit_ns + 1;
		assert_int_equal(ct_hang_stall_ns(&s.exits), limit_ns + 1);
	}
}

/* Where hosts are busy, others have to be gone for longer until silence is a death. */
static void busy_hosts_let_silence_last(void **state)
{
	const struct process all[] = { SHOT_UNSEEN(5000), VANISHED(12001) };
	const struct ct_process_info lies = { .late_ns = 9, .last_beat_ns = 18, .id.start_ns = 10 };
	const struct ct_process_info late = { .late_ns = 7, .last_beat_ns = 18, .id.start_ns = 10 };
	struct scene s;

	(void)state;
	judge_late(&s, all, 2, 0);
	assert_true(exit_of(&s, 0)->dead);
	judge_late(&s, all, 2, 600);
	assert_false(exit_of(&s, 0)->dead);
	assert_int_equal(s.exits.busy_ns, 6000 * MS);
	assert_int_equal(ct_exits_late(&late, 3), 7);
	assert_int_equal(ct_exits_late(&late, 8), 8);
	assert_int_equal(ct_exits_late(&lies, 3), 3);
}

/* The time from which no end is held against a rank: a signal from outside, on each host as far as
 * clocks allow. */
static void it_is_torn_down_when_the_first_is_ended_by_others(void **state)
{
	const struct process here[] = { CRASHED(5000), SENT(6000, SIGTERM), SENT(5900, SIGTERM),
					WELL(3000) };
	const struct process two[] = {
		SENT(6000, SIGTERM),
		VANISHED(7000, .host = 1, .err = 300),
	};
	const struct process apart[] = {
		SENT(6000, SIGTERM),
		VANISHED(5000, .host = 1, .err = 2001),
	};
	const struct process damaged[] = { SENT(6000, SIGTERM), VANISHED(5000, .damaged = 1) };
	const struct process stopped[] = {
		GONE(5000, SIGKILL, 26000),
		SENT(25000, SIGTERM),
	};
	const struct process nobody[] = { CRASHED(5000), WELL(6000) };
	struct scene s;

	(void)state;
	judge(&s, here, 4);
	assert_int_equal(ct_exits_torn_down(&s.exits, 0), 5900 * MS);
	judge(&s, two, 2);
	assert_int_equal(ct_exits_torn_down(&s.exits, 0), 6000 * MS);
	assert_int_equal(ct_exits_torn_down(&s.exits, 1), 5700 * MS);
	judge(&s, apart, 2);
	assert_int_equal(ct_exits_torn_down(&s.exits, 0), 6000 * MS);
	assert_int_equal(ct_exits_torn_down(&s.exits, 1), 5000 * MS);
	judge(&s, damaged, 2);
	assert_int_equal(ct_exits_torn_down(&s.exits, 0), 6000 * MS);
	/* it had been stopped, and was the last that the launcher got rid of */
	judge(&s, stopped, 2);
	assert_int_equal(ct_exits_torn_down(&s.exits, 0), 25000 * MS);
	judge(&s, nobody, 2);
	assert_true(ct_exits_torn_down(&s.exits, 0) == UINT64_MAX);
}

/* No recorder ran there: neither a heartbeat nor an exit can be missing. */
static void the_silence_of_an_imported_process_is_no_death(void **state)
{
	(void)state;
	EXPECT("AA u", VANISHED(5000, .ring_gone = 1, .imported = 1),
	       VANISHED(90000, .ring_gone = 1, .imported = 1));
	EXPECT("AD k", VANISHED(5000, .ring_gone = 1, .imported = 1), CRASHED(9000));
}

/* As late as its clock allows it may have lived, and not as early. */
static void silence_is_measured_from_the_latest_time_that_the_clock_allows(void **state)
{
	(void)state;
	EXPECT("AA k", VANISHED(20000), VANISHED(20000, .host = 1, .err = 20000));
	EXPECT("AA k", VANISHED(20000), VANISHED(12100, .host = 1, .err = 1000));
	EXPECT("AD k", VANISHED(20000), VANISHED(11900, .host = 1, .err = 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_rank_that_crashes_first_is_dead_and_one_that_the_launcher_kills_then_is_not),
		cmocka_unit_test(the_second_crash_follows_from_the_first),
		cmocka_unit_test(clocks_that_are_wrong_put_no_crash_before_another),
		cmocka_unit_test(a_rank_that_had_waited_too_long_died_of_the_hang),
		cmocka_unit_test(a_rank_that_reported_a_dead_peer_is_no_cause),
		cmocka_unit_test(a_job_that_is_ended_from_outside_has_no_dead),
		cmocka_unit_test(a_kill_that_no_one_else_got_is_a_death),
		cmocka_unit_test(a_kill_after_which_the_launcher_ended_the_rest_is_a_death),
		cmocka_unit_test(of_all_that_were_killed_at_once_no_one_died_first),
		cmocka_unit_test(what_ended_a_job_is_known_only_where_somebody_saw_it),
		cmocka_unit_test(a_rank_that_the_job_itself_killed_alone_is_dead),
		cmocka_unit_test(a_rank_that_kills_itself_failed_by_itself),
		cmocka_unit_test(a_rank_that_calls_mpi_abort_is_dead_and_the_others_follow),
		cmocka_unit_test(
			a_rank_that_ends_since_the_launcher_is_gone_was_ended_from_outside),
		cmocka_unit_test(
			a_rank_that_leaves_mpi_without_finalize_ended_badly_beside_others_that_did),
		cmocka_unit_test(a_rank_that_was_deserted_is_no_cause),
		cmocka_unit_test(ends_are_reported_in_words),
		cmocka_unit_test(in_order_is_one_that_is_known_to_have_ended_so),
		cmocka_unit_test(what_is_no_bad_end_is_not_in_the_order),
		cmocka_unit_test(how_a_job_is_and_how_long_is_too_long),
		cmocka_unit_test(busy_hosts_let_silence_last),
		cmocka_unit_test(it_is_torn_down_when_the_first_is_ended_by_others),
		cmocka_unit_test(the_silence_of_an_imported_process_is_no_death),
		cmocka_unit_test(silence_is_measured_from_the_latest_time_that_the_clock_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
