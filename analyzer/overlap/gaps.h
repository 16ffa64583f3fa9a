/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.h — why a communication stream was idle between two of its launches.
 *
 * For launches i, i + 1 that follow each other on one stream of a rank within one step, ended at e
 * and started at s, whose call the host entered at h: the gap s - e below 30 us is what a launch
 * takes; of a longer one, from e until 8 us after h the host was late, and for the rest the launch
 * waited on the stream for its input. Only starts and ends that a GPU measured; waits for peers are
 * inside an operation and not a gap. Sums by class are those of single streams; a rank's are of all
 * its streams of communication as if they were one: when all of them were idle. Pure functions. */
#ifndef CT_ANALYZER_OVERLAP_GAPS_H
#define CT_ANALYZER_OVERLAP_GAPS_H

#include "analyzer/overlap/cuts.h"
#include "analyzer/stream/instance_log.h"

struct ct_gap_sum {
	uint64_t pairs; /* launches that followed each other */
	uint64_t idle_launch_ns, idle_host_bound_ns, idle_waiting_for_compute_ns;
	uint64_t err_ns; /* of their sum: of the times of all gaps that are not 0 */
};

struct ct_gap_rank {
	struct ct_gap_sum sum;
	uint64_t steps;	  /* with launches */
	uint64_t step_ns; /* their time */
};

/* By what came after the gap. */
struct ct_gap_class {
	const struct ct_comm *comm;
	unsigned op, dtype;
	uint64_t size_range;
	struct ct_gap_sum sum;
};

struct ct_stream_gaps {
	struct ct_gap_rank *ranks; /* by slot */
	struct ct_gap_class *classes;
	uint32_t n_classes, cap_classes;
};

/* Add one gap to the sum, by its kind. err_ns: of the end and the start. */
void ct_gap_split(uint64_t end_ns, uint64_t start_ns, uint64_t enter_ns, uint64_t err_ns,
		  struct ct_gap_sum *sum);

/* step_of: ct_cuts_of_log(). 0 or CT_NOMEM; ct_stream_gaps_fini() in any case. */
int ct_stream_gaps_find(const struct ct_instance_log *log, const struct ct_cuts *cuts,
			const uint32_t *step_of, struct ct_stream_gaps *gaps);
void ct_stream_gaps_fini(struct ct_stream_gaps *gaps);

#endif
