/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyzer/findings/environment_finding.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/model/names.h"

/* size: names in the line, and in the cause. */
#define NAMES_SHOWN 4u

/* Ranks with another value than most, of everything that must be equal; where no value is that of
 * most, all of them. */
static int odd_ranks(const struct ct_report_environment *from, int *ranks, size_t cap, size_t *n)
{
	*n = 0;
	for (size_t d = 0; d < from->n_differs; d++) {
		const struct ct_report_env_differs *differs = &from->differs[d];
		size_t most = 0, all = differs->values[0].n_ranks;

		for (size_t v = 1; v < differs->n_values; v++) {
			all += differs->values[v].n_ranks;
			if (differs->values[v].n_ranks > differs->values[most].n_ranks)
				most = v;
		}
		if (2 * differs->values[most].n_ranks <= all)
			most = differs->n_values;
		for (size_t v = 0; differs->matters && v < differs->n_values; v++) {
			for (size_t r = 0; v != most && r < differs->values[v].n_ranks; r++) {
				size_t at = 0;

				while (at < *n && ranks[at] != differs->values[v].ranks[r])
					at++;
				if (at == *n && *n < cap)
					ranks[(*n)++] = differs->values[v].ranks[r];
			}
		}
	}
	return *n > 0;
}

/* "NCCL_ALGO Ring on rank 1, Tree on rank 0,2,3" */
static const char *describe(struct ct_arena *memory, const struct ct_report_env_differs *d)
{
	const char *text = d->name;

	for (size_t v = 0; v < d->n_values && v < NAMES_SHOWN; v++) {
		const char *value = d->values[v].value
					    ? ct_arena_printf(memory, "%.60s", d->values[v].value)
					    : ct_finding_part(memory, CT_PART_NOT_SET, CT_NO_WORDS);
		const char *ranks = ct_ranks_words(memory, d->values[v].ranks, d->values[v].n_ranks,
						   CT_RANKS_SHOWN);

		text = ct_arena_printf(
			memory, "%s%s %s", text, v ? "," : "",
			ct_finding_part(memory, CT_PART_VALUE_OF_RANKS,
					CT_WORDS({ "{value}", value }, { "{ranks}", ranks })));
	}
	return text;
}

/* The names of facts that must be equal and are not, with the ranks of each value; how severe the
 * worst is. Returns how many. */
static int list_differences(const struct ct_report_environment *from, struct ct_arena *memory,
			    const char **names, const char **cause, enum ct_severity *severity)
{
	int n = 0;

	for (size_t d = 0; d < from->n_differs; d++) {
		const struct ct_report_env_differs *differs = &from->differs[d];

		if (!differs->matters)
			continue;
		if (differs->severity > *severity)
			*severity = differs->severity;
		if (n++ >= (int)NAMES_SHOWN)
			continue;
		*names = ct_arena_printf(memory, "%s%s%s", *names, **names ? "," : "",
					 differs->name);
		*cause = ct_arena_printf(memory, "%s%s%s", *cause, **cause ? "; " : "",
					 describe(memory, differs));
	}
	return n;
}

static void add_differences(const struct ct_report *report, struct ct_findings *list)
{
	struct ct_arena *memory = list->memory;
	const char *names = "", *cause = "";
	enum ct_severity severity = CT_SEVERITY_INFO;
	struct ct_finding *f;
	size_t n_ranks;
	int *ranks;
	int n = list_differences(&report->environment, memory, &names, &cause, &severity);

	if (!n)
		return;
	f = ct_findings_add(list, CT_FINDING_ENVIRONMENT_DIFFERS);
	ranks = ct_arena_calloc(memory, report->n_ranks + 1, sizeof(*ranks));
	if (!ranks)
		return;
	odd_ranks(&report->environment, ranks, report->n_ranks, &n_ranks);
	f->severity = severity;
	f->confidence = CT_CONFIDENCE_HIGH;
	ct_finding_ranks(list, f, ranks, n_ranks);
	ct_finding_evidence(list, f, "names_that_differ", (double)n, "count", NAN);
	names = ct_arena_printf(memory, "%s%s", names, n > (int)NAMES_SHOWN ? ",..." : "");
	ct_finding_say(list, f, CT_TEXT_ENVIRONMENT_DIFFERS,
		       CT_WORDS({ "{names}", names }, { "{values}", cause }));
	ct_finding_put(list, f, "names", "%s", names);
	ct_finding_put_who(list, f);
}

/* At most NAMES_SHOWN names, then an ellipsis. */
static void list_unread(const struct ct_report_environment *from, struct ct_arena *memory,
			const char **names, const char **instead)
{
	for (size_t i = 0; i < from->n_unread && i < NAMES_SHOWN; i++) {
		const struct ct_report_env_unread *setting = &from->unread[i];

		*names = ct_arena_printf(memory, "%s%s%s", *names, i ? ", " : "", setting->name);
		if (setting->instead)
			*instead = ct_arena_printf(memory, "%s; %s: %s", *instead, setting->name,
						   setting->instead);
	}
	if (from->n_unread > NAMES_SHOWN)
		*names = ct_arena_printf(memory, "%s, ...", *names);
}

static void add_unread(const struct ct_report *report, struct ct_findings *list)
{
	const struct ct_report_environment *from = &report->environment;
	const char *names = "", *instead = "";
	struct ct_finding *f;

	if (!from->n_unread)
		return;
	list_unread(from, list->memory, &names, &instead);
	f = ct_findings_add(list, CT_FINDING_SETTING_NOT_READ);
	f->severity = CT_SEVERITY_INFO;
	for (size_t i = 0; i < from->n_unread; i++)
		if (from->unread[i].is_misspelt)
			f->severity = CT_SEVERITY_WARNING;
	f->confidence = CT_CONFIDENCE_HIGH;
	ct_finding_say(list, f, CT_TEXT_NOT_READ,
		       CT_WORDS({ "{names}", names }, { "{instead}", instead }));
	ct_finding_ranks(list, f, from->unread[0].ranks, from->unread[0].n_ranks);
	ct_finding_evidence(list, f, "settings_not_read", (double)from->n_unread, "count", NAN);
	ct_finding_put(list, f, "names", "%s", names);
	ct_finding_put_who(list, f);
}

static void add_conflicts(const struct ct_report *report, struct ct_findings *list)
{
	const struct ct_report_environment *from = &report->environment;

	for (size_t i = 0; i < from->n_conflicts; i++) {
		const struct ct_report_env_conflict *c = &from->conflicts[i];
		struct ct_finding *f = ct_findings_add(list, CT_FINDING_SETTING_CONFLICT);

		f->severity = c->severity;
		f->confidence = CT_CONFIDENCE_HIGH;
		f->headline = c->settings;
		f->cause = c->what;
		f->advice = c->advice;
		ct_finding_put(list, f, "settings", "%s", c->settings);
		ct_finding_ranks(list, f, c->ranks, c->n_ranks);
		ct_finding_put_who(list, f);
		ct_finding_evidence(list, f, "ranks_with_conflict", (double)c->n_ranks, "count",
				    NAN);
	}
}

void ct_finding_environment(const struct ct_report *report, struct ct_findings *list)
{
	add_differences(report, list);
	add_unread(report, list);
	add_conflicts(report, list);
}
