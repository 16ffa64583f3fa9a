/* SPDX-License-Identifier: Apache-2.0 */
/* How processes ended, who failed by itself, who first, and who was ended by others: endings as parents, rings and processes leave them
 * on record, written down here with the answer. Times in milliseconds since the run began. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/findings/verdict_text.h"
#include "analyzer/hang/exit_cause.h"
#include "analyzer/model/exit_order.h"

#define MS 1000000ull
#define MOST 8u
#define LAUNCHER 77u
#define PID(p) (100u + (p))
#define AFTER_MS 30000u /* COMMTRACE_HANG_AFTER */

/* One process, which is one rank. */
struct process {
	enum ct_end_how how;
	int signal, code;
	uint64_t last;	 /* sign of life */
	uint64_t gone;	 /* when its parent saw that; 0 nobody did */
	uint64_t said;	 /* that it ends; 0 it did not */
	uint64_t killed; /* somebody was seen to send it a signal; 0 nobody */
	int kill_signal;
	uint32_t kill_by;
	uint64_t failed;  /* its latest operation did; 0 it did not */
	uint64_t waited;  /* in its oldest unfinished operation */
	uint64_t err;	  /* of its host's clock; UINT64_MAX: not related */
	uint64_t aborts;  /* called MPI_Abort then; 0 it did not */
	uint64_t reached; /* of the one communicator */
	uint32_t host;
	int damaged, cut, ring_gone, imported, for_memory;
	int mpi;       /* came back from MPI_Init ... */
	int finalized; /* ... and called MPI_Finalize */
	int asked;     /* something handles SIGTERM or SIGINT: it may have been asked to end */
};

struct scene {
	const struct process *of;
	struct ct_exits exits;
	struct ct_exit all[MOST];
	struct ct_exit_reach reach[MOST];
};

static struct ct_exit_facts facts_of(const struct process *p, uint32_t i)
{
	return (struct ct_exit_facts){
		.end = { .how = p->how,
			 .signal = p->signal,
			 .exit_code = p->code,
			 .after_ns = p->last * MS,
			 .before_ns = p->gone ? p->gone * MS : UINT64_MAX,
			 .said_ns = p->said * MS,
			 .seen_by = p->gone ? LAUNCHER : 0,
			 .kill_ns = p->killed * MS,
			 .kill_signal = p->kill_signal,
			 .kill_by = p->kill_by,
			 .unasked = !p->asked,
			 .for_memory = p->for_memory },
		.process = i,
		.host = p->host,
		.pid = PID(i),
		.imported = p->imported,
		.ring_gone = p->ring_gone,
		.damaged = p->damaged,
		.cut = p->cut || p->damaged,
		.in_library = p->mpi,
		.left_library = p->finalized,
		.aborts_ns = p->aborts * MS,
		.last_sign_ns = p->last * MS,
		.failed_ns = p->failed * MS,
		.waited = p->waited > AFTER_MS,
	};
}

static uint64_t at(const void *arg, uint32_t process, uint64_t mono_ns, uint64_t *err_ns)
{
	const struct scene *s = arg;
	uint64_t err = s->of[process].err;

	*err_ns = err == UINT64_MAX ? err : err * MS;
	return mono_ns;
}

static void judge_late(struct scene *s, const struct process *all, uint32_t n, uint64_t late_ms)
{
	const struct ct_exit_clock clock = { .at = at, .arg = s };

	*s = (struct scene){ .of = all,
			     .exits = { .n = n,
					.n_reach = n,
					.hang_after_ns = AFTER_MS * MS,
					.late_ns = late_ms * MS } };
	s->exits.all = s->all;
	s->exits.reach = s->reach;
	for (uint32_t i = 0; i < n; i++) {
		struct ct_exit_facts facts = facts_of(&all[i], i);

		s->all[i] = ct_exit_of(&facts);
		s->reach[i] = (struct ct_exit_reach){ .process = i, .reached = all[i].reached };
	}
	assert_int_equal(ct_exits_judge(&s->exits, &clock), 0);
}

static void judge(struct scene *s, const struct process *all, uint32_t n)
{
	judge_late(s, all, n, 0);
}

static const struct ct_exit *exit_of(const struct scene *s, uint32_t process)
{
	for (uint32_t i = 0; i < s->exits.n; i++)
		if (s->all[i].facts.process == process)
			return &s->all[i];
	return NULL;
}

