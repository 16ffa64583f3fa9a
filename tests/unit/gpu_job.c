/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/gpu_job.h"

#include <fcntl.h>
#include <unistd.h>

#include "tools/synth/synth.h"

static struct ct_synth_options options_of(const struct gpu_job *o)
{
	struct ct_synth_options options = ct_synth_defaults();
	char why[256];

	options.job.name = o->workload;
	options.job.ranks = o->ranks;
	options.job.nodes = o->nodes;
	options.job.steps = o->steps;
	options.job.seed = o->seed;
	options.per_process = o->per_process ? o->per_process : 1;
	if (!o->fault)
		return options;
	if (ct_fault_parse(o->fault, &options.faults[0], why, sizeof(why)))
		fail_msg("%s", why);
	options.job.n_faults = 1;
	return options;
}

struct ct_report *gpu_job_report(const struct gpu_job *o, uint64_t *end_ns)
{
	const struct ct_synth_options options = options_of(o);
	const struct job job = { .o.run = "run" };
	struct ct_synth_outcome outcome;
	struct ct_err err = { 0 };
	int dirfd;

	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(&options, dirfd, &outcome, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	assert_int_equal(outcome.sums.is_stuck, 0);
	if (end_ns)
		*end_ns = outcome.duration_ns;
	ct_synth_outcome_free(&outcome);
	return job_report(&job, -1);
}
