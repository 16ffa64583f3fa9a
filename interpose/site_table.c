/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/site_table.h"

#include <string.h>

#include "interpose/clear.h"
#include "interpose/recorder.h"
#include "trace/mix.h"

#define PROBES 16u	   /* size: half full, 1 in 100 finds no space (STRINGS_FULL) */
#define TEXT 0x74657874ull /* code: keys of texts begin with it: they are not those of call sites */
#define SHARE(bytes) ((bytes) / 4 * 3) /* of the space for strings; the rest is for names */

static struct site_entry {
	_Atomic uint64_t key; /* 0: free */
	_Atomic uint32_t id;  /* 0: its thread has not got it yet */
} table[CT_SITE_TABLE];
static _Atomic uint64_t text_bytes;

void ct_site_table_clear(void)
{
	ct_clear(table, sizeof(table));
	atomic_store_explicit(&text_bytes, 0, memory_order_relaxed);
}

/* Its entry, or with `make` a free one that becomes it; *is_new: created just now. NULL: none. */
static struct site_entry *entry_of(uint64_t key, int make, int *is_new)
{
	*is_new = 0;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct site_entry *e = &table[(key + i) % CT_SITE_TABLE];
		uint64_t held = atomic_load_explicit(&e->key, memory_order_relaxed);

		if (held == key)
			return e;
		if (held)
			continue;
		if (!make)
			return NULL;
		if (atomic_compare_exchange_strong_explicit(
			    &e->key, &held, key, memory_order_relaxed, memory_order_relaxed)) {
			*is_new = 1;
			return e;
		}
		if (held == key)
			return e;
	}
	return NULL;
}

uint32_t ct_site_table_get(uint64_t key)
{
	int is_new;
	struct site_entry *e = entry_of(key, 0, &is_new);

	/* (the text that the id stands for is found by the reader, through the id's own release) */
	return e ? atomic_load_explicit(&e->id, memory_order_relaxed) : 0;
}

int ct_site_table_put(uint64_t key, uint32_t id)
{
	int is_new;
	struct site_entry *e = entry_of(key, 1, &is_new);

	if (!e)
		return -1;
	atomic_store_explicit(&e->id, id, memory_order_relaxed);
	return 0;
}

static uint64_t text_key(const char *text)
{
	const uint64_t key = ct_site_mix(TEXT, ct_fnv_text(TEXT, text));

	return key ? key : 1;
}

uint32_t ct_site_table_intern(const char *text)
{
	uint64_t size = strlen(text) + 9;
	int is_new;
	struct site_entry *e = entry_of(text_key(text), 1, &is_new);
	uint32_t id = 0;

	if (!e) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_STRINGS_FULL, 1);
		return 0;
	}
	if (!is_new) {
		id = atomic_load_explicit(&e->id, memory_order_relaxed);
		return id == CT_SITE_UNKNOWN ? 0 : id;
	}
	if (atomic_fetch_add_explicit(&text_bytes, size, memory_order_relaxed) + size <=
	    SHARE(ct_recorder.ring.most.strings_bytes))
		id = ct_ring_string(&ct_recorder.ring, text);
	else
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_STRINGS_FULL, 1);
	atomic_store_explicit(&e->id, id ? id : CT_SITE_UNKNOWN, memory_order_relaxed);
	return id;
}
