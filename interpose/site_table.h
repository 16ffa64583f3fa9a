/* SPDX-License-Identifier: Apache-2.0 */
/* site_table.h — string ids by 64-bit keys: of call sites, and of texts. Fixed memory,
 * filled by any thread without a lock, emptied only where recording starts. */
#ifndef CT_INTERPOSE_SITE_TABLE_H
#define CT_INTERPOSE_SITE_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/mix.h"

/* size: call sites, a power of two: ids of texts fill up sooner (CT_RING_STRING_MAX). */
#define CT_SITE_TABLE 8192u
#define CT_SITE_UNKNOWN UINT32_MAX /* the call site is known to have no text */

void ct_site_table_clear(void);

/* The string id of a key (not 0), CT_SITE_UNKNOWN, or 0: not there yet. */
uint32_t ct_site_table_get(uint64_t key);

/* Enters it; an entry of another thread made meanwhile stays. -1: no space. */
int ct_site_table_put(uint64_t key, uint32_t id);

/* Puts the text into the ring's string table, if it is not there yet from another call site. 0: no
 * space, or another thread is just at it. */
uint32_t ct_site_table_intern(const char *text);

static inline uint64_t ct_site_mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * CT_GOLDEN;
	return key ^ key >> 29;
}

#endif