/* One letter a process: D dead, E ended by itself and in order, A any other; then the state's first letter: r, e, k, i, u. */
static void expect(const struct process *all, uint32_t n, const char *want)
{
	char got[MOST + 3] = "";
	struct scene s;

	judge(&s, all, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct ct_exit *e = exit_of(&s, i);

		got[i] = e->dead ? 'D' : e->manner == CT_MANNER_WELL ? 'E' : 'A';
	}
	got[n] = ' ';
	got[n + 1] = ct_job_state_word(s.exits.state)[0];
	assert_string_equal(got, want);
}

/* The bad ones by number, in their order; those that may have been first before a bar. */
static void expect_order(const struct process *all, uint32_t n, const char *want)
{
	char got[2 * MOST] = "", *to = got;
	struct scene s;

	judge(&s, all, n);
	for (uint32_t i = 0; i < s.exits.n_bad; i++) {
		if (i == s.exits.n_first)
			*to++ = '|';
		*to++ = (char)('0' + s.all[i].facts.process);
	}
	assert_string_equal(got, want);
}

#define N(all) (sizeof(all) / sizeof((all)[0]))
#define EXPECT(want, ...)                                                                          \
	do {                                                                                       \
		const struct process all_[] = { __VA_ARGS__ };                                     \
		expect(all_, N(all_), want);                                                       \
	} while (0)
#define ORDER(want, ...)                                                                           \
	do {                                                                                       \
		const struct process all_[] = { __VA_ARGS__ };                                     \
		expect_order(all_, N(all_), want);                                                 \
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
		.killed = (at), .kill_by = LAUNCHER, .gone = (at) + 5                              \
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
		 .kill_by = LAUNCHER,
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
	/* of one host they are one clock, whatever that is wrong by */
	EXPECT("DA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 5000,
		 .gone = 5001,
		 .host = 1,
		 .err = 600 },
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 5500,
		 .gone = 5501,
		 .host = 1,
		 .err = 600 });
	/* and of hosts that are not related nothing comes before anything */
	EXPECT("DD k", CRASHED(5000),
	       { .how = CT_END_SIGNAL,
		 .signal = SIGABRT,
		 .last = 90000,
		 .gone = 90001,
		 .host = 1,
		 .err = UINT64_MAX });
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
		.killed = (at), .kill_by = LAUNCHER, .gone = (at) + 2000                           \
	}

#define ASKED_AND_NOT_SEEN(at)                                                                     \
	{                                                                                          \
		.how = CT_END_UNKNOWN, .kill_signal = SIGTERM, .last = (at)-500, .killed = (at),   \
		.kill_by = LAUNCHER                                                                \
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
		 .kill_by = PID(0),
		 .last = 5000,
		 .gone = 5001 },
	       SENT(6000, SIGTERM));
	/* asked to end, and gone at once of SIGKILL: that was somebody else, for want of memory, say */
	EXPECT("DAA k",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 6000,
		 .kill_by = LAUNCHER,
		 .last = 5000,
		 .gone = 6100 },
	       SENT(6001, SIGTERM), SENT(6002, SIGTERM));
	/* but the launcher would have seen it dead for so long: it was stopped */
	EXPECT("AAA i",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 26000,
		 .kill_by = LAUNCHER,
		 .last = 5000,
		 .gone = 26100 },
	       SENT(26001, SIGTERM), SENT(26002, SIGTERM));
	EXPECT("AAA i",
	       { .how = CT_END_SIGNAL,
		 .signal = SIGKILL,
		 .kill_signal = SIGTERM,
		 .killed = 6000,
		 .kill_by = LAUNCHER,
		 .last = 5000,
		 .gone = 6900 },
	       SENT(6001, SIGTERM), SENT(6002, SIGTERM));
}

static void who_calls_mpi_abort_is_dead_and_the_others_follow(void **state)
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
	assert_string_equal(ct_exit_text(aborted, NULL), "it called MPI_Abort");
	assert_int_equal(aborted->at.lo_ns, 5000 * MS);
	assert_false(exit_of(&s, 1)->dead);
	ORDER("0|1", all[0], all[1]);
	/* it had a call under way and came back from it: it did not abort by itself */
	EXPECT("AA r", { .how = CT_END_RUNNING, .last = 5000, .aborts = 4000 }, RUNS(5000));
}

/* PMIx ends a process of Open MPI by _exit(-61) when mpirun is gone; outside of MPI that is a status like any other. */
static void who_ends_since_the_launcher_is_gone_was_ended_from_outside(void **state)
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

