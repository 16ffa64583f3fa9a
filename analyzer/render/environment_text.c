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

static const char *same(const struct ct_report_environment *e, const char *name)
{
	for (size_t i = 0; i < e->n_same; i++)
		if (strcmp(e->same[i].name, name) == 0)
			return e->same[i].value;
	return NULL;
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

/* All that is equal under one beginning, in a line: "libraries nccl 2.28.9, glibc 2.36". `end`: only names that end so,
 * and without it. */
static void write_group(struct ct_text *text, const struct ct_report_environment *e,
			const char *title, const char *begin, const char *end)
{
	char line[512];
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
		ct_text_line(text, CT_COLOR_NONE, "%-9s %s", title, line);
}

/* "nic eth0 up, 25000 Mb/s, mlx5_core": for facts that are equal everywhere. */
static void write_devices(struct ct_text *text, const struct ct_report_environment *e,
			  const char *kind, const char *anchor, const char *const *parts)
{
	for (size_t i = 0; i < e->n_same; i++) {
		const char *name = e->same[i].name;
		size_t len = strlen(name), kind_len = strlen(kind), anchor_len = strlen(anchor);
		char line[256], key[192];
		size_t at = 0;

		if (strncmp(name, kind, kind_len) != 0 || name[kind_len] != '.' ||
		    len < kind_len + anchor_len || strcmp(name + len - anchor_len, anchor) != 0)
			continue;
		len -= anchor_len;
		at = (size_t)snprintf(line, sizeof(line), "%.*s %s", (int)(len - kind_len - 1),
				      name + kind_len + 1, e->same[i].value);
		for (size_t p = 0; parts[p] && at < sizeof(line) - 2; p++) {
			const char *value;

			snprintf(key, sizeof(key), "%.*s.%s", (int)(len < 150 ? len : 150), name,
				 parts[p]);
			value = same(e, key);
			if (value)
				at += (size_t)snprintf(line + at, sizeof(line) - at, ", %s %s",
						       parts[p], value);
		}
		ct_text_line(text, CT_COLOR_NONE, "%-9s %s", kind, line);
	}
}

static void write_gpus(struct ct_text *text, const struct ct_report_environment *e)
{
	const char *name = same(e, "gpu.0.name");
	const char *width = same(e, "gpu.0.pcie_width"), *most = same(e, "gpu.0.pcie_width_max");

	if (name)
		ct_text_line(text, CT_COLOR_NONE, "gpu       %s%s%s%s%s", name,
			     width ? ", PCIe width " : "", width ? width : "", most ? " of " : "",
			     most ? most : "");
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
		ct_text_line(text, CT_COLOR_DIM, "          ... %zu more ranks in --format=json",
			     e->n_ranks - MOST_RANKS);
}

void ct_environment_text(struct ct_text *text, const struct ct_report *report)
{
	static const char *const nic[] = { "speed", "driver", "mtu", NULL };
	static const char *const ib[] = { "rate", "layer", "firmware", NULL };
	const struct ct_report_environment *e = &report->environment;

	ct_text_head(text, "environment");
	if (!e->n_ranks) {
		ct_text_line(text, CT_COLOR_NONE, "n/a");
		return;
	}
	write_differs(text, e);
	write_group(text, e, "libraries", "lib.", ".version");
	write_group(text, e, "driver", "nvidia.", "");
	write_group(text, e, "kernel", "kernel.", "");
	write_group(text, e, "cpu", "cpu.", "");
	write_group(text, e, "limits", "cgroup.", "");
	write_gpus(text, e);
	write_devices(text, e, "nic", ".state", nic);
	write_devices(text, e, "ib", ".state", ib);
	write_group(text, e, "settings", "env.NCCL_", "");
}
