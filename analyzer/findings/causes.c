/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/causes.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/template.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/model/command.h"
#include "analyzer/model/names.h"

#define HOSTS_NAMED 3u /* size: hosts in a line */
#define MOST_GPUS 16u  /* size: of a process, that are looked through */

static const struct cause_row {
	const char *cause, *advice, *cpu_advice, *command, *cpu_command;
} rows[] = {
	[CT_WHY_OWN] = { 0 },
#define WHY(name, cause, advice, cpu_advice, command, cpu_command)                                 \
	[CT_WHY_##name] = { cause, advice, cpu_advice, command, cpu_command },
#include "analyzer/model/causes.def"
};

void ct_finding_set_cause(struct ct_finding *f, enum ct_why why)
{
	f->why = why;
	f->cause = rows[why].cause;
}

/* Does any rank have a GPU, or times taken by one? */
static int has_gpus(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_ranks; i++) {
		if (report->ranks[i].device >= 0 || report->ranks[i].timing >= CT_TIMING_HOST)
			return 1;
	}
	return 0;
}

static const char *hosts_of(const struct ct_finding *f, struct ct_arena *memory)
{
	const char *text = f->n_hosts ? ""
				      : ct_finding_part(memory, CT_PART_THEIR_HOSTS, CT_NO_WORDS);

	for (size_t i = 0; i < f->n_hosts && i < HOSTS_NAMED; i++) {
		const char *host = ct_host_word(memory, f->hosts[i]);

		text = ct_arena_printf(memory, "%s%s%s", text, i ? "," : "", host);
	}
	return f->n_hosts > HOSTS_NAMED ? ct_arena_printf(memory, "%s,...", text) : text;
}

static const char *ranks_of(const struct ct_finding *f, const char *where, struct ct_arena *memory)
{
	if (f->kind == CT_FINDING_STRAGGLER_HOST)
		return ct_finding_part(memory, CT_PART_RANKS_OF_HOST,
				       CT_WORDS({ "{where}", where }));
	return ct_ranks_words(memory, f->ranks, f->n_ranks, CT_RANKS_SHOWN);
}

/* ---- where the command runs ---- */

static const struct ct_report_rank *row_of(const struct ct_report *report, int rank)
{
	for (size_t i = 0; i < report->n_ranks; i++) {
		if (report->ranks[i].rank == rank)
			return &report->ranks[i];
	}
	return NULL;
}

/* A fact that the rank recorded about itself; NULL: none. */
static const char *fact_of(const struct ct_report *report, int rank, const char *name)
{
	for (size_t i = 0; i < report->environment.n_ranks; i++) {
		const struct ct_report_env_rank *r = &report->environment.ranks[i];

		for (size_t k = 0; r->rank == rank && k < r->n_facts; k++) {
			if (strcmp(r->facts[k].name, name) == 0)
				return r->facts[k].value;
		}
	}
	return NULL;
}

/* The GPU by the name that it has for every program: its index may be another one in the process
 * than on the host. */
static const char *gpu_of(const struct ct_report *report, const struct ct_report_rank *row)
{
	const char *visible = fact_of(report, row->rank, "env.CUDA_VISIBLE_DEVICES");

	/* the GPUs that a process used; few use more than one */
	for (unsigned n = 0; n < MOST_GPUS; n++) {
		struct ct_arena *memory = report->memory;
		const char *device = fact_of(report, row->rank,
					     ct_arena_printf(memory, "gpu.%u.device", n));
		const char *uuid = fact_of(report, row->rank,
					   ct_arena_printf(memory, "gpu.%u.uuid", n));

		if (device && uuid && atoi(device) == row->device)
			return ct_arena_printf(memory, "-i %s ", uuid);
	}
	/* several ranks of a host with one index each see a GPU of their own */
	for (size_t i = 0; !visible && i < report->n_ranks; i++) {
		const struct ct_report_rank *other = &report->ranks[i];

		if (other != row && other->host && row->host && other->device == row->device &&
		    strcmp(other->host, row->host) == 0)
			return "";
	}
	return ct_command_gpu(report->memory, row->device, visible);
}