/* It ended in order, but not its library: its launcher ends the others for that, and they are not the first. */
static void who_leaves_mpi_without_finalize_ended_badly_beside_others_that_did(void **state)
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

static void who_was_deserted_is_no_cause(void **state)
{
	const struct process early = {
		.how = CT_END_CLEAN, .last = 9000, .said = 9000, .gone = 9001, .reached = 10
	};
	struct process later = { .how = CT_END_CLEAN,
				 .code = 1,
				 .last = 5000,
				 .said = 5000,
				 .gone = 5001,
				 .failed = 4990,
				 .reached = 11 };

	(void)state;
	EXPECT("EA k", early, later);
	later.reached = 10;
	EXPECT("ED k", early, later);
}

static void ends_are_told_in_words(void **state)
{
	static const struct {
		struct process one;
		const char *text;
	} cases[] = {
		{ CRASHED(5000), "signal 11 (SIGSEGV)" },
		{ FAILED(5000), "exit status 1" },
		{ VANISHED(5000), "without a word: its signs of life stop" },
		{ { .how = CT_END_EXIT, .last = 5000, .said = 5000, .gone = 5001 },
		  "exit status 0 by _exit, which runs no exit handlers" },
		{ { .how = CT_END_CLEAN, .last = 5000, .said = 5000, .mpi = 1 },
		  "exit status 0 without MPI_Finalize" },
		{ { .how = CT_END_SIGNAL, .signal = SIGKILL, .last = 5000, .for_memory = 1 },
		  "signal 9 (SIGKILL) for want of memory" },
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

/* What the rule on uneven inputs asks: nothing but a known status 0, that no signal has brought about. */
static void in_order_is_who_is_known_to_have_ended_so(void **state)
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

/* A program that another one has replaced has not ended badly, as far as anybody saw; nor has one that is not on record. */
static void what_is_no_bad_end_is_not_in_the_order(void **state)
{
	(void)state;
	ORDER("", { .how = CT_END_EXEC, .last = 5000, .gone = 5001 }, WELL(5000));
	ORDER("", RUNS(5000), { .how = CT_END_UNKNOWN, .last = 5000, .imported = 1 });
	ORDER("0", VANISHED(5000), WELL(6000));
	ORDER("", WELL(6000));
}

static void how_a_job_stands_and_how_long_is_too_long(void **state)
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

/* From when on nothing is held against anybody: somebody else's signal, told on each host as far as clocks allow. */
static void it_is_torn_down_when_the_first_is_ended_by_others(void **state)
{
	const struct process here[] = { CRASHED(5000), SENT(6000, SIGTERM), SENT(5900, SIGTERM),
					WELL(3000) };
	const struct process two[] = {
		SENT(6000, SIGTERM),
		{ .how = CT_END_UNKNOWN, .last = 7000, .host = 1, .err = 300 },
	};
	const struct process apart[] = {
		SENT(6000, SIGTERM),
		{ .how = CT_END_UNKNOWN, .last = 5000, .host = 1, .err = 2001 },
	};
	const struct process damaged[] = { SENT(6000, SIGTERM),
					   { .how = CT_END_UNKNOWN, .last = 5000, .damaged = 1 } };
	const struct process stopped[] = {
		{ .how = CT_END_SIGNAL, .signal = SIGKILL, .last = 5000, .gone = 26000 },
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

/* ---- the order ---- */

static void whom_the_launcher_killed_comes_after_who_failed(void **state)
{
	(void)state;
	/* they had not been heard of for a second when it ended, and were gone soon afterwards */
	ORDER("2|013", SENT(10008, SIGTERM), SENT(10008, SIGTERM), FAILED(10000),
	      SENT(10008, SIGTERM));
}

/* The kernel killed it, which the launcher did not see at once; then it killed the rest. */
static void whom_the_kernel_killed_for_memory_failed_by_itself(void **state)
{
	const struct process by_somebody = {
		.how = CT_END_SIGNAL, .signal = SIGKILL, .last = 9000, .gone = 11000
	};
	const struct process asked = {
		.how = CT_END_SIGNAL, .signal = SIGTERM, .last = 9100, .gone = 10900
	};
	struct process by_kernel = by_somebody;

	(void)state;
	by_kernel.last = 9500;
	ORDER("012", by_somebody, asked, by_kernel);
	by_kernel.for_memory = 1;
	ORDER("201", by_somebody, asked, by_kernel);
	ORDER("102", by_somebody, by_kernel, asked);
}

static void who_was_killed_before_the_others_failed_is_the_first(void **state)
{
	(void)state;
	ORDER("1|0", FAILED(10003), SENT(10000, SIGKILL));
}

/* Nobody saw who sent the signals: they may have been the answer to the exit, or its reason. */
static void what_nobody_saw_the_order_of_has_no_first(void **state)
{
	(void)state;
	ORDER("102", { .how = CT_END_SIGNAL, .signal = SIGKILL, .last = 9000, .gone = 11000 },
	      FAILED(10000), { .how = CT_END_SIGNAL, .signal = SIGTERM, .last = 9000 });
	ORDER("10", VANISHED(4000), FAILED(5000));
}

static void who_was_alive_when_the_first_was_gone_is_not_the_first(void **state)
{
	(void)state;
	ORDER("1|02", { .how = CT_END_SIGNAL, .signal = SIGSEGV, .last = 12000, .gone = 13000 },
	      { .how = CT_END_SIGNAL, .signal = SIGKILL, .last = 9000, .gone = 11000 },
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

static void who_left_in_order_because_of_a_signal_failed_when_it_was_sent(void **state)
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

/* Its operation failed since a peer was gone: the peer was first, though nobody saw when it went. */
static void who_was_told_of_a_dead_peer_is_not_the_first(void **state)
{
	const struct process told = { .how = CT_END_CLEAN,
				      .code = 1,
				      .last = 5000,
				      .said = 5000,
				      .gone = 9000,
				      .failed = 4990 };

	(void)state;
	ORDER("1|0", told, { .how = CT_END_SIGNAL, .signal = SIGKILL, .last = 4900, .gone = 9000 });
	ORDER("1|0", told, { .how = CT_END_SIGNAL, .signal = SIGSEGV, .last = 4900, .gone = 9000 });
	/* both were told: of what, is not on record */
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
	assert_int_equal(ct_say_ends(&report, &text), 0);
	assert_non_null(strstr(text, "rank 0 was killed by signal"));
	says = strstr(text, "before the others") != NULL;
	ct_arena_free(report.memory);
	return says;
}

static void whom_a_launcher_ends_first_has_not_failed_before_the_others(void **state)
{
	struct process first = SENT(10000, SIGTERM), second = SENT(10001, SIGTERM);
	struct process crashed = CRASHED(9000);

	(void)state;
	assert_false(says_before_the_others(first, second));
	first.kill_by = 2;
	assert_true(says_before_the_others(first, second));
	assert_true(says_before_the_others(crashed, second));
}

static void nobody_failed_where_there_is_nobody(void **state)
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
		cmocka_unit_test(
			who_leaves_mpi_without_finalize_ended_badly_beside_others_that_did),
		cmocka_unit_test(who_was_deserted_is_no_cause),
		cmocka_unit_test(ends_are_told_in_words),
		cmocka_unit_test(in_order_is_who_is_known_to_have_ended_so),
		cmocka_unit_test(what_is_no_bad_end_is_not_in_the_order),
		cmocka_unit_test(how_a_job_stands_and_how_long_is_too_long),
		cmocka_unit_test(busy_hosts_let_silence_last),
		cmocka_unit_test(it_is_torn_down_when_the_first_is_ended_by_others),
		cmocka_unit_test(the_silence_of_an_imported_process_is_no_death),
		cmocka_unit_test(silence_is_measured_from_the_latest_time_that_the_clock_allows),
		cmocka_unit_test(whom_the_launcher_killed_comes_after_who_failed),
		cmocka_unit_test(whom_the_kernel_killed_for_memory_failed_by_itself),
		cmocka_unit_test(who_was_killed_before_the_others_failed_is_the_first),
		cmocka_unit_test(what_nobody_saw_the_order_of_has_no_first),
		cmocka_unit_test(who_was_alive_when_the_first_was_gone_is_not_the_first),
		cmocka_unit_test(signal_to_a_dead_process_did_not_end_it),
		cmocka_unit_test(who_left_in_order_because_of_a_signal_failed_when_it_was_sent),
		cmocka_unit_test(who_was_told_of_a_dead_peer_is_not_the_first),
		cmocka_unit_test(hosts_that_are_not_related_have_a_first_each),
		cmocka_unit_test(whom_a_launcher_ends_first_has_not_failed_before_the_others),
		cmocka_unit_test(nobody_failed_where_there_is_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
