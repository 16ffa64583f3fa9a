/* SPDX-License-Identifier: Apache-2.0 */
/* hang_run.h — a run as input of `hang`: the collected case, and the state of the job. Plain values
 * of an arena. */
#ifndef CT_ANALYZER_HANG_HANG_RUN_H
#define CT_ANALYZER_HANG_HANG_RUN_H

#include "analyzer/hang/hang_case.h"
#include "analyzer/hang/hang_result.h"
#include "analyzer/load/stacks.h"
#include "analyzer/model/exit_order.h"

struct ct_hang_run {
	const char *dir; /* NULL unknown */
	const char *job;
	int restart, starts;	    /* from 0 */
	uint64_t begin_unix_ns;	    /* origin of the case's times */
	uint64_t last_heartbeat_ns; /* of any process */
	uint64_t torn_down_ns;	  /* when the shutdown of the job from outside began; CT_UNKNOWN: it
				     did not */
	uint64_t hang_after_ns;	  /* COMMTRACE_HANG_AFTER of the job */
	uint64_t limit_ns;	  /* minimum age of a stalled op */
	uint64_t late_ns;	  /* how long a host recently made a process wait for a CPU ... */
	int is_busy;		  /* ... and 1: that is why limit_ns is longer */
	int from_tails;		  /* earlier records were not decoded: tails.h ... */
	int skips_segments;	  /* ... and earlier segments not even opened */
	uint64_t file_bytes;	  /* of segments of all its processes; ct_hang_of_run() */
	uint64_t read_bytes;	  /* of them were read, what was read twice counted twice ... */
	uint64_t most_read_bytes; /* ... and of one process at most */
	enum ct_job_state state;
	uint32_t ranks_expected; /* 0 unknown */
	uint32_t ranks_seen;
	uint32_t hosts;
	uint32_t running, failed;  /* processes; failed: ended by themselves, not in order */
	const char **missing_data; /* a sentence each */
	size_t n_missing_data;
	struct ct_hang_case hang_case;
	const struct ct_stack_list **stacks; /* by rank of the case, NULL: none were taken */
	const struct ct_hang_result *result; /* NULL until it was judged */
};

#endif
