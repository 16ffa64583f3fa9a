/* SPDX-License-Identifier: Apache-2.0 */
/* throughput.h — samples per second, from the steps that ranks mark with their samples
 * (commtrace_mark).
 *
 * From mark to mark a rank has processed the samples of the later one. The run is cut into at most
 * CT_RATE_BLOCKS blocks of steps, by their numbers, which double in length: memory follows the
 * ranks, not the length of the run. The rate of a block is its samples over the mean time of a
 * rank. Clocks of different hosts are not compared. One thread. A zeroed struct is empty. */
#ifndef CT_ANALYZER_STEPS_THROUGHPUT_H
#define CT_ANALYZER_STEPS_THROUGHPUT_H

#include "analyzer/model/report.h"
#include "analyzer/stream/stream.h"

struct ct_throughput {
	struct ct_rate_block {
		double samples, ns; /* sums over ranks */
		uint64_t n;	    /* marks */
	} blocks[CT_RATE_BLOCKS];
	struct ct_rate_rank {
		uint64_t last_ns, n; /* its marks so far */
	} * ranks;		     /* by slot of a process' first rank */
	uint32_t n_ranks;
	uint64_t first_step;
	unsigned shift; /* of a step's number behind the first: its block */
	uint32_t skip;	/* so many marks of each rank do not count */
};

void ct_throughput_observe(struct ct_throughput *throughput, struct ct_observer *observer);

/* Into report->throughput. */
void ct_throughput_fill(const struct ct_throughput *throughput, struct ct_report *report);

void ct_throughput_fini(struct ct_throughput *throughput);

#endif
