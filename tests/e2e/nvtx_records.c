/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_records RUN — the NVTX ranges on record in a run, one a line: tid, begin_ns, end_ns, how,
 * name; and what was lost of them, "loss N". Exit 1: it cannot be read. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/load/load.h"
#include "tests/e2e/evidence.h"

static int print(void *arg, const struct ct_nvtx_rec *rec)
{
	(void)arg;
	printf("%u %" PRIu64 " %" PRIu64 " %u %s\n", rec->tid, rec->begin_ns, rec->end_ns, rec->how,
	       rec->name);
	return CT_OK;
}

static int ignore(void *arg, const struct ct_load_op *op)
{
	(void)arg;
	(void)op;
	return CT_OK;
}

static int list(const struct ct_run *run, size_t process, struct ct_arena *memory)
{
	const struct ct_load_sink sink = { .op = ignore, .nvtx = print };
	struct ct_op_names names = { .memory = memory };
	struct ct_err err = { .status = CT_OK };
	struct ct_load *load;
	int st = ct_load_open(run, process, &sink, &names, &load, &err);

	if (st != CT_OK)
		return 1;
	while ((st = ct_load_next(load, &err)) == 1)
		continue;
	printf("loss %" PRIu64 "\n", ct_load_gaps(load)->losses[CT_LOSS_NVTX_FULL]);
	ct_load_close(load);
	return st < 0;
}

int main(int argc, char **argv)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_run *run = argc > 1 && memory ? evidence_open("nvtx_records",
								(const char *const *)(argv + 1),
								(size_t)argc - 1)
						: NULL;
	int failed = !run;

	for (size_t p = 0; run && p < run->n_processes; p++)
		failed |= list(run, p, memory);
	if (run)
		ct_run_close(run);
	ct_arena_free(memory);
	return failed;
}
