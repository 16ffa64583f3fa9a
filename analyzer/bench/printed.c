/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/bench/printed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/stats.h"
#include "trace/format.h"
#include "trace/ops.h"

/* size: columns of a table: nccl-tests has 13 */
#define LINE_BYTES 65536 /* size: no table has longer lines */
#define MOST_WORDS 32u

/* fact: the operations as they are called in nccl-tests' programs, and in the headings of the OSU
 * benchmarks (NULL: it has none). */
static const struct operation {
	const char *nccl, *osu;
	unsigned op;
	enum ct_bench_form form;
	int is_share; /* OSU's size is that of a rank's share */
} operations[] = {
	{ "all_reduce", "Allreduce", CT_OP_AllReduce, CT_BENCH_PLAIN, 0 },
	{ "broadcast", "Broadcast", CT_OP_Broadcast, CT_BENCH_PLAIN, 0 },
	{ "reduce_scatter", "Reduce_scatter", CT_OP_ReduceScatter, CT_BENCH_PLAIN, 0 },
	{ "reduce", "Reduce", CT_OP_Reduce, CT_BENCH_PLAIN, 0 },
	{ "all_gather", "Allgather", CT_OP_AllGather, CT_BENCH_PLAIN, 1 },
	{ "alltoall", "All-to-All Personalized Exchange", CT_OP_AllToAll, CT_BENCH_PLAIN, 1 },
	{ "gather", "Gather", CT_OP_Gather, CT_BENCH_PLAIN, 1 },
	{ "scatter", "Scatter", CT_OP_Scatter, CT_BENCH_PLAIN, 1 },
	{ "sendrecv", NULL, CT_OP_Send, CT_BENCH_SENDRECV, 0 },
	{ "pingpong", "", CT_OP_Send, CT_BENCH_PINGPONG, 0 }, /* "OSU MPI Latency Test" */
};

/* What the lines above a row have said. */
struct reading {
	struct ct_bench_samples *samples;
	struct ct_err *err;
	unsigned line;
	const struct operation *operation; /* NULL: unknown */
	unsigned backend;
	uint32_t ranks;	      /* 0: unknown */
	uint32_t given_ranks; /* by the caller, of OSU's */
	int is_osu;
	size_t columns, time; /* of the table: how many, and which is the time; 0: there is none */
	size_t rows;
};

static size_t split(char *line, char *words[MOST_WORDS])
{
	size_t n = 0;
	char *rest = NULL;

	for (char *word = strtok_r(line, " \t\r\n", &rest); word && n < MOST_WORDS;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		words[n++] = word;
	return n;
}

/* The operation by whose name the text begins; an "_" or a letter behind it would make it another
 * one. */
static const struct operation *by_nccl_name(const char *text, const char *behind)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		size_t len = strlen(operations[i].nccl);

		if (strncmp(text, operations[i].nccl, len) == 0 &&
		    strncmp(text + len, behind, strlen(behind)) == 0)
			return &operations[i];
	}
	return NULL;
}

/* "# OSU MPI Allreduce Latency Test v5.8", "# OSU MPI-CUDA Latency Test v5.6.2": what is between. */
static int begin_osu(struct reading *r, const char *line)
{
	const char *from = strchr(line + strlen("# OSU "), ' '), *to = strstr(line, "Latency Test");
	size_t len;

	r->operation = NULL;
	r->columns = 0;
	r->is_osu = 1;
	r->backend = CT_BACKEND_MPI;
	r->ranks = r->given_ranks;
	len = from && to && to > from ? (size_t)(to - from) - 1 : 0;
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]) && to; i++) {
		const char *name = operations[i].osu;

		if (name && strlen(name) == (len ? len - 1 : 0) &&
		    strncmp(name, from + 1, strlen(name)) == 0)
			r->operation = &operations[i];
	}
	if (!r->operation)
		return CT_OK; /* a bandwidth, or another operation: its table is skipped */
	if (r->operation->form == CT_BENCH_PINGPONG)
		r->ranks = 2;
	if (r->operation->is_share && !r->ranks)
		return ct_fail(r->err, CT_FORMAT,
			       "line %u: sizes are one rank's share, and the file does not say how "
			       "many ranks there were: --nranks=N does",
			       r->line);
	return CT_OK;
}

