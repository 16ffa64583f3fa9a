/* SPDX-License-Identifier: Apache-2.0 */
/* exit_scene.h — endings of processes as parents, rings and processes leave them on record, written
 * down in a line each, and what is judged of them. Times in milliseconds since the run began. One
 * rank a process. */
#ifndef CT_TESTS_UNIT_EXIT_SCENE_H
#define CT_TESTS_UNIT_EXIT_SCENE_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
	uint64_t last;	 /* heartbeat */
	uint64_t gone;	 /* when its parent saw that; 0 never */
	uint64_t said;	 /* that it ends; 0 it did not */
	uint64_t killed; /* recorded sender of a signal; 0 none */
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

static inline struct ct_exit_facts facts_of(const struct process *p, uint32_t i)
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
		.last_heartbeat_ns = p->last * MS,
		.failed_ns = p->failed * MS,
		.waited = p->waited > AFTER_MS,
	};
}

static inline uint64_t at(const void *arg, uint32_t process, uint64_t mono_ns, uint64_t *err_ns)
{
	const struct scene *s = arg;
	uint64_t err = s->of[process].err;

	*err_ns = err == UINT64_MAX ? err : err * MS;
	return mono_ns;
}

static inline void judge_late(struct scene *s, const struct process *all, uint32_t n,
			      uint64_t late_ms)
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

static inline void judge(struct scene *s, const struct process *all, uint32_t n)
{
	judge_late(s, all, n, 0);
}

static inline const struct ct_exit *exit_of(const struct scene *s, uint32_t process)
{
	for (uint32_t i = 0; i < s->exits.n; i++)
		if (s->all[i].facts.process == process)
			return &s->all[i];
	return NULL;
}

/* One letter a process: D dead, E ended by itself and in order, A any other; then the state's first
 * letter: r, e, k, i, u. */
static inline void expect(const struct process *all, uint32_t n, const char *want)
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
static inline void expect_order(const struct process *all, uint32_t n, const char *want)
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
#define FAILED(at, ...)                                                                            \
	{                                                                                          \
		.how = CT_END_CLEAN, .code = 1, .last = (at), .said = (at), .gone = (at) + 1,      \
		##__VA_ARGS__                                                                      \
	}
/* by the launcher, which was seen to */
#define SENT(at, number)                                                                           \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = (number), .kill_signal = (number), .last = (at),   \
		.killed = (at), .kill_by = LAUNCHER, .gone = (at) + 5                              \
	}
/* no recorded sender */
#define GOT(at, number, ...)                                                                       \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = (number), .last = (at), .gone = (at) + 1,          \
		##__VA_ARGS__                                                                      \
	}
/* SIGKILL, though the launcher had asked it to end by SIGTERM */
#define SHOT_AFTER(asked, at, seen, ...)                                                           \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = SIGKILL, .kill_signal = SIGTERM,                   \
		.killed = (asked), .kill_by = LAUNCHER, .last = (at), .gone = (seen),              \
		##__VA_ARGS__                                                                      \
	}
/* its parent was late to see it */
#define GONE(at, number, seen, ...)                                                                \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = (number), .last = (at), .gone = (seen),            \
		##__VA_ARGS__                                                                      \
	}
#define SHOT_UNSEEN(at, ...)                                                                       \
	{                                                                                          \
		.how = CT_END_SIGNAL, .signal = SIGKILL, .last = (at), ##__VA_ARGS__               \
	}
#define VANISHED(at, ...)                                                                          \
	{                                                                                          \
		.how = CT_END_UNKNOWN, .last = (at), ##__VA_ARGS__                                 \
	}

#endif
