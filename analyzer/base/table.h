/* SPDX-License-Identifier: Apache-2.0 */
/* table.h — a hash table from a 64-bit key to a pointer; nothing is owned. Open addressing with
 * linear probing (at most half of the slots are taken), removal shifts back, so it does not get
 * slower over time. One thread. A zeroed struct is an empty table. */
#ifndef CT_ANALYZER_BASE_TABLE_H
#define CT_ANALYZER_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/mix.h"
#include "trace/status.h"

struct ct_table {
	struct ct_table_slot {
		uint64_t key;
		void *value; /* NULL: slot is free */
	} * slots;
	size_t cap; /* power of two, 0 before the first */
	size_t n;
	unsigned shift; /* leaves as many of a product's highest bits as there are slots */
};

/* Of a text: FNV-1a, its bits spread. */
static inline uint64_t ct_hash_text(const char *text)
{
	return ct_mix(ct_fnv_text(CT_FNV_START, text));
}

/* As ct_mix_slot(). */
static inline size_t ct_table_home(const struct ct_table *table, uint64_t key)
{
	return (size_t)(key * CT_GOLDEN >> table->shift);
}

/* The slot of `key`, or the free one where it would go. The table has space. */
static inline size_t ct_table_slot_of(const struct ct_table *table, uint64_t key)
{
	size_t at = ct_table_home(table, key);

	while (table->slots[at].value && table->slots[at].key != key)
		at = (at + 1) & (table->cap - 1);
	return at;
}

/* NULL: not there. */
static inline void *ct_table_get(const struct ct_table *table, uint64_t key)
{
	return table->cap ? table->slots[ct_table_slot_of(table, key)].value : NULL;
}

/* Set; `value` is not NULL. 0 or CT_NOMEM. */
int ct_table_put(struct ct_table *table, uint64_t key, void *value);

/* Take out and return the value, NULL if it was not there. */
void *ct_table_remove(struct ct_table *table, uint64_t key);

/* Of a table that holds nothing else: the key's number, 0, 1, ... as they are met. 0 or CT_NOMEM. */
static inline int ct_table_number(struct ct_table *table, uint64_t key, uint32_t *number)
{
	uintptr_t next = (uintptr_t)ct_table_get(table, key);

	if (!next) {
		next = table->n + 1;
		if (ct_table_put(table, key, (void *)next) != CT_OK)
			return CT_NOMEM;
	}
	*number = (uint32_t)next - 1;
	return CT_OK;
}

void ct_table_fini(struct ct_table *table);

#endif
