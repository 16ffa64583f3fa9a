/* SPDX-License-Identifier: Apache-2.0 */
/* exit_order.h — how the processes of one start of the job ended, side by side: which failed by
 * themselves and first, which may have been first, and whether the job was ended from outside.
 *
 * The caller owns the array and makes it of ct_exit_of(); ct_exits_judge() fills in the rest and
 * sorts it. Launchers are of the host of what they end. Where there is not enough evidence nothing
 * is `dead`, and several may be first. One thread. */
#ifndef CT_ANALYZER_MODEL_EXIT_ORDER_H
#define CT_ANALYZER_MODEL_EXIT_ORDER_H

#include "analyzer/model/process_exit.h"

#define CT_JOB_STATE_MAP(XX)                                                                       \
	XX(RUNNING, "running") /* a process still records */                                       \
	XX(ENDED, "ended")     /* all exited cleanly */                                            \
	XX(KILLED, "killed")   /* not cleanly: it was stuck, a process failed, or unknown */       \
	XX(INTERRUPTED, "interrupted") /* ended from outside, while it made progress */            \
	XX(UNRECORDED, "unknown")      /* imported: the file does not say how it ended */

enum ct_job_state {
#define CT_JOB_STATE_ENUM(name, word) CT_JOB_##name,
	CT_JOB_STATE_MAP(CT_JOB_STATE_ENUM)
#undef CT_JOB_STATE_ENUM
};
const char *ct_job_state_word(enum ct_job_state state);

/* A time of a process's host as ns since the run began, and by how much it may be wrong;
 * UINT64_MAX: the clock is not related. */
struct ct_exit_clock {
	uint64_t (*at)(const void *arg, uint32_t process, uint64_t mono_ns, uint64_t *err_ns);
	const void *arg;
};

/* How many collectives of a communicator a process has called. */
struct ct_exit_reach {
	uint32_t process, comm;
	uint64_t reached;
};

struct ct_exits {
	struct ct_exit *all;
	uint32_t n;
	uint64_t hang_after_ns; /* COMMTRACE_HANG_AFTER; 0 unknown */
	uint64_t late_ns;	/* how long a host recently made a process wait for a CPU
				   (ct_exits_late()) */
	struct ct_exit_reach *reach;
	uint32_t n_reach;
	/* what ct_exits_judge() makes of it */
	uint64_t busy_ns;  /* what hosts that are busy let anything take */
	uint64_t limit_ns; /* a process that is gone so long before all others ended before them */
	enum ct_job_state state;
	uint32_t running, failed; /* failed: by themselves, not in order */
	uint32_t unclean;	  /* neither run nor ended by themselves in order */
	uint32_t n_bad, n_first;  /* of those that may be first; 1: it is known which was */
};

/* The longest recent wait of a process for a CPU, from its heartbeat, in ns; 0: none, or unknown
 * without its ring. */
uint64_t ct_exits_late(const struct ct_process_info *info, uint64_t most_ns);

/* Judges all, and sorts them: bad ones first, among them possible first ones, then those that died,
 * failed by themselves, were killed, or ended in an unknown way; then by time. 0 or CT_NOMEM. */
int ct_exits_judge(struct ct_exits *exits, const struct ct_exit_clock *clock);

/* Did a process that was sent a signal end together with others that the same process ended? A
 * process that ends a whole job signals one rank after the other: that order says nothing. */
int ct_exits_together(const struct ct_exits *exits, const struct ct_exit *one);

/* Since when the job was being ended from outside, as a host has it; UINT64_MAX: it was not. */
uint64_t ct_exits_torn_down(const struct ct_exits *exits, uint32_t host);

#endif
