/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/order_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

#define MOST_COMMS 8
#define MOST_TEXTS 256
#define STEP_NS 1000000ull
#define FIRST_TEXT 1000u

struct script {
	struct job job;
	struct comm {
		char name[16];
		uint64_t members;
		int n;
	} comms[MOST_COMMS];
	int n_comms;
	char texts[MOST_TEXTS][64]; /* sites and calls; string id FIRST_TEXT + index */
	int n_texts;
	uint64_t last_ns;
	char how[JOB_MAX_RANKS][16];
};

static uint64_t set_of(const char *word)
{
	uint64_t set = 0;

	while (*word) {
		char *end;
		long from = strtol(word, &end, 10), to = from;

		if (end == word)
			fail_msg("no ranks: %s", word);
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (long r = from; r <= to; r++)
			set |= 1ull << r;
		word = *end == ',' ? end + 1 : end;
	}
	return set;
}

static uint32_t text_id(struct script *s, const char *text)
{
	int i = 0;
	uint8_t payload[80];
	uint32_t id;

	if (strcmp(text, "-") == 0)
		return 0;
	while (i < s->n_texts && strcmp(s->texts[i], text) != 0)
		i++;
	id = FIRST_TEXT + (uint32_t)i;
	if (i < s->n_texts)
		return id;
	assert_true(i < MOST_TEXTS && strlen(text) < 64);
	strcpy(s->texts[s->n_texts++], text);
	memcpy(payload, &id, sizeof(id));
	memcpy(payload + sizeof(id), text, strlen(text));
	for (int r = 0; r < s->job.o.ranks; r++)
		job_rare(&s->job, r, CT_KIND_STRING, payload, sizeof(id) + strlen(text));
	return id;
}

static int comm_of(const struct script *s, const char *name)
{
	for (int c = 0; c < s->n_comms; c++)
		if (strcmp(s->comms[c].name, name) == 0)
			return c;
	fail_msg("no communicator %s", name);
	return -1;
}

static unsigned number(const char *word, const char *(*name)(unsigned))
{
	if (strcmp(word, "-") == 0)
		return 0;
	for (unsigned i = 1; i < 255; i++)
		if (name(i) && strcmp(name(i), word) == 0)
			return i;
	fail_msg("what is %s", word);
	return 0;
}

static void begin(struct script *s, const char *rest, uint64_t absent)
{
	char backend[16] = "gloo";
	struct job_options o = { .run = "run", .absent = absent };

	assert_true(sscanf(rest, "%d %15s", &o.ranks, backend) >= 1);
	o.backend = strcmp(backend, "nccl") == 0  ? CT_BACKEND_NCCL
		    : strcmp(backend, "mpi") == 0 ? CT_BACKEND_MPI
						  : CT_BACKEND_GLOO;
	job_open(&s->job, &o);
	s->comms[0].members = o.ranks == 64 ? ~0ull : (1ull << o.ranks) - 1;
	s->comms[0].n = o.ranks;
	strcpy(s->comms[0].name, "w");
	s->n_comms = 1;
}

static void make_comm(struct script *s, const char *rest)
{
	struct comm *comm = &s->comms[s->n_comms++];
	int ranks[JOB_MAX_RANKS];
	char members[64];

	assert_int_equal(sscanf(rest, "%15s %63s", comm->name, members), 2);
	comm->members = set_of(members);
	for (int r = 0; r < s->job.o.ranks; r++)
		if (comm->members >> r & 1)
			ranks[comm->n++] = r;
	job_comm(&s->job, (uint32_t)s->n_comms, 0xc0 + (uint64_t)s->n_comms, comm->name, ranks,
		 (uint32_t)comm->n);
}

static int index_in(const struct comm *comm, int rank)
{
	return __builtin_popcountll(comm->members & ((1ull << rank) - 1));
}

static void call_op(struct script *s, const char *line)
{
	char ranks[64], comm_name[16], seqs[32], op[24], dtype[16], redop[16], root[8], site[64];
	char state[8] = "", *end;
	unsigned long long count;
	uint64_t from, to;
	struct ct_op o = { 0 };
	int c;

	if (sscanf(line, "%63s %15s %31s %23s %llu %15s %15s %7s %63s %7s", ranks, comm_name, seqs,
		   op, &count, dtype, redop, root, site, state) < 9)
		fail_msg("no line of a script: %s", line);
	c = comm_of(s, comm_name);
	from = to = strtoull(seqs, &end, 10);
	if (*end == '-')
		to = strtoull(end + 1, NULL, 10);
	o.op = (uint8_t)number(op, ct_op_name);
	o.dtype = (uint8_t)number(dtype, ct_dtype_name);
	o.redop = (uint8_t)number(redop, ct_redop_name);
	o.count = count;
	o.peer = strcmp(root, "-") == 0 ? -1 : atoi(root);
	o.site = text_id(s, site);
	o.comm = (uint32_t)c + 1;
	for (uint64_t seq = from; seq <= to; seq++) {
		for (int r = 0; r < s->job.o.ranks; r++) {
			if (!(set_of(ranks) >> r & 1))
				continue;
			o.seq = seq;
			o.enter_ns = STEP_NS * (1 + seq) + 100000 * (uint64_t)c +
				     1000 * (uint64_t)r;
			o.return_ns = strcmp(state, "in") == 0 ? 0 : STEP_NS * (1 + seq) + 900000;
			o.result = strcmp(state, "bad") == 0 ? CT_RESULT_EXCEPTION : 0;
			if (o.return_ns > s->last_ns)
				s->last_ns = o.return_ns;
			job_op(&s->job, r, o);
		}
	}
}

