/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.h — from the records of a run to what a person wants to know. The door of the library.
 *
 * ct_analyze() reads every process of one start block by block, matches operations over the ranks
 * and judges them; its memory depends on ranks, communicators and skew, not on the length of the
 * run. Nothing here prints or exits. A run and a report may be used by one thread at a time;
 * different runs by different threads. Threads of its own end before it returns; they change
 * nothing in what it returns.
 */
#ifndef CT_ANALYZER_REPORT_ANALYZE_H
#define CT_ANALYZER_REPORT_ANALYZE_H

#include <stdint.h>

#include "analyzer/link/expect.h"
#include "analyzer/load/ops_each.h"
#include "analyzer/model/report.h"
#include "analyzer/overlap/overlap_observe.h"
#include "analyzer/stream/stream.h"
#include "trace/reader.h"

struct ct_analyze_options {
	int restart; /* which start of the job, from 0; -1: the last one (what zeroed options do not
			say, so begin with CT_ANALYZE_DEFAULTS) */
	unsigned threads;    /* that share the work, at most; 0 or 1: the caller's. Where memory is
				lacking, one alone    tries once more without observers */
	const char *boot_id; /* of this machine, NULL unknown: identifies a ring on another host */
	void (*progress)(
		void *arg, uint64_t done,
		uint64_t all); /* bytes that a reading has read, now and then; may be NULL */
	void *progress_arg;
	const char *step_anchor; /* COMM:OP[:BYTES] that begins each step; NULL: found by itself */
	const char *run;     /* as words of a shell, for commands to paste; NULL: the directory on
				record */
	uint32_t skip_steps; /* Steps at the beginning that do not count: only order, hangs, exits,
				dropped records and what recording cost are of the whole run. 0:
				none; otherwise the run is read twice */
	/* Only so much time before the end of the run, 0: all of it. Without the verdict of `hang`,
	 * and without findings on the order of operations: both need what was before. Not with
	 * skip_steps. */
	uint64_t last_ns;
	const struct ct_expect *expect; /* its peaks count; NULL: none are declared */
	const struct ct_observer
		*observer; /* one more of the reading (stream/stream.h); may be NULL */
	ct_exposure_fn
		exposure; /* the same for each wait for communication (overlap/overlap_observe.h) */
	void *exposure_arg;
};

#define CT_ANALYZE_DEFAULTS                                                                        \
	{                                                                                          \
		.restart = -1                                                                      \
	}

/* Analyze an open run. The report is the caller's (ct_report_free) and does not borrow from the
 * run. `options` may be NULL. 0; CT_NOMEM; CT_IO; CT_NOTFOUND (no such start; no operation that
 * could be the step_anchor: the text names others); CT_RANGE (skip_steps, but no steps were found,
 * or no more than that: the text says so). Damaged or missing parts are not a failure: they are in
 * the report. */
int ct_analyze(const struct ct_run *run, const struct ct_analyze_options *options,
	       struct ct_report **report, struct ct_err *err);

/* Everything except operations, in a fraction of the time: ranks, processes, communicators, dropped
 * records, what recording cost, the environment and the network ports. report->is_outline is set;
 * everything that needs operations is unknown: sums, matrices and orders of communicators, traffic,
 * clocks, the errors of times, and which of several processes failed first. Of the options boot_id
 * and the number of starts; the rest as ct_analyze(). */
int ct_outline(const struct ct_run *run, const struct ct_analyze_options *options,
	       struct ct_report **report, struct ct_err *err);

#endif
