/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/environment/environment.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/model/names.h"
#include "trace/invisible.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

enum among { AMONG_ALL, AMONG_NAME };

static const char *const own[] = {
#define ENV_OWN(PATTERN) PATTERN,
#include "analyzer/environment/environment.def"
};

static const struct must {
	const char *pattern;
	enum ct_severity severity;
	enum among among;
} musts[] = {
#define ENV_MUST(PATTERN, SEVERITY, AMONG) { PATTERN, CT_SEVERITY_##SEVERITY, AMONG_##AMONG },
#include "analyzer/environment/environment.def"
#include "analyzer/model/model.h"
};

/* One fact of one rank. */
struct value_of_rank {
	const char *name, *value;
	int rank;
	uint32_t slot;
};

struct environment_view {
	const struct ct_model *model;
	struct ct_report *report;
	struct ct_report_environment *out;
	struct value_of_rank *all;
	size_t n_all;
	uint32_t *slots; /* that have a start record */
	uint32_t n_slots;
};

static int is_own(const char *name)
{
	for (size_t i = 0; i < ROWS(own); i++)
		if (fnmatch(own[i], name, 0) == 0)
			return 1;
	return 0;
}

static const struct must *must_of(const char *name)
{
	for (size_t i = 0; i < ROWS(musts); i++)
		if (fnmatch(musts[i].pattern, name, 0) == 0)
			return &musts[i];
	return NULL;
}

CT_SORT_BY(by_name_value_rank, struct value_of_rank,
	   strcmp(x->name, y->name) ?: strcmp(x->value, y->value) ?: CT_UP(rank))

/* Every rank's comparable facts, sorted: what belongs together is side by side. */
static int collect(struct environment_view *s)
{
	const struct ct_model *model = s->model;
	size_t n = 0;

	for (uint32_t slot = 0; slot < model->n_slots; slot++)
		n += ct_model_environment(model, slot)->n;
	s->all = malloc((n + 1) * sizeof(*s->all));
	s->slots = malloc((model->n_slots + 1) * sizeof(*s->slots));
	if (!s->all || !s->slots)
		return CT_NOMEM;
	for (uint32_t slot = 0; slot < model->n_slots; slot++) {
		const struct ct_environment_facts *facts = ct_model_environment(model, slot);

		if (facts->n)
			s->slots[s->n_slots++] = slot;
		for (uint32_t i = 0; i < facts->n; i++)
			if (!is_own(facts->facts[i].name))
				s->all[s->n_all++] = (struct value_of_rank){
					facts->facts[i].name, facts->facts[i].value,
					model->slots[slot].rank, slot
				};
	}
	qsort(s->all, s->n_all, sizeof(*s->all), by_name_value_rank);
	return CT_OK;
}

/* Ranks that have a start record and no such variable. */
static int add_unset(struct environment_view *s, const struct value_of_rank *first, size_t n,
		     struct ct_report_env_value *value)
{
	value->value = NULL;
	value->ranks = ct_arena_calloc(s->report->memory, s->n_slots, sizeof(*value->ranks));
	if (!value->ranks)
		return CT_NOMEM;
	for (uint32_t i = 0; i < s->n_slots; i++) {
		const struct ct_environment_facts *facts = ct_model_environment(s->model,
										s->slots[i]);
		size_t at = 0;

		while (at < n && first[at].slot != s->slots[i])
			at++;
		/* where variables were left out, this one may have been set */
		if (at == n && !ct_facts_value(facts, "env_left_out"))
			value->ranks[value->n_ranks++] = s->model->slots[s->slots[i]].rank;
	}
	qsort(value->ranks, value->n_ranks, sizeof(*value->ranks), ct_by_int);
	return CT_OK;
}

static int add_values(struct environment_view *s, const struct value_of_rank *first, size_t n,
		      struct ct_report_env_differs *differs)
{
	size_t most = 1;