static void call_host(struct script *s, const char *rest)
{
	char ranks[64], comm_name[16], name[64];
	int c;

	assert_int_equal(sscanf(rest, "%63s %15s %63s", ranks, comm_name, name), 3);
	c = comm_of(s, comm_name);
	for (int r = 0; r < s->job.o.ranks; r++) {
		struct ct_host_rec rec = {
			.enter_ns = s->job.clock[r] + s->last_ns + 1000,
			.tid = 1,
			.call = text_id(s, name),
			.nranks = (uint32_t)s->comms[c].n,
			.rank = index_in(&s->comms[c], r),
			.comm = (uint32_t)c + 1,
			.key = c ? 0xc0 + (uint64_t)c + 1 : JOB_COMM,
		};

		if (set_of(ranks) >> r & 1)
			job_rare(&s->job, r, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	}
}

static void lose(struct script *s, const char *ranks)
{
	const struct ct_loss_rec rec = { .reason = CT_LOSS_POOL_EMPTY, .records = 5 };

	for (int r = 0; r < s->job.o.ranks; r++)
		if (set_of(ranks) >> r & 1)
			job_rare(&s->job, r, CT_KIND_LOSS, &rec, sizeof(rec));
}

static void set_end(struct script *s, const char *rest)
{
	char ranks[64], how[16];

	assert_int_equal(sscanf(rest, "%63s %15s", ranks, how), 2);
	for (int r = 0; r < JOB_MAX_RANKS; r++)
		if (set_of(ranks) >> r & 1)
			strcpy(s->how[r], how);
}

static void end_rank(struct script *s, int rank)
{
	const char *how = s->how[rank];
	const struct ct_status_rec status = { .beat_ns = s->job.clock[rank] + 100000000000ull };

	if (s->job.o.absent >> rank & 1)
		return;
	if (strcmp(how, "killed") == 0)
		job_rare(&s->job, rank, CT_KIND_STATUS, &status, sizeof(status));
	if (strcmp(how, "killed") == 0 || strcmp(how, "lost") == 0) {
		job_end(&s->job, rank, 0);
	} else if (*how && strcmp(how, "exit") != 0) {
		job_flush(&s->job, rank);
		fx_end(&s->job.writers[rank],
		       strcmp(how, "abort") == 0   ? CT_EXIT_ABORT
		       : strcmp(how, "_exit") == 0 ? CT_EXIT_UNDERSCORE
						   : CT_EXIT_NORMAL,
		       strcmp(how, "fail") == 0);
		job_end(&s->job, rank, 0);
	} else {
		job_end(&s->job, rank, s->last_ns + 5000000);
	}
}

static void one_line(struct script *s, char *line, uint64_t absent)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (!*line)
		return;
	if (strncmp(line, "ranks ", 6) == 0)
		begin(s, line + 6, absent);
	else if (strncmp(line, "comm ", 5) == 0)
		make_comm(s, line + 5);
	else if (strncmp(line, "call ", 5) == 0)
		call_host(s, line + 5);
	else if (strncmp(line, "loses ", 6) == 0)
		lose(s, line + 6);
	else if (strncmp(line, "end ", 4) == 0)
		set_end(s, line + 4);
	else if (strncmp(line, "absent ", 7) != 0)
		call_op(s, line);
}

struct ct_report *order_script(const char *text)
{
	struct script *s = calloc(1, sizeof(*s));
	const char *absent = strstr(text, "absent ");
	struct ct_report *report;
	char *copy = strdup(text), *rest = copy, *line;

	assert_non_null(s);
	assert_non_null(copy);
	while ((line = strsep(&rest, "\n")))
		one_line(s, line, absent ? set_of((const char[]){ absent[7], 0 }) : 0);
	for (int r = 0; r < s->job.o.ranks; r++)
		end_rank(s, r);
	report = job_report(&s->job, -1);
	free(copy);
	free(s);
	return report;
}

char *order_found(const struct ct_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	assert_non_null(f);
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *found = &report->findings[i];

		switch (found->kind) {
		case CT_FINDING_MISMATCH:
		case CT_FINDING_SKIPPED_OP:
		case CT_FINDING_EXTRA_OP:
		case CT_FINDING_UNEVEN_INPUT:
			fprintf(f, "%s %s confidence=%s\n", ct_finding_name(found->kind),
				job_pairs(found), ct_confidence_name(found->confidence));
			break;
		default:
			break;
		}
	}
	fclose(f);
	return text;
}
