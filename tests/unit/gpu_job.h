/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_job.h — a training job on GPUs that never ran, as tools/synth plays and records it, in the
 * test's directory. What is slow in it is known. */
#ifndef CT_TESTS_UNIT_GPU_JOB_H
#define CT_TESTS_UNIT_GPU_JOB_H

#include "tests/unit/job.h"

struct gpu_job {
	const char *workload;
	int ranks, nodes;
	int per_process; /* ranks in a process; 0: 1 */
	unsigned steps, seed;
	const char *fault; /* as tools/workload/fault.h spells it; NULL: none */
};

/* Play it, write the run and analyze it; *end_ns (may be NULL) gets the time at which all was done.
 * A failure fails the test. */
struct ct_report *gpu_job_report(const struct gpu_job *options, uint64_t *end_ns);

#endif