	for (size_t i = 1; i < n; i++)
		most += strcmp(first[i].value, first[i - 1].value) != 0;
	differs->values = ct_arena_calloc(s->report->memory, most + 1, sizeof(*differs->values));
	if (!differs->values)
		return CT_NOMEM;
	for (size_t i = 0, end; i < n; i = end) {
		struct ct_report_env_value *value = &differs->values[differs->n_values++];

		for (end = i + 1; end < n && strcmp(first[i].value, first[end].value) == 0;)
			end++;
		value->value = ct_arena_printf(s->report->memory, "%s", first[i].value);
		value->ranks = ct_arena_calloc(s->report->memory, end - i, sizeof(*value->ranks));
		if (!value->value || !value->ranks)
			return CT_NOMEM;
		for (size_t r = i; r < end; r++)
			value->ranks[value->n_ranks++] = first[r].rank;
	}
	if (strncmp(first->name, "env.", 4) == 0 && n < s->n_slots) {
		struct ct_report_env_value *unset = &differs->values[differs->n_values];

		if (add_unset(s, first, n, unset) != CT_OK)
			return CT_NOMEM;
		differs->n_values += unset->n_ranks > 0;
	}
	return CT_OK;
}

CT_SORT_BY(by_text_pair, struct ct_report_fact,
	   strcmp(x->name, y->name) ?: strcmp(x->value, y->value))

/* Does it differ between ranks whose GPU is of the same make? gpu.N.what goes with gpu.N.name. 1, 0
 * or CT_NOMEM. */
static int differs_by_name(const struct environment_view *s, const struct value_of_rank *first,
			   size_t n)
{
	struct ct_report_fact *pairs = calloc(n, sizeof(*pairs));
	const char *dot = strrchr(first->name, '.');
	char key[CT_FACTS_KEY_MOST + 8];
	size_t known = 0;
	int differs = 0;

	if (!pairs)
		return CT_NOMEM;
	snprintf(key, sizeof(key), "%.*s.name", (int)(dot - first->name), first->name);
	for (size_t i = 0; i < n; i++) {
		const char *make = ct_facts_value(ct_model_environment(s->model, first[i].slot),
						  key);

		if (make)
			pairs[known++] = (struct ct_report_fact){ make, first[i].value };
	}
	qsort(pairs, known, sizeof(*pairs), by_text_pair);
	for (size_t i = 1; i < known; i++)
		differs |= strcmp(pairs[i - 1].name, pairs[i].name) == 0 &&
			   strcmp(pairs[i - 1].value, pairs[i].value) != 0;
	free(pairs);
	return differs;
}

static int add_name(struct environment_view *s, const struct value_of_rank *first, size_t n)
{
	struct ct_report_environment *out = s->out;
	struct ct_report_env_differs differs = { 0 };
	const struct must *must = must_of(first->name);
	const char *name = ct_arena_printf(s->report->memory, "%s", first->name);
	int among = 1;

	if (!name || add_values(s, first, n, &differs) != CT_OK)
		return CT_NOMEM;
	if (differs.n_values == 1) {
		out->same[out->n_same++] = (struct ct_report_fact){ name, differs.values[0].value };
		return CT_OK;
	}
	if (must && must->among == AMONG_NAME)
		among = differs_by_name(s, first, n);
	if (among < 0)
		return among;
	differs.name = name;
	differs.matters = must && among;
	differs.severity = must ? must->severity : CT_SEVERITY_INFO;
	out->differs[out->n_differs++] = differs;
	return CT_OK;
}

static int add_own(struct environment_view *s, uint32_t slot, struct ct_report_env_rank *rank)
{
	const struct ct_environment_facts *facts = ct_model_environment(s->model, slot);

	rank->rank = s->model->slots[slot].rank;
	rank->facts = ct_arena_calloc(s->report->memory, facts->n, sizeof(*rank->facts));
	if (!rank->facts)
		return CT_NOMEM;
	for (uint32_t i = 0; i < facts->n; i++) {
		struct ct_report_fact *fact = &rank->facts[rank->n_facts];

		if (!is_own(facts->facts[i].name))
			continue;
		fact->name = ct_arena_printf(s->report->memory, "%s", facts->facts[i].name);
		fact->value = ct_arena_printf(s->report->memory, "%s", facts->facts[i].value);
		if (!fact->name || !fact->value)
			return CT_NOMEM;
		rank->n_facts++;
	}
	return CT_OK;
}

