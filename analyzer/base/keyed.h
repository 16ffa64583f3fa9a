/* SPDX-License-Identifier: Apache-2.0 */
/* keyed.h — values that are found by a key of 64 bits and made on demand, in the order in which
 * they were made. Their addresses stay. A zeroed struct is empty. One thread. */
#ifndef CT_ANALYZER_BASE_KEYED_H
#define CT_ANALYZER_BASE_KEYED_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/table.h"

struct ct_keyed {
	void **all;
	uint32_t n, cap;
	struct ct_table by_key;
};

/* The value with this key, else a new one, a copy of `like`, which has `size` bytes. NULL: out of
 * memory. */
void *ct_keyed_find(struct ct_keyed *keyed, uint64_t key, const void *like, size_t size);

/* Frees the values, not what they point to. */
void ct_keyed_fini(struct ct_keyed *keyed);

#endif
