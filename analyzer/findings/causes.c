/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/causes.h"

#include <string.h>

#include "analyzer/model/names.h"

#define RANKS_NAMED 8
#define HOSTS_NAMED 3u

static const struct row {
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
	const char *text = f->n_hosts ? "" : "their hosts";

	for (size_t i = 0; i < f->n_hosts && i < HOSTS_NAMED; i++) {
		const char *host = ct_host_word(memory, f->hosts[i]);

		text = ct_arena_printf(memory, "%s%s%s", text, i ? "," : "", host);
	}
	return f->n_hosts > HOSTS_NAMED ? ct_arena_printf(memory, "%s,...", text) : text;
}

static const char *ranks_of(const struct ct_finding *f, const char *where, struct ct_arena *memory)
{
	const char *ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, RANKS_NAMED);

	if (f->kind == CT_FINDING_STRAGGLER_HOST)
		return ct_arena_printf(memory, "the ranks of %s", where);
	return ct_arena_printf(memory, "rank%s %s", f->n_ranks == 1 ? "" : "s", ranks);
}

/* `text` with {who} and {where} replaced. */
static const char *fill_in(const char *text, const char *who, const char *where,
			   struct ct_arena *memory)
{
	const char *out = "";

	while (*text) {
		size_t n = strcspn(text, "{");
		int is_who = strncmp(text + n, "{who}", 5) == 0;

		out = ct_arena_printf(memory, "%s%.*s%s", out, (int)n, text,
				      !text[n] ? ""
				      : is_who ? who
					       : where);
		text += n + (text[n] ? strcspn(text + n, "}") + 1 : 0);
	}
	return out;
}

/* Ranks that are late together: what only they share. On the only host that is no host and no switch. */
static const char *shared_by(const struct ct_finding *f, const struct ct_report *report)
{
	if (f->n_ranks < 2)
		return "";
	switch (f->kind) {
	case CT_FINDING_STRAGGLER_HOST:
		return "; first what they share: cores, memory, storage, cooling, power";
	case CT_FINDING_STRAGGLER_GROUP:
	case CT_FINDING_SLOW_STAGE:
		return "; first what only this group shares: its shard of the model or the input";
	case CT_FINDING_STRAGGLER:
		return report->run.n_hosts == 1
			       ? "; first what only they share: shard of the input, NUMA node, PCIe"
			       : "; first what only they share: shard of the input, host, switch";
	default:
		return "";
	}
}

static void advise(struct ct_finding *f, const struct ct_report *report, int on_gpu,
		   struct ct_arena *memory)
{
	const struct row *row = &rows[f->why];
	const char *advice = on_gpu || !row->cpu_advice ? row->advice : row->cpu_advice;
	const char *where = hosts_of(f, memory), *who = ranks_of(f, where, memory);

	f->advice = ct_arena_printf(memory, "%s%s", fill_in(advice, who, where, memory),
				    shared_by(f, report));
	f->command = on_gpu ? row->command : row->cpu_command;
}

void ct_findings_advise(struct ct_findings *list, const struct ct_report *report)
{
	int on_gpu = has_gpus(report);

	for (size_t i = 0; i < list->n; i++) {
		if (list->all[i].why != CT_WHY_OWN)
			advise(&list->all[i], report, on_gpu, list->memory);
	}
}
