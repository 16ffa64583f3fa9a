/* SPDX-License-Identifier: Apache-2.0 */
/* list_traffic.c — what the processes of a run have counted inside their operations.
 *
 * list_traffic RUN...
 *   RANK COMM NRANKS MEMBER (sent|received) PEER MESSAGES BYTES
 *   RANK loss REASON RECORDS */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/load/load.h"
#include "tests/e2e/evidence.h"

static int ignore(void *arg, const struct ct_load_op *op)
{
	(void)arg, (void)op;
	return 0;
}

static int list(const struct ct_run *run, size_t process, struct ct_arena *memory)
{
	const struct ct_load_sink sink = { .op = ignore };
	int rank = run->processes[process].id.rank, st;
	struct ct_op_names names = { .memory = memory };
	const struct ct_load_traffic *t;
	struct ct_err err = { 0 };
	struct ct_load *load;

	st = ct_load_open(run, process, &sink, &names, &load, &err);
	while (st == CT_OK && (st = ct_load_next(load, &err)) == 1)
		st = CT_OK;
	if (st < 0) {
		fprintf(stderr, "list_traffic: %s\n", err.text);
		return 1;
	}
	for (t = ct_load_traffic(load); t; t = t->next)
		printf("%d %016" PRIx64 " %u %d %s %d %" PRIu64 " %" PRIu64 "\n", rank,
		       t->comm ? t->comm->rec.key : 0, t->comm ? t->comm->rec.nranks : 0,
		       t->comm ? t->comm->rec.rank : -1, t->rec.received ? "received" : "sent",
		       t->rec.peer, t->rec.messages, t->rec.bytes);
	for (unsigned i = 0; i < CT_LOSS_MAX; i++)
		if (ct_load_gaps(load)->losses[i])
			printf("%d loss %s %" PRIu64 "\n", rank, ct_loss_name(i),
			       ct_load_gaps(load)->losses[i]);
	ct_load_close(load);
	return 0;
}

int main(int argc, char **argv)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_run *run;
	int failed = 0;

	if (argc < 2 || !memory) {
		fprintf(stderr, "list_traffic: no run\n");
		return 2;
	}
	run = evidence_open("list_traffic", (const char *const *)(argv + 1), (size_t)argc - 1);
	for (size_t p = 0; run && p < run->n_processes; p++)
		failed |= list(run, p, memory);
	if (run)
		ct_run_close(run);
	ct_arena_free(memory);
	return failed;
}
