/* SPDX-License-Identifier: Apache-2.0 */
/* list_hosts RUN — the host-blocking calls that have returned, one a line: RANK NAME COMM RESULT. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/load.h"
#include "trace/reader.h"

static struct ct_load *load;

static int on_op(void *arg, const struct ct_load_op *op)
{
	(void)arg;
	(void)op;
	return 0;
}

static int on_host(void *arg, const struct ct_host_rec *rec, const char *call)
{
	const int *rank = arg;

	if (rec->return_ns)
		printf("%d %s %016" PRIx64 " %d\n", *rank, call ? call : "?", rec->key,
		       rec->result);
	return 0;
}

int main(int argc, char **argv)
{
	struct ct_op_names names = { .memory = ct_arena_new() };
	const char *const paths[] = { argv[1] };
	const struct ct_run_options options = { .ring_dirs = NULL };
	struct ct_run *run = NULL;
	struct ct_err err;
	int st, rank;

	if (argc != 2)
		return 2;
	st = ct_run_open(paths, 1, &options, &run, &err);
	for (size_t i = 0; st == CT_OK && i < run->n_processes; i++) {
		struct ct_load_sink sink = { .op = on_op, .host = on_host, .arg = &rank };

		rank = run->processes[i].id.rank;
		st = ct_load_open(run, i, &sink, &names, &load, &err);
		while (st == CT_OK && (st = ct_load_next(load, &err)) == 1)
			st = CT_OK;
		ct_load_close(load);
	}
	if (st != CT_OK)
		fprintf(stderr, "list_hosts: %s\n", err.text);
	ct_run_close(run);
	ct_arena_free(names.memory);
	return st != CT_OK;
}