CT_SORT_BY(by_rank, struct ct_report_env_rank, CT_UP(rank))

static int fill(struct environment_view *s)
{
	struct ct_arena *memory = s->report->memory;
	size_t names = 0;

	for (size_t i = 0; i < s->n_all; i++)
		names += i == 0 || strcmp(s->all[i].name, s->all[i - 1].name) != 0;
	s->out->same = ct_arena_calloc(memory, names, sizeof(*s->out->same));
	s->out->differs = ct_arena_calloc(memory, names, sizeof(*s->out->differs));
	s->out->ranks = ct_arena_calloc(memory, s->n_slots, sizeof(*s->out->ranks));
	if (!s->out->same || !s->out->differs || !s->out->ranks)
		return CT_NOMEM;
	for (size_t i = 0, end; i < s->n_all; i = end) {
		for (end = i + 1; end < s->n_all && strcmp(s->all[i].name, s->all[end].name) == 0;)
			end++;
		if (add_name(s, &s->all[i], end - i) != CT_OK)
			return CT_NOMEM;
	}
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (add_own(s, s->slots[i], &s->out->ranks[s->out->n_ranks++]) != CT_OK)
			return CT_NOMEM;
	qsort(s->out->ranks, s->out->n_ranks, sizeof(*s->out->ranks), by_rank);
	return CT_OK;
}

int ct_environment_fill(const struct ct_model *model, struct ct_report *report)
{
	struct environment_view s = { .model = model,
				      .report = report,
				      .out = &report->environment };
	int st = collect(&s) ?: fill(&s);

	free(s.all);
	free(s.slots);
	return st;
}

/* ---- what passes unseen ---- */

size_t ct_environment_unseen(const struct ct_model *model)
{
	size_t n = 0;

	for (uint32_t slot = 0; slot < model->n_slots; slot++)
		n += ct_model_environment(model, slot)->n_unseen;
	return n;
}

static int add_unseen(struct ct_report *report, const struct ct_report_fact *fact, const int *ranks,
		      size_t n)
{
	const struct ct_invisible_row *row = ct_invisible_by_id(fact->name);
	const char *list = ct_ranks_text(report->memory, ranks, n, CT_RANKS_SHOWN);
	struct ct_report_invisible *to = &report->invisible[report->n_invisible];

	if (!list)
		return CT_NOMEM;
	to->what = row ? row->what
		       : ct_arena_printf(report->memory,
					 "%s, which this version of the program does not know",
					 fact->name);
	to->why = ct_arena_printf(report->memory, "%s%s%s on rank%s %s", row ? row->why : "",
				  row ? ": " : "", fact->value, n == 1 ? "" : "s", list);
	to->remedy = row ? row->remedy : NULL;
	report->n_invisible++;
	return to->what && to->why ? CT_OK : CT_NOMEM;
}

static int has_unseen(const struct ct_environment_facts *facts, const struct ct_report_fact *fact)
{
	for (uint32_t i = 0; i < facts->n_unseen; i++)
		if (strcmp(facts->unseen[i].name, fact->name) == 0 &&
		    strcmp(facts->unseen[i].value, fact->value) == 0)
			return 1;
	return 0;
}

int ct_environment_fill_unseen(const struct ct_model *model, struct ct_report *report)
{
	int *ranks = calloc(model->n_slots + 1, sizeof(*ranks));
	int st = ranks ? CT_OK : CT_NOMEM;

	for (uint32_t slot = 0; slot < model->n_slots; slot++) {
		const struct ct_environment_facts *facts = ct_model_environment(model, slot);

		for (uint32_t i = 0; i < facts->n_unseen && st == CT_OK; i++) {
			size_t n = 0;
			int before = 0;

			for (uint32_t k = 0; k < model->n_slots; k++) {
				if (!has_unseen(ct_model_environment(model, k), &facts->unseen[i]))
					continue;
				before |= k < slot; /* reported with that one */
				ranks[n++] = model->slots[k].rank;
			}
			qsort(ranks, n, sizeof(*ranks), ct_by_int);
			if (!before)
				st = add_unseen(report, &facts->unseen[i], ranks, n);
		}
	}
	free(ranks);
	return st;
}
