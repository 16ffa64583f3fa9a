/* SPDX-License-Identifier: Apache-2.0 */
/* where.c — --where: which operation each fault is about, and which ranks share its communicator.
 * No job is run. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/sim/job/simjob.h"
#include "tools/workload/strike.h"

static const char *const names[] = {
#define X(name, id, ...) [id] = #name,
#include "trace/ops.def"
#undef X
};

static void put_op(const struct ct_workload *w, const struct ct_workload_op *op)
{
	const struct ct_workload_comm *comm = ct_workload_comm(w, op->comm);

	if (op->op)
		printf(", \"op\": %" PRIu64 ", \"operation\": \"%s\", \"bytes\": %" PRIu64,
		       op->index, names[op->op], op->count * ct_workload_dtype_bytes(op->dtype));
	printf(", \"role\": \"%s\", \"peer\": ", comm->role);
	if (op->peer >= 0)
		printf("%d", ct_workload_member(w, op->comm, op->peer));
	else
		printf("null");
	printf(", \"members\": [");
	for (int i = 0; i < comm->n; i++)
		printf("%s%d", i ? ", " : "", comm->first + i * comm->stride);
	printf("]");
}

int simjob_where(const struct simjob *job)
{
	struct ct_workload_config config = job->options.config;
	struct ct_workload *plain;
	char why[256];

	config.n_faults = 0;
	plain = ct_workload_make(&config, why, sizeof(why));
	if (!plain) {
		fprintf(stderr, "commtrace-simjob: %s\n", why);
		return SIMJOB_FAILED;
	}
	printf("{\"ops\": [");
	for (int rank = 0; rank < config.ranks; rank++)
		printf("%s%" PRId64, rank ? ", " : "", ct_workload_ops(plain, rank));
	printf("], \"faults\": [");
	for (size_t i = 0; i < job->options.config.n_faults; i++) {
		const struct ct_fault *fault = &job->options.faults[i];
		struct ct_workload_op op;

		printf("%s{\"kind\": \"%s\"", i ? ", " : "", ct_fault_name(fault->kind));
		if (ct_workload_strike(plain, fault, &op) > 0)
			put_op(plain, &op);
		printf("}");
	}
	printf("]}\n");
	ct_workload_free(plain);
	return 0;
}
