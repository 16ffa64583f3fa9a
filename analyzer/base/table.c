/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/table.h"

#include <stdlib.h>

static int grow(struct ct_table *table)
{
	struct ct_table bigger = { .cap = table->cap ? 2 * table->cap : 64, .n = table->n };

	bigger.shift = 64 - (unsigned)__builtin_ctzll(bigger.cap);
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return CT_NOMEM;
	for (size_t i = 0; i < table->cap; i++) {
		if (table->slots[i].value)
			bigger.slots[ct_table_slot_of(&bigger,
						      table->slots[i].key)] = table->slots[i];
	}
	free(table->slots);
	*table = bigger;
	return CT_OK;
}

int ct_table_put(struct ct_table *table, uint64_t key, void *value)
{
	size_t at;

	if (2 * (table->n + 1) > table->cap && grow(table) != CT_OK)
		return CT_NOMEM;
	at = ct_table_slot_of(table, key);
	table->n += table->slots[at].value == NULL;
	table->slots[at] = (struct ct_table_slot){ key, value };
	return CT_OK;
}

void *ct_table_remove(struct ct_table *table, uint64_t key)
{
	size_t mask = table->cap - 1;
	size_t hole;
	void *value;

	if (!table->cap)
		return NULL;
	hole = ct_table_slot_of(table, key);
	value = table->slots[hole].value;
	if (!value)
		return NULL;
	table->n--;
	/* An entry behind the hole whose hash position is at the hole or before it moves up. */
	for (size_t at = (hole + 1) & mask; table->slots[at].value; at = (at + 1) & mask) {
		size_t home = ct_table_home(table, table->slots[at].key);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			table->slots[hole] = table->slots[at];
			hole = at;
		}
	}
	table->slots[hole].value = NULL;
	return value;
}

void ct_table_fini(struct ct_table *table)
{
	free(table->slots);
	*table = (struct ct_table){ 0 };
}