/* "#  size  count  type  redop  root  time  algbw  busbw ..." */
static int begin_table(struct reading *r, char *words[MOST_WORDS], size_t n)
{
	r->columns = r->time = 0;
	for (size_t i = 1; i < n && !r->time; i++)
		r->time = strcmp(words[i], "time") == 0 ? i - 1 : 0;
	r->columns = r->time + 1;
	if (!r->time)
		return ct_fail(r->err, CT_FORMAT, "line %u: a table without a column 'time'",
			       r->line);
	if (!r->operation)
		return ct_fail(r->err, CT_FORMAT,
			       "line %u: the file does not say which operation this is, as old "
			       "versions of nccl-tests do not: a line '# Collective test "
			       "starting: all_reduce_perf' does",
			       r->line);
	return CT_OK;
}

static int read_heading(struct reading *r, char *line)
{
	static const char starting[] = "# Collective test starting: ";
	const struct operation *named = by_nccl_name(line + (line[1] == ' ' ? 2 : 1), ", ");
	char *words[MOST_WORDS];
	unsigned ranks;
	size_t n;

	if (strncmp(line, "# OSU ", 6) == 0)
		return begin_osu(r, line);
	if (strncmp(line, starting, sizeof(starting) - 1) == 0) {
		r->operation = by_nccl_name(line + sizeof(starting) - 1, "_perf");
		r->backend = CT_BACKEND_NCCL;
		r->ranks = 0;
		r->is_osu = 0;
		r->columns = 0;
	}
	if (named && sscanf(strchr(line, ','), ", %u ranks", &ranks) == 1 && ranks) {
		r->operation = named;
		r->ranks = named->form == CT_BENCH_PINGPONG ? 2 : ranks;
		r->backend = 0;
		r->is_osu = 0;
	}
	if (!r->is_osu && sscanf(line, "# Rank %u", &ranks) == 1 && ranks < UINT32_MAX &&
	    ranks >= r->ranks)
		r->ranks = ranks + 1;
	n = split(line, words);
	if (n > 2 && strcmp(words[1], "size") == 0)
		return begin_table(r, words, n);
	if (r->is_osu && r->operation && n > 2 && strcmp(words[1], "Size") == 0) {
		r->columns = 2;
		r->time = 1;
	}
	return CT_OK;
}

static int add(struct reading *r, uint64_t bytes, double us)
{
	const struct ct_bench_kind like = { .backend = r->backend,
					    .op = r->operation->op,
					    .form = r->operation->form,
					    .ranks = r->ranks,
					    .bytes = bytes };
	struct ct_bench_kind *kind = ct_bench_samples_kind(r->samples, &like);
	uint32_t b = 0;

	if (!kind)
		return CT_NOMEM;
	while (b + 1 < CT_BENCH_BURSTS && kind->bursts[b].n)
		b++;
	kind->bursts[b].ns += 1e3 * us;
	kind->bursts[b].n++;
	r->rows++;
	return CT_OK;
}

static int read_row(struct reading *r, char *line)
{
	char *words[MOST_WORDS], *end;
	size_t n = split(line, words);
	uint64_t bytes;
	double us;

	if (!r->columns || !n || !isdigit((unsigned char)words[0][0]))
		return CT_OK;
	bytes = strtoull(words[0], &end, 10);
	if (*end)
		return CT_OK; /* a line of a log */
	if (n < r->columns)
		return ct_fail(r->err, CT_FORMAT, "line %u: a row that is cut off", r->line);
	us = strtod(words[r->time], &end);
	if (*end || !(us > 0) || us > 1e12)
		return ct_fail(r->err, CT_FORMAT, "line %u: '%.32s' is not a time", r->line,
			       words[r->time]);
	if (r->is_osu && r->operation->is_share)
		bytes = ct_times(bytes, r->ranks);
	return bytes ? add(r, bytes, us) : CT_OK;
}

int ct_bench_read_printed(FILE *file, uint32_t ranks, struct ct_bench_samples *samples,
			  struct ct_err *err)
{
	struct reading r = { .samples = samples, .err = err, .given_ranks = ranks };
	char line[LINE_BYTES];
	int st = CT_OK;

	while (st == CT_OK && fgets(line, sizeof(line), file)) {
		r.line++;
		if (!strchr(line, '\n') && !feof(file))
			return ct_fail(err, CT_FORMAT, "line %u: more than 64 KiB: not a table",
				       r.line);
		st = line[0] == '#' ? read_heading(&r, line) : read_row(&r, line);
	}
	if (st == CT_OK && ferror(file))
		return ct_fail(err, CT_IO, "cannot be read");
	if (st == CT_OK && !r.rows)
		return ct_fail(err, CT_FORMAT,
			       "no results of nccl-tests, and no latencies of the OSU "
			       "micro-benchmarks");
	return st;
}
