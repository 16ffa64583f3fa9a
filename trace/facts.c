/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ct_facts_clear(struct ct_facts *facts)
{
	atomic_store_explicit(&facts->used, 0, memory_order_release);
	atomic_store_explicit(&facts->left_out, 0, memory_order_relaxed);
}

void ct_facts_add(struct ct_facts *facts, const char *key, const char *value)
{
	static const char dots[] = "...";
	uint32_t used = atomic_load_explicit(&facts->used, memory_order_relaxed);
	size_t key_len = strlen(key), len = strnlen(value, CT_FACT_VALUE);
	int cut = len == CT_FACT_VALUE;
	char *to = facts->text + used;

	if (cut)
		len = CT_FACT_VALUE - sizeof(dots);
	if (key_len >= CT_FACT_KEY || used + key_len + len + sizeof(dots) + 2 > CT_FACTS_BYTES) {
		atomic_fetch_add_explicit(&facts->left_out, 1, memory_order_relaxed);
		return;
	}
	memcpy(to, key, key_len);
	to += key_len;
	*to++ = '=';
	memcpy(to, value, len);
	to += len;
	if (cut) {
		memcpy(to, dots, sizeof(dots) - 1);
		to += sizeof(dots) - 1;
	}
	*to++ = '\0';
	/* release: pairs with the acquire in ct_facts_next() */
	atomic_store_explicit(&facts->used, (uint32_t)(to - facts->text), memory_order_release);
}

void ct_facts_addf(struct ct_facts *facts, const char *key, const char *fmt, ...)
{
	char value[CT_FACT_VALUE + 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	ct_facts_add(facts, key, value);
}

const char *ct_facts_next(const struct ct_facts *facts, uint32_t *at)
{
	const char *entry = facts->text + *at;

	if (*at >= atomic_load_explicit(&facts->used, memory_order_acquire))
		return NULL;
	*at += (uint32_t)strlen(entry) + 1;
	return entry;
}

const char *ct_facts_find(const struct ct_facts *facts, const char *key)
{
	size_t len = strlen(key);
	uint32_t at = 0;
	const char *entry;

	while ((entry = ct_facts_next(facts, &at)))
		if (strncmp(entry, key, len) == 0 && entry[len] == '=')
			return entry + len + 1;
	return NULL;
}
