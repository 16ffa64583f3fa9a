/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/rare_code.h"

#include <stddef.h>
#include <stdlib.h>

#include "trace/status.h"

/* By kind, ended by one of 0 bytes. */
static const struct ct_rare_field fields[CT_RARE_KINDS][CT_RARE_FIELDS] = {
#define RECORD(KIND) [CT_KIND_##KIND] = {
#define FIELD(record, name, size, how)                                                             \
	{ CT_RARE_##how, offsetof(struct record, name), size,                                      \
	  sizeof(((struct record *)0)->name) / (size) },
#define END                                                                                        \
	}                                                                                          \
	,
#include "trace/rare_fields.def"
#undef RECORD
#undef FIELD
#undef END
};

const struct ct_rare_field *ct_rare_fields(unsigned kind)
{
	return fields[kind];
}

int ct_rare_has_columns(unsigned kind)
{
	return kind < CT_RARE_KINDS && fields[kind][0].bytes;
}

/* ---- tuples
 * -------------------------------------------------------------------------------------------------
 */

/* 1; or 0: a ZERO field has something. */
static int make_tuple(struct ct_rare_tuple *t, unsigned kind, const uint8_t *payload)
{
	uint64_t odd = 0;

	*t = (struct ct_rare_tuple){ .kind = kind };
	for (const struct ct_rare_field *f = fields[kind]; f->bytes; f++) {
		const uint8_t *p = payload + f->at;

		if (ct_rare_is_time(f))
			t->bytes[f->at] = ct_rare_load(p, 8) != 0;
		else if (f->coding == CT_RARE_SAME)
			memcpy(t->bytes + f->at, p, f->n * f->bytes);
		for (unsigned i = 0; f->coding == CT_RARE_ZERO && i < f->n; i++)
			odd |= ct_rare_load(p + i * f->bytes, f->bytes);
	}
	return !odd;
}

static uint32_t number_of(struct ct_rare_model *m, const struct ct_rare_tuple *tuple)
{
	struct ct_block_map *map = &m->by_tuple;
	uint32_t key = ct_block_map_hash(tuple, sizeof(*tuple));
	uint32_t i = ct_block_map_home(map, key);

	for (; !ct_block_map_is_free(map, i); i = (i + 1) & map->mask)
		if (map->keys[i] == ct_block_map_key(map, key) &&
		    memcmp(&m->states[map->values[i]].tuple, tuple, sizeof(*tuple)) == 0)
			return map->values[i];
	ct_block_map_put(map, i, key, m->n);
	ct_rare_add(m, (unsigned)tuple->kind)->tuple = *tuple;
	return m->n - 1;
}

int ct_rare_search(struct ct_rare_model *m, unsigned kind, const uint8_t *payload, size_t len,
		   uint32_t *t)
{
	const uint32_t before = *t;
	const int is_first = before >= m->n;
	struct ct_rare_tuple tuple;

	if (len != CT_RARE_BYTES || !ct_rare_has_columns(kind) ||
	    !make_tuple(&tuple, kind, payload))
		return 0;
	*t = number_of(m, &tuple);
	if (!is_first)
		m->states[before].after = *t;
	return 1;
}

struct ct_rare_state *ct_rare_add(struct ct_rare_model *m, unsigned kind)
{
	struct ct_rare_state *s = &m->states[m->n++];

	memset(s, 0, sizeof(*s));
	s->tuple.kind = kind;
	return s;
}

/* ---- the model
 * ---------------------------------------------------------------------------------------------- */

int ct_rare_model_reset(struct ct_rare_model *m, uint32_t records)
{
	uint32_t cap = records + 1;

	if (m->cap < cap) {
		m->cap = 0;
		free(m->states);
		free(m->clocks);
		m->states = malloc(cap * sizeof(*m->states));
		m->clocks = malloc(cap * sizeof(*m->clocks));
		if (!m->states || !m->clocks)
			return CT_NOMEM;
		m->cap = cap;
	}
	if (ct_block_map_reset(&m->by_tuple, cap) != CT_OK ||
	    ct_block_map_reset(&m->clock_by_thread, cap) != CT_OK)
		return CT_NOMEM;
	m->n = m->n_clocks = 0;
	return CT_OK;
}

void ct_rare_model_fini(struct ct_rare_model *m)
{
	free(m->states);
	free(m->clocks);
	ct_block_map_fini(&m->by_tuple);
	ct_block_map_fini(&m->clock_by_thread);
	memset(m, 0, sizeof(*m));
}

uint64_t *ct_rare_clock(struct ct_rare_model *m, unsigned kind, uint32_t tid)
{
	uint32_t before = m->n_clocks;
	uint32_t i = ct_block_map_number(&m->clock_by_thread, tid * CT_RARE_KINDS + kind,
					 &m->n_clocks);

	if (m->n_clocks != before)
		m->clocks[i] = 0;
	return &m->clocks[i];
}
