/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — synchronizes the clocks of a run's hosts by a reading that matches operations: a
 * reading of its own, or one that other observers share (struct ct_stream_options, only_matched).
 * One thread. */
#ifndef CT_ANALYZER_CLOCK_COLLECT_H
#define CT_ANALYZER_CLOCK_COLLECT_H

#include "analyzer/model/clocks.h"
#include "analyzer/model/starts.h"
#include "analyzer/stream/stream.h"

struct ct_clock_log;

/* *log is NULL if all processes ran on one host: there is nothing to synchronize. 0 or CT_NOMEM. */
int ct_clock_log_new(const struct ct_run *run, const struct ct_starts *starts, int restart,
		     struct ct_clock_log **log);

/* At the end of the reading, synchronizes the hosts with that of rank 0 (the first host if no rank
 * is known to be 0), and sets the clocks of the starts and the times of the model: observers that
 * come after it see them. */
void ct_clock_log_observe(struct ct_clock_log *log, struct ct_observer *observer);

/* Returns the clocks, which the caller owns; NULL: the reading did not end, or `log` is NULL. */
struct ct_clocks *ct_clock_log_free(struct ct_clock_log *log);

/* A reading of its own, which reports its progress as `options` says. The caller owns *clocks; NULL
 * if all is on one host. 0, CT_NOMEM, CT_IO. */
int ct_clocks_of_run(const struct ct_run *run, struct ct_starts *starts, int restart,
		     const struct ct_stream_options *options, struct ct_clocks **clocks,
		     struct ct_err *err);

#endif
