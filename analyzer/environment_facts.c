/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/environment_facts.h"

#include <string.h>

#include "trace/status.h"

static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return h;
}

/* "key=value" in two. 1, 0 if it is none, or CT_NOMEM. */
static int split(struct ct_arena *memory, const uint8_t *bytes, size_t len,
		 struct ct_report_fact *fact)
{
	const uint8_t *equals = memchr(bytes, '=', len);
	size_t key_len = equals ? (size_t)(equals - bytes) : 0;
	size_t value_len;

	if (!key_len || key_len > CT_FACTS_KEY_MOST || memchr(bytes, '\0', len))
		return 0;
	value_len = len - key_len - 1;
	if (value_len > CT_FACTS_VALUE_MOST)
		value_len = CT_FACTS_VALUE_MOST;
	fact->name = ct_arena_text(memory, (const char *)bytes, key_len);
	fact->value = ct_arena_text(memory, (const char *)equals + 1, value_len);
	return fact->name && fact->value ? 1 : CT_NOMEM;
}

static struct ct_report_fact *find(const struct ct_environment_facts *facts, const char *key)
{
	uintptr_t at = (uintptr_t)ct_table_get(&facts->index, hash(key));

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

/* Every segment begins with all of them: most are known. */
static int is_known(const struct ct_environment_facts *facts, const uint8_t *bytes, size_t len)
{
	const uint8_t *equals = memchr(bytes, '=', len);
	char key[CT_FACTS_KEY_MOST + 1];
	const struct ct_report_fact *known;
	size_t key_len = equals ? (size_t)(equals - bytes) : 0;

	if (!key_len || key_len > CT_FACTS_KEY_MOST)
		return 0;
	memcpy(key, bytes, key_len);
	key[key_len] = '\0';
	known = find(facts, key);
	return known && strlen(known->value) == len - key_len - 1 &&
	       memcmp(known->value, equals + 1, len - key_len - 1) == 0;
}

int ct_facts_take(struct ct_environment_facts *facts, struct ct_arena *memory, const uint8_t *bytes,
		  size_t len)
{
	struct ct_report_fact fact, *known;
	int st;

	if (is_known(facts, bytes, len))
		return CT_OK;
	st = split(memory, bytes, len, &fact);
	if (st != 1)
		return st;
	known = find(facts, fact.name);
	if (known) {
		known->value = fact.value;
		return CT_OK;
	}
	if (facts->n == CT_FACTS_MOST)
		return CT_OK;
	if (facts->n == facts->cap && grow(facts, memory) != CT_OK)
		return CT_NOMEM;
	facts->facts[facts->n++] = fact;
	return ct_table_put(&facts->index, hash(fact.name), (void *)(uintptr_t)facts->n);
}

int ct_facts_take_unseen(struct ct_environment_facts *facts, struct ct_arena *memory,
			 const uint8_t *bytes, size_t len)
{
	struct ct_report_fact fact;
	int st;

	if (facts->n_unseen == CT_UNSEEN_MOST)
		return CT_OK;
	if (!facts->unseen) {
		facts->unseen = ct_arena_calloc(memory, CT_UNSEEN_MOST, sizeof(*facts->unseen));
		if (!facts->unseen)
			return CT_NOMEM;
	}
	st = split(memory, bytes, len, &fact);
	if (st != 1)
		return st;
	for (uint32_t i = 0; i < facts->n_unseen; i++)
		if (strcmp(facts->unseen[i].name, fact.name) == 0 &&
		    strcmp(facts->unseen[i].value, fact.value) == 0)
			return CT_OK;
	facts->unseen[facts->n_unseen++] = fact;
	return CT_OK;
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
		if (!to[i].name || !to[i].value)
			return CT_NOMEM;
	}
	*out = to;
	return CT_OK;
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
