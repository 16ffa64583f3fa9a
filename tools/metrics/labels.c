/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/text.h"

/* Where a label's value is: variables in order of preference, as the run has recorded them, else as
 * this process has them. */
static const struct {
	const char *label;
	const char *variables[3];
} sources[] = {
	{ "slurm_job_id", { "SLURM_JOB_ID" } },		{ "slurm_step_id", { "SLURM_STEP_ID" } },
	{ "node", { "SLURMD_NODENAME", "NODE_NAME" } }, { "pod", { "POD_NAME" } },
	{ "namespace", { "POD_NAMESPACE" } },
};

void ct_label_escape(char *to, size_t size, const char *value)
{
	char clean[256];
	size_t n = 0;

	ct_text_clean(clean, sizeof(clean), value, strlen(value));
	for (const char *p = clean; *p && n + 2 < size; p++) {
		if (*p == '\\' || *p == '"')
			to[n++] = '\\';
		to[n++] = *p;
	}
	to[n] = '\0';
}

static const char *recorded(const struct ct_live_view *view, const char *variable)
{
	char key[64];

	snprintf(key, sizeof(key), "env.%s", variable);
	return view->facts ? ct_facts_value(view->facts, key) : NULL;
}

static void add(char text[CT_LABELS_MOST], const char *label, const char *value)
{
	size_t n = strlen(text);
	char escaped[512];

	if (!value || !value[0])
		return;
	ct_label_escape(escaped, sizeof(escaped), value);
	snprintf(text + n, CT_LABELS_MOST - n, "%s%s=\"%s\"", n ? "," : "", label, escaped);
}

void ct_labels_of_run(const struct ct_live_view *view, char text[CT_LABELS_MOST])
{
	text[0] = '\0';
	add(text, "job_name", view->job);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const char *value = NULL;

		for (int v = 0; v < 3 && sources[i].variables[v] && !value; v++)
			value = recorded(view, sources[i].variables[v]);
		for (int v = 0; v < 3 && sources[i].variables[v] && !value; v++)
			value = getenv(sources[i].variables[v]);
		add(text, sources[i].label, value);
	}
}
