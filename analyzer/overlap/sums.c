/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c — what launches add up to, by communicator and by kind of operation. */
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/status.h"

struct ct_overlap_row *ct_ov_row(struct ct_ov_sums *s, uint32_t slot, const struct ct_comm *comm,
				 int by_host)
{
	uint64_t key = (uint64_t)slot << 32 | comm->index << 1 | (by_host != 0);
	size_t at = (size_t)(uintptr_t)ct_table_get(&s->row_at, key);

	if (at)
		return &s->rows[at - 1];
	if (ct_grow(&s->rows, &s->cap_rows, s->n_rows + 1, sizeof(*s->rows)))
		return NULL;
	s->rows[s->n_rows++] = (struct ct_overlap_row){
		.slot = slot,
		.comm = comm,
		.by_host = by_host,
		.next = (size_t)(uintptr_t)ct_table_get(&s->of_slot, slot),
	};
	if (ct_table_put(&s->of_slot, slot, (void *)(uintptr_t)s->n_rows) != CT_OK ||
	    ct_table_put(&s->row_at, key, (void *)(uintptr_t)s->n_rows) != CT_OK)
		return NULL;
	return &s->rows[s->n_rows - 1];
}

static int is_class(const struct ct_overlap_class *class, const struct ct_overlap_class *like)
{
	return class->comm == like->comm && class->op == like->op && class->dtype == like->dtype &&
	       class->by_host == like->by_host && class->size_range == like->size_range;
}

struct ct_overlap_class *ct_ov_class(struct ct_ov_sums *s, const struct ct_overlap_class *like)
{
	uint64_t near = ct_mix(like->size_range ^ ((uint64_t)like->comm->index << 8 | like->op));
	size_t *recent = &s->recent[near % CT_OV_RECENT];
	uint64_t what = (uint64_t)like->comm->index << 32 | (uint64_t)(like->by_host != 0) << 31 |
			like->op << 8 | like->dtype;
	uint64_t key;
	size_t at;

	if (*recent && is_class(&s->classes[*recent - 1], like))
		return &s->classes[*recent - 1];
	key = ct_mix(like->size_range ^ ct_mix(what));
	at = *recent = (size_t)(uintptr_t)ct_table_get(&s->class_at, key);
	if (at)
		return &s->classes[at - 1];
	if (ct_grow(&s->classes, &s->cap_classes, s->n_classes + 1, sizeof(*s->classes)))
		return NULL;
	s->classes[s->n_classes++] = *like;
	return ct_table_put(&s->class_at, key, (void *)(uintptr_t)s->n_classes) == CT_OK
		       ? &s->classes[s->n_classes - 1]
		       : NULL;
}

int ct_ov_sums_add(struct ct_ov_sums *to, const struct ct_ov_sums *from)
{
	for (uint32_t i = 0; i < from->n_rows; i++) {
		const struct ct_overlap_row *add = &from->rows[i];
		struct ct_overlap_row *row = ct_ov_row(to, add->slot, add->comm, add->by_host);

		if (!row)
			return CT_NOMEM;
		row->launches += add->launches;
		row->measured += add->measured;
		row->same_stream += add->same_stream;
		row->all_ns += add->all_ns;
		row->comm_ns += add->comm_ns;
		row->exposed_ns += add->exposed_ns;
		row->err_ns += add->err_ns;
	}
	for (uint32_t i = 0; i < from->n_classes; i++) {
		const struct ct_overlap_class *add = &from->classes[i];
		struct ct_overlap_class like = *add, *class;

		like.launches = like.measured = like.exposed_ns = like.err_ns = 0;
		class = ct_ov_class(to, &like);
		if (!class)
			return CT_NOMEM;
		class->launches += add->launches;
		class->measured += add->measured;
		class->exposed_ns += add->exposed_ns;
		class->err_ns += add->err_ns;
	}
	return CT_OK;
}

void ct_ov_sums_fini(struct ct_ov_sums *s)
{
	free(s->rows);
	free(s->classes);
	ct_table_fini(&s->row_at);
	ct_table_fini(&s->of_slot);
	ct_table_fini(&s->class_at);
	*s = (struct ct_ov_sums){ 0 };
}
