/* SPDX-License-Identifier: Apache-2.0 */
/* hang_run.h — a run as input of `hang`: the collected case, and the state of the job. Plain values of an arena. */
#ifndef CT_ANALYZER_HANG_HANG_RUN_H
#define CT_ANALYZER_HANG_HANG_RUN_H

#include "analyzer/hang/hang_case.h"
#include "analyzer/hang/hang_result.h"
#include "analyzer/load/stacks.h"
#include "analyzer/model/exit_order.h"

/* The calls of the members of one communicator that left a trace. Numbers of operations; CT_UNKNOWN: none. */
struct ct_hang_equal {
	uint32_t comm; /* index */
	uint32_t members;
	uint64_t since, equal_to; /* the same on all of them from since to equal_to - 1 */
	uint64_t issued,
		issued_most;   /* by all members, and by the one that called most, below this */
	uint64_t differs;      /* the first that is not the same ... */
	const char *field;     /* ... in this: op, count, dtype, redop, root ... */
	uint32_t odd, usual;   /* ... as these two ops show */
	uint64_t site_differs; /* the first with different call sites, likewise */
	uint32_t site_odd, site_usual;
};

/* Messages of one rank to another one, in one communicator and with one tag. Numbers of messages; CT_UNKNOWN: none. */
struct ct_hang_pair {
	uint32_t comm; /* index */
	int src, dst;  /* global ranks, -1 unknown */
	uint32_t tag;
	uint64_t since, equal_to; /* both ends agree on those from since to equal_to - 1 */
	uint64_t sent, received;  /* begun by the sender, and by the receiver */
	int counts_known;	  /* 0: records are missing, so that there may have been more */
	uint64_t differs;	  /* the first on which the ends do not agree ... */
	const char *field;	  /* ... in this: count, dtype ... */
	const struct ct_hang_op *send, *recv; /* ... as recorded; NULL: none */
};

/* Why messages are not compared. */
#define CT_HANG_LEFT_MAP(XX)                                                                       \
	XX(FROM_ANY, "from_any",                                                                   \
	   "a receive from any source took part, and which messages it got is uncertain")          \
	XX(NO_TRACE, "no_trace", "the other end left no trace")                                    \
	XX(UNNUMBERED, "unnumbered", "they could not be numbered")                                 \
	XX(TOO_MANY, "too_many", "more pairs of ranks and tags than are kept")

enum ct_hang_left_out {
#define CT_HANG_LEFT_ENUM(name, word, text) CT_HANG_LEFT_##name,
	CT_HANG_LEFT_MAP(CT_HANG_LEFT_ENUM)
#undef CT_HANG_LEFT_ENUM
		CT_HANG_LEFT_OUT
};

#define CT_HANG_PAIRS 64u /* size: pairs in the list */
struct ct_hang_messages {
	uint64_t channels; /* pairs of ranks, of one communicator and tag, that were compared */
	uint64_t sent, received; /* on them */
	uint64_t equal;		 /* proved to be the same on both ends */
	uint64_t differ,
		unequal; /* channels with a message that is not; with more sent than received, or fewer */
	uint64_t unknown; /* channels of which it is not known of all that both ends began */
	uint64_t left_out[CT_HANG_LEFT_OUT]; /* sends and receives, by reason */
	struct ct_hang_pair
		*pairs; /* those that differ first, then unequal ones; CT_HANG_PAIRS at most */
	uint32_t n_pairs;
};

struct ct_hang_run {
	const char *dir; /* NULL unknown */
	const char *job;
	int restart, starts;	/* from 0 */
	uint64_t begin_unix_ns; /* origin of the case's times */
	uint64_t last_sign_ns;	/* of any process */
	uint64_t torn_down_ns; /* when the shutdown of the job from outside began; CT_UNKNOWN: it did not */
	uint64_t hang_after_ns; /* COMMTRACE_HANG_AFTER of the job */
	uint64_t limit_ns;	/* minimum age of a stalled op */
	uint64_t late_ns;	/* how long a host recently made a process wait for a CPU ... */
	int is_busy;		/* ... and 1: that is why limit_ns is longer */
	int from_tails;		/* earlier records were not decoded: tails.h */
	enum ct_job_state state;
	uint32_t ranks_expected; /* 0 unknown */
	uint32_t ranks_seen;
	uint32_t hosts;
	uint32_t running, failed;  /* processes; failed: ended by themselves, not in order */
	const char **missing_data; /* a sentence each */
	size_t n_missing_data;
	struct ct_hang_equal *equals; /* NULL: was not asked for */
	uint32_t n_equals;
	struct ct_hang_messages *messages; /* likewise */
	struct ct_hang_case hang_case;
	const struct ct_stack_list **stacks; /* by rank of the case, NULL: none were taken */
	const struct ct_hang_result *result; /* NULL until it was judged */
};

#endif
