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

/* ---- tuples ------------------------------------------------------------------------------------------------- */

static void make_plan(struct ct_rare_plan *plan, unsigned kind)
{
	plan->tid_at = kind == CT_KIND_SUBMIT ? offsetof(struct ct_submit_rec, tid)
					      : offsetof(struct ct_host_rec, tid);
	for (const struct ct_rare_field *f = fields[kind]; f->bytes; f++) {
		if (f->coding == CT_RARE_SAME)
			memset((uint8_t *)plan->same + f->at, 0xff, f->n * f->bytes);
		else if (f->coding == CT_RARE_ZERO)
			memset((uint8_t *)plan->zero + f->at, 0xff, f->n * f->bytes);
		if (ct_rare_is_time(f))
			plan->times[plan->n_times++] = f->at;
	}
}

static int make_plans(struct ct_rare_model *m)
{
	if (m->plans)
		return CT_OK;
	m->plans = calloc(CT_RARE_KINDS, sizeof(*m->plans));
	for (unsigned kind = 0; m->plans && kind < CT_RARE_KINDS; kind++)
		make_plan(&m->plans[kind], kind);
	return m->plans ? CT_OK : CT_NOMEM;
}

int ct_rare_tuple(const struct ct_rare_model *m, unsigned kind, const uint8_t *payload, size_t len,
		  struct ct_rare_tuple *t)
{
	const struct ct_rare_plan *plan = &m->plans[kind < CT_RARE_KINDS ? kind : 0];
	uint64_t words[CT_RARE_BYTES / 8];
	uint64_t odd = 0;

	if (len != CT_RARE_BYTES || !ct_rare_has_columns(kind))
		return 0;
	memcpy(words, payload, sizeof(words));
	t->kind = kind;
#pragma GCC unroll 7
	for (unsigned i = 0; i < CT_RARE_BYTES / 8; i++) {
		odd |= words[i] & plan->zero[i];
		words[i] &= plan->same[i];
	}
	memcpy(t->bytes, words, sizeof(words));
	for (unsigned i = 0; i < plan->n_times; i++)
		t->bytes[plan->times[i]] = ct_rare_load(payload + plan->times[i], 8) != 0;
	return !odd;
}

static uint32_t search(struct ct_rare_model *m, const struct ct_rare_tuple *tuple)
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

uint32_t ct_rare_find(struct ct_rare_model *m, const struct ct_rare_tuple *tuple, uint32_t before)
{
	uint32_t t;

	if (before >= m->n)
		return search(m, tuple);
	t = m->states[before].after;
	if (!ct_block_map_are_equal(&m->states[t].tuple, tuple, sizeof(*tuple)))
		t = m->states[before].after = search(m, tuple);
	return t;
}

struct ct_rare_state *ct_rare_add(struct ct_rare_model *m, unsigned kind)
{
	struct ct_rare_state *s = &m->states[m->n++];

	memset(s, 0, sizeof(*s));
	s->tuple.kind = kind;
	return s;
}

/* ---- the model ---------------------------------------------------------------------------------------------- */

int ct_rare_model_reset(struct ct_rare_model *m, uint32_t records, uint32_t launches)
{
	uint32_t cap = records + 1;

	if (make_plans(m) != CT_OK)
		return CT_NOMEM;
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
	    ct_block_map_reset(&m->clock_by_thread, cap) != CT_OK ||
	    ct_block_map_reset(&m->launch_by_id, launches + 1) != CT_OK)
		return CT_NOMEM;
	m->n = m->n_clocks = 0;
	return CT_OK;
}

void ct_rare_model_fini(struct ct_rare_model *m)
{
	free(m->plans);
	free(m->states);
	free(m->clocks);
	ct_block_map_fini(&m->by_tuple);
	ct_block_map_fini(&m->clock_by_thread);
	ct_block_map_fini(&m->launch_by_id);
	memset(m, 0, sizeof(*m));
}

void ct_rare_model_launches(struct ct_rare_model *m, const struct ct_block *b)
{
	for (uint32_t i = 0; i < b->n_launches; i++)
		ct_block_map_note(&m->launch_by_id, b->launches[i].id, i);
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
