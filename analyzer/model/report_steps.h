/* SPDX-License-Identifier: Apache-2.0 */
/* report_steps.h — the run cut into steps: a part of the report (report.h, whose rules hold here
 * too).
 */
#ifndef CT_ANALYZER_MODEL_REPORT_STEPS_H
#define CT_ANALYZER_MODEL_REPORT_STEPS_H

#include <stddef.h>
#include <stdint.h>

#define CT_NO_STEP UINT32_MAX /* where the index of a step is expected */

/* The run cut into steps, where its operations repeat. */
struct ct_report_step {
	uint64_t index; /* from 0, of the run's; some may not be on record */
	uint64_t begin_at_ns, time_ns;
	uint64_t exposed_ns, wait_ns; /* of the rank that has most, mean over ranks */
	int last_rank;		      /* for which the others waited longest, -1 none */
};

/* A small operation that comes again every so many steps: accumulation, logging. */
struct ct_report_recurring {
	uint64_t comm_hash;
	const char *op_name;
	uint64_t bytes; /* of a call; CT_UNKNOWN: they differ */
	uint64_t every, count;
};

struct ct_report_steps {
	const char *marker; /* NVTX ranges of this name begin them; NULL: an operation does ... */
	uint64_t anchor_comm_key; /* ... or 0, no steps were found, and why they were not */
	const char *why;
	const char *anchor_op;
	uint64_t anchor_bytes;
	uint64_t count;
	uint64_t skipped; /* steps before these, left out on demand */
	uint64_t time_p50_ns, time_p99_ns;
	uint64_t err_ns;    /* of each time */
	double covered_pct; /* of the run, by all of them; NAN: there are none */
	const char *note;   /* what is not sure about them; NULL: nothing */
	struct ct_report_step *items;
	size_t n_items; /* those that are listed one by one */
	struct ct_report_recurring *recurring;
	size_t n_recurring;
};

/* Samples per second, by the steps that ranks marked with their samples; all 0 and NAN: none did. */
#define CT_RATE_BLOCKS 64u /* size: of the memory; steps in a row share one */
struct ct_report_throughput {
	double per_s; /* NAN: not known, as of fewer than CT_LEAST_STEPS blocks */
	double err_per_s;
	uint64_t samples, marks;       /* those that count: the first of each rank does not */
	uint32_t ranks;		       /* that marked steps */
	double blocks[CT_RATE_BLOCKS]; /* rates over the course of the run */
	size_t n_blocks;
};

#endif
