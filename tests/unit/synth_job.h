/* SPDX-License-Identifier: Apache-2.0 */
/* synth_job.h — a made-up job for tests that judge whole runs: seeded, without faults. Pure. */
#ifndef CT_TESTS_UNIT_SYNTH_JOB_H
#define CT_TESTS_UNIT_SYNTH_JOB_H

#include "tools/synth/synth.h"

static inline struct ct_synth_options synth_job(const char *workload, int ranks, int nodes,
						unsigned steps)
{
	struct ct_synth_options o = ct_synth_defaults();

	o.job.name = workload;
	o.job.ranks = ranks;
	o.job.nodes = nodes;
	o.job.steps = steps;
	o.job.seed = 5;
	return o;
}

#endif
