/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "trace/status.h"

void *ct_keyed_find(struct ct_keyed *keyed, uint64_t key, const void *like, size_t size)
{
	void *value = ct_table_get(&keyed->by_key, key);

	if (value)
		return value;
	if (ct_grow(&keyed->all, &keyed->cap, keyed->n + 1, sizeof(*keyed->all)))
		return NULL;
	value = malloc(size);
	if (!value || ct_table_put(&keyed->by_key, key, value) != CT_OK) {
		free(value);
		return NULL;
	}
	keyed->all[keyed->n++] = value;
	return memcpy(value, like, size);
}

void ct_keyed_fini(struct ct_keyed *keyed)
{
	for (uint32_t i = 0; i < keyed->n; i++)
		free(keyed->all[i]);
	free(keyed->all);
	ct_table_fini(&keyed->by_key);
	*keyed = (struct ct_keyed){ 0 };
}
