/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_job.h — training cut by tensor, pipeline and data, whose times are computed: what each
 * rank computes and what it waits for is written down as a program, played, and put on a log. The
 * same program without the slowness is the truth of what it cost. Written without the code under
 * test: ranks go on one by one for as long as nothing holds them up. */
#ifndef CT_TESTS_UNIT_PARALLEL_JOB_H
#define CT_TESTS_UNIT_PARALLEL_JOB_H

#include "analyzer/model/comms.h"
#include "analyzer/order/sites.h"
#include "analyzer/stream/instance_log.h"

enum parallel_layout {
	PARALLEL_TENSOR_DATA,	/* steps of 16 tensor all-reduces and a data one */
	PARALLEL_PIPELINE_DATA, /* 1F1B, 8 batches, then a data all-reduce */
	PARALLEL_BUCKETS,	/* data only: 5 buckets beside the computing */
};

enum { PARALLEL_OPS = 17 };

struct parallel_job {
	enum parallel_layout layout;
	int tensor, pipeline, data; /* ranks = product; a host has 8 */
	int steps;
	unsigned seed;
	double noise;		 /* of each piece of computing, 0.01: 1 % */
	double spread;		 /* of ranks, lasting */
	double transfer;	 /* times the usual transfers; 0: 1; negative: none at all */
	double slow[64];	 /* by rank: 0.05 is 5 % slower */
	int slow_from, slow_to;	 /* steps; 0, 0: all */
	double stalls, stall_ms; /* of each rank and step: chance, length */
	/* of PARALLEL_TENSOR_DATA, by operation of a step: how much later late_rank comes to it,
	 * and where it is called */
	int late_rank;
	double late_ns[PARALLEL_OPS];
	const struct ct_site *sites; /* NULL: unknown */
	/* what the log lacks or says wrong */
	double lost;  /* share of the instances */
	int mute;     /* rank + 1 whose times are missing */
	int garbage;  /* times are random */
	int separate; /* hosts have clocks of their own, seconds apart */
};

struct parallel_run {
	struct ct_instance_log log;
	struct ct_comms comms;
	uint32_t host_of[64];
	int ranks;
	double total_ns; /* first start to last end */
};

/* Play it. A failure fails the test. */
void parallel_play(const struct parallel_job *job, struct parallel_run *run);
void parallel_free(struct parallel_run *run);

#endif
