/* SPDX-License-Identifier: Apache-2.0 */
/* list_hosts RUN — the host-blocking calls that have returned, one a line: RANK NAME COMM RESULT;
 * then the communicators of the rank: RANK comm COMM before|after|open, by whether it ended before
 * the last such call was entered. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/load/load.h"
#include "trace/reader.h"

#define MOST 4096

static struct ct_load *load;
static const struct ct_load_comm *comms[MOST];
static size_t n_comms;
static uint64_t last_ns;

static int on_op(void *arg, const struct ct_load_op *op)
{
	(void)arg;
	(void)op;
	return 0;
}

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	(void)arg;
	if (n_comms < MOST)
		comms[n_comms++] = comm;
	return 0;
}

static int on_host(void *arg, const struct ct_host_rec *rec, const char *call, const char *site)
{
	const int *rank = arg;

	(void)site;
	last_ns = rec->enter_ns > last_ns ? rec->enter_ns : last_ns;
	if (rec->return_ns)
		printf("%d %s %016" PRIx64 " %d\n", *rank, call ? call : "?", rec->key,
		       rec->result);
	return 0;
}

static void list_comms(int rank)
{
	for (size_t i = 0; i < n_comms; i++) {
		uint64_t ended_ns = comms[i]->rec.ended_ns;

		printf("%d comm %016" PRIx64 " %s\n", rank, comms[i]->rec.key,
		       !ended_ns	    ? "open"
		       : ended_ns < last_ns ? "before"
					    : "after");
	}
	n_comms = 0;
	last_ns = 0;
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
		struct ct_load_sink sink = {
			.op = on_op, .comm = on_comm, .host = on_host, .arg = &rank
		};

		rank = run->processes[i].id.rank;
		st = ct_load_open(run, i, &sink, &names, &load, &err);
		while (st == CT_OK && (st = ct_load_next(load, &err)) == 1)
			st = CT_OK;
		list_comms(rank);
		ct_load_close(load);
	}
	if (st != CT_OK)
		fprintf(stderr, "list_hosts: %s\n", err.text);
	ct_run_close(run);
	ct_arena_free(names.memory);
	return st != CT_OK;
}
