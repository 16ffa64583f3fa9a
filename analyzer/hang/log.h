/* SPDX-License-Identifier: Apache-2.0 */
/* log.h — the log of one reading of a run for the verdict on a hang. It observes the reading of all
 * processes (stream/stream.h), beside other observers. For each rank and communicator it keeps all
 * unfinished operations, the last finished ones, and the latest message of each channel. So memory
 * depends on ranks and communicators, not on the length of the run. gather.h has the details. One
 * thread. */
#ifndef CT_ANALYZER_HANG_LOG_H
#define CT_ANALYZER_HANG_LOG_H

#include "analyzer/base/arena.h"
#include "analyzer/stream/stream.h"

struct ct_hang_options {
	int restart;  /* which start of the job, from 0; -1: the last one */
	int whole;    /* read everything, also where tails would do (tails.h) */
	int adaptive; /* a running job's default limit follows its waits (ct_hang_usual_ns): for
			 callers that see whether a rank is at work */
	uint64_t least_tail; /* operations of a process that are read; 0: CT_HANG_TAIL_LEAST */
	uint64_t tail_bytes; /* of a process, of which the segments are looked at first; 0:
				CT_HANG_TAIL_BYTES */
	void (*progress)(void *arg, uint64_t done, uint64_t all); /* processes; may be NULL */
	void *progress_arg;
};

struct ct_gather;

/* `options` may be NULL; results live in `memory`. NULL: out of memory. */
struct ct_gather *ct_hang_log_new(const struct ct_hang_options *options, struct ct_arena *memory);
void ct_hang_log_free(struct ct_gather *log);

/* An observer of one reading. The log must not move during it. */
void ct_hang_observe(struct ct_gather *log, struct ct_observer *observer);

#endif
