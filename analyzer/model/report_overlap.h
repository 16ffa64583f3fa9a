/* SPDX-License-Identifier: Apache-2.0 */
/* report_overlap.h — how much communication compute hid, which ranks waited for it, and the bubbles
 * of pipelines: a part of the report (report.h, whose rules apply here too).
 */
#ifndef CT_ANALYZER_MODEL_REPORT_OVERLAP_H
#define CT_ANALYZER_MODEL_REPORT_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

/* A communicator on a rank, as far as its launches were followed. */
struct ct_report_overlap {
	int rank;
	uint64_t comm_hash;
	const char *comm_name;	     /* NULL none */
	uint64_t launches, measured; /* the rest of the row is about the measured ones */
	uint64_t comm_ns, hidden_ns, exposed_ns, err_ns;
	double overlap_ratio;
	const char *method;
};

/* Of one rank, sums over the recorded steps: its waits for communication, and the idle time of its
 * communication streams. */
struct ct_report_stream_idle {
	int rank;
	uint64_t steps, steps_ns;
	uint64_t exposed_ns, exposed_err_ns;
	uint64_t exposed_wait_ns,
		exposed_transfer_ns; /* of that, until the others had come, and after */
	uint64_t idle_launch_ns; /* gaps not longer than a launch takes; of the longer ones ... */
	uint64_t idle_host_bound_ns;	      /* ... what the host was late to call, ... */
	uint64_t idle_waiting_for_compute_ns; /* ... and what the input was not ready */
	uint64_t idle_err_ns;		      /* of the sum of all three */
};

/* Fraction of the time that ranks waited for communication; NAN: known for less than 90 % of it. */
struct ct_report_exposed {
	double median_pct, err_pct; /* of the median rank, of step time */
	double wait_pct;	    /* of the same time: the part until the others had come */
	double max_pct;		    /* of the rank that waited longest */
	double transferring_pct; /* of the time, in which the median rank moved data, hidden or not */
	double covered_pct;	 /* of the run, that time: the part in recorded steps */
	const char *why;	 /* the reason, if it is not known; NULL */
};

/* One stage of a pipeline, over the steps that are on record. */
struct ct_report_stage {
	uint64_t comm_hash;
	int rank, stage, n_stages;
	double microbatches; /* a stage hands on in a step; NAN: not the same everywhere */
	uint64_t steps, steps_ns;
	uint64_t bubble_ns, err_ns; /* that it waited for late senders */
	uint64_t ideal_ns;	    /* what the schedule makes unavoidable */
	int at_most;		    /* computing may have hidden a part of the bubble */
};

#endif
