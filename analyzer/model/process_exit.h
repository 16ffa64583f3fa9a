/* SPDX-License-Identifier: Apache-2.0 */
/* process_exit.h — how one process ended: what its ring, its parent, its last block and its records
 * show of that together.
 *
 * All users of process ends use this: the report, the verdict, the findings on uneven inputs, and
 * hang. Which of several failed first is in exit_order.h. Plain values; pure; any thread. Times are
 * CLOCK_MONOTONIC of the process's host. */
#ifndef CT_ANALYZER_MODEL_PROCESS_EXIT_H
#define CT_ANALYZER_MODEL_PROCESS_EXIT_H

#include "analyzer/base/arena.h"
#include "analyzer/model/process_facts.h"
#include "trace/reader.h"

enum ct_exit_manner {
	CT_MANNER_RUNS,
	CT_MANNER_WELL,	     /* by itself, cleanly; or it continued as another program (exec) */
	CT_MANNER_BY_ITSELF, /* and not in order */
	CT_MANNER_SENT,	     /* of a signal recorded as sent by a process of the job */
	CT_MANNER_ASKED, /* of a signal that users and schedulers send, without a recorded sender */
	CT_MANNER_SHOT,	 /* SIGKILL, and no sender was seen */
	CT_MANNER_VANISHED,   /* not known how */
	CT_MANNER_UNRECORDED, /* imported: neither heartbeats nor ends were recorded, so silence
				 says nothing */
	CT_MANNERS
};

/* The records of a process by which its end is judged. */
struct ct_exit_facts {
	struct ct_end end; /* ct_end_of_process() */
	uint32_t process;  /* of the run */
	uint32_t host;	   /* equal numbers share one clock */
	uint32_t pid;
	int imported;
	int ring_gone;		      /* only what it wrote to the run now and then is there */
	int damaged;		      /* its files are: where they end says nothing about its end */
	int cut;		      /* records are missing, other than the oldest ones */
	int in_library, left_library; /* it came back from MPI_Init; has called MPI_Finalize */
	uint64_t aborts_ns;	      /* when it called MPI_Abort; 0: it did not */
	uint64_t last_heartbeat_ns;   /* record or heartbeat */
	uint64_t failed_ns; /* when its latest operation failed; 0: it did not. That is how a
			       library reports a dead peer */
	int waited; /* an operation had been under way for longer than COMMTRACE_HANG_AFTER when it
		       ended */
};

struct ct_exit_span {
	uint64_t lo_ns, hi_ns; /* hi UINT64_MAX: unknown */
};

/* How it ended. The last group of values is exit_order.h's. */
struct ct_exit {
	struct ct_exit_facts facts;
	enum ct_exit_manner manner;
	struct ct_exit_span own; /* when; of a process that runs: from its last tracer heartbeat */
	int crashed;		 /* of a signal, or by MPI_Abort */
	int aborted;		 /* by MPI_Abort */
	int left; /* CT_MANNER_WELL, but without MPI_Finalize: launchers end the job for that */

	struct ct_exit_span
		at;	   /* own, on the run's clock, wider by what is not known of the clock */
	uint64_t begin_ns; /* own.lo_ns on the run's clock ... */
	uint64_t err_ns; /* ... and what it may be wrong by; UINT64_MAX: the clock is not related */
	uint64_t reported_ns; /* facts.failed_ns on the run's clock */
	int deserted; /* its last operation failed, and a rank that exited cleanly had never come to
			 it */
	int follows;  /* its library reported a peer's end, and that of another process, which may
			 have been that peer, did not */
	uint64_t outside_ns; /* since when it was being ended, if others did */
	int dead;	     /* failed by itself: the first that did, or possibly the first */
	int cut_off; /* not dead, but silent long before all others, and its ring is gone: it ended,
			or only its file does */
	uint64_t silent_ns; /* its heartbeats stop so long before those of all others, and its end
			       is not recorded; 0: not, or not surely */
	int bad;	    /* it did not end well */
	int may_be_first;   /* of the bad ones */
};

/* How a process ended, from its ring, its parent and its last block. */
struct ct_end ct_end_of_process(const struct ct_process_info *info,
				const struct ct_process_facts *facts);

/* All but `process`, `host`, `failed_ns` and `waited`; `gaps` NULL: it was not read. */
struct ct_exit_facts ct_exit_facts_of(const struct ct_process_info *info,
				      const struct ct_process_facts *facts,
				      const struct ct_gaps *gaps);

/* The process for itself: without the last group. */
struct ct_exit ct_exit_of(const struct ct_exit_facts *facts);

/* Did it end of a recorded signal? */
int ct_exit_was_sent(const struct ct_exit *exit);

/* Was it ended by others, as far as that is known: what a launcher, a time limit or Ctrl-C sends? */
int ct_exit_was_killed(const struct ct_exit *exit);

/* By itself, with status 0, and from its library in order, too. */
int ct_exit_in_order(const struct ct_exit *exit);

/* Of a failure, or of a signal without another process as recorded sender. */
int ct_exit_is_death(const struct ct_exit *exit);

/* Did the process end badly, on its own evidence? One that left without MPI_Finalize is bad only
 * beside others that are (exit_order.h). */
int ct_exit_is_bad(const struct ct_exit *exit);

/* "signal 11 (SIGSEGV)", "exit status 3 without MPI_Finalize"; NULL: out of memory. */
const char *ct_exit_text(const struct ct_exit *exit, struct ct_arena *memory);

#endif
