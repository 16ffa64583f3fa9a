/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block_model.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

static int grow(void *array, uint32_t cap, size_t size)
{
	void **p = array;

	free(*p);
	*p = malloc((size_t)cap * size);
	return *p != NULL;
}

int ct_block_model_reset(struct ct_block_model *m, uint32_t records)
{
	struct ct_block_map *maps[] = {
		&m->op_by_tuple,   &m->launch_by_tuple, &m->seq_by_comm,
		&m->thread_by_tid, &m->stream_by_id,	&m->index_by_launch
	};
	uint32_t cap = records + 1;

	if (m->cap < cap) {
		m->cap = 0;
		if (!grow(&m->ops, cap, sizeof(*m->ops)) ||
		    !grow(&m->launches, cap, sizeof(*m->launches)) ||
		    !grow(&m->tuple_of, cap, sizeof(*m->tuple_of)) ||
		    !grow(&m->next_seq, 2 * cap, sizeof(*m->next_seq)) ||
		    !grow(&m->thread_last, cap, sizeof(*m->thread_last)) ||
		    !grow(&m->stream_end, cap, sizeof(*m->stream_end)) ||
		    !grow(&m->launch_index, cap, sizeof(*m->launch_index)))
			return CT_NOMEM;
		m->cap = cap;
	}
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (ct_block_map_reset(maps[i], cap) != CT_OK)
			return CT_NOMEM;
	m->n_ops = m->n_launches = m->n_seqs = m->n_threads = m->n_streams = m->n_launch_index = 0;
	return CT_OK;
}

void ct_block_model_fini(struct ct_block_model *m)
{
	free(m->ops);
	free(m->launches);
	free(m->tuple_of);
	free(m->next_seq);
	free(m->thread_last);
	free(m->stream_end);
	free(m->launch_index);
	ct_block_map_fini(&m->op_by_tuple);
	ct_block_map_fini(&m->launch_by_tuple);
	ct_block_map_fini(&m->seq_by_comm);
	ct_block_map_fini(&m->thread_by_tid);
	ct_block_map_fini(&m->stream_by_id);
	ct_block_map_fini(&m->index_by_launch);
	memset(m, 0, sizeof(*m));
}

void ct_block_model_add_op(struct ct_block_model *m, const struct ct_op_tuple *tuple)
{
	struct ct_op_state *s = &m->ops[m->n_ops++];
	uint32_t before = m->n_seqs;

	s->tuple = *tuple;
	s->after = 0;
	s->gap = 0;
	s->duration = 0;
	memset(&s->habits, 0, sizeof(s->habits));
	/* collectives count per comm, point-to-point per (comm, op, peer, tag), which is the tuple */
	if (ct_op_class(tuple->op) == CT_CLASS_P2P)
		s->sequence = m->n_seqs++;
	else
		s->sequence = ct_block_map_number(&m->seq_by_comm, tuple->comm, &m->n_seqs);
	if (m->n_seqs != before)
		m->next_seq[before] = 0;
}

void ct_block_model_add_launch(struct ct_block_model *m, const struct ct_launch_tuple *tuple)
{
	struct ct_launch_state *s = &m->launches[m->n_launches++];
	uint32_t before = m->n_streams;

	s->tuple = *tuple;
	s->after = 0;
	memset(&s->habits, 0, sizeof(s->habits));
	s->stream = ct_block_map_number(&m->stream_by_id, tuple->stream, &m->n_streams);
	if (m->n_streams != before)
		m->stream_end[before] = 0;
}

static uint32_t number_of_op(struct ct_block_model *m, const struct ct_op *op)
{
	struct ct_block_map *map = &m->op_by_tuple;
	struct ct_op_tuple tuple = { .count = ct_op_class(op->op) == CT_CLASS_P2P ? 0 : op->count };
	uint32_t key, i;

	memcpy(&tuple.flags, &op->flags, CT_OP_REPEATS);
	key = ct_block_map_hash(&tuple, sizeof(tuple));
	i = ct_block_map_home(map, key);
	for (; !ct_block_map_is_free(map, i); i = (i + 1) & map->mask)
		if (map->keys[i] == ct_block_map_key(map, key) &&
		    ct_op_is(op, &m->ops[map->values[i]].tuple))
			return map->values[i];
	ct_block_map_put(map, i, key, m->n_ops);
	ct_block_model_add_op(m, &tuple);
	return m->n_ops - 1;
}

uint32_t ct_block_model_search_op(struct ct_block_model *m, const struct ct_op *op, uint32_t before)
{
	const int is_first = before >= m->n_ops;
	uint32_t t = number_of_op(m, op);

	if (!is_first)
		m->ops[before].after = t;
	return t;
}

static uint32_t number_of_launch(struct ct_block_model *m, const struct ct_launch *l)
{
	struct ct_block_map *map = &m->launch_by_tuple;
	struct ct_launch_tuple tuple = { .comm = l->comm, .has = ct_launch_has(l) };
	uint32_t key, i;

	memcpy(&tuple, &l->device, CT_LAUNCH_REPEATS);
	key = ct_block_map_hash(&tuple, sizeof(tuple));
	i = ct_block_map_home(map, key);
	for (; !ct_block_map_is_free(map, i); i = (i + 1) & map->mask)
		if (map->keys[i] == ct_block_map_key(map, key) &&
		    ct_launch_is(l, &m->launches[map->values[i]].tuple))
			return map->values[i];
	ct_block_map_put(map, i, key, m->n_launches);
	ct_block_model_add_launch(m, &tuple);
	return m->n_launches - 1;
}

uint32_t ct_block_model_search_launch(struct ct_block_model *m, const struct ct_launch *launch,
				      uint32_t before)
{
	const int is_first = before >= m->n_launches;
	uint32_t t = number_of_launch(m, launch);

	if (!is_first)
		m->launches[before].after = t;
	return t;
}

uint64_t *ct_block_model_thread(struct ct_block_model *m, uint32_t tid)
{
	uint32_t before = m->n_threads;
	uint32_t i = ct_block_map_number(&m->thread_by_tid, tid, &m->n_threads);

	if (m->n_threads != before)
		m->thread_last[i] = 0;
	return &m->thread_last[i];
}
