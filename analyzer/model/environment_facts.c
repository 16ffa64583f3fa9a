/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/environment_facts.h"

#include <string.h>

#include "trace/mix.h"
#include "trace/status.h"

/* "key=value" in two, as it will be shown. */
struct pair {
	char key[CT_FACTS_KEY_MOST + 1];
	char value[CT_FACTS_VALUE_MOST + 1];
};

/* 1, or 0 if it is none. */
static int split(const uint8_t *bytes, size_t len, struct pair *pair)
{
	const uint8_t *equals = memchr(bytes, '=', len);
	size_t key_len = equals ? (size_t)(equals - bytes) : 0;

	if (!key_len || key_len > CT_FACTS_KEY_MOST || memchr(bytes, '\0', len))
		return 0;
	ct_text_clean(pair->key, sizeof(pair->key), (const char *)bytes, key_len);
	ct_text_clean(pair->value, sizeof(pair->value), (const char *)equals + 1,
		      len - key_len - 1);
	return 1;
}

static int keep(struct ct_arena *memory, const struct pair *pair, struct ct_report_fact *fact)
{
	fact->name = ct_arena_printf(memory, "%s", pair->key);
	fact->value = ct_arena_printf(memory, "%s", pair->value);
	return ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}

static struct ct_report_fact *find(const struct ct_environment_facts *facts, const char *key)
{
	uintptr_t at = (uintptr_t)ct_table_get(&facts->index, ct_fnv_text(CT_FNV_START, key));

	return at && strcmp(facts->facts[at - 1].name, key) == 0 ? &facts->facts[at - 1] : NULL;
}

static int grow(struct ct_environment_facts *facts, struct ct_arena *memory)
{
	uint32_t cap = facts->cap ? 2 * facts->cap : 128;
	struct ct_report_fact *more = ct_arena_calloc(memory, cap, sizeof(*more));

	if (!more)
		return CT_NOMEM;
	if (facts->n)
		memcpy(more, facts->facts, facts->n * sizeof(*more));
	facts->facts = more;
	facts->cap = cap;
	return CT_OK;
}

/* Every segment begins with all of them, so most are known. */
int ct_facts_take(struct ct_environment_facts *facts, struct ct_arena *memory, const uint8_t *bytes,
		  size_t len)
{
	struct ct_report_fact *known, fact;
	struct pair pair;

	if (!split(bytes, len, &pair))
		return CT_OK;
	known = find(facts, pair.key);
	if (known && strcmp(known->value, pair.value) == 0)
		return CT_OK;
	/* a value that keeps changing is not a fact */
	if (known ? facts->n_changed++ >= CT_FACTS_MOST : facts->n == CT_FACTS_MOST)
		return CT_OK;
	if (keep(memory, &pair, &fact) != CT_OK)
		return CT_NOMEM;
	if (known) {
		known->value = fact.value;
		return CT_OK;
	}
	if (facts->n == facts->cap && grow(facts, memory) != CT_OK)
		return CT_NOMEM;
	facts->facts[facts->n++] = fact;
	return ct_table_put(&facts->index, ct_fnv_text(CT_FNV_START, fact.name),
			    (void *)(uintptr_t)facts->n);
}

int ct_facts_take_unseen(struct ct_environment_facts *facts, struct ct_arena *memory,
			 const uint8_t *bytes, size_t len)
{
	struct pair pair;

	if (facts->n_unseen == CT_UNSEEN_MOST || !split(bytes, len, &pair))
		return CT_OK;
	for (uint32_t i = 0; i < facts->n_unseen; i++)
		if (strcmp(facts->unseen[i].name, pair.key) == 0 &&
		    strcmp(facts->unseen[i].value, pair.value) == 0)
			return CT_OK;
	if (!facts->unseen) {
		facts->unseen = ct_arena_calloc(memory, CT_UNSEEN_MOST, sizeof(*facts->unseen));
		if (!facts->unseen)
			return CT_NOMEM;
	}
	return keep(memory, &pair, &facts->unseen[facts->n_unseen++]);
}

static int copy_list(struct ct_arena *memory, const struct ct_report_fact *from, uint32_t n,
		     struct ct_report_fact **out)
{
	struct ct_report_fact *to = ct_arena_calloc(memory, n, sizeof(*to));

	if (!to)
		return CT_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		to[i].name = ct_arena_text(memory, from[i].name, strlen(from[i].name));
		to[i].value = ct_arena_text(memory, from[i].value, strlen(from[i].value));
	}
	*out = to;
	return ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}

int ct_facts_copy(struct ct_environment_facts *to, struct ct_arena *memory,
		  const struct ct_environment_facts *from)
{
	*to = (struct ct_environment_facts){ .n = from->n,
					     .cap = from->n,
					     .n_unseen = from->n_unseen };
	if (copy_list(memory, from->facts, from->n, &to->facts) != CT_OK)
		return CT_NOMEM;
	return copy_list(memory, from->unseen, from->n_unseen, &to->unseen);
}

const char *ct_facts_value(const struct ct_environment_facts *facts, const char *key)
{
	for (uint32_t i = 0; i < facts->n; i++)
		if (strcmp(facts->facts[i].name, key) == 0)
			return facts->facts[i].value;
	return NULL;
}

void ct_facts_fini(struct ct_environment_facts *facts)
{
	ct_table_fini(&facts->index);
}
