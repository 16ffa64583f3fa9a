/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/units.h"
#include "analyzer/render/facts_text.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIFFERS 24u
#define MOST_VALUES 6u
#define MOST_RANKS 16u

/* "0-3,6": ranks in order, at most `cap` bytes, "..." where that is not enough. */
static void list_ranks(char *to, size_t cap, const int *ranks, size_t n)
{
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1;)
			end++;
		if (at + 32 > cap) {
			snprintf(to + at, cap - at, ",...");
			return;
		}
		at += (size_t)snprintf(to + at, cap - at, "%s", i ? "," : "");
		if (end - i > 1)
			at += (size_t)snprintf(to + at, cap - at, "%d-%d", ranks[i],
					       ranks[end - 1]);
		else
			at += (size_t)snprintf(to + at, cap - at, "%s", ct_text_rank(ranks[i]).s);
	}
}

static const char *own(const struct ct_report_env_rank *rank, const char *name)
{
	for (size_t i = 0; i < rank->n_facts; i++)
		if (strcmp(rank->facts[i].name, name) == 0)
			return rank->facts[i].value;
	return "";
}

static void write_differs(struct ct_text *text, const struct ct_report_environment *e)
{
	for (size_t d = 0; d < e->n_differs && d < MOST_DIFFERS; d++) {
		const struct ct_report_env_differs *differs = &e->differs[d];
		enum ct_color color = differs->matters && differs->severity > CT_SEVERITY_INFO
					      ? CT_COLOR_YELLOW
					      : CT_COLOR_NONE;

		ct_text_line(text, color, "differs   %s%s", differs->name,
			     differs->matters ? ", which should be equal" : "");
		for (size_t v = 0; v < differs->n_values && v < MOST_VALUES; v++) {
			char ranks[48];

			list_ranks(ranks, sizeof(ranks), differs->values[v].ranks,
				   differs->values[v].n_ranks);
			ct_text_line(text, CT_COLOR_NONE, "          rank%s %s: %s",
				     differs->values[v].n_ranks == 1 ? "" : "s", ranks,
				     differs->values[v].value ? differs->values[v].value
							      : "(not set)");
		}
		if (differs->n_values > MOST_VALUES)
			ct_text_line(text, CT_COLOR_DIM,
				     "          ... %zu more values in --format=json",
				     differs->n_values - MOST_VALUES);
	}
	if (e->n_differs > MOST_DIFFERS)
		ct_text_line(text, CT_COLOR_DIM, "          ... %zu more in --format=json",
			     e->n_differs - MOST_DIFFERS);
	if (!e->n_differs)
		ct_text_line(text, CT_COLOR_NONE, "differences: none");
}

/* All that is equal under one beginning, in a line: "libraries nccl 2.28.9, glibc 2.36". `end`:
 * only names that end so, and without it. */
static void write_group(struct ct_text *text, const struct ct_report_environment *e,
			const char *title, const char *begin, const char *end)
{
	char line[1024];
	size_t at = 0, from = strlen(begin), off = strlen(end);
	/* a variable is named in full */
	size_t strip = strncmp(begin, "env.", 4) == 0 ? 4 : from;

	line[0] = '\0';
	for (size_t i = 0; i < e->n_same && at < sizeof(line) - 2; i++) {
		const char *name = e->same[i].name;
		size_t len = strlen(name);

		if (strncmp(name, begin, from) != 0 || len < from + off ||
		    strcmp(name + len - off, end) != 0)
			continue;
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%.*s %s", at ? ", " : "",
				       (int)(len - strip - off), name + strip, e->same[i].value);
	}
	if (at)
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "%-9s %s", title, line);
}

static void write_gpus(struct ct_text *text, const struct ct_report_environment *e)
{
	for (size_t r = 0; r < e->n_ranks && r < MOST_RANKS; r++) {
		const struct ct_report_env_rank *rank = &e->ranks[r];

		for (unsigned n = 0; n < 8; n++) {
			char uuid[24], pci[24], numa[24];

			snprintf(uuid, sizeof(uuid), "gpu.%u.uuid", n);
			snprintf(pci, sizeof(pci), "gpu.%u.pci", n);
			snprintf(numa, sizeof(numa), "gpu.%u.numa", n);
			if (!own(rank, uuid)[0])
				break;
			ct_text_line(text, CT_COLOR_NONE, "          rank %s: %s at %s%s%s",
				     ct_text_rank(rank->rank).s, own(rank, uuid), own(rank, pci),
				     own(rank, numa)[0] ? ", NUMA node " : "", own(rank, numa));
		}
	}
	if (e->n_ranks > MOST_RANKS)
		ct_text_line(text, CT_COLOR_DIM, "          ... %zu more ranks with --json",
			     e->n_ranks - MOST_RANKS);
}

void ct_environment_text(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_environment *e = &report->environment;

	ct_text_head(text, "environment");
	if (!e->n_ranks) {
		ct_text_line(text, CT_COLOR_NONE, "not recorded");
		return;
	}
	write_differs(text, e);
	write_group(text, e, "libraries", "lib.", ".version");
	write_group(text, e, "driver", "nvidia.", "");
	write_group(text, e, "kernel", "kernel.", "");
	write_group(text, e, "cpu", "cpu.", "");
	write_group(text, e, "limits", "cgroup.", "");
	write_group(text, e, "gpu", "gpu.", "");
	write_gpus(text, e);
	write_group(text, e, "nic", "nic.", "");
	write_group(text, e, "ib", "ib.", "");
	write_group(text, e, "settings", "env.NCCL_", "");
}
