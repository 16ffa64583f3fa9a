/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/environment/setting_conflicts.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"

static const struct conflict {
	const char *name, *value, *other, *other_value, *needs;
	enum ct_severity severity;
	const char *what, *advice;
} conflicts[] = {
#define CONFLICT(name, value, other, other_value, needs, severity, what, advice)                   \
	{ name, value, other, other_value, needs, CT_SEVERITY_##severity, what, advice },
#include "analyzer/environment/setting_conflicts.def"
};

static const char *variable(const struct ct_environment_facts *facts, const char *name)
{
	char key[CT_FACTS_KEY_MOST + 8];

	snprintf(key, sizeof(key), "env.%s", name);
	return ct_facts_value(facts, key);
}

static int fits(const char *value, const char *pattern)
{
	if (strcmp(pattern, "!0") == 0)
		return *value && strcmp(value, "0") != 0;
	return fnmatch(pattern, value, FNM_EXTMATCH) == 0;
}

/* Both begin with digits. */
static int is_above(const char *value, const char *other)
{
	char *end, *other_end;
	long x = strtol(value, &end, 10), y = strtol(other, &other_end, 10);

	return end != value && other_end != other && x > y;
}

/* Where NCCL takes settings from files, or variables were left out, an unset one is not known: rows
 * need what is set only. */
static int is_there(const struct conflict *row, const struct ct_environment_facts *facts)
{
	const char *value = variable(facts, row->name);
	const char *other = row->other ? variable(facts, row->other) : NULL;

	if (!value || (row->other && !other) || !ct_facts_value(facts, row->needs))
		return 0;
	if (strcmp(row->value, ">") == 0)
		return is_above(value, other);
	return fits(value, row->value) && (!other || fits(other, row->other_value));
}

static const char *settings_text(const struct conflict *row,
				 const struct ct_environment_facts *facts, struct ct_arena *memory)
{
	const char *text = ct_arena_printf(memory, "%s=%.40s", row->name,
					   variable(facts, row->name));

	return row->other ? ct_arena_printf(memory, "%s with %s=%.40s", text, row->other,
					    variable(facts, row->other))
			  : text;
}

int ct_setting_conflicts_fill(const struct ct_model *model, struct ct_report *report)
{
	const size_t n = sizeof(conflicts) / sizeof(conflicts[0]);
	struct ct_report_environment *out = &report->environment;

	out->conflicts = ct_arena_calloc(report->memory, n, sizeof(*out->conflicts));
	if (!out->conflicts)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct conflict *row = &conflicts[i];
		struct ct_report_env_conflict *to = &out->conflicts[out->n_conflicts];

		for (uint32_t slot = 0; slot < model->n_slots; slot++) {
			const struct ct_environment_facts *facts = ct_model_environment(model,
											slot);

			if (!is_there(row, facts))
				continue;
			if (!to->ranks)
				*to = (struct ct_report_env_conflict){
					.settings = settings_text(row, facts, report->memory),
					.what = row->what,
					.advice = row->advice,
					.severity = row->severity,
					.ranks = ct_arena_calloc(report->memory, model->n_slots,
								 sizeof(*to->ranks)),
				};
			if (!to->ranks)
				return CT_NOMEM;
			to->ranks[to->n_ranks++] = model->slots[slot].rank;
		}
		if (!to->n_ranks)
			continue;
		qsort(to->ranks, to->n_ranks, sizeof(*to->ranks), ct_by_int);
		out->n_conflicts++;
	}
	return CT_OK;
}