/* The first rank of the finding on this host (NULL: on any). */
static const struct ct_report_rank *first_on(const struct ct_finding *f,
					     const struct ct_report *report, const char *host)
{
	for (size_t i = 0; i < f->n_ranks; i++) {
		const struct ct_report_rank *row = row_of(report, f->ranks[i]);

		if (row && (!host || (row->host && strcmp(row->host, host) == 0)))
			return row;
	}
	return NULL;
}

/* A process that has ended has no pid any more. */
static struct ct_command_at runs_at(const struct ct_finding *f, const struct ct_report *report,
				    const char *host)
{
	const struct ct_report_rank *row = first_on(f, report, f->n_hosts > 1 ? host : NULL);
	struct ct_command_at at = { .host = host,
				    .gpu = "",
				    .has_network = report->run.n_hosts > 1,
				    .run = report->run.words };

	if (row && f->n_ranks == 1)
		at.gpu = gpu_of(report, row);
	if (row && report->run.processes_running)
		at.pid = row->pid;
	return at;
}

/* On each of the hosts that the advice names. */
static const char *command_on(const struct ct_finding *f, const struct ct_report *report)
{
	struct ct_command_at at[HOSTS_NAMED];
	const char *text;
	size_t n = 0;

	if (!f->command)
		return NULL;
	for (; report->run.n_hosts > 1 && n < f->n_hosts && n < HOSTS_NAMED; n++)
		at[n] = runs_at(f, report, f->hosts[n]);
	if (!n)
		at[n++] = runs_at(f, report, NULL);
	text = ct_command_each(report->memory, f->command, at, n);
	/* of a process that has ended, what is on record */
	if (!text && strstr(f->command, "{pid}"))
		text = ct_command_text(
			report->memory,
			ct_finding_part(report->memory, CT_PART_RUN_TIMELINE, CT_NO_WORDS), at);
	return text;
}

/* ---- advice ---- */

/* Ranks that are late together: what only they share. On the only host that is neither a host nor a
 * switch. */
static const char *shared_by(const struct ct_finding *f, const struct ct_report *report)
{
	enum ct_finding_part part;

	if (f->n_ranks < 2)
		return "";
	switch (f->kind) {
	case CT_FINDING_STRAGGLER_HOST:
		part = CT_PART_SHARED_BY_HOST;
		break;
	case CT_FINDING_STRAGGLER_GROUP:
	case CT_FINDING_SLOW_STAGE:
		part = CT_PART_SHARED_BY_GROUP;
		break;
	case CT_FINDING_STRAGGLER:
		part = report->run.n_hosts == 1 ? CT_PART_SHARED_ON_HOST
						: CT_PART_SHARED_ACROSS_HOSTS;
		break;
	default:
		return "";
	}
	return ct_finding_part(report->memory, part, CT_NO_WORDS);
}

static void advise(struct ct_finding *f, const struct ct_report *report, int on_gpu,
		   struct ct_arena *memory)
{
	const struct cause_row *row = &rows[f->why];
	const char *advice = on_gpu || !row->cpu_advice ? row->advice : row->cpu_advice;
	const char *where = hosts_of(f, memory);
	const struct ct_word words[] = { { "{who}", ranks_of(f, where, memory) },
					 { "{where}", where } };
	const char *text = ct_template_fill(memory, advice, words, 2);

	f->advice = text ? ct_arena_printf(memory, "%s%s", text, shared_by(f, report)) : "";
	f->command = on_gpu ? row->command : row->cpu_command;
}

void ct_findings_advise(struct ct_findings *list, const struct ct_report *report)
{
	int on_gpu = has_gpus(report);

	for (size_t i = 0; i < list->n; i++) {
		struct ct_finding *f = &list->all[i];

		if (f->why != CT_WHY_OWN)
			advise(f, report, on_gpu, list->memory);
		f->command = command_on(f, report);
	}
}
