/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/environment/nccl_settings.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/nearest.h"
#include "analyzer/base/sort.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const char *const others[] = {
#define OTHER(PATTERN) PATTERN,
#include "analyzer/environment/nccl_settings.def"
};

static const struct {
	const char *name, *text;
} insteads[] = {
#define INSTEAD(NAME, TEXT) { NAME, TEXT },
#include "analyzer/environment/nccl_settings.def"
};

/* One variable that one rank's NCCL does not read. */
struct unread {
	const char *name; /* not terminated */
	size_t len;
	int rank;
};

static int is_other(const char *name, size_t len)
{
	char text[CT_FACTS_KEY_MOST + 1];

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	for (size_t i = 0; i < ROWS(others); i++)
		if (fnmatch(others[i], text, 0) == 0)
			return 1;
	return 0;
}

static int is_listed(const char *list, const char *name, size_t len)
{
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == len && strncmp(at, name, len) == 0)
			return 1;
	return 0;
}

/* Is the name in none of the libraries of NCCL that the rank loaded? 0 also where one of them was
 * not searched. */
static int is_unread(const struct ct_environment_facts *facts, const char *name, size_t len)
{
	for (uint32_t i = 0; i < facts->n; i++) {
		const char *key = facts->facts[i].name, *list;
		size_t stem = strlen(key) - strlen(".path");
		char unread[CT_FACTS_KEY_MOST + 8];

		if (strncmp(key, "lib.nccl", 8) != 0 || strlen(key) < strlen("lib.nccl.path") ||
		    strcmp(key + stem, ".path") != 0)
			continue;
		snprintf(unread, sizeof(unread), "%.*s.unread", (int)stem, key);
		list = ct_facts_value(facts, unread);
		if (!list || !is_listed(list, name, len))
			return 0;
	}
	return 1;
}

static size_t count_names(const char *list)
{
	size_t n = 1;

	for (; list && *list; list++)
		n += *list == ',';
	return n;
}

/* The names of this rank's list. A long list was cut: its last name ends in "...", and no variable
 * is called so. */
static size_t add_rank(const struct ct_environment_facts *facts, const char *list, int rank,
		       struct unread *to)
{
	size_t n = 0, len;

	for (const char *at = list; *at; at += len, at += *at == ',') {
		len = strcspn(at, ",");
		if (strncmp(at, "NCCL_", 5) != 0 || at[len - 1] == '.' || is_other(at, len) ||
		    !is_unread(facts, at, len))
			continue;
		to[n++] = (struct unread){ at, len, rank };
	}
	return n;
}

static int compare_names(const struct unread *x, const struct unread *y)
{
	size_t len = x->len < y->len ? x->len : y->len;

	return strncmp(x->name, y->name, len) ?: CT_CMP(x->len, y->len);
}

CT_SORT_BY(by_name_rank, struct unread, compare_names(x, y) ?: CT_UP(rank))

/* A name that NCCL reads, of about this length, that differs in a letter or two; NULL: none. */
static const char *near_name(const char *name)
{
	static const char *const known[] = {
#define KNOWN(name) name,
#include "analyzer/environment/nccl_names.def"
	};
	struct ct_nearest near = { .word = name + strlen("NCCL_") };

	/* a name that is only the beginning of another one is not a typo of it */
	for (size_t i = 0; i < ROWS(known); i++)
		if (strlen(known[i]) < strlen(near.word) + 3)
			ct_nearest_offer(&near, known[i]);
	return near.best;
}

static const char *instead_of(const char *name)
{
	for (size_t i = 0; i < ROWS(insteads); i++)
		if (strcmp(insteads[i].name, name) == 0)
			return insteads[i].text;
	return NULL;
}

static int add_settings(struct ct_report *report, const struct unread *all, size_t n)
{
	struct ct_report_environment *out = &report->environment;

	out->unread = ct_arena_calloc(report->memory, n, sizeof(*out->unread));
	if (n && !out->unread)
		return CT_NOMEM;
	for (size_t i = 0, end; i < n; i = end) {
		struct ct_report_env_unread *setting = &out->unread[out->n_unread++];
		const char *near;

		for (end = i + 1; end < n && compare_names(&all[i], &all[end]) == 0;)
			end++;
		setting->name = ct_arena_printf(report->memory, "%.*s", (int)all[i].len,
						all[i].name);
		setting->ranks = ct_arena_calloc(report->memory, end - i, sizeof(*setting->ranks));
		if (!setting->name || !setting->ranks)
			return CT_NOMEM;
		setting->instead = instead_of(setting->name);
		near = setting->instead ? NULL : near_name(setting->name);
		if (near && strcmp(near, setting->name + strlen("NCCL_")) == 0) {
			setting->instead = "NCCL 2.28.9 reads it, the library that was loaded does "
					   "not";
			near = NULL;
		}
		if (near)
			setting->instead = ct_arena_printf(report->memory, "did you mean NCCL_%s?",
							   near);
		setting->is_misspelt = near != NULL;
		for (size_t r = i; r < end; r++)
			setting->ranks[setting->n_ranks++] = all[r].rank;
	}
	return CT_OK;
}

int ct_nccl_settings_fill(const struct ct_model *model, struct ct_report *report)
{
	struct unread *all;
	size_t n = 0;
	int st;

	for (uint32_t slot = 0; slot < model->n_slots; slot++)
		n += count_names(
			ct_facts_value(ct_model_environment(model, slot), "lib.nccl.unread"));
	all = calloc(n + 1, sizeof(*all));
	if (!all)
		return CT_NOMEM;
	n = 0;
	for (uint32_t slot = 0; slot < model->n_slots; slot++) {
		const struct ct_environment_facts *facts = ct_model_environment(model, slot);
		const char *list = ct_facts_value(facts, "lib.nccl.unread");

		if (list)
			n += add_rank(facts, list, model->slots[slot].rank, all + n);
	}
	qsort(all, n, sizeof(*all), by_name_rank);
	st = add_settings(report, all, n);
	free(all);
	return st;
}
