/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/simjob.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	static struct simjob job;
	char why[512];

	simjob_options(&job.options, argc, argv);
	job.options.config.faults = job.options.faults;
	job.workload = ct_workload_make(&job.options.config, why, sizeof(why));
	if (!job.workload) {
		fprintf(stderr, "commtrace-simjob: %s\n", why);
		return SIMJOB_USAGE;
	}
	if (job.options.only_where)
		return simjob_where(&job);
	return job.options.process < 0 ? simjob_launch(&job, argv) : simjob_process(&job);
}
