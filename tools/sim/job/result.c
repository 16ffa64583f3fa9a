/* SPDX-License-Identifier: Apache-2.0 */
/* result.c — the result file. Two runs of one job write the same bytes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/sim/job/simjob.h"

/* Errors have plain letters only; whatever is not becomes a blank. */
static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		fputc(*text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? ' ' : *text,
		      out);
	fputc('"', out);
}

static void put_rank(FILE *out, const struct simjob *job, int rank)
{
	const struct simjob_rank_board *board = &job->board->ranks[rank];
	int64_t offset_ns;
	double ppm;

	simjob_clock(job, rank, &offset_ns, &ppm);
	fprintf(out,
		"    {\"rank\": %d, \"node\": %d, \"steps\": %" PRIu64
		", \"checksum\": \"%016" PRIx64 "\", \"wrong\": %" PRIu64 ", \"misuse\": %" PRIu64
		", \"clock_offset_ns\": %" PRId64 ", \"clock_drift_ppm\": %.6f, \"error\": ",
		rank, ct_workload_node(job->workload, rank), atomic_load(&board->steps),
		atomic_load(&board->checksum), atomic_load(&board->wrong),
		atomic_load(&board->misuse), offset_ns, ppm);
	if (atomic_load(&board->has_error))
		put_text(out, board->error);
	else
		fputs("null", out);
	fprintf(out, "}%s\n", rank + 1 < job->options.config.ranks ? "," : "");
}

int simjob_write_result(const struct simjob *job, const struct simjob_end *ends, int n, int status)
{
	const struct ct_workload_config *c = ct_workload_config(job->workload);
	FILE *out = fopen(job->options.result, "we");

	if (!out)
		goto fail;
	fprintf(out,
		"{\n  \"schema\": \"commtrace.simjob/1\",\n  \"status\": %d,\n"
		"  \"workload\": \"%s\",\n  \"nranks\": %d,\n  \"nodes\": %d,\n"
		"  \"tp\": %d,\n  \"pp\": %d,\n  \"dp\": %d,\n  \"steps\": %" PRIu64
		",\n  \"seed\": %" PRIu64 ",\n  \"timing\": \"%s\",\n  \"processes\": [\n",
		status, c->name, c->ranks, c->nodes, c->tp, c->pp, c->dp, c->steps, c->seed,
		job->options.timing ? "real" : "none");
	for (int i = 0; i < n; i++)
		fprintf(out, "    {\"first_rank\": %d, \"ended\": \"%s\", \"code\": %d}%s\n",
			ends[i].first_rank,
			ends[i].is_stopped  ? "stopped"
			: ends[i].is_signal ? "signal"
					    : "exit",
			ends[i].code, i + 1 < n ? "," : "");
	fprintf(out, "  ],\n  \"ranks\": [\n");
	for (int rank = 0; rank < c->ranks; rank++)
		put_rank(out, job, rank);
	fprintf(out, "  ]\n}\n");
	if (!ferror(out) && fclose(out) == 0)
		return 0;
fail:
	fprintf(stderr, "commtrace-simjob: %s: %s\n", job->options.result, strerror(errno));
	return -1;
}
